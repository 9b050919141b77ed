// The table: self and total of every frame, or of the callees of one group.

const STEP = 200;

class Table {
  constructor(section, app) {
    Object.assign(this, { section, app, shown: STEP });
  }

  /** The rows that the search leaves, sorted. */
  rows() {
    const { weights, state: { within, sort }, marked, root } = this.app, { names } = weights;
    const [self, total, , base] = within ? [] : weights.byFrame();
    const all = within ? root.follow(within).children.map(({ frame, self, total, base }) => ({ frame, self, total, base }))
      : names.map((_, frame) => ({ frame, self: self[frame], total: total[frame], base: base[frame] }));
    const rows = all.filter(row => (row.total || row.base) && (!marked || marked[row.frame]));
    for (const row of rows) row.change = weights.change(row.total, row.base);
    const size = row => sort === "name" ? 0 : Math.abs(row[sort]);
    return rows.sort((a, b) => size(b) - size(a) || (sort === "name" ? 0 : b.total - a.total) || (names[a.frame] < names[b.frame] ? -1 : 1));
  }

  columns() {
    const { app } = this, { weights, unit } = app, pair = (key, title, sum) => [[key, title, row => quantity(row[key], unit)], [key, "%", row => percent(row[key], sum)]];
    const columns = [...pair("self", "Self", weights.sum), ...pair("total", "Total", weights.sum)];
    const change = row => app.changeText(row.total, row.base) + (row.base ? row.total ? "" : " removed" : " new");
    return weights.isComparison ? [...columns, ...pair("base", "Base", weights.baseSum), ["change", "Change", change]] : columns;
  }

  show() {
    const { app } = this, { state, weights: { names } } = app, rows = this.rows(), columns = this.columns(), more = rows.length - this.shown;
    const head = ([key, title]) => element("th", { scope: "col", ariaSort: key !== state.sort ? "none" : key === "name" ? "ascending" : "descending" },
      element("button", { ariaLabel: `${title}: sort by ${key}`, onclick: () => app.set({ sort: key }) }, title + (key === state.sort && title !== "%" ? " ▾" : "")));
    const line = (row, at) => {
      const name = names[row.frame], select = () => {
        app.subject = row.frame;
        showDetails(app, { ...row, name }, null);
      };
      return element("tr", { ariaRowIndex: at + 2 }, ...columns.map(([, , text]) => element("td", text(row))),
        element("td", { title: name }, element("button", { onclick: select, onfocus: select, ondblclick: () => app.sandwich(name) }, name)));
    };
    const body = element("tbody", ...rows.slice(0, this.shown).map(line)), heads = [...columns, ["name", "Function"]].map(head);
    const button = (text, onclick, isShown) => isShown ? element("button", { onclick }, text) : "";
    this.section.replaceChildren(
      button(`Called by ${state.within?.at(-1) ?? "all"}: show all functions`, () => app.set({ within: null }), state.within),
      element("table", { ariaRowCount: rows.length + 1 }, element("thead", element("tr", { ariaRowIndex: 1 }, ...heads)), body),
      button(`Show more of ${grouped(more)}`, () => this.show(this.shown += 10 * STEP), more > 0));
  }
}
