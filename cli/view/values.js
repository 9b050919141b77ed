// Strings, ids and values of attributes, as texts.

const ANY = ["", "string", "bool", "int", "double", "array", "map", "bytes", "index"];

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

  any() {
    const { reader } = this;
    let value = "";
    const list = read => {
      const all = [];
      reader.message(() => void all.push(read()));
      return all.join(", ");
    };
    reader.message(field => {
      const kind = ANY[field];
      if (kind === "string") value = this.string();
      else if (kind === "bool") value = reader.varint() === 1;
      else if (kind === "int") value = reader.varint();
      else if (kind === "double") value = reader.double();
      else if (kind === "bytes") value = this.hex();
      else if (kind === "index") value = this.text(reader.varint());
      else if (kind === "array") value = `[${list(() => this.any())}]`;
      else if (kind === "map") value = `{${list(() => this.pair().join("="))}}`;
      else return false;
    });
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
