// Controls, keys, and the start.

const HELP = [["1 2 3 4", "graph, table, sandwich, inverted"], ["↑ ↓ ← →", "caller, callee, neighbours"], ["Enter, click", "zoom, or list narrow functions"], ["Shift + click", "select"],
  ["Escape", "zoom out, then clear the search"], ["/ n N", "search, next, previous match"], ["s", "callers and callees of the selected function"], ["f", "root at the top or the bottom"],
  ["c", "copy the name"], ["i", "callers of the hottest functions"], ["?", "this help"]];
const TEXTS = ["find", "focus", "ignore"], MENUS = ["by", "width", "compare"];

function showControls(app) {
  const { state, weights, unit } = app;
  $("type").value = state.type;
  for (const button of $("views").children) button.ariaPressed = button.value === state.view;
  for (const id of TEXTS) if ($(id) !== document.activeElement) $(id).value = state[id];
  for (const id of MENUS) $(id).value = state[id];
  $("flame").checked = state.flame;
  $("comparison").hidden = !weights.isComparison;
  $("theme").textContent = app.paint.isDark ? "Light" : "Dark";
  $("found").textContent = app.marked ? percent(app.matchedSum, weights.all) + " matched" : "";
  const parts = [` in ${counted(weights.samples, "record")}`];
  if (weights.isComparison) parts.push(`base ${quantity(weights.baseSum, unit)}`);
  if (weights.untimed) parts.push(`${counted(weights.untimed, "sample")} without a time left out`);
  $("summary").replaceChildren(element("b", quantity(weights.sum, unit)), parts.join(" · "));
}

/** Goes to the next call that matches, largest first. */
function goToMatch(app, step) {
  const { weights: { tree, total, baseTotal, names }, marked } = app;
  if (!marked) return;
  if (app.matchesOf !== app.state.find + app.values) {
    const matches = [], { outermost } = tree;
    for (let node = 1; node < tree.length; node++) if (marked[tree.frame[node]] && outermost[node] && (total[node] || baseTotal?.[node])) matches.push(node);
    matches.sort((a, b) => total[b] - total[a]);
    Object.assign(app, { matchesOf: app.state.find + app.values, matches, match: step > 0 ? -1 : 0 });
  }
  const { matches } = app, path = [];
  if (!matches.length) return app.say("No match");
  app.match = (app.match + step + matches.length) % matches.length;
  for (let node = matches[app.match]; node; node = tree.parent[node]) path.unshift(names[tree.frame[node]]);
  app.set({ view: "graph", zoom: path.slice(0, -1) }, true);
  const group = app.root.follow(path);
  app.graph.select(app.graph.boxes.find(box => box.group === group && !box.rest), true);
  app.say(`Match ${app.match + 1} of ${grouped(matches.length)}: ${path.at(-1)}`);
}

function bindControls(app) {
  const menu = $("type"), name = ({ type, unit }) => (type || "samples") + (unit ? ` (${unit})` : "");
  menu.replaceChildren(...app.model.types.map((type, value) => element("option", { value }, name(type))));
  menu.onchange = () => app.set({ type: Number(menu.value), time: null });
  $("views").onclick = ({ target: { value: view } }) => view && app.set({ view, zoom: [], within: null, frame: app.weights.names[app.subject] ?? app.state.frame });
  for (const id of MENUS) $(id).onchange = () => app.set({ [id]: $(id).value, ...id === "by" && { zoom: [] } });
  for (const id of TEXTS) $(id).oninput = () => app.set({ [id]: $(id).value }, true);
  $("flame").onchange = () => app.set({ flame: $("flame").checked });
  $("search").onsubmit = event => {
    event.preventDefault();
    goToMatch(app, 1);
  };
  $("previous").onclick = () => goToMatch(app, -1);
  $("theme").onclick = () => app.set({ theme: app.paint.isDark ? "light" : "dark" });
  $("save").onclick = () => app.about.messages.forEach(({ file }, row) => download(base64Bytes($("profile-" + row).textContent), baseName(file).replace(/(\.pb|\.otlp)?(\.gz)?$/, ".otlp.gz"), "application/gzip"));
  $("picture").onclick = () => download(picture(app.graph), "graph.svg", "image/svg+xml");
  $("open-about").onclick = () => showAbout(app);
  $("open-help").onclick = () => openDialog("Keys", HELP);
  document.onkeydown = event => onKey(app, event);
}

function onKey(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog").open) return;
  const { state } = app, name = app.weights.names[app.subject], view = $("views").children[event.key - 1];
  if (event.key === "Escape") {
    document.activeElement.blur();
    return app.set(state.zoom.length ? { zoom: [] } : { find: "" });
  }
  const commands = { "/": () => $("find").focus(), n: () => goToMatch(app, 1), N: () => goToMatch(app, -1), s: () => name && app.sandwich(name), f: () => app.set({ flame: !state.flame }),
    c: () => name && copy(app, name), i: () => app.set({ view: state.view === "inverted" ? "graph" : "inverted", zoom: [] }), "?": () => $("open-help").click() };
  const command = view ? () => view.click() : commands[event.key];
  if (/^(INPUT|SELECT)$/.test(event.target.tagName) || !command) return;
  event.preventDefault();
  command();
}

function openDialog(title, facts) {
  $("dialog").replaceChildren(element("h2", title), list(facts), element("form", { method: "dialog" }, element("button", "Close")));
  $("dialog").showModal();
}

function showAbout({ about, model, weights: { tree } }) {
  const inputs = about.messages.flatMap(message => [[message.base ? "Base" : "Profile", message.file], ["Read as", `${message.format}, ${message.certainty}`],
    ...["Evidence", "Findings", "Losses"].map(title => [title, message[title.toLowerCase()].join("; ") || "0"])]);
  openDialog("About this profile", [...inputs, ["Contents", `${counted(model.profiles.length, "profile")}, ${counted(tree.frameCount, "function")}, ${counted(tree.length - 1, "call")} in the tree`],
    ["Written by", `otlp-profiles ${about.version}, which reads this page as well: otlp-profiles convert PAGE.html -o OUT.otlp`]]);
}

async function main() {
  const about = JSON.parse($("about").textContent);
  $("title").textContent = document.title;
  const sources = await Promise.all(about.messages.map(async (message, row) => {
    const { textContent, dataset } = $("profile-" + row);
    return Object.assign(new Source(await gunzip(base64Bytes(textContent)), message), { isSorted: dataset.order === "name" });
  }));
  const app = globalThis.view = new App(new Model(sources, about.units), about);
  bindControls(app);
  showControls(app);
}

main().catch(error => document.querySelector("main").replaceChildren(element("p", { className: "error", role: "alert" }, error.message)))
  .finally(() => { document.documentElement.dataset.ready = "true"; });
