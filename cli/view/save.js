// Files to save: the profile as it came, and the graph as a picture.

function download(content, name, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** All rows of a graph as SVG. */
function picture(graph) {
  const { app, width, boxes, rows } = graph, tall = rows.length * ROW, svg = document.implementation.createDocument("http://www.w3.org/2000/svg", "svg");
  const put = (parent, tag, attributes, text = "") => {
    const made = parent.appendChild(svg.createElementNS(svg.documentElement.namespaceURI, tag));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };
  for (const [key, value] of Object.entries({ width, height: tall, viewBox: `0 0 ${width} ${tall}`, style: `background:${app.paint.back};font:${FONT}` })) svg.documentElement.setAttribute(key, value);
  for (const box of boxes) {
    const look = app.look(box), y = graph.isUp ? tall - (box.row + 1) * ROW : box.row * ROW, x = box.x.toFixed(1), made = put(svg.documentElement, "g", {});
    put(made, "title", {}, app.sentence(box));
    put(made, "rect", { x, y, width: Math.max(box.width - 0.6, 0.5).toFixed(1), height: ROW - 1, fill: look.fill });
    if (box.width >= 36) put(made, "text", { x: (box.x + 5).toFixed(1), y: y + 13, fill: look.text }, box.label ??= graph.label(box));
  }
  return new XMLSerializer().serializeToString(svg);
}
