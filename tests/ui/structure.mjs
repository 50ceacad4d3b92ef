// structure.mjs - pages are compared by their structure: roles, names and values, with
// numbers masked, and what canvases have drawn. GRIDPLAN_RECORD=1 writes them anew.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { base, check, done, open } from "./browser.mjs";

const folder = process.env.GRIDPLAN_SOURCE + "/tests/ui/structure/", record = process.env.GRIDPLAN_RECORD === "1";
mkdirSync(folder, { recursive: true });
function compare(name, found) {
  if (record) writeFileSync(folder + name, found);
  const kept = existsSync(folder + name) ? readFileSync(folder + name, "utf8") : "";
  if (kept === found) return check(name, true);
  const a = kept.split("\n"), b = found.split("\n"), i = b.findIndex((l, n) => l !== a[n]);
  check(`${name} is as it was (line ${i + 1})`, false, { was: a.slice(i, i + 3), is: b.slice(i, i + 3) });
}
const masked = (yaml) => yaml.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID").replace(/[0-9a-f]{8}-[0-9a-f]{4}\b/g, "ID")
  .replace(/\d[\d,.:TZ-]*( (d|h|min|s|ms|µs))?( \d+ (h|min|s)\b)?/g, "N").replace(/\bby [a-z_N]+,/g, "by forecaster,").replace(/(N\b)(?:\s*,?\s*N\b)+/g, "$1")
  .replace(/(, N % to N %)?, by \w+,?( mean error so far N?)?\.?/g, ", by forecaster.") + "\n"; // as below

const list = (await (await fetch(base + "/v1/decisions")).json()).items;
const idOf = (fits) => list.find(fits).decision_id;
const workflow = idOf((d) => d.endpoint.includes("workflow")), small = idOf((d) => d.unplaced_count === 1);
const PAGES = { decisions: "#/decisions?endpoint=placements", decision: "#/decisions/" + workflow, why: `#/decisions/${small}?tab=why`, load: "#/load", failures: "#/failures", models: "#/models",
  simulations: "#/simulations", queue: "#/queue", sessions: "#/sessions/finished", system: "#/system" };
const { page, close } = await open({ reducedMotion: "reduce" });
for (const [name, hash] of Object.entries(PAGES)) {
  await page.goto("about:blank");
  await page.goto(base + "/" + hash);
  await page.waitForSelector("main h1");
  await page.waitForTimeout(2000);
  // Long tables grow with what is measured: their heads and first rows tell the structure.
  await page.evaluate(() => document.querySelectorAll("tbody").forEach((t) => [...t.rows].slice(3).forEach((r) => r.remove())) ?? document.querySelectorAll("pre").forEach((e) => { e.textContent = "text"; }));
  // Which forecaster is best at this time of day is no structure, nor whether it has errors.
  await page.evaluate(() => document.querySelectorAll("table[aria-label=Forecasts] td.n").forEach((e) => { e.textContent = e.textContent.replace(/ ± [\d.]+$/, ""); }));
  await page.evaluate(() => document.querySelectorAll("table[aria-label=Forecasts] td:last-child").forEach((e) => { e.textContent = "forecaster"; }));
  compare(name + ".yaml", masked(await page.locator("body").ariaSnapshot()));
}
for (const [name, id] of Object.entries({ workflow, placement: small })) {
  await page.goto("about:blank");
  await page.goto(`${base}/#/decisions/${id}?drawlist=1`);
  await page.waitForFunction(() => document.querySelector("canvas") && document.querySelector("canvas").dataset.drawlist);
  await page.waitForTimeout(500);
  compare(`drawlist-${name}.json`, JSON.stringify(JSON.parse(await page.evaluate(() => document.querySelector("canvas").dataset.drawlist)), null, 1) + "\n");
}
await close();
done();
