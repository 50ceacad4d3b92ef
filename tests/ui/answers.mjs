// answers.mjs - answers of every kind with times are drawn, replays are compared, and what
// a canvas shows is a table, too. Posts the examples of the manual, stored.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { base, check, done, open } from "./browser.mjs";

const { page, seen, close } = await open();
const example = (name) => JSON.parse(readFileSync(`${process.env.GRIDPLAN_SOURCE}/openapi/examples/${name}.json`, "utf8"));
async function post(path, body, headers = {}) {
  const r = await fetch(base + path, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) });
  if (!r.ok) throw new Error(`${path}: ${r.status} ${await r.text()}`);
  return r.json();
}
async function visit(hash) {
  await page.goto("about:blank");
  await page.goto(base + "/" + hash);
  await page.waitForSelector("main h1");
}
async function drawn(path, name, more = {}) {
  const { decision_id } = await post(path, { ...example(name), store: true, ...more });
  await visit(`#/decisions/${decision_id}?drawlist=1`);
  await page.waitForFunction(() => document.querySelector("canvas") && document.querySelector("canvas").dataset.drawlist);
  return { id: decision_id, ...JSON.parse(await page.evaluate(() => document.querySelector("canvas").dataset.drawlist)), head: await page.innerText("h1"), label: await page.getAttribute("canvas", "aria-label") };
}
const idsOf = (d) => d.bars.map((b) => b[1] + "@" + b[0]).sort().join(" ");

// Co-allocations: claimed 120 s after the placement, started at 160 s, for ten minutes.
{
  const d = await drawn("/v1/coallocations", "coallocation-worst_fit", { jobs: example("coallocation-worst_fit").jobs.map((j) => ({ ...j, estimate_s: 600 })) });
  check("components stand on their sites", idsOf(d) === "c0@E c1@E c2@C c3@B", idsOf(d));
  check("up to their end", /until 12 min 40 s/.test(d.label), d.label);
  check("one job on three sites", /: 1 job on 3 sites/.test(d.head), d.head);
  await page.click("text=As table");
  check("from the claim on", /c0\s+E\s+2 min\s+12 min 40 s/.test(await page.innerText("table[aria-label=Plan]")), await page.innerText("table[aria-label=Plan]"));
}
// Reschedules: what stays is where the request says, what moves is at its target.
{
  const jobs = await drawn("/v1/reschedules", "migration-gridway");
  check("running jobs stay or move", idsOf(jobs) === "cfd1@ursa cfd2@pegasus cfd3@babieca cfd5@babieca", idsOf(jobs));
  check("what stays runs", jobs.bars.find((b) => b[1] === "cfd1")[2] === "running", jobs.bars);
  const tasks = await drawn("/v1/reschedules", "migration-workflow_round");
  check("tasks move", idsOf(tasks) === "a@CR2 b@CR1" && /until 1 h 23 min/.test(tasks.label), [idsOf(tasks), tasks.label]);
  const phases = await drawn("/v1/reschedules", "migration-multi_phase");
  check("phases go on elsewhere", /phases 4-6@b1/.test(idsOf(phases)), idsOf(phases));
}
// What has no times is shown as it is.
{
  const { decision_id } = await post("/v1/checkpoint-intervals", { ...example("checkpoint-young"), store: true });
  await visit("#/decisions/" + decision_id);
  await page.waitForSelector("text=no times to draw");
  check("an answer without times is printed", /interval_s/.test(await page.innerText("main pre")));
}
{
  const { decision_id } = await post("/v1/placements", { store: true, snapshot: { resources: [{ id: "m", cpus: 1 }] }, jobs: [{ id: "a", estimate_s: 5, cpus: 4 }] });
  await visit("#/decisions/" + decision_id);
  await page.waitForSelector("text=no times to draw");
  check("where nothing has a place the head says so", (await page.innerText("h1")).includes(": 1 job, 1 without a place, gap"), await page.innerText("h1"));
}
// What has no place, each or by classes of like jobs.
for (const [form, told] of [["jobs", /wide1\s+too_small[^]*wide2\s+too_small/], ["classes", /wide1 and 1 like it\s+too_small/], ["ids", /wide1[^]*wide2/]]) {
  const { decision_id } = await post("/v1/placements", { ...example("placement-unplaced_classes"), unplaced_form: form, store: true });
  await visit(`#/decisions/${decision_id}?tab=why`);
  await page.waitForSelector("text=Why not (2)");
  check(`unplaced as ${form} are told`, told.test(await page.locator("tbody").first().innerText()), await page.innerText("main"));
}
// 6: what another release would decide otherwise is outlined in both, on one axis.
{
  const { id } = await drawn("/v1/placements", "placement-min_min");
  await page.route("**/replay", async (route) => {
    const r = await route.fetch(), body = await r.json(), moved = body.answer.placements[0];
    body.identical = false;
    body.differences = ["/placements/0"];
    Object.assign(moved, { start_s: moved.start_s + 1000, finish_s: moved.finish_s + 1000 });
    await route.fulfill({ response: r, json: body }).catch(() => {}); // the page may have gone on
  });
  await visit(`#/decisions/${id}?tab=replay&drawlist=1`);
  await page.check("input[type=checkbox]");
  await page.locator("main button:text-is('Replay')").last().click();
  await page.waitForSelector("text=1 of the bars is elsewhere");
  await page.waitForFunction(() => document.querySelectorAll("canvas").length === 2 && [...document.querySelectorAll("canvas")].every((c) => c.dataset.drawn));
  const labels = await page.evaluate(() => [...document.querySelectorAll("canvas")].map((c) => c.getAttribute("aria-label")));
  check("then and now have one time axis", labels[0].startsWith("Then: ") && labels[1].startsWith("Now: ") && labels[0].slice(6).replace(/.*until/, "") === labels[1].slice(5).replace(/.*until/, ""), labels);
  check("what the dashes mean is told", await page.locator("text=dashed edge: it is elsewhere").count() === 2);
  await page.unroute("**/replay");
}
// Lists that came by columns are drawn as they are by rows.
{
  let token = "", compared = 0, tables = 0;
  do {
    const list = await (await fetch(`${base}/v1/decisions?page_size=50${token && "&page_token=" + encodeURIComponent(token)}`)).json();
    for (const { decision_id } of list.items) {
      const [rows, columns] = await Promise.all(["rows", "columns"].map(async (l) => (await fetch(`${base}/v1/decisions/${decision_id}?lists=${l}`)).json()));
      const r = await page.evaluate(async ([rows, columns]) => {
        const module = (name) => import(performance.getEntriesByType("resource").find((e) => e.name.includes(`/ui/${name}.`)).name);
        const { barsOf, isDrawn } = await module("decisions"), { joined, whole } = await module("columns");
        const { answer, tables } = joined(columns, 0, isDrawn(columns.answer.kind)), plain = (bars) => JSON.stringify(bars.map((b) => [b.id, b.row, b.start, b.end, b.group, b.state, b.critical, b.late, b.stageIn, b.progress, b.transferFrom, b.transferTo]));
        const sorted = (v) => JSON.stringify(v, (k, x) => x && typeof x === "object" && !Array.isArray(x) ? Object.fromEntries(Object.entries(x).sort()) : x);
        return { same: [rows.request, undefined].every((q) => plain(barsOf(rows.answer, q).bars) === plain(barsOf(answer, q, tables).bars)), all: sorted(whole(answer, tables)) === sorted(rows.answer), tables: Object.keys(tables).length };
      }, [rows, columns]);
      check("rows and columns are drawn alike", r.same && r.all, [decision_id, rows.endpoint, r]);
      compared++; tables += r.tables;
    }
    token = list.next_page_token;
  } while (token);
  check("some lists were drawn by columns", compared > 9 && tables > 5, [compared, tables]);
}
// Fingers: two zoom in time, one moves.
{
  const { id } = await drawn("/v1/workflow-schedules", "workflow-heft");
  await visit("#/decisions/" + id);
  await page.waitForFunction(() => document.querySelector("canvas") && document.querySelector("canvas").dataset.drawn);
  await page.evaluate(() => {
    const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
    canvas.setPointerCapture = () => {};
    const send = (type, pointerId, x) => canvas.dispatchEvent(new PointerEvent(type, { pointerId, clientX: box.left + x, clientY: box.top + 40, bubbles: true, pointerType: "touch" }));
    send("pointerdown", 1, 400); send("pointerdown", 2, 500); send("pointermove", 1, 300); send("pointermove", 2, 600); send("pointerup", 1, 300); send("pointerup", 2, 600);
  });
  await page.waitForFunction(() => location.hash.includes("from_s="));
  const p = new URLSearchParams((await page.evaluate(() => location.hash)).split("?")[1]), end = (await (await fetch(`${base}/v1/decisions/${id}`)).json()).answer.objective.makespan_s;
  const share = (p.get("to_s") - p.get("from_s")) / end;
  check("two fingers zoom in time as far as they part", share > 0.3 && share < 0.37, share);
  check("and pick nothing", !p.get("pick"));
}
// Queues of a cluster: partitions and what is free; Slurm's word for a reason.
{
  await post("/v1/queue-orders", { ...example("queue-slurm_backfill"), store: true });
  await visit("#/queue");
  await page.waitForSelector("table[aria-label=Partitions]");
  check("partitions are told", /batch\s+3\s+1 d\s+0\s+0/.test(await page.innerText("table[aria-label=Partitions]")), await page.innerText("table[aria-label=Partitions]"));
  const jobs = await page.innerText("table[aria-label='Jobs of the queue']");
  check("priority and Slurm's reason are told", /101\s+8\s+2463\s+17 min 10 s\s+in 2 h\s+processors \(Resources\)\s+91/.test(jobs), jobs);
  check("tasks of an array wait as their job does", /104_2\s+1\s+2219\s+5 min 30 s/.test(jobs), jobs);
}
// What cannot be told from one run is not told; studies say what would be better.
{
  const run = async (name) => {
    const { id } = await post("/v1/simulations", example(name), { Prefer: "respond-async" });
    for (let i = 0; i < 300 && (await (await fetch(base + "/v1/simulations/" + id)).json()).status !== "done"; i++) await new Promise((go) => setTimeout(go, 100));
    await visit("#/simulations?simulation=" + id);
    await page.waitForSelector("h2:text-is('Answer')");
  };
  await run("simulation-study");
  check("a study has its verdicts", /today\s+in force\s+9 h 42 min/.test(await page.innerText("table[aria-label=Study]")) && /easy\s+better\s+6 h 16 min/.test(await page.innerText("table[aria-label=Study]")), await page.innerText("table[aria-label=Study]"));
  check("a simulation has its name", (await page.innerText("table[aria-label=Simulations]")).includes(example("simulation-study").name));
  await run("simulation-cluster");
  check("differences of the same draws have the service's interval", /[\d.]+ ± [\d.]+, paired\s+(cannot tell|better|worse)/.test(await page.innerText("main")), (await page.innerText("main")).slice(0, 1500));
  await run("simulation-cluster-jobs");
  check("one run tells nothing apart", /cannot tell: one run has no interval/.test(await page.innerText("main")), (await page.innerText("main")).slice(0, 900));
  await run("simulation-queue");
  check("queues have figures, too", (await page.locator("main select option").allInnerTexts()).includes("mean_wait_s") && /better|worse/.test(await page.innerText("main")));
}
// Loads of every measure, and maps as tables.
{
  const now = Date.now();
  await post("/v1/load-samples?on_conflict=keep", Array.from({ length: 100 }, (x, i) => ({ resource_id: "m0", to_resource_id: "m1", observed_at: new Date(now - 300000 * (100 - i)).toISOString(), bandwidth_mbps: 80 + 10 * ((7 * i) % 5) })));
  await visit("#/load");
  await page.waitForSelector("table[aria-label=Forecasts] >> text=m0 to m1");
  await page.click("text=m0 to m1");
  await page.waitForSelector(".uplot canvas");
  check("a link has its bandwidth", /In 10 min: [\d.]+ Mbit\/s/.test(await page.innerText("main")) && /measure=bandwidth_mbps/.test(await page.evaluate(() => location.hash)), (await page.innerText("main")).slice(0, 900));
  await page.waitForSelector("h2:has-text('by day and hour')");
  await page.locator("main button:text-is('As table')").last().click();
  check("its map is a table", /Mbit\/s/.test(await page.innerText("table[aria-label='By day and hour']")));
  await visit("#/failures");
  await page.waitForSelector("canvas.small");
  await page.locator("main button:text-is('As table')").first().click();
  check("outages are a table", await page.locator("table[aria-label=Outages] tbody tr").count() > 3);
  await page.locator("main button:text-is('As table')").last().click();
  check("failures by hour are a table", /(Mo|Tu|We|Th|Fr|Sa|Su)\s+\d+\s+\d+/.test(await page.innerText("table[aria-label='Failures by hour of the week']")));
}
// A model that has seen its world change says so, and how well it predicts.
{
  const runs = Array.from({ length: 40 }, (x, i) => { const p = [1, 2, 4][i % 3], n = 100 + 10 * i; return { execution_id: `moved-${i}`, application_id: "moved", site_id: "lab", processors: p, problem_size: n, run_time_s: n * (1 + 0.05 * ((7 * i) % 5)) / p * (i > 28 ? 2 : 1), started_at: new Date(Date.now() - 600000 * (60 - i)).toISOString() }; });
  await post("/v1/executions?on_conflict=keep", runs);
  for (let i = 0; i < 100 && !(await (await fetch(base + "/v1/models?application_id=moved")).json()).items.some((m) => m.summary); i++) await new Promise((go) => setTimeout(go, 200));
  await visit("#/models?model=moved");
  await page.waitForSelector("table[aria-label=Members]");
  check("the change is told", /Drift: since .* runs take 1\.9\d* times as long/.test(await page.innerText("[role=alert]")), await page.innerText("main"));
  check("runs and errors are in the list", /moved\s+auto\s+40\s+\d+\.\d %\s+\d+\.\d %/.test(await page.innerText("table[aria-label=Models]")), await page.innerText("table[aria-label=Models]"));
}
// What empty pages say can be sent as it is said.
for (const [name, command] of Object.entries(JSON.parse(readFileSync("empty.json", "utf8")))) {
  const status = execFileSync("bash", ["-c", command.replace('"run-1"', '"run-of-nobody"').replace("curl -s", "curl -s -o /dev/null -w '%{http_code}'")]).toString();
  check(`the command of the empty page ${name} is taken`, /^20[0-3]$/.test(status), [status, command]);
}
check("no errors, no other hosts", seen.errors.length === 0 && seen.hosts.size === 0, seen.errors);
await close();
done();
