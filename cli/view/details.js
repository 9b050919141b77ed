// Facts about the frame that is selected, and what can be done with it.

/** Where the code of a frame is, in all messages: the values of each fact. */
function placesOf({ sources, locationFrames }, frame) {
  const facts = { File: new Set(), Binary: new Set(), "Build id": new Set(), "Frame type": new Set(), Address: new Set() };
  sources.forEach((source, row) => {
    const { lines, mapping, attributes } = source.locations;
    for (let location = 1; location < mapping.length && facts.Address.size < 6; location++) {
      const at = locationFrames[row].get(location).indexOf(frame);
      if (at < 0) continue;
      const [id, number] = lines.get(location).slice(-2 * (at + 1)), binary = source.mappings[mapping.items[location]];
      const file = id === undefined ? "" : source.text(source.functions[id].file);
      facts.File.add(file && number ? `${file}:${number}` : file);
      facts.Binary.add(source.text(binary.file));
      facts.Address.add(source.address(location));
      for (const row of [...attributes.get(location), ...binary.attributes]) {
        const key = source.key(row), fact = key === "profile.frame.type" ? "Frame type" : key.includes("build_id") ? "Build id" : null;
        if (fact) facts[fact].add(source.value(row));
      }
    }
  });
  for (const values of Object.values(facts)) values.delete("");
  return facts;
}

/** The first spans of the samples with the frame. */
function spansOf({ tree, profiles }, frame, { sources }) {
  const found = new Set(), linked = profiles.filter(({ source }) => source.links.length > 1);
  const below = linked.length ? tree.below(Uint8Array.from({ length: tree.frameCount }, (_, row) => +(row === frame))) : [];
  for (const { source, samples: { link, stack } } of linked) {
    const nodes = tree.stackNodes[sources.indexOf(source)];
    for (let row = 0; row < link.length && found.size < 6; row++) {
      if (link.items[row] && below[nodes[stack.items[row]]]) found.add(source.links[link.items[row]].join(" / "));
    }
  }
  return found;
}

/** Shows a frame with its values; `group` is its place in a graph, if it has one. */
function showDetails(app, { frame, name, self, total, base }, group) {
  const { weights, model, unit, state } = app, facts = [["Total", `${quantity(total, unit)}, ${percent(total, weights.sum)} of all`]];
  if (group && state.zoom.length) facts.push(["Of zoomed", percent(total, app.top.total)]);
  if (app.marked?.[frame]) facts.push(["Of matched", percent(weights.width(total, base), app.matchedSum)]);
  facts.push(["Self", `${quantity(self, unit)}, ${percent(self, weights.sum)}`]);
  if (weights.isComparison) facts.push(["Base", `${quantity(base, unit)}, ${percent(base, weights.baseSum)}`], ["Change", app.changeText(total, base)]);
  const places = frame < 0 ? {} : { ...placesOf(model, frame), "Trace / span": spansOf(weights, frame, model) };
  for (const [title, values] of Object.entries(places)) if (values.size) facts.push([title, [...values].slice(0, 5).join(", ") + (values.size > 5 ? " …" : "")]);
  const narrow = key => () => app.set({ [key]: `^${quoted(name)}$`, zoom: [] });
  const actions = { Sandwich: () => app.sandwich(name), Focus: narrow("focus"), Ignore: narrow("ignore"), Hide: () => app.set({ hide: [...state.hide, name], zoom: [] }),
    "Copy name": () => copy(app, name), ...group && { "Copy stack": () => copy(app, group.path.join(";")) } };
  const buttons = frame < 0 ? [] : Object.entries(actions).map(([title, onclick]) => element("button", { onclick }, title));
  $("details").replaceChildren(element("h2", name), ...buttons, list(facts));
}

/** Facts as a list of terms. */
function list(facts) {
  return element("dl", ...facts.flatMap(([term, fact]) => [element("dt", term), element("dd", fact)]));
}

async function copy(app, text) {
  await navigator.clipboard.writeText(text).then(() => app.say("Copied"), error => app.say(error.message));
}
