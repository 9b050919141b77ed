// The tree of calls. A node is a row of typed arrays; node 0 is the root, and parents precede their children.

const MOST_NODES = 15e6;
const TOO_MANY = "The tree of calls has more than 15 million nodes, too many for a browser. Reduce the profile first: otlp-profiles filter IN --focus NAME -o OUT";

class Tree {
  constructor() {
    Object.assign(this, { parents: new Column(Int32Array), frames: new Column(Int32Array), stackNodes: [], slots: [] });
    this.add(-1, -1);
  }

  get length() {
    return this.parents.length;
  }

  add(parent, frame) {
    if (this.length > MOST_NODES) throw new Error(TOO_MANY);
    this.parents.push(parent);
    this.frames.push(frame);
    return this.length - 1;
  }

  /**
   * Adds the stacks of a source. `framesOf` has the frames of each location, root first; hidden ones are negative.
   * A stack shares its known nodes with the one before if stacks are sorted by names; otherwise a hash table finds them.
   */
  addStacks(source, framesOf, isSorted) {
    const nodes = new Int32Array(source.stacks.ends.length), pathNodes = [0], pathFrames = [];
    const locations = source.stacks.data.items, frames = framesOf.data.items, ends = framesOf.ends.items;
    for (let stack = 0; stack < nodes.length; stack++) {
      const start = source.stacks.start(stack);
      let depth = 0, shares = true;
      for (let at = source.stacks.end(stack) - 1; at >= start; at--) {
        const location = locations[at], end = ends[location];
        for (let row = location ? ends[location - 1] : 0; row < end; row++) {
          const frame = frames[row];
          if (frame < 0) continue;
          if (!shares || pathFrames[depth] !== frame) {
            shares = false;
            pathFrames[depth] = frame;
            pathNodes[depth + 1] = isSorted ? this.add(pathNodes[depth], frame) : this.child(pathNodes[depth], frame);
          }
          depth++;
        }
      }
      pathFrames.length = depth;
      nodes[stack] = pathNodes[depth];
    }
    this.stackNodes.push(nodes);
  }

  /** Finds or adds a child by an open hash table. */
  child(parent, frame) {
    if (this.length * 2 > this.slots.length) {
      this.slots = new Int32Array(2 ** Math.ceil(Math.log2(this.length * 4 + 1024)));
      for (let node = 1; node < this.length; node++) this.slots[this.slot(this.parents.items[node], this.frames.items[node])] = node;
    }
    const slot = this.slot(parent, frame);
    return this.slots[slot] ||= this.add(parent, frame);
  }

  /** The slot of a child, or the free one for it. */
  slot(parent, frame) {
    const { slots, parents, frames } = this, mask = slots.length - 1, mixed = Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b);
    let slot = (mixed ^ (mixed >>> 15)) & mask;
    while (slots[slot] && !(parents.items[slots[slot]] === parent && frames.items[slots[slot]] === frame)) slot = (slot + 1) & mask;
    return slot;
  }

  /** Links children, and drops what building alone needs. */
  finish(frameCount) {
    const first = new Int32Array(this.length), next = new Int32Array(this.length), parent = this.parents.used;
    Object.assign(this, { slots: null, frameCount, parent, frame: this.frames.used, first, next });
    for (let node = this.length - 1; node > 0; node--) {
      next[node] = first[parent[node]];
      first[parent[node]] = node;
    }
    return this;
  }

  /** Adds the values of children to their parents, in place. */
  accumulate(values) {
    const { parent } = this;
    for (let node = this.length - 1; node > 0; node--) values[parent[node]] += values[node];
    return values;
  }

  /** By node: 1 where no caller is the same function, so that recursion counts once. */
  get outermost() {
    if (this.found) return this.found;
    const { parent, frame, first, next } = this, found = new Uint8Array(this.length), open = new Int32Array(this.frameCount);
    for (let node = first[0]; node > 0;) {
      found[node] = open[frame[node]]++ ? 0 : 1;
      if (first[node]) {
        node = first[node];
        continue;
      }
      for (; node > 0 && !next[node]; node = parent[node]) open[frame[node]]--;
      open[frame[node]]--;
      node = next[node];
    }
    return this.found = found;
  }

  /** By node: 1 where the node or one of its callers is of a frame that is marked. */
  below(marked) {
    const { parent, frame } = this, found = new Uint8Array(this.length);
    for (let node = 1; node < this.length; node++) found[node] = found[parent[node]] | marked[frame[node]];
    return found;
  }
}
