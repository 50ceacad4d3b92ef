// seed.mjs - fills a service with what the pages show. Numbers are drawn by a fixed seed.
const base = process.env.GRIDPLAN_URL;
let state = 7;
const random = () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 4294967296; };

export async function call(method, path, body, headers = {}) {
  const r = await fetch(base + path, { method, headers: { "Content-Type": "application/json", ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await r.text();
  if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${text.slice(0, 500)}`);
  return text ? JSON.parse(text) : null;
}
const post = (path, body, headers) => call("POST", path, body, headers);
const ago = (s) => new Date(Date.now() - 1000 * s).toISOString().slice(0, 19) + "Z";

export const NASTY = ["<img src=x onerror=alert(1)>", "\u202eevil", "漢".repeat(80), "__proto__"];

const resources = Array.from({ length: 100 }, (x, i) => ({ id: `cluster-a-node-${String(i).padStart(3, "0")}`, mips_total: 1 + (i % 4) * 0.5 }));
await post("/v1/placements", { snapshot: { resources }, algorithm: "mct", store: true,
  jobs: Array.from({ length: 10000 }, (x, i) => ({ id: `rnaseq/${["align", "sort", "call", "merge"][i % 4]}_sample_${String(i).padStart(5, "0")}`, estimate_ref_s: Math.exp(5 + 1.5 * (random() + random() + random() - 1.5)) })) });
await post("/v1/placements", { snapshot: { resources: [{ id: "m0", mips_total: 1, memory_bytes: 4e9 }, { id: "m1", mips_total: 2, memory_bytes: 8e9 }] }, algorithm: "min_min", store: true,
  jobs: [{ id: "small", estimate_ref_s: 60, memory_bytes: 1e9 }, { id: "big", estimate_ref_s: 60, memory_bytes: 16e9 }] });
await post("/v1/placements", { snapshot: { resources: NASTY.map((id) => ({ id })) }, algorithm: "mct", store: true, jobs: NASTY.map((id) => ({ id, estimate_ref_s: 5 })) });
await post("/v1/workflow-schedules", { store: true, algorithm: "heft", snapshot: { resources: [{ id: "p0" }, { id: "p1" }, { id: "p2" }], network: { default_bandwidth_mbps: 8 } },
  workflow: { id: "w", tasks: Array.from({ length: 24 }, (x, i) => ({ id: `t${i}`, estimate_ref_s: 5 + 10 * random(), depends_on: i < 3 ? [] : [`t${Math.floor(i / 2) - 1}`] })) } }).catch(async () => {
  await post("/v1/workflow-schedules", { store: true, algorithm: "heft", snapshot: { resources: [{ id: "p0" }, { id: "p1" }, { id: "p2" }] },
    workflow: { id: "w", tasks: Array.from({ length: 24 }, (x, i) => ({ id: `t${i}`, estimate_ref_s: 5 + 10 * random(), depends_on: i < 3 ? [] : [`t${Math.floor(i / 2) - 1}`] })) } });
});
await post("/v1/queue-orders", { store: true, algorithm: "easy", processors: 64, now_s: 1000,
  running: [{ id: "r1", processors: 48, expected_end_s: 4600 }],
  jobs: Array.from({ length: 20 }, (x, i) => ({ id: `q${i}`, processors: 1 + Math.floor(40 * random()), estimate_s: 600 + Math.floor(7200 * random()), submit_s: 40 * i })) });
const samples = [];
for (let i = 0; i < 288; i++) for (const m of ["m0", "m1"]) samples.push({ resource_id: m, observed_at: ago(300 * (288 - i) - 60), cpu_available_ratio: Math.min(1, Math.max(0, 0.6 + 0.3 * Math.sin(i / 30) + 0.1 * (random() - 0.5))) });
await post("/v1/load-samples", samples);
samples.length = 0;
for (let i = 0; i < 3; i++) for (const id of NASTY) samples.push({ resource_id: id, observed_at: ago(300 * (3 - i)), cpu_available_ratio: 0.5 });
await post("/v1/load-samples", samples);
const failures = NASTY.map((id) => ({ resource_id: id, down_at: ago(86400 * 3), up_at: ago(86400 * 3 - 60) }));
for (let r = 0; r < 6; r++) for (let i = 0; i < 4 + 2 * r; i++) { const t = 86400 * (85 * random() + 2); failures.push({ resource_id: `m${r}`, down_at: ago(t), up_at: ago(t - 600 - 7200 * random()) }); }
await post("/v1/failures?on_conflict=keep", failures);
await post("/v1/models", { id: "solver", kind: "linear", application_id: "solver", site_id: "lab" });
await post("/v1/executions", Array.from({ length: 30 }, (x, i) => ({ execution_id: `run-${i}`, application_id: "solver", site_id: "lab", processors: 1, problem_size: 200 + 40 * i, run_time_s: 20 + 0.5 * (200 + 40 * i) * (1 + 0.1 * (random() - 0.5)), started_at: ago(3600 * (40 - i)) })))
  .catch((e) => console.error("executions: " + e.message));
await post("/v1/models/solver/train", {}).catch((e) => console.error("train: " + e.message));
await post("/v1/models", { id: "fresh", kind: "linear", application_id: "never-run", site_id: "lab" });
await post("/v1/simulations", { preset: "ch4_checkpoint", runs: 2, compare: [{ algorithm: "none" }, { algorithm: "periodic", options: { initial_interval_s: 28800 } }] }, { Prefer: "respond-async" })
  .catch((e) => console.error("simulation: " + e.message));
// A run of 60 tasks that is half done: events report what its engine did, and one grant.
const SAMPLES = 20, run = [];
for (let i = 0; i < SAMPLES; i++) for (const [c, before, t] of [["align", null, 300], ["sort", "align", 60], ["call", "sort", 200]])
  run.push({ id: `${c}_s${String(i).padStart(2, "0")}`, class: c, estimate_ref_s: t * (0.8 + 0.4 * random()), depends_on: before ? [{ task_id: `${before}_s${String(i).padStart(2, "0")}` }] : [] });
run.push({ id: "merge", estimate_ref_s: 120, depends_on: run.filter((t) => t.class === "call").map((t) => ({ task_id: t.id })) });
await call("PUT", "/v1/workflow-sessions/rnaseq", { workflow: { tasks: run }, snapshot: { resources: Array.from({ length: 6 }, (x, i) => ({ id: `node-${i}`, mips_total: 1 + (i % 2), cpus: 1 })) } });
const events = [];
const seen = (kind, task_id, s, more) => events.push({ event_id: `e${events.length}`, kind, task_id, observed_at: ago(s), ...more });
for (let i = 0; i < 12; i++) {
  const id = String(i).padStart(2, "0"), at = 1500 - 100 * i;
  seen("started", "align_s" + id, at, { resource_id: `node-${i % 6}` });
  if (i < 9) seen("ended", "align_s" + id, at - 90);
  else if (i === 9) seen("failed", "align_s" + id, at - 60, { failure_kind: "memory", exit_code: 137 });
  else seen("progress", "align_s" + id, 10, { progress_ratio: 0.4 + 0.2 * (i - 10) });
}
await post("/v1/workflow-sessions/rnaseq/events", events);
await post("/v1/workflow-sessions/rnaseq/starts", { holder: "engine-1", hold_s: 3600, max_count: 2 });
await call("PUT", "/v1/workflow-sessions/finished", { workflow: { tasks: [{ id: "only", estimate_ref_s: 5 }] }, snapshot: { resources: [{ id: "m0" }] } });
await post("/v1/workflow-sessions/finished/events", [{ event_id: "1", kind: "started", task_id: "only", resource_id: "m0", observed_at: ago(60) }, { event_id: "2", kind: "ended", task_id: "only", observed_at: ago(50) }]);
await call("PUT", "/v1/workflow-sessions/strange", { workflow: { tasks: NASTY.map((id) => ({ id, estimate_ref_s: 5 })) }, snapshot: { resources: NASTY.map((id) => ({ id })) } });
console.log("seeded");
