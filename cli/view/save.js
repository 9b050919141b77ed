// Files to save: the profile as it came, and the graph as a picture.

function download(content, name, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** All rows of a graph as SVG. */
function picture(graph) {
  const { app, width, boxes, rows } = graph, height = rows.length * ROW, kind = "http://www.w3.org/2000/svg";
  const make = (tag, attributes, ...children) => {
    const made = document.createElementNS(kind, tag);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    made.append(...children);
    return made;
  };
  const groups = boxes.map(box => {
    const { fill, text } = app.look(box), y = graph.isUp ? height - (box.row + 1) * ROW : box.row * ROW, { x } = box;
    return make("g", {}, make("title", {}, app.sentence(box)), make("rect", { x, y, width: Math.max(box.width - 0.6, 0.5), height: ROW - 1, fill }),
      make("text", { x: x + 5, y: y + 13, fill: text }, box.width < 36 ? "" : box.label ??= graph.label(box)));
  });
  return new XMLSerializer().serializeToString(make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, style: `background:${app.paint.back};font:${FONT}` }, ...groups));
}
