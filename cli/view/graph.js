// A graph: a tree of groups on a canvas as tall as its window, however deep the tree is.

const ROW = 19;
const FONT = "12px system-ui, sans-serif";
const NOTHING = "\u00a0"; // Keeps the line.

class Graph {
  constructor(section, app) {
    const label = section.ariaLabel + ": arrows move, Enter zooms, ? shows help";
    const canvas = element("canvas", { tabIndex: 0, role: "application", ariaLabel: label }), space = element("div");
    Object.assign(this, { app, section, canvas, space });
    section.append(canvas, space);
    const at = event => this.boxAt(event.offsetX, event.offsetY);
    section.onscroll = canvas.onfocus = () => this.draw();
    canvas.onmousemove = event => this.hover(at(event));
    canvas.onmouseleave = () => this.hover(null);
    canvas.onclick = event => this.activate(at(event), event.shiftKey);
    canvas.onkeydown = event => this.key(event);
  }

  /** Shows the calls below `top`; `isUp` puts the root at the bottom. */
  show(top, isUp) {
    Object.assign(this, { top, isUp, hovered: null });
    const { clientWidth: width, clientHeight: height } = this.section, ratio = devicePixelRatio;
    Object.assign(this, layout(top, width), { width, height });
    $("hover").textContent = this.boxes.length < MOST_BOXES ? NOTHING : "Deeper calls are too many to draw: zoom in";
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    Object.assign(this.canvas.style, { width: width + "px", height: height + "px" });
    this.space.style.height = Math.max(0, this.rows.length * ROW - height) + "px";
    this.context = this.canvas.getContext("2d");
    this.context.scale(ratio, ratio);
    this.section.scrollTop = isUp ? this.section.scrollHeight : 0;
    this.select(this.boxes.find(box => box.group === top));
  }

  /** The distance of a row from the top of the window. */
  y(row) {
    const tall = Math.max(this.rows.length * ROW, this.height);
    return (this.isUp ? tall - (row + 1) * ROW : row * ROW) - this.section.scrollTop;
  }

  boxAt(x, y) {
    const row = this.rows.findIndex((_, row) => y >= this.y(row) && y < this.y(row) + ROW);
    return this.rows[row]?.find(box => x >= box.x && x < box.x + box.width) ?? null;
  }

  draw() {
    const { context, app: { paint } } = this;
    context.fillStyle = paint.back;
    context.fillRect(0, 0, this.width, this.height);
    context.font = FONT;
    this.rows.forEach((boxes, row) => {
      const y = this.y(row);
      if (y > -ROW && y < this.height) for (const box of boxes) this.drawBox(box, y);
    });
    context.strokeStyle = paint.text;
    for (const [box, line] of [[this.hovered, 1], [this.selected, 2.5]]) if (box) this.outline(box, this.y(box.row), line);
  }

  drawBox(box, y) {
    const { context, app } = this, wide = Math.max(box.width - 0.6, 0.5), look = app.look(box);
    context.fillStyle = look.fill;
    context.fillRect(box.x, y, wide, ROW - 1);
    context.strokeStyle = look.outline;
    if (look.outline && wide > 3) this.outline(box, y, 1.5);
    if (box.width < 36) return;
    context.fillStyle = look.text;
    context.fillText(box.label ??= this.label(box), box.x + 5, y + 13);
  }

  outline({ x, width }, y, line) {
    this.context.lineWidth = line;
    this.context.strokeRect(x + 1, y + 1, Math.max(width - 2, 1), ROW - 3);
  }

  /** The longest form of the name that fits, else its end; empty if that has fewer than five letters. */
  label({ group, rest, width }) {
    const fits = text => this.context.measureText(text).width <= width - 9;
    const sign = rest ? "" : this.app.sign(group), forms = rest ? [counted(rest.length, "function")] : shorter(group.name), short = forms.at(-1);
    const found = forms.find(form => fits(sign + form));
    if (found) return sign + found;
    for (let from = 1; !rest && short.length - from >= 5; from++) if (fits(sign + "…" + short.slice(from))) return sign + "…" + short.slice(from);
    return "";
  }

  hover(box) {
    if (box === this.hovered) return;
    this.hovered = box;
    this.canvas.style.cursor = box ? "pointer" : "";
    $("hover").textContent = box ? this.app.sentence(box) : NOTHING;
    this.draw();
  }

  select(box, isSpoken) {
    if (!box) return;
    this.selected = box;
    this.app.describe(box, isSpoken);
    const y = this.y(box.row);
    if (isSpoken && (y < 0 || y + ROW > this.height)) this.section.scrollTop += y - this.height / 2;
    this.draw();
  }

  /** A click or Enter: zooms, or lists the functions that a grey box joins. */
  activate(box, onlySelects) {
    if (!box) return;
    this.select(box, true);
    if (!onlySelects) this.app.enter(box);
  }

  key(event) {
    const box = this.selected, [up, down] = this.isUp ? ["ArrowDown", "ArrowUp"] : ["ArrowUp", "ArrowDown"];
    const beside = step => this.rows[box.row][this.rows[box.row].indexOf(box) + step];
    const holds = (outer, inner) => inner.x >= outer.x - 0.01 && inner.x < outer.x + outer.width;
    const moves = {
      [up]: () => this.rows[box.row - 1]?.find(other => holds(other, box)),
      [down]: () => this.rows[box.row + 1]?.find(other => holds(box, other)),
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), Home: () => this.boxes[0],
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !(moves[event.key] || event.key === "Enter")) return;
    event.preventDefault();
    if (event.key === "Enter") this.activate(box);
    else this.select(moves[event.key](), true);
  }
}
