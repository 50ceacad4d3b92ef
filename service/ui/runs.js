// runs.js - simulations, the batch queue, and the service itself.
import { html, useEffect, useRef, useState } from "/ui/preact-htm.js";
import { get, query } from "/ui/api.js";
import { colours, prepare, useCanvas, Rows, Wide } from "/ui/chart.js";
import { bytes, duration, fitting, instant, number, percent, short } from "/ui/format.js";
import { Empty, LiveBar, Pages, Title, Wrong, usePoll } from "/ui/live.js";
import { Answer, Choice } from "/ui/decisions.js";

// ---- simulations ----

// Points with their 95 % intervals, one row per policy.
function Intervals({ rows, name }) {
  const finite = rows.flatMap((r) => [r.mean - (r.ci || 0), r.mean + (r.ci || 0)]).filter(isFinite);
  const low = Math.min(...finite), high = Math.max(...finite), span = high - low || Math.abs(high) || 1;
  const draw = (canvas) => {
    const { context: c, width, height } = prepare(canvas), col = colours(), left = Math.min(220, width / 3), w = width - left - 16, h = (height - 16) / rows.length;
    const x = (v) => left + 8 + ((v - low) / span) * w;
    c.clearRect(0, 0, width, height); c.font = "11px system-ui, sans-serif"; c.textBaseline = "middle";
    rows.forEach((r, i) => {
      const y = i * h + h / 2;
      c.fillStyle = col.text; c.fillText(fitting(r.label, Math.floor(left / 6.2)), 2, y);
      c.strokeStyle = col.series[0]; c.lineWidth = 2; c.beginPath();
      c.moveTo(x(r.mean - (r.ci || 0)), y); c.lineTo(x(r.mean + (r.ci || 0)), y);
      for (const e of [-1, 1]) if (r.ci) { c.moveTo(x(r.mean + e * r.ci), y - 5); c.lineTo(x(r.mean + e * r.ci), y + 5); }
      c.stroke(); c.fillStyle = col.series[0]; c.beginPath(); c.arc(x(r.mean), y, 4, 0, 7); c.fill();
    });
    c.fillStyle = col.dim; c.fillText(short(low), left + 8, height - 6); c.textAlign = "right"; if (high > low) c.fillText(short(high), width - 4, height - 6);
  };
  const [ref] = useCanvas(draw, [rows]);
  return html`<canvas class="small" ref=${ref} role="img" aria-label=${`${name}: ${rows.map((r) => `${r.label} ${short(r.mean)}${r.ci ? " plus or minus " + short(r.ci) : ""}`).join(", ")}`}></canvas>`;
}

// Whether less of a figure is better; figures that are neither are not named.
const LESS = /wait|turnaround|response|slowdown|makespan|lost|rejected|failed|cancelled|killed|unfinished|never_fit|unplaced|cost|energy|idle|down|restart|tardiness|failures|flow_time/;
const MORE = /done|useful|utilisation|availability|fairness|completed|accepted|jobs_per_hour|throughput/;
const wayOf = (name) => LESS.test(name) ? -1 : MORE.test(name) ? 1 : 0;

// Figures {mean, ci95} of results, by metric.
function metricsOf(results) {
  const byName = new Map();
  for (const r of results) {
    const label = r.label || r.algorithm || r.policy || r.name || "";
    for (const [k, v] of Object.entries(r.metrics || r.figures || r)) {
      const mean = typeof v === "number" ? v : v && typeof v === "object" ? v.mean : undefined;
      if (typeof mean !== "number") continue;
      if (!byName.has(k)) byName.set(k, []);
      byName.get(k).push({ label, mean, ci: v && typeof v.ci95 === "number" ? v.ci95 : 0, alone: v && typeof v === "object" && typeof v.ci95 !== "number" });
    }
  }
  return byName;
}

// How a mean stands to another one: as the interval of their difference says, `paired` (of
// the same draws) if the service has it, else as if both were independent.
export function verdict(a, b, name, paired) {
  const difference = paired ? paired.mean : a.mean - b.mean, half = paired ? paired.ci95 || 0 : Math.hypot(a.ci, b.ci), way = wayOf(name);
  if (!paired && (a.alone || b.alone)) return { difference, half, says: "cannot tell: one run has no interval" };
  const sure = difference + half < 0 ? -1 : difference - half > 0 ? 1 : 0;
  return { difference, half, paired: Boolean(paired), says: !sure ? "cannot tell" : way ? sure === way ? "better" : "worse" : sure < 0 ? "less" : "more" };
}

// A study of a queue: each variant beside what is in force today.
function Study({ study }) {
  const waits = (v) => v && v.vs_base && v.vs_base.wait_s;
  const rows = [study.base, ...(study.variants || [])].map((v) => [v.id || v.policy, v.verdict ? String(v.verdict).replace(/_/g, " ") : v === study.base ? "in force" : "", duration(v.figures && v.figures.mean_wait_s), waits(v) ? `${duration(waits(v).mean)} (${duration(waits(v).low)} to ${duration(waits(v).high)})` : "",
    v.figures && typeof v.figures.utilisation_ratio === "number" ? percent(v.figures.utilisation_ratio) : "", v.policy || "", v.processors ?? ""]);
  return html`<h2>Study</h2><${Rows} label="Study" head=${["variant", "verdict", "mean wait", "change (its interval)", "busy", "policy", "processors"]} rows=${rows} />
    <p class="dim">Of ${number(study.job_count)} jobs in ${number(study.block_count)} blocks; intervals of ${percent(study.confidence)}.</p>`;
}

const ANSWER_LISTS = ["jobs", "schedule", "placements"];

function Results({ answer }) {
  const results = answer.results || answer.policies || [], figures = metricsOf(Array.isArray(results) ? results : []);
  const [name, setName] = useState("");
  // At first a figure that says which is better, and tells them apart.
  const names = [...figures.keys()], telling = names.find((n) => wayOf(n) && new Set(figures.get(n).map((r) => r.mean)).size > 1);
  const chosen = names.includes(name) ? name : telling || names[0];
  const base = figures.size ? figures.get(chosen)[0] : null;
  // Of the same draws, by the pair of labels: the service compares with its own baseline.
  const pairOf = (label) => (answer.differences || []).find((d) => d.metric === chosen && d.label === label && d.baseline === base.label);
  return html`${names.length ? html`<div class="bar"><label>metric <select value=${chosen} onChange=${(e) => setName(e.target.value)}>${names.map((n) => html`<option value=${n}>${n}</option>`)}</select></label></div>
    <${Intervals} rows=${figures.get(chosen)} name=${chosen} />
    <${Rows} head=${["policy", "mean", "95 % interval", "difference to " + base.label, "verdict"]} rows=${figures.get(chosen).map((r) => {
        const v = verdict(r, base, chosen, pairOf(r.label));
        return [r.label, r.mean, r.ci ? `${short(r.mean - r.ci)} to ${short(r.mean + r.ci)}` : "", r === base ? "" : `${short(v.difference)}${v.half ? ` ± ${short(v.half)}` : ""}${v.paired ? ", paired" : ""}`, r === base ? "" : v.says]; })} />` : ""}
    ${Array.isArray(answer.ranking) && answer.ranking.length > 1 ? html`<p>Ranking: ${answer.ranking.map((r) => typeof r === "string" ? r : r.label || r.algorithm).join(", ")}</p>` : ""}
    ${ANSWER_LISTS.some((k) => Array.isArray(answer[k])) ? html`<${Answer} answer=${answer} name="Simulated jobs" />` : ""}
    ${answer.study ? html`<${Study} study=${answer.study} />` : ""}
    <h2>Answer</h2><pre tabindex="0">${JSON.stringify(answer, null, 1).slice(0, 200000)}</pre>`;
}

function Simulation({ id }) {
  const live = usePoll("/v1/simulations/" + encodeURIComponent(id), 2), d = live.data;
  const left = d && d.status === "running" && d.progress_ratio > 0.01 && d.started_at ? (Date.now() - Date.parse(d.started_at)) / 1000 * (1 - d.progress_ratio) / d.progress_ratio : null;
  return html`<${Wrong} error=${live.error} />${d ? html`<p>${[d.name, d.simulates || (d.answer || d.result || {}).kind || d.kind].filter(Boolean).map((t) => t + ", ")}${d.status}${d.progress_ratio !== undefined ? html` <progress max="1" value=${d.progress_ratio} aria-label="progress"></progress> ${percent(d.progress_ratio)}` : ""}${left !== null ? `, about ${duration(left)} left` : ""}</p>
    ${d.error ? html`<div class="note wrong">${d.error.detail || d.error.title || JSON.stringify(d.error)}</div>` : ""}
    ${d.answer || d.result ? html`<${Results} answer=${d.answer || d.result} />` : ""}` : ""}`;
}

const KINDS = ["grid", "cluster", "coallocation", "multi_phase", "queue", "workflow"];
const STATUSES = ["queued", "running", "done", "cut", "cancelled", "failed"];

export function Simulations({ p, set }) {
  const live = usePoll("/v1/simulations" + query({ simulates: p.get("kind"), status: p.get("status"), page_size: 100, page_token: p.get("page") }), 5), items = live.data ? live.data.items : [], filtered = p.get("kind") || p.get("status") || p.get("page");
  const idOf = (s) => s.simulation_id || s.id, picked = p.get("simulation") || (items[0] && idOf(items[0]));
  return html`<${Title} text="Simulations" /><div class="bar" role="search"><${Choice} label="kind" value=${p.get("kind")} values=${KINDS} onChange=${(v) => set({ kind: v, simulation: "", page: "" })} />
      <${Choice} label="status" value=${p.get("status")} values=${STATUSES} onChange=${(v) => set({ status: v, simulation: "", page: "" })} /><span class="grow"></span><${LiveBar} live=${live} /></div><${Wrong} error=${live.error} />
    ${live.data && !items.length && filtered ? html`<p>No simulation fits.</p>` : ""}
    ${live.data && !items.length && !filtered ? html`<div class="note"><p>No simulation was asked for. With <code>Prefer: respond-async</code> it runs without the client, and is shown here:</p>
      <pre tabindex="0">${`curl -s -H 'Content-Type: application/json' -H 'Prefer: respond-async' ${location.origin}/v1/simulations \\\n  --data '{"preset":"ch4_checkpoint","runs":3,"compare":[{"algorithm":"none"},{"algorithm":"mean_failure","options":{"initial_interval_s":28800}}]}'`}</pre></div>` : ""}
    ${items.length ? html`<div class="split"><${Wide}><table aria-label="Simulations"><thead><tr><th scope="col">simulation</th>${items.some((s) => s.name) ? html`<th scope="col">name</th>` : ""}<th scope="col">kind</th><th scope="col">status</th><th scope="col">progress</th><th scope="col">asked</th></tr></thead>
      <tbody>${items.map((s) => html`<tr class=${idOf(s) === picked ? "picked" : ""}><td><button aria-pressed=${idOf(s) === picked} onClick=${() => set({ simulation: idOf(s) })}>${idOf(s).slice(0, 13)}</button></td>${items.some((x) => x.name) ? html`<td class="text">${s.name || ""}</td>` : ""}<td>${s.simulates || ""}</td><td>${s.status}</td>
        <td>${s.progress_ratio !== undefined ? html`<progress max="1" value=${s.progress_ratio} aria-label=${"progress " + percent(s.progress_ratio)}></progress>` : ""}</td><td title=${s.created_at}>${instant(s.created_at)}</td></tr>`)}</tbody></table><${Pages} live=${live} p=${p} set=${set} /><//>
      <div><h2>${picked}</h2>${picked ? html`<${Simulation} key=${picked} id=${picked} />` : ""}</div></div>` : ""}`;
}

// ---- queue ----

// A partition of the request, with what is free there.
function partition(free, request) {
  const cluster = (request && request.cluster) || {}, p = (cluster.partitions || []).find((x) => x.id === free.partition_id) || {};
  const nodes = p.resource_ids || cluster.resources || []; // without a list: all
  return [free.partition_id, nodes.length || "", p.time_limit_max_s ? duration(p.time_limit_max_s) : "", short(free.nodes), short(free.cpus)];
}

const HEAD = ["job", "cpus", "priority", "waits for", "starts (estimate)", "reason", "in the way", "detail"];

export function Queue() {
  const live = usePoll("/v1/decisions?endpoint=queue-orders&page_size=1", 5), last = live.data && live.data.items[0];
  const whole = usePoll(last ? "/v1/decisions/" + encodeURIComponent(last.decision_id) : null, 0), d = whole.data, a = d && d.answer;
  const jobs = new Map(((d && d.request && d.request.jobs) || []).map((j) => [j.id, j]));
  const now = d && (d.request.now_s ?? 0);
  const row = (w) => { const j = jobs.get(w.job_id) || jobs.get(String(w.job_id).replace(/_\d+$/, "")) || {}; return [w.job_id, short(w.processors ?? j.processors ?? j.cpus), short(w.priority ?? j.priority), j.submit_s !== undefined && now !== undefined ? duration(now - j.submit_s) : "",
    w.estimated_start_s !== undefined && w.estimated_start_s !== null ? "in " + duration(Math.max(0, w.estimated_start_s - (now || 0))) : w.start_s !== undefined ? "now" : "", [w.reason, w.slurm_reason ? `(${w.slurm_reason})` : ""].filter(Boolean).join(" "), w.blocking_job_id || "", w.detail || ""]; };
  const rows = a ? [...(a.starts || []), ...(a.waiting || [])].map(row) : [], shows = (x, i) => HEAD[i] !== "priority" || rows.some((r) => r[i] !== "");
  return html`<${Title} text="Queue" /><div class="bar"><span>${last ? html`decided <a href=${"#/decisions/" + encodeURIComponent(last.decision_id)}>${instant(last.created_at)}</a> by ${last.algorithm}` : ""}</span><span class="grow"></span><${LiveBar} live=${live} /></div>
    <${Wrong} error=${live.error || whole.error} />
    ${live.data && !last ? html`<${Empty} what=${"No order of a queue is stored yet. One is stored when its request says \"store\": true:"} path="/v1/queue-orders" body='{"processors":8,"now_s":0,"jobs":[{"id":"a","processors":4,"estimate_s":60,"submit_s":0}],"algorithm":"easy","store":true}' />` : ""}
    ${a ? html`<${Answer} answer=${a} request=${d.request} name="Queue" />
      <${Rows} label="Jobs of the queue" head=${HEAD.filter(shows)} rows=${rows.map((r) => r.filter((x, i) => shows(x, i)))} />
      ${Array.isArray(a.free) && a.free.length ? html`<h2>Partitions</h2><${Rows} label="Partitions" head=${["partition", "nodes", "time limit", "free nodes", "free cpus"]} rows=${a.free.map((f) => partition(f, d.request))} />` : ""}
      ${a.objective ? html`<p>${a.objective.free_processors !== undefined ? `Free now: ${short(a.objective.free_processors)} ${a.objective.free_processors === 1 ? "processor" : "processors"}. ` : ""}${typeof a.objective.mean_wait_s === "number" ? `Mean wait: ${duration(a.objective.mean_wait_s)}.` : ""}</p>` : ""}` : ""}`;
}

// ---- the service ----

// Samples of the text format of Prometheus: [{name, labels, value}].
export function parseMetrics(text) {
  const list = [];
  for (const line of text.split("\n")) {
    const m = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+([-+.\deE]+|NaN|[+-]Inf)/.exec(line);
    if (!m) continue;
    const labels = {};
    for (const [, k, v] of (m[2] || "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[k] = v;
    list.push({ name: m[1], labels, value: /Inf/.test(m[3]) ? Infinity : Number(m[3]) });
  }
  return list;
}
const sums = (list) => {
  const map = new Map();
  for (const s of list) map.set(s.name, (map.get(s.name) || 0) + s.value);
  return map;
};

// Upper edge of the bucket that holds the share of a histogram, for each value of a label.
export function quantiles(list, name, label, share) {
  const by = new Map();
  for (const s of list) if (s.name === name + "_bucket") {
    if (!by.has(s.labels[label])) by.set(s.labels[label], []);
    by.get(s.labels[label]).push([s.labels.le === "+Inf" ? Infinity : Number(s.labels.le), s.value]);
  }
  return [...by].map(([k, buckets]) => {
    buckets.sort((a, b) => a[0] - b[0]);
    const all = buckets[buckets.length - 1][1], found = buckets.find((b) => b[1] >= share * all);
    return [k, all, all ? found[0] : NaN];
  });
}

export function System() {
  const info = usePoll("/v1/service-info", 60), ready = usePoll("/readyz?verbose", 5), quotas = usePoll("/v1/quotas", 15);
  const [metrics, setMetrics] = useState({ list: null, missing: false }), last = useRef(null);
  useEffect(() => {
    let gone = false;
    const ask = async () => {
      if (document.hidden) return;
      try { const r = await get("/metrics", { accept: "text/plain" }); if (!gone) setMetrics({ list: parseMetrics(r.data), missing: false, at: Date.now(), before: last.current }); if (!gone) last.current = { list: parseMetrics(r.data), at: Date.now() }; } catch (e) { if (!gone) setMetrics({ list: null, missing: true }); }
    };
    ask();
    const t = setInterval(ask, 15000);
    return () => { gone = true; clearInterval(t); };
  }, []);
  const i = info.data, r = ready.data, total = metrics.list ? sums(metrics.list) : null, before = metrics.before ? sums(metrics.before.list) : null;
  const rate = before ? (total.get("gridplan_http_requests_total") - before.get("gridplan_http_requests_total")) / ((metrics.at - metrics.before.at) / 1000) : null;
  return html`<${Title} text="System" /><div class="bar"><span class="grow"></span><${LiveBar} live=${ready} /></div>
    <${Wrong} error=${info.error} /><${Wrong} error=${ready.error} /><${Wrong} error=${quotas.error} />
    ${i ? html`<p>gridplan ${i.version}; ${i.auth === "none" ? "no key is needed; everybody may" : "a key is needed; this one may"}: ${i.scopes.join(", ") || "nothing"}. Time limit ${duration(i.limits.time_limit_max_s)}, bodies up to ${bytes(i.limits.max_body_bytes)}.</p>` : ""}
    ${r ? html`<p>State: <strong>${r.status}</strong>; database: ${r.database}</p>` : ""}
    ${total ? html`<p>${rate !== null ? `${short(rate)} requests a second; ` : ""}${short(total.get("gridplan_worker_queue_depth"))} waiting, ${short(total.get("gridplan_worker_running"))} being computed; simulations running: ${short(total.get("gridplan_simulations_running"))}; connections to the database in use: ${short(total.get("gridplan_db_pool_in_use"))} of ${short(total.get("gridplan_db_pool_size"))}; memory held by requests: ${bytes(total.get("gridplan_memory_leased_bytes"))}.</p>
      <h2>How long requests take</h2><${Rows} label="Durations" head=${["work", "requests", "95 % within"]} rows=${quantiles(metrics.list, "gridplan_http_request_duration_seconds", "work", 0.95).map(([w, n, t]) => [w, n, isFinite(t) ? duration(t) : "more than the longest bucket"])} />` : ""}
    ${quotas.data ? html`<h2>Quotas</h2>${(quotas.data.items || []).length ? html`<${Rows} label="Quotas" head=${Object.keys(quotas.data.items[0])} rows=${quotas.data.items.map((q) => Object.values(q).map((v) => typeof v === "object" ? JSON.stringify(v) : v))} />` : html`<p class="dim">None are set.</p>`}` : ""}
    <h2>Metrics</h2>${metrics.missing ? html`<p>They are not on this address; see the setting admin_port.</p>` : total ? html`<${Rows} label="Metrics" head=${["name", "sum over its series"]} rows=${[...total].filter(([n]) => !n.endsWith("_bucket"))} />` : ""}`;
}
