// Makes the picture of a page for the README.

import { join } from "node:path";
import { close, hashOf, open, testdata, view } from "./browser.mjs";

const page = await open(view(testdata("go-cpu-labels.pb.gz")), { hash: hashOf({ zoom: ["main.main.func1"] }), width: 1000, height: 430 });
await page.evaluate(() => {
  const { graph } = globalThis.view;
  graph.select(graph.boxes.find(box => box.group.name === "main.sortWork"), false);
});
await page.screenshot({ path: join(process.env.ROOT, "docs/images/view.png") });
await page.done();
await close();
