// Strings, ids and values of attributes, as texts.

class Values {
  constructor(bytes) {
    this.reader = new Reader(bytes);
    this.strings = new Rows(Float64Array); // Start and end of each: few are ever decoded.
    this.texts = [];
  }

  text(row) {
    return this.texts[row] ??= new TextDecoder().decode(this.reader.bytes.subarray(...this.strings.get(row)));
  }

  bytes() {
    const end = this.reader.end(), start = this.reader.at;
    return this.reader.bytes.subarray(start, this.reader.at = end);
  }

  string() {
    return new TextDecoder().decode(this.bytes());
  }

  hex() {
    return Array.from(this.bytes(), byte => byte.toString(16).padStart(2, "0")).join("");
  }

  /** A value of any kind, whose field is its kind. */
  any() {
    const { reader } = this, list = read => {
      const all = [];
      reader.message(() => void all.push(read()));
      return all.join(", ");
    };
    const kinds = [null, () => this.string(), () => reader.varint() === 1, () => reader.varint(), () => reader.double(),
      () => `[${list(() => this.any())}]`, () => `{${list(() => this.pair().join("="))}}`, () => this.hex(), () => this.text(reader.varint())];
    let value = "";
    reader.message(field => kinds[field] ? void (value = kinds[field]()) : false);
    return String(value);
  }

  /** A key and a value, as resources and scopes have them. */
  pair() {
    const pair = ["", ""];
    this.reader.message(field => {
      if (field === 1) pair[0] = this.string();
      else if (field === 2) pair[1] = this.any();
      else if (field === 3) pair[0] = this.text(this.reader.varint());
      else return false;
    });
    return pair;
  }
}
