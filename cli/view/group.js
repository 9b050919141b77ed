// Views of the tree of calls. A group joins nodes that a view shows as one box; its children are found when it is drawn.

class Group {
  constructor(weights, frame, parent, isUp) {
    // Upwards, `parts` are the values that come from the nodes below; a caller may have more.
    Object.assign(this, { weights, frame, parent, isUp, nodes: [], parts: [], baseParts: [], total: 0, base: 0 });
  }

  add(node, total, base) {
    this.total += total;
    this.base += base;
    if (!this.isUp) return void this.nodes.push(node);
    if (this.nodes.at(-1) !== node) [[this.nodes, node], [this.parts, 0], [this.baseParts, 0]].forEach(([column, value]) => column.push(value));
    const last = this.nodes.length - 1;
    this.parts[last] += total;
    this.baseParts[last] += base;
  }

  get width() {
    return this.weights.width(this.total, this.base);
  }

  get name() {
    return this.frame < 0 ? "All" : this.weights.names[this.frame];
  }

  /** The groups that the picture shows below: callees, or upwards callers, largest first. */
  get children() {
    return this.found ??= this.find();
  }

  find() {
    const { weights, isUp } = this, { tree, total, baseTotal } = weights, byFrame = new Map();
    const put = (node, value, base) => {
      if (!value && !base) return;
      const frame = tree.frame[node];
      let child = byFrame.get(frame);
      if (!child) byFrame.set(frame, child = new Group(weights, frame, this, isUp));
      child.add(node, value, base);
    };
    this.nodes.forEach((node, row) => {
      if (!isUp) for (let child = tree.first[node]; child; child = tree.next[child]) put(child, total[child], baseTotal?.[child] ?? 0);
      else if (tree.parent[node]) put(tree.parent[node], this.parts[row], this.baseParts[row]);
    });
    return sorted([...byFrame.values()]);
  }

  /** Its value less that of its children. */
  get self() {
    return this.isUp ? this.children.reduce((sum, child) => sum - child.total, this.total) : this.nodes.reduce((sum, node) => sum + this.weights.self[node], 0);
  }

  /** The names from below the root of the view to this group. */
  get path() {
    return this.parent ? [...this.parent.path, this.name] : [];
  }

  /** Follows names as far as they are found. */
  follow([name, ...rest]) {
    const next = name === undefined ? null : this.children.find(child => child.name === name);
    return next ? next.follow(rest) : this;
  }
}

function sorted(groups) {
  return groups.sort((a, b) => b.width - a.width || (a.name < b.name ? -1 : 1));
}

/** All calls, from the root. */
function callTree(weights) {
  const root = new Group(weights, -1, null, false);
  root.add(0, weights.total[0], weights.baseTotal?.[0] ?? 0);
  return root;
}

/** All calls, from the leaf. */
function inverted(weights) {
  const { tree, self, baseSelf } = weights, root = new Group(weights, -1, null, true), byFrame = [];
  for (let node = 1; node < tree.length; node++) {
    const base = baseSelf?.[node] ?? 0;
    if (self[node] || base) (byFrame[tree.frame[node]] ??= new Group(weights, tree.frame[node], root, true)).add(node, self[node], base);
  }
  root.found = sorted(byFrame.filter(Boolean));
  [root.total, root.base] = [weights.sum, weights.baseSum];
  return root;
}

/** The calls of a frame, or upwards the calls that lead to it. */
function around(weights, frame, isUp) {
  const { tree, total, baseTotal } = weights, { outermost } = tree, group = new Group(weights, frame, null, isUp);
  for (let node = 1; node < tree.length; node++) {
    if (tree.frame[node] === frame && outermost[node]) group.add(node, total[node], baseTotal?.[node] ?? 0);
  }
  return group;
}

const MIN_WIDTH = 0.7;
const MOST_BOXES = 2e5;

/**
 * Places the groups below `top` into rows: a box as wide as its share for each, and one grey box for all that are too
 * narrow. The path above `top` takes the full width.
 */
function layout(top, width) {
  const boxes = [], rows = [], above = [];
  const place = (group, x, width, row, rest) => {
    const box = { group, x, width, row, rest };
    (rows[row] ??= []).push(box);
    boxes.push(box);
  };
  for (let group = top; group; group = group.parent) above.unshift(group);
  above.forEach((group, row) => place(group, 0, width, row, null));
  for (let at = boxes.length - 1; at < boxes.length && boxes.length < MOST_BOXES; at++) {
    const { group, x, width, row, rest } = boxes[at];
    if (rest || !group.width) continue;
    const scale = width / group.width, narrow = [];
    let left = x, sum = 0;
    for (const child of group.children) {
      const wide = child.width * scale;
      if (wide < MIN_WIDTH) {
        narrow.push(child);
        sum += wide;
        continue;
      }
      place(child, left, wide, row + 1, null);
      left += wide;
    }
    if (sum >= MIN_WIDTH) place(group, left, sum, row + 1, narrow);
  }
  return { boxes, rows };
}
