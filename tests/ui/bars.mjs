// bars.mjs - how long decisions of many jobs take from the click to the picture, and their
// redraws. `tests/ui/run --bars` calls it. CPU times are those of the page's main thread and
// of the service: they hold on a machine that others keep busy, too.
import { readFileSync } from "node:fs";
import { base, open } from "./browser.mjs";

const RUNS = 7;
let state = 7;
const random = () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 4294967296; };
const median = (l) => l.slice().sort((a, b) => a - b)[l.length >> 1];
const ms = (v) => v.toFixed(v < 20 ? 1 : 0) + " ms";

async function store(jobs, resources) {
  const body = { algorithm: "mct", store: true,
    snapshot: { resources: Array.from({ length: resources }, (x, i) => ({ id: `cluster-a-node-${String(i).padStart(4, "0")}`, mips_total: 1 + (i % 4) * 0.5 })) },
    jobs: Array.from({ length: jobs }, (x, i) => ({ id: `rnaseq/${["align", "sort", "call", "merge"][i % 4]}_sample_${String(i).padStart(6, "0")}`, estimate_ref_s: Math.exp(5 + 1.5 * (random() + random() + random() - 1.5)) })) };
  const r = await fetch(base + "/v1/placements", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!r.ok) throw new Error(`${r.status} ${(await r.text()).slice(0, 300)}`);
  return (await r.json()).decision_id;
}

// CPU seconds of the service, of which the id is given.
function serviceTime() {
  const f = readFileSync(`/proc/${process.env.GRIDPLAN_SERVICE_PID}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(f[11]) + Number(f[12])) / 100;
}

const { page, context, close } = await open();
await page.addInitScript(() => { // what is done in each frame takes so long
  const plain = window.requestAnimationFrame;
  window.draws = [];
  window.requestAnimationFrame = (f) => plain((at) => { const t = performance.now(); f(at); window.draws.push(performance.now() - t); });
});
for (const [jobs, resources] of [[10000, 100], [100000, 1000]]) {
  const id = await store(jobs, resources), wall = [], cpu = [], service = [];
  let wire = 0;
  for (let i = 0; i < RUNS; i++) {
    await page.goto("about:blank");
    await page.goto(base + "/#/decisions");
    await page.waitForSelector(`a[href="#/decisions/${id}"]`);
    await page.waitForTimeout(500);
    const devtools = await context.newCDPSession(page);
    const events = new Promise((go) => { const list = []; devtools.on("Tracing.dataCollected", (e) => list.push(...e.value)); devtools.on("Tracing.tracingComplete", () => go(list)); });
    await devtools.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline"] } });
    const before = serviceTime();
    wall.push(await page.evaluate((x) => new Promise((go) => {
      const began = performance.now(), look = () => { const c = document.querySelector("canvas"); if (c && Number(c.dataset.drawn) > 5000) go(performance.now() - began); else setTimeout(look, 5); };
      document.querySelector(`a[href="#/decisions/${x}"]`).click();
      look();
    }), id));
    service.push(1000 * (serviceTime() - before));
    wire = await page.evaluate((x) => performance.getEntriesByType("resource").filter((e) => e.name.includes(x)).reduce((m, e) => Math.max(m, e.encodedBodySize), 0), id);
    await devtools.send("Tracing.end");
    const list = await events, main = list.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => e.pid + ":" + e.tid);
    // these tasks of the main thread do not lie in each other, those called RunTask lie in them
    const tasks = list.filter((e) => e.ph === "X" && e.tdur && e.name === "ThreadControllerImpl::RunTask" && main.includes(e.pid + ":" + e.tid));
    cpu.push(tasks.reduce((sum, e) => sum + e.tdur / 1000, 0));
    await devtools.detach();
  }
  await page.locator("canvas").focus();
  const r = await page.evaluate(async () => {
    const canvas = document.querySelector("canvas");
    window.draws = [];
    for (let i = 0; i < 200; i++) {
      canvas.dispatchEvent(new KeyboardEvent("keydown", { key: i % 20 < 10 ? "+" : "-", bubbles: true }));
      await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
    }
    const l = window.draws.filter((t) => t > 0.2).sort((a, b) => a - b); // the others count frames
    return { tenth: l[Math.floor(0.1 * l.length)], median: l[l.length >> 1], p95: l[Math.floor(0.95 * l.length)], heap: performance.memory.usedJSHeapSize };
  });
  console.log(`${jobs} bars on ${resources} rows: click to picture ${ms(median(wall))} (${ms(Math.min(...wall))} at best), CPU of the page ${ms(median(cpu))}, of the service ${ms(median(service))}; ${(wire / 1e6).toFixed(2)} MB on the wire; redraw ${ms(r.median)}, 95 % ${ms(r.p95)}, fastest tenth ${ms(r.tenth)}; heap ${(r.heap / 1e6).toFixed(0)} MB`);
}
await close();
process.exit(0);
