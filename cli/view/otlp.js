// OTLP profiles 1.10: a message becomes columns. The numbers of fields are those of the protos.

class Source extends Values {
  constructor(bytes, about) {
    super(bytes);
    const { reader } = this, ints = () => new Column(Int32Array);
    Object.assign(this, { about, mappings: [], links: [], functions: [], profiles: [], stacks: new Rows(Int32Array) });
    this.locations = { mapping: ints(), low: new Column(Uint32Array), high: new Column(Uint32Array), lines: new Rows(Float64Array), attributes: new Rows(Int32Array) };
    this.attributes = { key: ints(), place: new Column(Float64Array), unit: ints() };
    // The tables first, as resources may refer to their strings.
    reader.fields(bytes.length, field => field === 2 ? reader.message(table => this.readTable(table)) : false);
    reader.at = 0;
    reader.fields(bytes.length, field => field === 1 ? this.readResource() : false);
  }

  readTable(field) {
    const { reader, strings, stacks } = this;
    if (field === 1) this.readMapping();
    else if (field === 2) this.readLocation();
    else if (field === 3) {
      const [, name, , file] = reader.numbers();
      this.functions.push({ name, file });
    } else if (field === 4) {
      const ids = [];
      reader.message(() => void ids.push(this.hex()));
      this.links.push(ids);
    } else if (field === 5) {
      const end = reader.end();
      strings.data.push(reader.at);
      strings.data.push(reader.at = end);
      strings.close();
    } else if (field === 6) this.readAttribute();
    else if (field === 7) {
      reader.message(() => reader.packed(stacks.data));
      stacks.close();
    } else return false;
  }

  readMapping() {
    const { reader } = this, ids = new Column(Int32Array), mapping = { file: 0 };
    reader.message(field => {
      if (field === 4) mapping.file = reader.varint();
      else if (field === 5) reader.packed(ids);
      else return false;
    });
    this.mappings.push({ ...mapping, attributes: ids.used });
  }

  readLocation() {
    const { reader } = this, { mapping, low, high, lines, attributes } = this.locations;
    let row = 0, address = [0, 0];
    reader.message(field => {
      if (field === 1) row = reader.varint();
      else if (field === 2) {
        reader.varint();
        address = [reader.low, reader.high >>> 0];
      } else if (field === 3) {
        const [, id, line] = reader.numbers();
        lines.data.push(id);
        lines.data.push(line);
      } else if (field === 4) reader.packed(attributes.data);
      else return false;
    });
    mapping.push(row);
    low.push(address[0]);
    high.push(address[1]);
    lines.close();
    attributes.close();
  }

  /** Keeps the place of the value: few are ever shown. */
  readAttribute() {
    const { reader } = this, row = [0, 0, -1, 0];
    reader.message(field => {
      if (field !== 2) row[field] = reader.varint();
      else [row[2], reader.at] = [reader.at, reader.end()];
    });
    this.attributes.key.push(row[1]);
    this.attributes.place.push(row[2]);
    this.attributes.unit.push(row[3]);
  }

  key(row) {
    return this.text(this.attributes.key.items[row]);
  }

  /** The value of an attribute with its unit. */
  value(row) {
    const place = this.reader.at = this.attributes.place.items[row], unit = this.text(this.attributes.unit.items[row]);
    return (place < 0 ? "" : this.any()) + (unit && " " + unit);
  }

  /** The address of a location, in hexadecimal digits. */
  address(location) {
    const [high, low] = [this.locations.high, this.locations.low].map(half => half.items[location].toString(16));
    return high === "0" ? low === "0" ? "" : "0x" + low : "0x" + high + low.padStart(8, "0");
  }

  readResource() {
    const { reader } = this, resource = [];
    reader.message(field => {
      if (field === 1) reader.message(field => field === 1 ? void resource.push(this.pair()) : false);
      else if (field === 2) this.readScope(resource);
      else return false;
    });
  }

  readScope(resource) {
    const { reader } = this, scope = [];
    reader.message(field => {
      if (field === 1) {
        reader.message(field => {
          if (field > 3) return false;
          scope.push(field === 3 ? this.pair() : [["", "scope.name", "scope.version"][field], this.string()]);
        });
      } else if (field === 2) this.profiles.push(readProfile(this, resource, scope));
      else return false;
    });
  }
}
