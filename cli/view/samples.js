// Profiles and samples of a message.

function readProfile(source, resource, scope) {
  const { reader } = source, ids = new Column(Int32Array);
  const profile = { source, resource, scope, type: "", unit: "", id: "", samples: new Samples() };
  reader.message(field => {
    if (field === 1) [profile.type, profile.unit] = reader.numbers().slice(1).map(row => source.text(row));
    else if (field === 2) profile.samples.read(reader);
    else if (field === 7) profile.id = source.hex();
    else if (field === 11) reader.packed(ids);
    else return false;
  });
  const own = Array.from(ids.used, row => [source.key(row), source.value(row)]);
  return { ...profile, attributes: [...own, ...scope, ...resource] };
}

/** The samples of a profile, by column. */
class Samples {
  constructor() {
    this.factor = 1; // to the unit of the sample type
    this.stack = new Column(Int32Array);
    this.link = new Column(Int32Array);
    this.attributes = new Rows(Int32Array);
    this.values = new Rows(Float64Array);
    this.times = new Rows(Float64Array);
  }

  get length() {
    return this.stack.length;
  }

  read(reader) {
    const { attributes, values, times } = this;
    let stack = 0, link = 0;
    reader.message(field => {
      if (field === 1) stack = reader.varint();
      else if (field === 2) reader.packed(attributes.data);
      else if (field === 3) link = reader.varint();
      else if (field === 4) reader.packed(values.data);
      else if (field === 5) for (const end = reader.end(); reader.at < end;) times.data.push(reader.fixed64());
      else return false;
    });
    this.stack.push(stack);
    this.link.push(link);
    for (const rows of [attributes, values, times]) rows.close();
  }

  /** The value of a sample: the sum of its values, or one for each timestamp if it has none. */
  value(row) {
    const { items } = this.values.data, end = this.values.end(row);
    let at = this.values.start(row), sum = 0;
    if (at === end) return (this.times.end(row) - this.times.start(row)) * this.factor;
    while (at < end) sum += items[at++];
    return sum * this.factor;
  }

  /** Calls `use` with the time and the value of each event. A value of several events is divided evenly. */
  events(row, use) {
    const start = this.times.start(row), count = this.times.end(row) - start, values = this.values.get(row);
    for (let at = 0; at < count; at++) {
      use(this.times.data.items[start + at], values.length === count ? values[at] * this.factor : this.value(row) / count);
    }
  }
}
