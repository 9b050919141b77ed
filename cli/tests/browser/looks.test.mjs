// What a page looks like, how it is used, and how long it takes. SCREENSHOTS keeps the pictures for people.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { close, file, hashOf, open, run, SCREENSHOTS, testdata, view } from "./browser.mjs";

after(close);

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const CPU = view(testdata("go-cpu-labels.pb.gz"));
const shot = (page, name) => page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });

/** The middle of the box of a function in a graph, in coordinates of the page. */
async function placeOf(page, name) {
  const [x, y] = await page.evaluate(name => {
    const { graph } = globalThis.view, box = graph.boxes.find(box => !box.rest && box.group.name === name);
    const { left, top } = graph.canvas.getBoundingClientRect();
    return [left + box.x + box.width / 2, top + graph.y(box.row) + 9];
  }, name);
  return { x, y };
}

/** The texts of the page and the pixels of the graph. Screenshots differ in the smoothing of letters. */
const picture = page => page.evaluate(() => ["details", "summary", "chips"].map(id => document.getElementById(id).innerText).concat(globalThis.view.graph.canvas.toDataURL()));

async function click(page, name, options) {
  const { x, y } = await placeOf(page, name);
  if (options?.shift) await page.keyboard.down("Shift");
  await page.mouse.click(x, y);
  if (options?.shift) await page.keyboard.up("Shift");
}

test("clicks and keys change the path and the address, which leads back to the same picture", async () => {
  const page = await open(CPU), path = () => page.evaluate(() => globalThis.view.state.zoom);
  await click(page, "main.sortWork", { shift: true });
  assert.deepEqual(await path(), []);
  assert.match(await page.textContent("#details"), /main\.sortWork.*Total/s);
  await click(page, "main.hashWork");
  const zoomed = await path();
  assert.equal(zoomed.at(-1), "main.hashWork");
  await page.locator("#graph canvas").focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#live"), /^crypto\/sha256\.Sum256, 860 ms, 52\.8 % of all, \d+ callees?$/);
  await page.keyboard.press("Enter");
  assert.equal((await path()).at(-1), "crypto/sha256.Sum256");
  await page.mouse.move(0, 0);
  const before = await picture(page);
  const other = await open(CPU, { hash: new URL(page.url()).hash });
  assert.deepEqual(await picture(other), before, "the address gives the same picture");
  await other.done();
  await page.goBack();
  assert.deepEqual(await path(), zoomed);
  await page.keyboard.press("Escape");
  assert.deepEqual(await path(), []);
  for (const [key, wanted] of [["2", "table"], ["4", "inverted"], ["1", "graph"], ["i", "inverted"], ["i", "graph"]]) {
    await page.keyboard.press(key);
    assert.equal(await page.evaluate(() => globalThis.view.state.view), wanted);
  }
  await click(page, "main.sortWork", { shift: true });
  await page.keyboard.press("s");
  assert.equal(await page.evaluate(() => globalThis.view.root.name), "main.sortWork");
  await page.keyboard.press("?");
  assert.ok(await page.locator("dialog[open]").isVisible());
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "find");
  await page.done();
});

test("matches have their colour, other frames a faint one", async () => {
  const page = await open(CPU, { hash: hashOf({ find: "main.hashWork" }) });
  const colour = name => page.evaluate(name => {
    const { graph } = globalThis.view, box = graph.boxes.find(box => !box.rest && box.group.name === name), scale = devicePixelRatio;
    return [...graph.context.getImageData((box.x + box.width - 6) * scale, (graph.y(box.row) + 9) * scale, 1, 1).data].slice(0, 3).join();
  }, name);
  assert.equal(await colour("main.hashWork"), "247,168,220");
  assert.equal(await colour("main.sortWork"), "236,238,241");
  await page.done();
});

test("every row that fits is drawn, and no label exceeds its box", async () => {
  const deep = file("deep.folded", `${Array.from({ length: 5000 }, (_, row) => `frame_${row}`).join(";")} 7\n`);
  const { traces } = JSON.parse(run("top", "--json", "--traces", testdata("go-cpu-labels.pb.gz")));
  for (const [path, depth] of [[CPU, 1 + Math.max(...traces.map(({ frames }) => frames.length))], [view(deep), 5001]]) {
    const page = await open(path);
    const found = await page.evaluate(() => {
      const { graph } = globalThis.view, { context, width, height, rows, boxes } = graph;
      const isDrawn = row => context.getImageData(2, Math.min(graph.y(row) + 9, height - 1), 1, 1).data[0] !== 255;
      const wide = boxes.filter(box => box.label && context.measureText(box.label).width > box.width - 5);
      return { rows: rows.length, isDrawn: rows.slice(0, 9).every((_, row) => isDrawn(row)), wide: wide.length, height, width, all: boxes.every(box => box.x + box.width < width + 0.01) };
    });
    assert.deepEqual([found.rows, found.isDrawn, found.wide, found.all], [depth, true, 0, true]);
    assert.ok(found.height > 600, "the graph takes the window");
    await page.evaluate(() => { globalThis.view.graph.section.scrollTop = 1e6; });
    await page.done();
  }
});

test("a grey box lists the functions that it joins", async () => {
  const many = file("many.folded", `${Array.from({ length: 5000 }, (_, row) => `main;callee_${row} 1`).join("\n")}\n`);
  const page = await open(view(many));
  const { x, y } = await page.evaluate(() => {
    const { graph } = globalThis.view, box = graph.boxes.find(box => box.rest), { left, top } = graph.canvas.getBoundingClientRect();
    return { x: left + box.x + box.width / 2, y: top + graph.y(box.row) + 9 };
  });
  await page.mouse.move(x, y);
  assert.match(await page.textContent("#hover"), /^5,000 functions too narrow to draw/);
  await page.mouse.click(x, y);
  assert.equal(await page.getAttribute("table", "aria-rowcount"), "5001");
  await page.done();
});

test("names of an attacker are shown as text", async () => {
  const hostile = file("hostile.folded", "main;</script><script>alert(1)</script>;<img src=x onerror=alert(1)>;\u202egnp.exe 5\n" + `main;${"x".repeat(1e6)} 5\n`);
  const page = await open(view(hostile), { hash: "#view=%22table%22&zoom=[1]&find=%22(%22&labels=7&__proto__=1&type=99" });
  assert.equal(await page.locator("img, section script").count(), 0);
  assert.equal(await page.locator("tbody tr").count(), 2, "a search for ( that is no expression finds the letter");
  await page.fill("#find", "");
  assert.equal(await page.locator("tbody tr").count(), 5);
  await page.done();
});

test("a damaged profile gives a sentence", async () => {
  const text = readFileSync(CPU, "utf8");
  for (const [name, change, sentence] of [
    ["cut", text.replace(/(data-sha256="[^"]*"[^>]*>.{4000})[^<]*/, "$1"), /\S/],
    ["empty", text.replace(/(data-sha256="[^"]*"[^>]*>)[^<]*/, `$1${gzipSync(Buffer.from([10, 200, 1])).toString("base64")}`), /ends too early/],
    ["nothing", text.replace(/(data-sha256="[^"]*"[^>]*>)[^<]*/, `$1${gzipSync(Buffer.from([18, 0])).toString("base64")}`), /no samples/],
  ]) {
    const page = await open(file(`${name}.html`, change));
    assert.match(await page.textContent("[role=alert]"), sentence, name);
    await page.done();
  }
});

test("axe finds nothing in any view, theme and size", async () => {
  for (const [name, state, options] of [
    ["light", {}, {}],
    ["dark", { find: "sort" }, { colorScheme: "dark" }],
    ["narrow", {}, { width: 360, height: 740 }],
    ["table", { view: "table" }, {}],
    ["sandwich", { view: "sandwich", frame: "main.sortWork", labels: [["endpoint", ["/v1/sort"]]] }, { colorScheme: "dark" }],
    ["inverted", { view: "inverted", focus: "sort", hide: ["main.main"] }, {}],
    ["forced", { find: "sort" }, { forcedColors: "active" }],
  ]) {
    const page = await open(CPU, { hash: hashOf(state), bypassCSP: true, ...options });
    await shot(page, name);
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(node => node.html.slice(0, 100))]), [], name);
    for (const button of ["#open-about", "#open-help"]) {
      await page.click(button);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(node => node.html.slice(0, 100))]), [], `${name} ${button}`);
      await page.keyboard.press("Escape");
    }
    await page.done();
  }
  const [before, after] = ["main;parse 600\nmain;log 100\n", "main;parse 900\nmain;compress 200\n"].map((text, row) => file(`side-${row}.folded`, text));
  for (const [name, path] of [["diff", view(after, "--diff", before)], ["time", view(testdata("otlp-1.11-timestamped-cpu.binpb"))]]) {
    const page = await open(path);
    await shot(page, name);
    await page.done();
  }
});

test("every control is reached by Tab, and the canvas speaks", async () => {
  const page = await open(CPU), seen = new Set();
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => document.activeElement.id || document.activeElement.tagName + document.activeElement.value));
  }
  for (const id of ["type", "find", "next", "key", "focus", "ignore", "by", "flame", "CANVAS" + "undefined", "save", "open-help"]) assert.ok(seen.has(id), `${id}: ${[...seen]}`);
  await page.done();
});

/** Stacks of a random but fixed graph of calls, some 32 deep. */
function synthetic(count) {
  let seed = 7;
  const random = most => (seed = (seed * 48271) % 2147483647) % most, lines = [];
  for (let row = 0; row < count; row++) {
    let frame = random(8);
    const stack = [];
    for (let depth = 20 + random(24); depth; depth--) {
      stack.push(`github.com/acme/pkg${frame % 40}.(*T).method${frame}`);
      frame = (frame * 31 + random(3) * 977 + 11) % 6000;
    }
    lines.push(`${stack.join(";")} ${1 + random(40)}`);
  }
  return lines.join("\n");
}

test("a page of 100,000 stacks answers to each action", async () => {
  run("convert", file("large.folded", synthetic(100_000)), "-o", file("large.otlp"), "--force", "--max-input-bytes", "1GiB");
  const path = view(file("large.otlp")), start = performance.now(), page = await open(path);
  const times = { ready: performance.now() - start, ...await page.evaluate(() => {
    const { view } = globalThis, time = action => { const start = performance.now(); action(); return performance.now() - start; };
    return {
      draw: time(() => view.graph.draw()), search: time(() => view.set({ find: "method17" }, true)), clear: time(() => view.set({ find: "" }, true)),
      focus: time(() => view.set({ focus: "method1" }, true)), all: time(() => view.set({ focus: "" }, true)),
      table: time(() => view.set({ view: "table" }, true)), sandwich: time(() => view.sandwich(view.weights.names[0])),
    };
  }) };
  console.log("    100,000 stacks, milliseconds:", JSON.stringify(times, (_, time) => typeof time === "number" ? Math.round(time) : time));
  // Times are printed, not asserted: they depend on the machine.
  assert.equal(await page.evaluate(() => globalThis.view.weights.names.length > 1000), true);
  await page.done();
});
