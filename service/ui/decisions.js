// decisions.js - what was decided: the list, and one decision.
import { html, useEffect, useMemo, useState } from "/ui/preact-htm.js";
import { computingAllowed, allowComputing, get, query, replay } from "/ui/api.js";
import { amount, commonPrefix, duration, instant, number, percent } from "/ui/format.js";
import { Empty, LiveBar, Title, Wrong, usePoll } from "/ui/live.js";
import { Gantt, stemmer } from "/ui/gantt.js";
import { eachRow, joined, rowAt, valuesOf, whole } from "/ui/columns.js";
import { Rows, Wide } from "/ui/chart.js";

const ENDPOINTS = ["placements", "workflow-schedules", "queue-orders", "evaluations", "parallel-schedules", "rescheduling-plans",
  "reschedules", "coallocations", "claims", "checkpoint-intervals", "replica-counts", "fault-tolerance-plans", "predictions"];
const STATUSES = ["optimal", "feasible", "cut", "infeasible"];
const SMALL = 2000; // jobs of a decision whose request is read at once
const SINCE = { "last hour": 3600, "last 24 h": 86400, "last 30 d": 2592000 };

export const Choice = ({ label, value, values, none, onChange }) => html`<label>${label}
  <select value=${value || ""} onChange=${(e) => onChange(e.target.value)}><option value="">${none || "any"}</option>
  ${values.map((v) => html`<option value=${v} selected=${v === value}>${v}</option>`)}</select></label>`;

// Words of the filter: an id of a decision begins with hexadecimal digits, else it is a job.
function filterOf(p) {
  const f = p.get("filter") || "";
  const since = SINCE[p.get("since")];
  const byId = /^[0-9a-f]{4,8}(-[0-9a-f-]*)?$/i.test(f);
  return { endpoint: p.get("endpoint"), algorithm: p.get("algorithm"), status: p.get("status"), q: byId ? f : "", job_id: byId ? "" : f,
    from: since ? Math.floor(Date.now() / 60000) * 60 - since : "", page_token: p.get("page"), page_size: 50 };
}

export function Decisions({ p, set }) {
  const path = "/v1/decisions" + query(filterOf(p));
  const live = usePoll(path, 5);
  const items = live.data ? live.data.items : [], filtered = ["filter", "endpoint", "algorithm", "status", "since"].some((k) => p.get(k));
  return html`<${Title} text="Decisions" />
    <div class="bar" role="search"><label>Id or job <input id="filter" type="search" value=${p.get("filter") || ""} onInput=${(e) => set({ filter: e.target.value, page: "" })} /></label>
      <${Choice} label="endpoint" value=${p.get("endpoint")} values=${ENDPOINTS} onChange=${(v) => set({ endpoint: v, page: "" })} />
      <label>algorithm <input value=${p.get("algorithm") || ""} onInput=${(e) => set({ algorithm: e.target.value, page: "" })} /></label>
      <${Choice} label="status" value=${p.get("status")} values=${STATUSES} onChange=${(v) => set({ status: v, page: "" })} />
      <${Choice} label="made" value=${p.get("since")} values=${Object.keys(SINCE)} none="at any time" onChange=${(v) => set({ since: v, page: "" })} />
      <span class="grow"></span><${LiveBar} live=${live} /></div>
    <${Wrong} error=${live.error} />
    ${live.data && !items.length ? html`<${Empty} what=${filtered ? "No stored decision fits the filter. This one would be stored:" : "No decision is stored yet. One is stored when its request says \"store\": true:"} path="/v1/placements"
      body='{"snapshot":{"resources":[{"id":"m0"}]},"jobs":[{"id":"a","estimate_ref_s":5}],"store":true}' />` : ""}
    ${items.length ? html`<${Wide}><table><thead><tr><th scope="col">when</th><th scope="col">endpoint</th><th scope="col">algorithm</th><th scope="col">status</th>
      <th scope="col" class="n">jobs</th><th scope="col" class="n">unplaced</th><th scope="col" class="n">makespan</th><th scope="col" class="n">gap</th><th scope="col" class="n">took</th></tr></thead>
      <tbody>${items.map((d) => html`<tr key=${d.decision_id}><td title=${d.created_at}><a href=${"#/decisions/" + encodeURIComponent(d.decision_id)}>${instant(d.created_at)}</a></td>
        <td>${d.endpoint.replace("/v1/", "")}</td><td>${d.algorithm || ""}</td><td>${d.status}</td><td class="n">${number(d.job_count)}</td>
        <td class=${"n" + (d.unplaced_count ? " bad" : "")}>${number(d.unplaced_count)}</td><td class="n">${duration(d.makespan_s)}</td><td class="n">${percent(d.gap_ratio)}</td><td class="n">${duration(d.decide_s)}</td></tr>`)}</tbody></table><//>` : ""}
    <div class="bar">${p.get("page") ? html`<button onClick=${() => set({ page: "" })}>Newest</button>` : ""}
      ${live.data && live.data.next_page_token ? html`<button onClick=${() => set({ page: live.data.next_page_token })}>Older</button>` : ""}</div>`;
}

// ---- one decision ----

const NOTHING = {}, NO_TABLES = {};
const LISTS = ["placements", "schedule", "starts", "running", "waiting", "planned", "jobs"];

// A long list of rows of which each is a bar is drawn from its columns.
export const isDrawn = (kind) => (name, table) => LISTS.includes(name) && !table.columns.some((c) => c.name === "components") && kind !== "running_jobs";

// Estimates and groups by id, of the jobs and tasks of a request.
function known(request) {
  const map = new Map();
  const take = (list) => Array.isArray(list) && list.forEach((j) => j && j.id && map.set(j.id, j));
  if (request) {
    take(request.jobs); take(request.running); take(request.cluster && request.cluster.running);
    [request.workflow, ...(Array.isArray(request.workflows) ? request.workflows : [])].forEach((w) => w && take(w.tasks));
  }
  return map;
}

// Components of co-allocated jobs: they have their processors from the claim on, or from a
// reservation's start; their job starts when all files are there. Seconds from the placement on.
function componentsOf(answer, jobs) {
  let last = 0;
  const placed = (Array.isArray(answer.placements) ? answer.placements : []).filter((e) => e && Array.isArray(e.components));
  for (const e of placed) last = Math.max(last, e.jst_s - e.jpt_s + ((jobs.get(e.job_id) || {}).estimate_s ?? 0));
  const edge = last > 0 ? 1.25 * last : 60; // of what nobody said how long it runs
  return placed.flatMap((e) => e.components.map((c) => {
    const start = e.jst_s - e.jpt_s, claim = c.reserve ? start : e.jct_s - e.jpt_s, job = jobs.get(e.job_id) || {};
    return { ...c, list: "components", id: placed.length > 1 ? `${e.job_id}/${c.component_id}` : c.component_id, resource_id: c.site_id, group: job.group ?? e.job_id,
      start_s: claim, finish_s: typeof job.estimate_s === "number" ? start + job.estimate_s : edge, stage_in_s: start - claim, transfer_from_s: 0, data_ready_s: c.transfer_time_s };
  }));
}

// Running jobs where they stay or move to, tasks where they move to.
function movesOf(answer, jobs) {
  if (answer.kind === "workflow_round") return (answer.reschedules || []).map((e) => ({ ...e, list: "moves", id: e.task_id, resource_id: e.to_resource_id, start_s: 0, finish_s: e.remaining_after_s, stage_in_s: e.transfer_s }));
  if (answer.kind !== "running_jobs") return [];
  return (answer.jobs || []).flatMap((e) => {
    const job = jobs.get(e.job_id) || {};
    if (e.resource_id) return [{ ...e, list: "moves", finish_s: e.start_s + e.move_s, stage_in_s: (e.steps || []).filter((s) => s.step === "prolog").reduce((sum, s) => sum + (s.duration_s || 0), 0) }];
    return typeof e.stay_s === "number" ? [{ ...e, list: "running", resource_id: job.resource_id, resource_ids: job.resource_ids, start_s: 0, elapsed_s: job.elapsed_s, finish_s: e.stay_s }] : [];
  });
}

const severalOf = (list) => Array.isArray(list) && list.length ? list : null;

// Behind the name of a job with count: which copies of it a row is about.
const copiesOf = (e) => (Array.isArray(e.indexes) ? `[${e.indexes.join("-")}]` : typeof e.index === "number" ? `[${e.index}]` : "");

// One bar. Most of 100,000 have no more than this, and then the rest is not kept of each.
class Bar {
  constructor(id, row, start, end, group, entry, at) {
    this.id = id; this.row = row; this.start = start; this.end = end; this.group = group; // null: as its name begins
    this.entry = entry; this.at = at; // what the answer says of it; or a table, and where in it
    this.colour = 0; this.track = 0;
  }
}
Object.assign(Bar.prototype, { state: "", critical: false, late: false, moved: false, stageIn: 0, progress: 0, transferFrom: undefined, transferTo: undefined });
const entryOf = (b) => b.at < 0 ? b.entry : rowAt(b.entry, b.at);

// Bars of all lists of an answer whose elements have times. `tables`: lists by columns.
export function barsOf(answer, request, tables = NO_TABLES) {
  const jobs = known(request), critical = new Set(answer.critical_tasks || []), bars = [], now = (request && request.now_s) || 0;
  const add = (e, list, entry = e, at = -1) => {
    const id = e.job_id ?? e.task_id ?? e.id, start = e.start_s ?? e.estimated_start_s;
    if (id === undefined || !(typeof start === "number")) return;
    const job = jobs.size ? jobs.get(id) || jobs.get(String(id).replace(/_\d+$/, "")) || NOTHING : NOTHING; // 7_0: of the array 7
    const left = list === "running" && typeof e.elapsed_s === "number" ? e.time_limit_s - e.elapsed_s : undefined;
    const end = e.finish_s ?? e.expected_end_s ?? e.end_s ?? start + (e.run_time_s ?? left ?? job.estimate_s ?? e.time_limit_s ?? job.time_limit_s ?? NaN);
    if (!(end >= start)) return;
    const state = e.status === "done" || e.state === "done" ? "done" : list === "reservations" ? "reserved" : list === "running" || e.status === "running" ? "running" : "";
    const given = e.group ?? job.group ?? job.application_id, group = given === undefined || given === null ? null : String(given);
    const begun = typeof e.elapsed_s === "number" && list === "running" ? start - e.elapsed_s : start;
    const passed = state === "running" && end > begun ? Math.max(0, Math.min(1, (now - begun) / (end - begun))) : 0;
    const progress = e.progress_ratio ?? job.progress_ratio ?? passed, name = String(id) + copiesOf(e);
    const one = (row) => {
      const b = new Bar(name, String(row), begun, end, group, entry, at);
      if (state) b.state = state;
      if (critical.size > 0 && critical.has(id)) b.critical = true;
      if (typeof job.deadline_s === "number" && end > job.deadline_s) b.late = true;
      if (e.stage_in_s > 0) b.stageIn = e.stage_in_s;
      if (progress) b.progress = progress;
      if (e.data_ready_s > e.transfer_from_s) { b.transferFrom = e.transfer_from_s; b.transferTo = e.data_ready_s; }
      bars.push(b);
    };
    const many = severalOf(e.resource_ids) || severalOf(e.planned_resource_ids);
    if (many && many.length > 1) new Set(many).forEach(one); else one(many ? many[0] : e.resource_id ?? e.site_id ?? id);
  };
  // One job on the machines of a parallel schedule; intervals of phases, one behind the other.
  const one = answer.schedule;
  if (one && !Array.isArray(one) && Array.isArray(one.resource_ids)) add({ ...one, start_s: one.predicted_queue_wait_s || 0, run_time_s: one.predicted_execution_s }, "schedule");
  let begun = 0;
  for (const e of Array.isArray(answer.plan) ? answer.plan : []) {
    const move = e.reschedule_cost_s || 0;
    add({ ...e, id: e.last_phase > e.first_phase ? `phases ${e.first_phase}-${e.last_phase}` : `phase ${e.first_phase}`, start_s: begun, stage_in_s: move, run_time_s: move + e.predicted_s }, "plan");
    begun += move + e.predicted_s;
  }
  movesOf(answer, jobs).concat(componentsOf(answer, jobs)).forEach((e) => add(e, e.list));
  for (const list of LISTS) if (tables[list]) {
    eachRow(tables[list], (e, i) => add(e, list, tables[list], i));
  } else if (Array.isArray(answer[list]) && !(list === "jobs" && answer.kind === "running_jobs")) answer[list].forEach((e) => e && typeof e === "object" && !e.components && add(e, list));
  const starts = answer.starts || tables.starts;
  for (const from of [request, request && request.cluster]) {
    if (!from) continue;
    if (Array.isArray(from.running) && !Array.isArray(answer.running) && !tables.running) from.running.forEach((e) => e && add({ start_s: now, ...e }, "running"));
    if (Array.isArray(from.reservations)) from.reservations.forEach((e) => e && add({ resource_id: "reserved", ...e }, "reservations"));
  }
  // What runs or is reserved on resources, as far as the plan goes.
  const last = bars.reduce((m, b) => Math.max(m, b.end), 0), resources = request && request.snapshot && Array.isArray(request.snapshot.resources) ? request.snapshot.resources : [];
  if (!starts) for (const r of resources) {
    for (const e of (r && r.running) || []) add({ start_s: 0, ...e, resource_id: r.id }, "running");
    for (const e of (r && r.reservations) || []) if (e.start_s < last) add({ ...e, resource_id: r.id }, "reservations");
  }
  const prefix = commonPrefix(bars.map((b) => b.id)).length;
  const stems = stemmer();
  for (const b of bars) if (b.group === null) b.group = stems(b.id, prefix);
  const offset = bars.length ? bars.reduce((m, b) => Math.min(m, b.start), Infinity) : 0;
  const shift = starts ? now : offset > 1e6 ? offset : 0; // of a queue: from now on; the time of the request is no time of day
  if (shift) for (const b of bars) { b.start -= shift; b.end -= shift; }
  return { bars, shift };
}

// What has no place, each or by classes of like jobs: rows of a list, and how many jobs.
function unplacedOf(a) {
  const list = (Array.isArray(a.unplaced) ? a.unplaced : []).concat(Array.isArray(a.unplaced_classes) ? a.unplaced_classes.map((c) => ({ ...c, job_id: c.job_count > 1 ? `${c.example_job_id} and ${number(c.job_count - 1)} like it` : c.example_job_id })) : [],
    Array.isArray(a.unplaced_ids) ? a.unplaced_ids.map((id) => ({ job_id: id })) : []);
  return { list, count: Math.max(a.unplaced_count || 0, list.reduce((sum, u) => sum + (u.job_count || 1), 0)) };
}

function WhyNot({ list, count }) {
  if (!count) return html`<p>Everything has a place.</p>`;
  if (!list.length) return html`<p>${number(count)} ${count === 1 ? "job has" : "jobs have"} no place; the request left the list out.</p>`;
  return html`<${Wide}><table><thead><tr><th scope="col">job</th><th scope="col">reason</th><th scope="col" class="n">resources</th><th scope="col">nearest miss</th><th scope="col">detail</th></tr></thead><tbody>
    ${list.slice(0, 500).flatMap((u) => (u.reasons && u.reasons.length ? u.reasons : [{}]).map((r, i) => html`<tr><td>${i === 0 ? html`${u.job_id ?? u.task_id ?? u.id}${copiesOf(u)}` : ""}</td><td>${r.reason || u.reason || ""}</td>
      <td class="n">${number(r.resource_count)}</td><td>${r.nearest_miss ? `${r.nearest_miss.resource_id}: ${percent(r.nearest_miss.shortfall)} short` : ""}</td><td class="text">${r.detail || u.detail || ""}${(r.amounts || []).map((m, k) => `${k ? ", " : ": "}${m.name} needs ${amount(m.name, m.needed)}, the largest has ${amount(m.name, m.largest)}`).join("")}</td></tr>`))}</tbody></table><//>
    ${list.length > 500 ? html`<p>The first 500 of ${number(list.length)}.</p>` : ""}`;
}

// Members that differ, "a.b[0]": [then, now]; at most `most`.
export function differences(a, b, most) {
  const found = [];
  const walk = (x, y, at) => {
    if (found.length >= most || x === y) return;
    if (x && y && typeof x === "object" && typeof y === "object" && Array.isArray(x) === Array.isArray(y)) {
      for (const k of new Set([...Object.keys(x), ...Object.keys(y)])) walk(x[k], y[k], at + "/" + k);
    } else if (!(typeof x === "number" && typeof y === "number" && x === y)) found.push([at, x, y]);
  };
  walk(a, b, "");
  return found;
}
const shown = (v) => v === undefined ? "(not there)" : JSON.stringify(v).slice(0, 200);
const Differences = ({ list, names }) => html`<${Rows} head=${["member", ...names]} rows=${list.map(([at, x, y]) => [at, shown(x), shown(y)])} />`;

function Replay({ id, stored, own }) {
  const [on, setOn] = useState(computingAllowed());
  const [state, setState] = useState(null);
  const go = async () => {
    setState({ busy: true });
    try { setState({ answer: (await replay(id)).data }); } catch (e) { setState({ error: e }); }
  };
  const a = state && state.answer;
  const moved = a ? differences(stored, a.answer, 100).filter(([at]) => !/^\/(timings|decision_id)/.test(at)) : [];
  return html`<p>Deciding again stores nothing. It computes, so it has to be allowed, for this page as long as it is open.</p>
    <div class="bar"><label class="line"><input type="checkbox" checked=${on} onChange=${(e) => { allowComputing(e.target.checked); setOn(e.target.checked); }} /> Allow computing</label>
    <button disabled=${!on || (state && state.busy)} onClick=${go}>Replay</button></div>
    <${Wrong} error=${state && state.error} />
    ${a ? html`<p role="status"><strong>${a.identical ? "Identical." : a.warnings && a.warnings.length ? a.warnings.join("; ") : `${a.differences.length} ${a.differences.length === 1 ? "member differs" : "members differ"}.`}</strong></p>
      ${moved.length ? html`<${ThenAndNow} then=${stored} now=${a.answer} request=${own} />
        <${Differences} list=${moved} names=${["then", "now"]} />` : ""}` : ""}`;
}

// Both answers one above the other, with one time axis; bars that are elsewhere are outlined.
function ThenAndNow({ then, now, request }) {
  const [view, setView] = useState(null), [picked, setPicked] = useState(null);
  const both = useMemo(() => {
    const place = (b) => JSON.stringify([b.id, b.row, b.start, b.end]), lists = [then, now].map((a) => barsOf(a, request).bars);
    const places = lists.map((bars) => new Set(bars.map(place)));
    lists.forEach((bars, i) => bars.forEach((b) => { b.moved = !places[1 - i].has(place(b)); }));
    const rows = [...new Set(lists.flat().map((b) => b.row))].sort();
    return { lists, rows, end: lists.flat().reduce((m, b) => Math.max(m, b.end), 0), moved: new Set(lists.flat().filter((b) => b.moved).map((b) => b.id)).size };
  }, [then, now, request]);
  if (!both.lists[0].length && !both.lists[1].length) return "";
  const where = view || { from: 0, to: both.end };
  return html`<p>${both.moved ? `${number(both.moved)} of the bars ${both.moved === 1 ? "is elsewhere: it is" : "are elsewhere: they are"} outlined.` : "All bars are where they were."}</p>
    ${["Then", "Now"].map((name, i) => html`<h2>${name}</h2><${Gantt} bars=${both.lists[i]} rows=${both.rows} end=${both.end} view=${where} onView=${setView} picked=${picked} onPick=${setPicked} name=${name} />`)}`;
}

function Diff({ stored }) {
  const [other, setOther] = useState(""), [state, setState] = useState(null);
  const go = async () => { try { setState({ data: (await get("/v1/decisions/" + encodeURIComponent(other))).data }); } catch (e) { setState({ error: e }); } };
  const list = state && state.data ? differences(stored, state.data.answer, 500) : null;
  return html`<div class="bar"><label>Id of the other decision <input class="id" size="36" value=${other} onInput=${(e) => setOther(e.target.value.trim())} /></label><button onClick=${go}>Compare</button></div>
    <${Wrong} error=${state && state.error} />
    ${list ? list.length ? html`<p>${list.length === 500 ? "The first 500 differences." : list.length + (list.length === 1 ? " difference." : " differences.")}</p><${Differences} list=${list} names=${["this one", "the other"]} />` : html`<p>The answers are the same.</p>` : ""}`;
}

// The picture of an answer, and what is known of the bar that was picked.
export function Answer({ answer, tables, request, name, view, onView, pick, onPick }) {
  const { bars, shift } = useMemo(() => barsOf(answer, request, tables), [answer, request, tables]);
  const [own, setOwn] = useState(null);
  const picked = onPick ? pick : own, chosen = picked ? bars.find((b) => b.id === picked) : null;
  const entry = chosen && entryOf(chosen), starts = answer.starts || (tables && tables.starts);
  const o = answer.objective || {};
  if (!bars.length) return html`<p>This answer has no times to draw:</p><pre tabindex="0">${JSON.stringify(whole(answer, tables), null, 1).slice(0, 400000)}</pre>`;
  const end = bars.reduce((m, b) => Math.max(m, b.end), shift ? 0 : o.makespan_s || 0);
  return html`<${Gantt} bars=${bars} end=${end} bound=${shift ? undefined : o.lower_bound_s} now=${starts && request ? (request.now_s || 0) - shift : undefined} picked=${picked} onPick=${onPick || setOwn} view=${view} onView=${onView} name=${name} />
    <p aria-live="polite">${chosen ? html`<strong>${chosen.id}</strong>, ${duration(chosen.start)} to ${duration(chosen.end)} on ${chosen.row}${entry.because ? html`. Why here: ${entry.because}` : ""}${entry.stage_in_s ? `, stage-in ${duration(entry.stage_in_s)}` : ""}` : html`<span class="dim">Pick a bar with the mouse or Enter.</span>`}</p>`;
}

// On how many resources or sites it is.
function placesOf(answer, tables) {
  const places = new Set();
  for (const list of ["placements", "schedule"]) if (tables[list]) {
    for (const name of ["resource_ids", "resource_id", "site_id"]) for (const v of valuesOf(tables[list], name)) if (Array.isArray(v)) v.forEach((r) => places.add(r)); else places.add(v);
  }
  for (const list of answer.kind === "running_jobs" ? [] : ["placements", "schedule"]) for (const e of Array.isArray(answer[list]) ? answer[list] : []) {
    if (e.resource_ids) e.resource_ids.forEach((r) => places.add(r));
    else if (e.components) e.components.forEach((c) => places.add(c.resource_id ?? c.site_id));
    else places.add(e.resource_id ?? e.site_id);
  }
  places.delete(undefined); places.delete(null); places.delete("");
  return places.size;
}

const TABS = [["gantt", "Gantt"], ["why", "Why not"], ["request", "Request"], ["answer", "Answer"], ["replay", "Replay"], ["diff", "Diff with"]];

export function Decision({ id, p, set }) {
  const path = "/v1/decisions/" + encodeURIComponent(id), live = usePoll(path + "?parts=answer&lists=columns", 0);
  const [chartError, setChartError] = useState(null);
  const d = live.data, tab = p.get("tab") || "gantt";
  // The request is large, and the picture of many bars does without it.
  const isQueue = d && d.endpoint.endsWith("/queue-orders"), asksRequest = d && (isQueue || tab === "request" || tab === "replay" || !(d.job_count > SMALL));
  const asked = usePoll(asksRequest ? path + "?parts=request" : null, 0), request = asked.data ? asked.data.request : undefined;
  // As it was answered, member by member.
  const asAnswered = usePoll(d && ["answer", "replay", "diff"].includes(tab) ? path + "?parts=answer" : null, 0), stored = asAnswered.data ? asAnswered.data.answer : undefined;
  const view = p.get("from_s") ? { from: Number(p.get("from_s")), to: Number(p.get("to_s")) } : null;
  const download = async (accept, name) => {
    try {
      const text = accept ? (await get(path, { accept })).data : JSON.stringify((await get(path + "?parts=answer")).data.answer, null, 1);
      const a = document.createElement("a");
      a.href = URL.createObjectURL(new Blob([text], { type: accept || "application/json" }));
      a.download = name;
      a.click();
      URL.revokeObjectURL(a.href);
      setChartError(null);
    } catch (e) { setChartError(e); }
  };
  useEffect(() => { const back = (e) => { if (e.key === "Escape" && !e.defaultPrevented && e.target === document.body) history.back(); }; window.addEventListener("keydown", back); return () => window.removeEventListener("keydown", back); }, []);
  const { answer: a, tables } = useMemo(() => d ? joined(d, SMALL, isDrawn(d.answer.kind)) : NOTHING, [d]);
  const places = useMemo(() => a ? placesOf(a, tables) : 0, [a]);
  if (!d) return html`<${Title} text="Decision" /><${Wrong} error=${live.error} />${live.error ? "" : html`<p>asking</p>`}`;
  const o = a.objective || {}, unplaced = unplacedOf(a);
  const head = [d.endpoint.replace("/v1/", ""), d.algorithm, d.status].filter(Boolean).join(", ") + (d.job_count > 0 && !/resched/.test(d.endpoint) ? `: ${number(d.job_count)} ${(/workflow/.test(d.endpoint) ? "task" : "job") + (d.job_count === 1 ? "" : "s")}${unplaced.count ? `, ${number(unplaced.count)} without a place` : ""}` : "") + (places ? `${unplaced.count ? "," : ""} on ${number(places)} ${d.endpoint.endsWith("/coallocations") ? places === 1 ? "site" : "sites" : places === 1 ? "resource" : "resources"}` : "")
    + (o.makespan_s ? `, ${duration(o.makespan_s)}` : "") + (o.lower_bound_s ? `, bound ${duration(o.lower_bound_s)}` : "") + (o.gap_ratio !== undefined && o.gap_ratio !== null ? `, gap ${percent(o.gap_ratio)}` : "");
  return html`<${Title} text=${"Decision " + id}>${head}<//>
    <div class="bar"><div class="bar" role="tablist" aria-label="Parts of the decision">${TABS.map(([t, label]) => html`<button role="tab" aria-selected=${t === tab} onClick=${() => set({ tab: t })}>${label}${t === "why" ? ` (${number(unplaced.count)})` : ""}</button>`)}</div>
      <span class="grow"></span><button onClick=${() => download("image/svg+xml", id + ".svg")}>SVG</button><button onClick=${() => download(null, id + ".json")}>JSON</button></div>
    <${Wrong} error=${chartError} />
    <${Wrong} error=${asked.error || asAnswered.error} />
    ${tab === "gantt" && !(isQueue && !request && !asked.error) ? html`<${Answer} answer=${a} tables=${tables} request=${request} name="Plan" view=${view} onView=${(v) => set(v ? { from_s: v.from.toPrecision(8), to_s: v.to.toPrecision(8) } : { from_s: "", to_s: "" }, true)} pick=${p.get("pick")} onPick=${(x) => set({ pick: x || "" }, true)} />` : ""}
    ${tab === "why" ? html`<${WhyNot} ...${unplaced} />` : ""}
    ${tab === "request" ? html`<pre tabindex="0">${request ? JSON.stringify(request, null, 1).slice(0, 400000) : "asking"}</pre>` : ""}
    ${tab === "answer" ? html`<pre tabindex="0">${stored ? JSON.stringify(stored, null, 1).slice(0, 400000) : "asking"}</pre>` : ""}
    ${tab === "replay" && stored ? html`<${Replay} id=${id} stored=${stored} own=${request} />` : ""}
    ${tab === "diff" && stored ? html`<${Diff} stored=${stored} />` : ""}
    ${a.warnings && a.warnings.length ? html`<h2>Warnings</h2><ul>${a.warnings.slice(0, 50).map((w) => html`<li>${typeof w === "string" ? w : w.detail || w.code}</li>`)}</ul>` : ""}
    <p class="dim">${id}, ${d.created_at}, seed ${d.seed}${d.labels ? ", labels " + JSON.stringify(d.labels).slice(0, 500) : ""}</p>`;
}
