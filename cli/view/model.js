// All messages of the page: their sample types, and the frames of their locations.

const baseName = path => path.replace(/\/+$/, "").split("/").pop();

/** The texts of frames, at the granularity `by`. */
class Frames {
  constructor(by, sources) {
    const paths = new Set(sources.flatMap(source => source.mappings.map(({ file }) => source.text(file)))), bases = new Set();
    // Binaries of one name are told apart by their paths.
    const alike = new Set([...paths].map(baseName).filter(base => bases.size === bases.add(base).size));
    Object.assign(this, { by, names: [], ids: new Map(), alike });
  }

  id(name) {
    let id = this.ids.get(name);
    if (id === undefined) this.ids.set(name, id = this.names.push(name) - 1);
    return id;
  }

  /** The frames of each location of a source, root first. */
  of(source) {
    const { mapping, lines } = source.locations, rows = new Rows(Int32Array), known = [];
    for (let location = 0; location < mapping.length; location++) {
      const own = lines.get(location);
      for (let at = own.length - 2; at >= 0; at -= 2) {
        const isSimple = this.by === "function" && source.functions[own[at]].name;
        rows.data.push(isSimple ? known[own[at]] ??= this.id(source.text(isSimple)) : this.id(this.name(source, location, own[at], own[at + 1])));
      }
      if (!own.length) rows.data.push(this.id(this.name(source, location, 0, 0)));
      rows.close();
    }
    return rows;
  }

  name(source, location, row, line) {
    const path = source.text(source.mappings[source.locations.mapping.items[location]].file), base = baseName(path);
    const binary = path ? `[${this.alike.has(base) ? path : base}]` : "<unknown>";
    const { name, file } = source.functions[row], place = source.text(file);
    const forms = { line: place && `${source.text(name) || binary} ${place}:${line}`, file: place || binary, binary, address: source.address(location) };
    return forms[this.by] || source.text(name) || binary;
  }
}

class Model {
  /** `units` has the dimension and the factor of each unit that converts into others. */
  constructor(sources, units = {}) {
    this.sources = sources;
    const seen = new Map();
    // A profile that a later message repeats counts once, as in all reports.
    this.profiles = sources.flatMap(source => source.profiles).filter(({ source, id, type }) => {
      const key = `${source.about.base} ${id} ${type}`, first = seen.get(key) ?? source;
      if (/[1-9a-f]/.test(id)) seen.set(key, first);
      return first === source;
    });
    this.hasBase = sources.some(source => source.about.base);
    this.unitOf = unit => units[unit] ?? [unit, 1];
    // Types of one name whose units convert are one, in the finest unit.
    const types = new Map(), keyOf = ({ type, unit }) => type + " " + this.unitOf(unit)[0], factor = ({ unit }) => this.unitOf(unit)[1];
    for (const one of this.ordered()) {
      const known = types.get(keyOf(one)) ?? one;
      types.set(keyOf(one), factor(one) < factor(known) ? one : known);
    }
    for (const profile of this.profiles) profile.samples.factor = factor(profile) / factor(types.get(profile.kind = keyOf(profile)));
    this.types = [...types].map(([kind, { type, unit }]) => ({ kind, type, unit }));
    if (!this.types.length) throw new Error("The page holds no samples");
  }

  /** The profiles; those of the first scope in the order that it declares for sample types. */
  ordered() {
    const first = this.profiles[0]?.scope, own = this.profiles.filter(profile => profile.scope === first);
    const places = first?.find(([key]) => key === "pprof.scope.sample_type_order")?.[1].match(/\d+/g) ?? [];
    if (places.length !== own.length) return this.profiles;
    return [...own.keys()].sort((a, b) => places[a] - places[b]).map(row => own[row]).concat(this.profiles);
  }

  /** The row of the sample type to begin with. */
  firstType({ type, unit }) {
    return Math.max(0, this.types.findIndex(one => one.type === type && this.unitOf(one.unit)[0] === this.unitOf(unit)[0]));
  }

  /** Builds the tree of calls without the frames that are hidden. */
  build(by, hidden) {
    const key = JSON.stringify([by, hidden]);
    if (this.key === key) return this.tree;
    this.key = key;
    const tree = this.tree = new Tree(), frames = this.frames = new Frames(by, this.sources);
    this.locationFrames = this.sources.map(source => frames.of(source));
    const ids = hidden.map(name => frames.ids.get(name));
    this.sources.forEach((source, row) => {
      let shown = this.locationFrames[row];
      if (hidden.length) {
        shown = Object.assign(new Rows(Int32Array), { ends: shown.ends, data: { items: shown.data.used.map(id => ids.includes(id) ? -1 : id) } });
      }
      tree.addStacks(source, shown, source.isSorted && this.sources.length === 1 && by === "function" && !hidden.length && !frames.alike.size);
    });
    return tree.finish(frames.names.length);
  }
}
