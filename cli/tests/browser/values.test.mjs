// Values of the page, compared with the reports of the command.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { close, file, hashOf, open, report, run, sums, testdata, view } from "./browser.mjs";

after(close);

const FILES = ["go-cpu-labels.pb.gz", "go-heap.pb.gz", "go-mutex.pb.gz", "rust-cpu.pb.gz", "gperftools-cpu.pb.gz", "node-heap.pb.gz",
  "python-austin-wall.pb", "otlp-1.11-timestamped-cpu.binpb", "otlp-1.11-go-mutex-goroutine.binpb", "otlp-1.3-simple.binpb"];

test("self and total of every function and every type equal those of top", async () => {
  for (const name of FILES) {
    const page = await open(view(testdata(name)));
    const types = await page.evaluate(() => globalThis.view.model.types);
    for (const [row, { type }] of types.entries()) {
      await page.selectOption("#type", String(row));
      assert.deepEqual(await sums(page), report(testdata(name), "--type", type), `${name} ${type}`);
    }
    await page.done();
  }
});

test("several files add up as they do in top", async () => {
  run("convert", testdata("go-heap.pb.gz"), "-o", file("heap.otlp"), "--force");
  for (const inputs of [["go-heap.pb.gz", "go-allocs.pb.gz"], ["go-heap.pb.gz", "go-heap.pb.gz"], ["go-cpu-labels.pb.gz", "go-heap.pb.gz"]].map(names => names.map(testdata)).concat([[testdata("go-heap.pb.gz"), file("heap.otlp")], [file("heap.otlp"), file("heap.otlp")]])) {
    const page = await open(view(...inputs));
    const type = await page.evaluate(() => globalThis.view.unit.type);
    assert.deepEqual(await sums(page), report(inputs[0], "--type", type, ...inputs.slice(1)), inputs.join());
    await page.done();
  }
});

test("the first type is that of top", async () => {
  for (const name of FILES) {
    const page = await open(view(testdata(name)));
    const type = await page.evaluate(() => globalThis.view.unit.type);
    assert.equal(type, JSON.parse(run("top", "--json", testdata(name))).sample_type, name);
    await page.done();
  }
});

test("filters leave what the filters of top leave", async () => {
  const input = testdata("go-cpu-labels.pb.gz"), path = view(input);
  for (const [state, args] of [
    [{ labels: [["endpoint", ["/v1/sort"]]] }, ["--tagfocus", "endpoint=^/v1/sort$"]],
    [{ labels: [["endpoint", ["/v1/sort", "/v1/hash"]], ["region", ["us"]]] }, ["--tagfocus", "region=^us$"]],
    [{ focus: "^sort\\." }, ["--focus", "^sort\\."]],
    [{ ignore: "fmtInteger" }, ["--ignore", "fmtInteger"]],
    [{ hide: ["main.sortWork"] }, ["--hide", "^main\\.sortWork$"]],
    [{ by: "line" }, ["--by", "line"]],
    [{ by: "file" }, ["--by", "file"]],
  ]) {
    const page = await open(path, { hash: hashOf(state) });
    const wanted = report(input, ...args);
    assert.ok(Object.keys(wanted).length > 1, JSON.stringify(state));
    assert.deepEqual(await sums(page), wanted, JSON.stringify(state));
    await page.done();
  }
});

test("resources select profiles, and About names the inputs", async () => {
  for (const [name, input] of [["shop", "go-cpu-labels.pb.gz"], ["cart", "rust-cpu.pb.gz"]]) {
    run("convert", testdata(input), "-o", file(`${name}.otlp`), "--resource", `service.name=${name}`, "--force");
  }
  const page = await open(view(file("shop.otlp"), file("cart.otlp")), { hash: hashOf({ labels: [["service.name", ["shop"]]] }) });
  assert.deepEqual(await sums(page), report(testdata("go-cpu-labels.pb.gz")));
  await page.click("#chips button");
  assert.equal(await page.evaluate(() => globalThis.view.weights.profiles.length), 2);
  await page.selectOption("#key", "service.name");
  await page.selectOption("#value", "shop");
  assert.deepEqual(await sums(page), report(testdata("go-cpu-labels.pb.gz")));
  await page.click("#open-about");
  assert.match(await page.textContent("dialog"), /shop\.otlp.*otlp-1\.10, certain.*cart\.otlp/);
  await page.done();
});

test("details have the place of the code and the spans", async () => {
  const page = await open(view(testdata("go-cpu-labels.pb.gz")));
  await page.evaluate(() => {
    const { graph } = globalThis.view;
    graph.select(graph.boxes.find(box => box.group.name === "main.sortWork"), true);
  });
  assert.match(await page.textContent("#details"), /90 ms, 5\.5 % of all.*main\.go:36.*formats\/godemo.*0x4bb5b3.*01020304010203040102030401020304 \/ 9999999999999991/s);
  await page.done();
});

test("a range of time leaves what filter --time leaves", async () => {
  const input = testdata("otlp-1.11-timestamped-cpu.binpb"), page = await open(view(input));
  const all = await sums(page), start = await page.evaluate(() => globalThis.view.strip.from);
  const [from, to] = [BigInt(start) + 500_000n, BigInt(start) + 3_600_000_000_000n];
  run("filter", input, "--time", `${from}..${to}`, "-o", file("later.otlp"), "--force");
  const later = report(file("later.otlp"));
  await page.fill("#to", "3600");
  await page.fill("#from", "0.0005");
  await page.locator("#from").blur();
  assert.deepEqual(await sums(page), later);
  assert.notDeepEqual(later, all);
  await page.click("#all-time");
  assert.deepEqual(await sums(page), all);
  const box = await page.locator("#time canvas").boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width + 20, box.y + 5);
  await page.mouse.up();
  assert.deepEqual(await sums(page), later, "the same range, dragged");
  await page.done();
});

test("a search counts each sample once, and n visits every match", async () => {
  const input = testdata("go-cpu-labels.pb.gz"), page = await open(view(input));
  for (const expression of ["sort|pdq", "^runtime\\.", "main"]) {
    await page.fill("#find", expression);
    const matched = await page.evaluate(() => globalThis.view.matchedSum);
    const rows = Object.values(report(input, "--focus", `(?i)${expression}`));
    const wanted = rows.reduce((sum, [self]) => sum + self, 0);
    if (expression !== "main") assert.equal(matched, wanted, expression);
    assert.match(await page.textContent("#found"), /^[\d.]+ % matched$/);
  }
  await page.fill("#find", "sort.Strings");
  await page.locator("#graph canvas").focus();
  const seen = new Set();
  await page.keyboard.press("n");
  const count = Number((await page.textContent("#live")).match(/of (\d+)/)[1]);
  for (let step = 0; step < count; step++) {
    seen.add(await page.evaluate(() => globalThis.view.graph.selected.group.path.join(";")));
    await page.keyboard.press("n");
  }
  assert.equal(seen.size, count);
  assert.match(await page.textContent("#live"), /^Match 1 of/);
  await page.done();
});

test("callers and callees of a function add up to it", async () => {
  for (const [name, subject] of [["go-cpu-labels.pb.gz", "main.sortWork"], ["go-cpu-labels.pb.gz", "sort.pdqsort"], ["rust-cpu.pb.gz", null]]) {
    const page = await open(view(testdata(name)));
    const names = subject ? [subject] : await page.evaluate(() => globalThis.view.weights.names);
    for (const frame of names) {
      await page.evaluate(frame => globalThis.view.sandwich(frame), frame);
      const found = await page.evaluate(() => {
        const { root, callers: { top }, weights } = globalThis.view, sum = groups => groups.reduce((sum, group) => sum + group.total, 0);
        const starts = top.nodes.reduce((sum, node, row) => sum + (weights.tree.parent[node] ? 0 : top.parts[row]), 0);
        return [root.total, top.total, sum(root.children) + root.self, sum(top.children) + starts];
      });
      const [, total] = report(testdata(name))[frame] ?? [0, 0];
      assert.deepEqual(found, [total, total, total, total], frame);
    }
    await page.done();
  }
});

test("a comparison with itself has no change, and its two directions mirror each other", async () => {
  const before = file("before.folded", "main;parse 600\nmain;render 300\nmain;log 100\n");
  const after = file("after.folded", "main;parse 1500\nmain;render 300\nmain;compress 200\n");
  const changes = async (one, other) => {
    const page = await open(view(one, "--diff", other), { hash: hashOf({ view: "table", sort: "change" }) });
    const rows = await page.locator("tbody tr").allInnerTexts();
    const found = await page.evaluate(() => globalThis.view.table.rows().map(({ frame, change }) => [globalThis.view.weights.names[frame], change]));
    await page.done();
    return { rows, found: new Map(found) };
  };
  for (const [, change] of (await changes(before, before)).found) assert.equal(change, 0);
  const there = await changes(after, before), back = await changes(before, after);
  for (const [name, change] of there.found) assert.ok(Math.abs(change + back.found.get(name)) < 1e-12, name);
  assert.match(there.rows[0], /\+15\.00 pp\s+parse/);
  assert.ok(there.rows.some(row => /new\s+compress/.test(row)) && there.rows.some(row => /removed\s+log/.test(row)), there.rows.join("\n"));
  const colours = await open(view(after, "--diff", before));
  const hues = await colours.evaluate(() => globalThis.view.graph.boxes.map(box => [box.group.name, globalThis.view.look(box).fill.match(/hsl\((\d+) (\d+)/).slice(1)]));
  for (const [name, hue] of Object.entries({ parse: "28", compress: "28", render: "212", log: "212" })) assert.equal(new Map(hues).get(name)[0], hue, name);
  assert.equal(new Map(hues).get("main")[1], "0", "no change is grey");
  await colours.done();
  // A profile of differences is a comparison of its positive and its negative values.
  const difference = file("difference.pb.gz");
  run("diff", before, after, "--cancel", "-o", difference, "--force");
  const page = await open(view(difference));
  const [sum, base] = await page.evaluate(() => [globalThis.view.weights.sum, globalThis.view.weights.baseSum]);
  assert.deepEqual([sum, base], [1100, 100]);
  await page.done();
});

test("saving gives the payload, and the page is the profile", async () => {
  const input = testdata("go-cpu-labels.pb.gz"), path = view(input), page = await open(path);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  assert.equal(download.suggestedFilename(), "go-cpu-labels.otlp.gz");
  const text = readFileSync(path, "utf8").match(/<script type="application\/vnd\.otlp-profiles\+gzip"[^>]*>([^<]*)/)[1];
  assert.deepEqual(readFileSync(await download.path()), Buffer.from(text, "base64"));
  await page.done();
  run("convert", path, "-o", file("back.pb"), "--force");
  run("convert", input, "--to", "otlp", "-o", file("there.otlp"), "--force");
  run("convert", file("there.otlp"), "-o", file("direct.pb"), "--force");
  assert.deepEqual(readFileSync(file("back.pb")), readFileSync(file("direct.pb")));
});
