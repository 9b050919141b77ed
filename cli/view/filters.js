// The row of filters: attributes, hidden frames, time.

const MOST_VALUES = 1000;

/** The keys of the attributes of samples, profiles, scopes and resources, with the values of each. */
function labelsOf(profiles) {
  const keys = new Map(), used = new Map();
  const add = (key, value) => keys.set(key, (keys.get(key) ?? new Set()).add(value));
  for (const { source, samples, attributes } of profiles) {
    for (const [key, value] of attributes) if (!key.startsWith("pprof.")) add(key, value);
    if (!used.has(source)) used.set(source, new Uint8Array(source.attributes.key.length));
    for (const row of samples.attributes.data.used) used.get(source)[row] = 1;
    for (const link of new Set(samples.link.used)) if (link) LINK_KEYS.forEach((key, place) => add(key, source.links[link][place]));
  }
  for (const [source, rows] of used) rows.forEach((isUsed, row) => { if (isUsed) add(source.key(row), source.value(row)); });
  return keys;
}

/** Fills the menus and the chips, which remove a filter when pressed. */
function showFilters(app) {
  const { state, labels } = app, key = $("key"), value = $("value");
  const options = (first, texts) => [["", first], ...texts.map(text => [text, text.slice(0, 80)])].map(([value, text]) => element("option", { value }, text));
  key.replaceChildren(...options("by attribute …", [...labels.keys()].sort()));
  key.parentElement.hidden = !labels.size;
  value.hidden = true;
  key.onchange = () => {
    const values = [...labels.get(key.value) ?? []].sort();
    value.hidden = !values.length;
    value.replaceChildren(...options(counted(values.length, "value") + (values.length > MOST_VALUES ? `, ${MOST_VALUES} listed` : " …"), values.slice(0, MOST_VALUES)));
  };
  const others = name => state.labels.filter(([other]) => other !== name);
  value.onchange = () => {
    const had = state.labels.find(([name]) => name === key.value)?.[1] ?? [];
    app.set({ labels: [...others(key.value), [key.value, [...had, value.value]]], zoom: [] });
  };
  const chip = (text, changes) => element("button", { title: "Remove this filter", onclick: () => app.set(changes) }, text + " ✕");
  $("chips").replaceChildren(
    ...state.labels.map(([name, values]) => chip(`${name} = ${values.join(" or ")}`, { labels: others(name) })),
    ...state.hide.map(name => chip(`hidden: ${name}`, { hide: state.hide.filter(other => other !== name) })));
}
