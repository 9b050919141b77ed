// The state of the page, which is the fragment of its address, and what follows from it.

const START = { type: -1, view: "graph", flame: false, by: "function", zoom: [], find: "", focus: "", ignore: "", hide: [], labels: [], time: null,
  frame: "", within: null, sort: "self", width: "both", compare: "share", rows: "", theme: "" };
/** The part of the state that the values depend on. */
const VALUES = ["type", "by", "focus", "ignore", "hide", "labels", "time", "width", "compare"];

class App {
  constructor(model, about) {
    Object.assign(this, { model, about, subject: -1, start: { ...START, type: model.firstType(about.type) }, labels: labelsOf(model.profiles) });
    Object.assign(this, { graph: new Graph($("graph"), this), callers: new Graph($("callers"), this), table: new Table($("table"), this), strip: new TimeStrip(this) });
    addEventListener("hashchange", () => this.show());
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) matchMedia(query).onchange = () => this.show();
    this.show();
    new ResizeObserver(() => this.showView()).observe($("views-area"));
  }

  read() {
    const state = { ...this.start };
    for (const [key, text] of new URLSearchParams(location.hash.slice(1))) {
      try {
        const value = JSON.parse(text);
        if (key in START && (START[key] === null ? Array.isArray(value) : typeof value === typeof START[key])) state[key] = value;
      } catch { /* The rest of an address that somebody changed still holds. */ }
    }
    if (!this.model.types[state.type]) state.type = this.start.type;
    return state;
  }

  /** Changes the state: a new entry of the history, or the present one while a text is typed. */
  set(changes, isTyped) {
    const hash = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...this.state, ...changes })) {
      const text = JSON.stringify(value);
      if (text !== JSON.stringify(this.start[key])) hash.set(key, text);
    }
    history[isTyped ? "replaceState" : "pushState"](null, "", "#" + hash);
    this.show();
  }

  show() {
    const { model } = this, state = this.state = this.read(), values = JSON.stringify(VALUES.map(key => state[key]));
    if (this.values !== values) {
      this.weights = new Weights(model, model.build(state.by, state.hide), state);
      Object.assign(this, { values, roots: {} });
    }
    this.unit = model.types[state.type];
    this.marked = state.find ? matching(this.weights.names, pattern(state.find)) : null;
    this.matchedSum = this.marked && this.weights.matched(this.marked);
    this.paint = palette(state.theme);
    this.hues = [];
    this.subject = model.frames.ids.get(state.frame) ?? -1;
    showFilters(this);
    this.strip.show();
    showControls(this);
    this.showView();
  }

  rootOf(name, make, ...rest) {
    return this.roots[[name, rest]] ??= make(this.weights, ...rest);
  }

  showView() {
    const { state, subject } = this, view = state.view === "sandwich" && !this.weights.names[subject] ? "table" : state.view;
    $("graph").hidden = view === "table";
    $("callers").hidden = view !== "sandwich";
    $("table").hidden = view !== "table";
    this.root = view === "inverted" ? this.rootOf(view, inverted) : view === "sandwich" ? this.rootOf(view, around, subject, false) : this.rootOf("graph", callTree);
    this.top = this.root.follow(state.zoom);
    if (view === "table") return this.table.show();
    if (view === "sandwich") this.callers.show(this.rootOf(view, around, subject, true), true);
    this.graph.show(this.top, state.flame && view === "graph");
  }

  /** Zooms to a box, or lists the functions that it joins. */
  enter({ group, rest }) {
    if (rest) this.set({ view: "table", within: group.path, zoom: group.isUp ? [] : this.state.zoom });
    else if (this.state.view === "sandwich" && group.isUp) this.sandwich(group.name);
    else this.set({ zoom: group.path });
  }

  sandwich(name) {
    this.set({ view: "sandwich", frame: name, zoom: [], within: null });
  }

  /** How a box is painted. */
  look({ group: { frame, name, total, base }, rest }) {
    const { paint, weights, marked } = this, text = paint.text, isMatch = !rest && marked?.[frame];
    if (paint.forced) return { fill: isMatch ? "Highlight" : "ButtonFace", text: isMatch ? "HighlightText" : "ButtonText", outline: text };
    if (rest) return { fill: paint.grey, text };
    if (isMatch) return { fill: paint.match, text: paint.matchText, outline: text };
    if (marked) return { fill: paint.unmatched, text };
    if (weights.isComparison) return { fill: paint.change(weights.relative(total, base)), text };
    if (frame < 0) return { fill: paint.unmatched, text };
    return { fill: paint.hue(this.hues[frame] ??= hueOf(packageOf(name))), text };
  }

  sign({ total, base }) {
    const change = this.weights.isComparison ? this.weights.relative(total, base) : 0;
    return Math.abs(change) < 0.005 ? "" : change > 0 ? "+ " : "− ";
  }

  changeText(total, base) {
    const change = this.weights.change(total, base), sign = change > 0 ? "+" : "";
    return sign + (this.weights.scaled ? `${(100 * change).toFixed(2)} pp` : quantity(change, this.unit));
  }

  sentence({ group, rest }) {
    const { weights, unit } = this, sum = key => (rest ?? [group]).reduce((sum, one) => sum + one[key], 0), [total, base] = [sum("total"), sum("base")];
    const change = weights.isComparison ? `, change ${this.changeText(total, base)}` : "";
    const name = rest ? `${counted(rest.length, "function")} too narrow to draw (Enter lists them)` : group.name;
    const calls = rest ? "" : ", " + counted(group.children.length, group.isUp ? "caller" : "callee");
    return `${name}, ${quantity(total, unit)}, ${percent(total, weights.sum)} of all${change}${calls}`;
  }

  say(text) {
    $("live").textContent = text;
  }

  describe(box, isSpoken) {
    if (isSpoken) this.say(this.sentence(box));
    if (box.rest) return;
    this.subject = box.group.frame;
    showDetails(this, box.group, box.group);
  }
}

/** The colours of a theme. */
function palette(theme) {
  const forced = matchMedia("(forced-colors: active)").matches, isDark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  if (forced) return { forced, back: "Canvas", text: "CanvasText", accent: "LinkText", shade: "GrayText" };
  const [near, far] = isDark ? [25, 33] : [92, 72], mix = part => Math.min(1, 2 * Math.abs(part));
  const change = part => `hsl(${part > 0 ? 28 : 212} ${Math.round(85 * mix(part))}% ${Math.round(near + (far - near) * mix(part))}%)`;
  return isDark
    ? { isDark, change, back: "#14161a", text: "#f2f3f5", grey: "#3a3e46", unmatched: "#22262d", match: "#8a2a6b", matchText: "#fff", accent: "#4d86c6", shade: "#000a", hue: hue => `hsl(${hue} 38% 28%)` }
    : { isDark, change, back: "#fff", text: "#16181d", grey: "#d3d6db", unmatched: "#eceef1", match: "#f7a8dc", matchText: "#16181d", accent: "#7fb2e6", shade: "#9999", hue: hue => `hsl(${hue} 62% 82%)` };
}
