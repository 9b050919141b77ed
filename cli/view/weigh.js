// The values of all nodes of the tree for the samples that the filters leave.

/** By frame: 1 where the name matches. */
function matching(names, pattern) {
  return Uint8Array.from(names, name => pattern.test(name) ? 1 : 0);
}

const quoted = text => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** A regular expression; without capitals it ignores case. A text that is none is searched as it is. */
function pattern(text) {
  const flags = /[A-Z]/.test(text) ? "" : "i";
  try {
    return new RegExp(text, flags);
  } catch {
    return new RegExp(quoted(text), flags);
  }
}

/** The ids of a link that are attributes of its samples. */
const LINK_KEYS = ["trace_id", "span_id"];

/**
 * Returns a test of the samples of a profile: whether each attribute has one of the values wanted. The sample's own counts
 * first, then that of its link, its profile, its scope and its resource.
 */
function labelTest({ source, samples, attributes }, labels) {
  const tests = labels.map(([key, values]) => {
    const kinds = Uint8Array.from({ length: source.attributes.key.length },
      (_, row) => source.key(row) !== key ? 0 : values.includes(source.value(row)) ? 2 : 1);
    const around = values.includes(attributes.find(([name]) => name === key)?.[1]), place = LINK_KEYS.indexOf(key);
    return row => {
      let found = 0;
      for (const id of samples.attributes.get(row)) found = Math.max(found, kinds[id]);
      const link = samples.link.items[row];
      return found ? found === 2 : place >= 0 && link ? values.includes(source.links[link][place]) : around;
    };
  });
  return row => tests.every(test => test(row));
}

/**
 * `self` and `total` of each node, and of the base of a comparison. Negative values count for the other side, so a
 * profile of differences is shown as a comparison.
 */
class Weights {
  constructor(model, tree, state) {
    Object.assign(this, { tree, names: model.frames.names, self: new Float64Array(tree.length), baseSelf: null, samples: 0, untimed: 0 });
    const { kind } = model.types[state.type] ?? {};
    this.profiles = model.profiles.filter(profile => profile.kind === kind);
    for (const profile of this.profiles) this.add(profile, model, state);
    if (state.focus) this.keep(state.focus, 1);
    if (state.ignore) this.keep(state.ignore, 0);
    this.total = tree.accumulate(this.self.slice());
    this.baseTotal = this.baseSelf && tree.accumulate(this.baseSelf.slice());
    [this.sum, this.baseSum] = [this.total[0], this.baseTotal?.[0] ?? 0];
    this.isComparison = this.baseSelf !== null;
    // Shares are compared where both sides are profiles of their own.
    this.scaled = model.hasBase && state.compare === "share" && this.sum > 0 && this.baseSum > 0;
    this.scale = this.scaled ? this.sum / this.baseSum : 1;
    this.bothSides = this.isComparison && state.width === "both";
  }

  add(profile, model, { labels, time }) {
    const { samples, source } = profile, nodes = this.tree.stackNodes[model.sources.indexOf(source)], { base } = source.about;
    const passes = labelTest(profile, labels), sides = [this.self, base ? this.baseSelf ??= new Float64Array(this.tree.length) : this.baseSelf];
    for (let row = 0; row < samples.length; row++) {
      if (labels.length && !passes(row)) continue;
      let value = time ? 0 : samples.value(row);
      if (time) {
        samples.events(row, (at, part) => { if (at >= time[0] && at < time[1]) value += part; });
        if (samples.times.start(row) === samples.times.end(row)) this.untimed++;
      }
      if (!value) continue;
      this.samples++;
      const isBase = base !== value < 0;
      if (isBase) sides[1] ??= this.baseSelf = new Float64Array(this.tree.length);
      sides[+isBase][nodes[samples.stack.items[row]]] += Math.abs(value);
    }
  }

  /** Drops the samples with a frame that matches, or those without. */
  keep(text, wanted) {
    const found = this.tree.below(matching(this.names, pattern(text)));
    for (const values of [this.self, this.baseSelf]) for (let node = 0; node < values?.length; node++) if (found[node] !== wanted) values[node] = 0;
  }

  /** The width of a value: that of the new profile, or the mean of both sides. */
  width(value, base) {
    return this.bothSides ? (value + base * this.scale) / 2 : value;
  }

  get all() {
    return this.width(this.sum, this.baseSum);
  }

  /** Self and total of each frame, and of the base; recursion counts once. */
  byFrame() {
    const { tree } = this, { outermost, frame } = tree, isAny = new Uint8Array(tree.length).fill(1);
    return [[this.self, isAny], [this.total, outermost], [this.baseSelf, isAny], [this.baseTotal, outermost]].map(([values, counts]) => {
      const sums = new Float64Array(tree.frameCount);
      for (let node = 1; node < values?.length; node++) if (counts[node]) sums[frame[node]] += values[node];
      return sums;
    });
  }

  /** The value of all samples with a frame that is marked, each counted once. */
  matched(marked) {
    const found = this.tree.below(marked);
    let sum = 0;
    for (let node = 1; node < found.length; node++) if (found[node]) sum += this.width(this.self[node], this.baseSelf?.[node] ?? 0);
    return sum;
  }

  /** How much the new value exceeds the base: of shares, or of values. */
  change(total, base) {
    return this.scaled ? total / this.sum - base / this.baseSum : total - base;
  }

  /** The same from -1, only in the base, to 1, only in the new profile. */
  relative(total, base) {
    const scaled = base * this.scale;
    return total || base ? (total - scaled) / (total + scaled) : 0;
  }
}
