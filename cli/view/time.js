// The time strip: values over time, a row for each value of an attribute. Dragging selects a range.

const LANE = 22;
const MOST_LANES = 8;

class TimeStrip {
  constructor(app) {
    Object.assign(this, { app, canvas: $("time").querySelector("canvas") });
    let start = null;
    const range = event => [start, this.from + this.span * Math.min(1, Math.max(0, event.offsetX / this.canvas.clientWidth))].sort((a, b) => a - b);
    this.canvas.onpointerdown = event => {
      this.canvas.setPointerCapture(event.pointerId);
      start = Math.max(...range(event));
    };
    this.canvas.onpointermove = event => { if (start !== null) this.draw(range(event)); };
    this.canvas.onpointerup = event => {
      const [from, to] = range(event);
      start = null;
      app.set({ time: to - from > this.span / 500 ? [from, to] : null });
    };
    $("from").onchange = $("to").onchange = () => {
      const [from, to] = ["from", "to"].map(id => this.from + 1e9 * Number($(id).value));
      if (from < to) app.set({ time: [from, to] });
    };
    $("rows").onchange = () => app.set({ rows: $("rows").value });
    $("all-time").onclick = () => app.set({ time: null });
  }

  show() {
    const { app } = this, { profiles } = app.weights, times = profiles.map(({ samples }) => samples.times.data.used).filter(times => times.length);
    $("time").hidden = !times.length;
    if (!times.length) return;
    const most = (sign, last) => times.reduce((most, times) => times.reduce((most, time) => Math.max(most, sign * time), most), last);
    this.from = -most(-1, -Infinity);
    this.span = most(1, -Infinity) - this.from + 1000;
    const keys = ["", ...[...app.labels.keys()].sort()];
    $("rows").replaceChildren(...keys.map(value => element("option", { value }, value || "one")));
    $("rows").value = app.state.rows;
    this.count(profiles, app.state.rows);
    this.draw(app.state.time);
  }

  /** Adds up the values by lane and pixel. */
  count(profiles, key) {
    const wide = Math.max(1, this.canvas.clientWidth), lanes = new Map();
    for (const { samples, source, attributes } of profiles) {
      const own = key && attributes.find(([name]) => name === key)?.[1], isKey = row => source.key(row) === key;
      for (let row = 0; row < samples.length; row++) {
        const found = key && own === undefined ? samples.attributes.get(row).find(isKey) : undefined;
        const name = found === undefined ? own ?? "(none)" : source.value(found);
        if (!lanes.has(name)) lanes.set(name, new Float64Array(wide));
        const lane = lanes.get(name);
        samples.events(row, (time, value) => { lane[Math.floor((time - this.from) / this.span * wide)] += Math.abs(value); });
      }
    }
    const sum = lane => lane.reduce((sum, value) => sum + value, 0);
    this.lanes = [...lanes].sort((a, b) => sum(b[1]) - sum(a[1]));
    const others = this.lanes.splice(MOST_LANES).map(([, lane]) => lane);
    if (others.length) this.lanes.push([`${grouped(others.length)} others`, others.reduce((all, lane) => all.map((value, at) => value + lane[at]))]);
  }

  draw(range) {
    const { canvas, lanes, from, span, app: { paint } } = this, wide = canvas.clientWidth, tall = lanes.length * LANE;
    Object.assign(canvas, { width: wide * devicePixelRatio, height: tall * devicePixelRatio });
    canvas.style.height = tall + "px";
    const context = canvas.getContext("2d"), [start, end] = range ?? [from, from + span], x = time => (time - from) / span * wide;
    context.scale(devicePixelRatio, devicePixelRatio);
    context.font = FONT;
    lanes.forEach(([name, values], lane) => {
      const most = Math.max(...values), bottom = (lane + 1) * LANE - 2;
      context.fillStyle = paint.accent;
      values.forEach((value, at) => { if (value) context.fillRect(at, bottom, 1, -Math.max(2, value / most * (LANE - 4))); });
      context.fillStyle = paint.text;
      context.fillText(name, 4, bottom - 6);
    });
    context.fillStyle = paint.shade;
    context.fillRect(0, 0, x(start), tall);
    context.fillRect(x(end), 0, wide, tall);
    [$("from").value, $("to").value] = [start, end].map(time => ((time - from) / 1e9).toFixed(3));
  }
}
