// What the tests share: the command, pages, and the browser.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const { COMMAND, CHROMIUM, ROOT, WORK } = process.env;
export const SCREENSHOTS = process.env.SCREENSHOTS;
export const testdata = name => join(ROOT, "testdata", name);
export const file = (name, text) => {
  const path = join(WORK, name);
  if (text !== undefined) writeFileSync(path, text);
  return path;
};

export function run(...args) {
  return execFileSync(COMMAND, args, { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
}

let pages = 0;
export function view(...args) {
  const path = file(`page-${process.pid}-${pages++}.html`);
  run("view", ...args, "-o", path);
  return path;
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--disable-background-networking"] });
export const close = () => browser.close();

/** Opens a page offline. Anything but its own file that it requests, and any error, fails the test. */
export async function open(path, { hash = "", width = 1400, height = 900, ...options } = {}) {
  const context = await browser.newContext({ offline: true, viewport: { width, height }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", error => wrong.push(error.stack));
  page.on("console", message => { if (message.type() === "error") wrong.push(message.text()); });
  page.on("request", request => { if (!/^(file:|blob:)/.test(request.url()) || /\.(js|css)$/.test(request.url())) wrong.push(request.url()); });
  await page.goto(`file://${path}${hash}`);
  await page.waitForSelector("html[data-ready]");
  page.done = async () => {
    await context.close();
    if (wrong.length) throw new Error(wrong.join("\n"));
  };
  return page;
}

/** The fragment for a state. */
export const hashOf = state => "#" + new URLSearchParams(Object.entries(state).map(([key, value]) => [key, JSON.stringify(value)]));

/** Self and total of all functions, as the page has them. */
export function sums(page) {
  return page.evaluate(() => {
    const { weights } = globalThis.view, [self, total] = weights.byFrame();
    return Object.fromEntries(weights.names.map((name, row) => [name, [self[row], total[row]]]).filter(([, sums]) => sums.some(Boolean)));
  });
}

/** The same as the reports of the command have them. */
export function report(input, ...args) {
  const text = run("top", "--json", "--all", "--all-frames", ...args, input).toString();
  const { rows } = JSON.parse(text), all = {};
  for (const { name, flat, cum } of rows) all[name] = [(all[name]?.[0] ?? 0) + flat, (all[name]?.[1] ?? 0) + cum];
  return Object.fromEntries(Object.entries(all).filter(([, sums]) => sums.some(Boolean)));
}
