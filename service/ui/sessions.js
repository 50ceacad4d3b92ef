// sessions.js - runs of workflows: the list, and one run as it goes on.
import { html, useEffect, useMemo, useState } from "/ui/preact-htm.js";
import { get, query } from "/ui/api.js";
import { colours, prepare, useCanvas, Rows, Wide } from "/ui/chart.js";
import { columns as columnsOf, commonPrefix, duration, instant, number, percent } from "/ui/format.js";
import { Empty, LiveBar, Pages, Title, Wrong, useLong, usePoll } from "/ui/live.js";
import { Gantt, stem } from "/ui/gantt.js";

const EVENTS_SHOWN = 100, BOXES_MAX = 40;
const STATUSES = ["done", "running", "ready", "idle", "blocked", "failed", "cancelled"];
// A letter beside each colour.
const SIGNS = { done: "D", running: "R", ready: "", idle: "", blocked: "B", failed: "F", cancelled: "C" };
const seconds = (text) => Date.parse(text) / 1000;
const total = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);

const statusColour = (col, status) => ({ done: col.edge, running: col.series[1], ready: col.series[0], failed: col.bad, blocked: col.series[3], cancelled: col.dim }[status] || col.line);

// Tasks that ended or run are where they were, the others where the plan has them; seconds
// from the first start on. {bars, now, end, from: the instant of 0}.
export function barsOfRun(tasks, plan, at) {
  const began = tasks.filter((t) => t.started_at), bars = [];
  const from = Math.min(at, ...began.map((t) => seconds(t.started_at))), now = at - from;
  const prefix = commonPrefix(tasks.map((t) => t.task_id)).length, seen = new Set();
  const add = (id, row, start, end, more) => bars.push({ id, row, start, end: Math.max(start, end), group: stem(id.slice(prefix)), state: "", critical: false, entry: {}, ...more });
  for (const t of began) {
    const start = seconds(t.started_at) - from, ended = t.ended_at !== undefined;
    if (!ended && t.status !== "running") continue;
    const end = ended ? seconds(t.ended_at) - from : Math.max(now, t.expected_end_at ? seconds(t.expected_end_at) - from : now);
    const passed = end > start ? (now - start) / (end - start) : 1;
    const again = t.status === "ready" || t.status === "idle"; // the attempt failed, the task has another
    add(again ? `${t.task_id} (attempt ${t.attempt})` : t.task_id, t.resource_id || "?", start, end, { state: !ended ? "running" : t.status === "done" ? "done" : "failed", late: ended && t.status !== "done", progress: ended ? 1 : t.progress_ratio ?? Math.min(1, passed) });
    if (!again) seen.add(t.task_id);
  }
  const base = plan ? seconds(plan.planned_at) - from : 0, critical = new Set((plan && plan.critical_tasks) || []);
  if (plan) for (const e of plan.schedule) if (!seen.has(e.task_id) && typeof e.start_s === "number") for (const place of e.resource_ids || [e.resource_id]) add(e.task_id, place, Math.max(now, base + e.start_s), Math.max(now, base + e.start_s) + e.finish_s - e.start_s, { critical: critical.has(e.task_id) });
  return { bars, now, from, end: Math.max(1e-9, ...bars.map((b) => b.end)) };
}

// Longest way from a start, for each task that the graph has; tasks of a cycle: level 0.
export function levelsOf(graph) {
  const after = new Map(graph.map((t) => [t.id, []])), open = new Map(), level = new Map();
  for (const t of graph) {
    const on = (t.depends_on || []).map((d) => typeof d === "string" ? d : d.task_id).filter((d) => after.has(d));
    open.set(t.id, on.length);
    for (const d of on) after.get(d).push(t.id);
  }
  const ready = graph.filter((t) => open.get(t.id) === 0).map((t) => t.id);
  for (const id of ready) level.set(id, 0);
  while (ready.length) {
    const id = ready.pop();
    for (const next of after.get(id)) {
      level.set(next, Math.max(level.get(next) || 0, level.get(id) + 1));
      open.set(next, open.get(next) - 1);
      if (open.get(next) === 0) ready.push(next);
    }
  }
  return { level, after };
}

// The graph, a column for each level: a box for each task with its edges, or with many
// tasks how many of them are in which status.
function Levels({ graph, status }) {
  const { level, after } = useMemo(() => levelsOf(graph), [graph]);
  const columns = useMemo(() => {
    const list = [];
    for (const t of graph) { const l = level.get(t.id) || 0; (list[l] ??= []).push(t.id); }
    return list;
  }, [graph, level]);
  const [table, setTable] = useState(false);
  const most = Math.max(1, ...columns.map((c) => c.length)), boxes = most <= BOXES_MAX && columns.length <= 60;
  const counts = columns.map((c) => { const n = {}; for (const id of c) { const s = status.get(id) || "idle"; n[s] = (n[s] || 0) + 1; } return n; });
  const draw = (canvas) => {
    const { context: c, width, height } = prepare(canvas), col = colours(), w = width / columns.length, h = (height - 4) / most, place = new Map();
    c.fillStyle = col.ground; c.fillRect(0, 0, width, height);
    c.font = "11px system-ui, sans-serif"; c.textBaseline = "middle"; c.textAlign = "center";
    if (!boxes) {
      columns.forEach((ids, x) => {
        let y = height - 2;
        for (const s of STATUSES) { const part = (counts[x][s] || 0) * h; c.fillStyle = statusColour(col, s); c.fillRect(x * w, y - part, Math.max(1, w - 1), part); y -= part; }
      });
      return;
    }
    const boxW = Math.max(3, Math.min(110, w * 0.62)), boxH = Math.max(3, Math.min(22, h - 3));
    columns.forEach((ids, x) => ids.forEach((id, i) => place.set(id, [x * w + w / 2, 2 + (i + 0.5) * (height - 4) / ids.length])));
    c.strokeStyle = col.edge; c.beginPath();
    for (const [id, list] of after) for (const n of list) { const a = place.get(id), b = place.get(n); c.moveTo(a[0] + boxW / 2, a[1]); c.lineTo(b[0] - boxW / 2, b[1]); }
    c.stroke();
    for (const [id, [x, y]] of place) {
      const s = status.get(id) || "idle", filled = s !== "idle";
      c.fillStyle = filled ? statusColour(col, s) : col.ground; c.fillRect(x - boxW / 2, y - boxH / 2, boxW, boxH);
      c.strokeStyle = filled ? statusColour(col, s) : col.edge; c.strokeRect(x - boxW / 2, y - boxH / 2, boxW, boxH);
      const text = (SIGNS[s] ? SIGNS[s] + " " : "") + id, fits = columnsOf(text) * 6.2 + 6 <= boxW;
      c.fillStyle = filled && s !== "done" ? col.ground : col.text;
      if (boxH >= 11 && (fits || SIGNS[s])) c.fillText(fits ? text : SIGNS[s], x, y);
    }
  };
  const [ref] = useCanvas(draw, [columns, status, table]);
  return html`<div class="bar"><h2 class="grow">Graph by levels</h2><button aria-pressed=${table} onClick=${() => setTable(!table)}>Graph as table</button></div>
    ${table ? html`<${Rows} label="Levels" head=${["level", "tasks", ...STATUSES]} rows=${columns.map((c, i) => [i, c.length, ...STATUSES.map((s) => counts[i][s] || 0)])} />`
    : html`<canvas style=${{ height: Math.max(90, Math.min(360, most * 26 + 8)) + "px" }} ref=${ref} role="img" aria-label=${`Graph of ${graph.length} tasks in ${columns.length} levels, ${most} in the widest`}></canvas>
    <ul class="keys" aria-label="Statuses">${STATUSES.map((s) => html`<li><span class=${"swatch t-" + s}></span>${SIGNS[s] ? SIGNS[s] + " " : ""}${s}</li>`)}</ul>`}`;
}

// What belongs to one answer of next: tasks, plan, and the events since the last one.
function useParts(id, next) {
  const [parts, setParts] = useState({ tasks: null, plan: null, events: [], error: null });
  const version = next ? next.revision + next.now : null;
  useEffect(() => {
    if (!version) return undefined;
    const abort = new AbortController(), path = "/v1/workflow-sessions/" + encodeURIComponent(id), o = { signal: abort.signal };
    (async () => {
      try {
        const tasks = (await get(path + "/tasks", o)).data.items, plan = (await get(path + "/plan", o)).data;
        setParts((p) => ({ ...p, tasks, plan, error: null }));
        // seq counts changes: those behind it are the last ones
        const list = (await get(path + "/events" + query({ after_seq: Math.max(0, next.revision - EVENTS_SHOWN), page_size: EVENTS_SHOWN }), o)).data.items;
        setParts((p) => ({ ...p, events: list }));
      } catch (e) { if (e.name !== "AbortError") setParts((p) => ({ ...p, error: e })); }
    })();
    return () => abort.abort();
  }, [id, version]);
  return parts;
}

function Starts({ next }) {
  const rows = next.start.map((s) => [s.task_id, s.resource_id, duration(s.run_time_s), s.run_time_basis.source, s.attempt]);
  return html`<h2>To start now (${rows.length})</h2>
    ${rows.length ? html`<${Rows} label="To start now" head=${["task", "where", "takes", "known from", "attempt"]} rows=${rows} />` : html`<p class="dim">Nothing that an engine was not told already.</p>`}
    ${next.cancel.length ? html`<h2>To cancel</h2><${Rows} label="To cancel" head=${["task", "where", "attempt"]} rows=${next.cancel.map((c) => [c.task_id, c.resource_id, c.attempt])} />` : ""}
    ${next.move.length ? html`<h2>Moves that pay</h2><${Rows} label="Moves" head=${["task", "from", "to", "gain"]} rows=${next.move.map((m) => [m.task_id, m.from_resource_id, m.to_resource_id, duration(m.gain_s)])} />` : ""}`;
}

const timeOf = (text) => text ? html`<span title=${text}>${instant(text)}</span>` : "";

function Tasks({ tasks, status, onStatus }) {
  const counts = new Map(STATUSES.map((s) => [s, tasks.filter((t) => t.status === s).length]));
  const shown = status ? tasks.filter((t) => t.status === status) : tasks, granted = tasks.filter((t) => t.holder);
  return html`${granted.length ? html`<h2>Granted (${granted.length})</h2><${Rows} label="Granted" head=${["task", "where", "to", "until"]} rows=${granted.map((t) => [t.task_id, t.resource_id, t.holder, timeOf(t.hold_until_at)])} />` : ""}
    <h2>Tasks</h2><div class="bar" role="group" aria-label="Status">${[["", tasks.length], ...counts].map(([s, n]) => n || !s ? html`<button aria-pressed=${s === status} onClick=${() => onStatus(s)}>${s || "all"} (${number(n)})</button>` : "")}</div>
    <${Rows} label="Tasks" head=${["task", "status", "where", "started", "ended, or will", "ran", "progress", "attempts"]} rows=${shown.map((t) => [t.task_id, t.status, t.resource_id || "", timeOf(t.started_at), timeOf(t.ended_at || t.expected_end_at), t.run_time_s !== undefined ? duration(t.run_time_s) : "", t.progress_ratio !== undefined ? percent(t.progress_ratio) : "", t.attempt_count])} />`;
}

function Session({ id, p, set }) {
  const path = "/v1/workflow-sessions/" + encodeURIComponent(id);
  const live = useLong(path + "/next", 30), next = live.data, info = usePoll(path, 0);
  const { tasks, plan, events, error } = useParts(id, next);
  const definition = info.data && info.data.definition;
  const graph = useMemo(() => {
    if (!tasks) return null;
    const known = new Map(((definition && definition.workflow.tasks) || []).map((t) => [t.id, { ...t }]));
    for (const e of (definition && definition.workflow.edges) || []) { const t = known.get(e.child_id); if (t) t.depends_on = [...(t.depends_on || []), e.parent_id]; }
    return tasks.map((t) => known.get(t.task_id) || { id: t.task_id });
  }, [tasks, definition]);
  const status = useMemo(() => new Map((tasks || []).map((t) => [t.task_id, t.status])), [tasks]);
  const drawn = useMemo(() => tasks && next ? barsOfRun(tasks, plan, seconds(next.now)) : null, [tasks, plan, next]);
  const picked = p.get("pick"), chosen = drawn && drawn.bars.find((b) => b.id === picked);
  const wrong = live.error || error;
  if (wrong && wrong.status === 410) return html`<div class="note"><p>${id} has expired: nothing came for as long as its definition says. PUT with the same definition starts it anew.</p></div>`;
  if (!next) return html`<${Wrong} error=${wrong} />${wrong ? "" : html`<p>asking</p>`}`;
  const n = total(next.counts), end = plan && plan.objective && typeof plan.objective.makespan_s === "number" ? new Date((seconds(plan.planned_at) + plan.objective.makespan_s) * 1000).toISOString() : null;
  return html`<div class="bar"><span class="grow">${next.status}: <progress max=${Math.max(1, n)} value=${next.counts.done} aria-label="tasks that are done"></progress> done ${number(next.counts.done)} of ${number(n)}, running ${number(next.counts.running)}${next.counts.failed ? html`, <span class="bad">failed ${number(next.counts.failed)}</span>` : ""}${end && next.status === "running" ? html`, est. end ${timeOf(end)}` : ""}</span><${LiveBar} live=${live} /></div>
    <${Wrong} error=${wrong} />
    ${drawn && drawn.bars.length ? html`<${Gantt} bars=${drawn.bars} end=${drawn.end} now=${drawn.now} picked=${picked} onPick=${(x) => set({ pick: x || "" })} name="Run" />
      <p aria-live="polite">${chosen ? html`<strong>${chosen.id}</strong>, ${chosen.state || "planned"}, ${duration(chosen.start)} to ${duration(chosen.end)} on ${chosen.row}` : html`<span class="dim">Times count from ${instant(new Date(drawn.from * 1000).toISOString())}. Pick a bar with the mouse or Enter.</span>`}</p>` : ""}
    ${graph && graph.length ? html`<${Levels} graph=${graph} status=${status} />` : ""}
    <${Starts} next=${next} />
    ${tasks ? html`<${Tasks} tasks=${tasks} status=${p.get("status") || ""} onStatus=${(s) => set({ status: s })} />` : ""}
    <h2>Last events</h2>${events.length ? html`<${Rows} label="Events" head=${["seen", "kind", "task", "where", "attempt", "more"]} rows=${events.slice().reverse().map((e) => [timeOf(e.observed_at), e.kind, e.task_id || "", e.resource_id || "", e.attempt ?? "", e.failure_kind || (e.progress_ratio !== undefined ? percent(e.progress_ratio) : "")])} />` : html`<p class="dim">None was reported.</p>`}
    ${next.warnings.length ? html`<h2>Warnings</h2><ul>${next.warnings.slice(0, 50).map((w) => html`<li>${w}</li>`)}</ul>` : ""}`;
}

export function Sessions({ id, p, set }) {
  const live = usePoll("/v1/workflow-sessions" + query({ page_size: 100, page_token: p.get("page") }), 5), items = live.data ? live.data.items : [];
  const first = items.find((s) => s.status === "running") || items[0], picked = id || (first && first.session_id);
  return html`<${Title} text=${id ? "Session " + id : "Sessions"} /><div class="bar"><span class="grow"></span><${LiveBar} live=${live} /></div><${Wrong} error=${live.error} />
    ${live.data && !items.length && !id ? html`<${Empty} what="No workflow is run with the help of this service. An engine defines its run, reports what happens, and asks what to start:" method="PUT" path="/v1/workflow-sessions/my-run"
      body='{"workflow":{"tasks":[{"id":"a","estimate_ref_s":60},{"id":"b","estimate_ref_s":60,"depends_on":["a"]}]},"snapshot":{"resources":[{"id":"m0"}]}}' />` : ""}
    ${items.length ? html`<${Wide}><table aria-label="Sessions"><thead><tr><th scope="col">session</th><th scope="col">status</th><th scope="col">done</th><th scope="col" class="n">running</th><th scope="col" class="n">ready</th><th scope="col" class="n">failed</th><th scope="col">last event</th><th scope="col">expires</th></tr></thead>
      <tbody>${items.map((s) => html`<tr key=${s.session_id} class=${s.session_id === picked ? "picked" : ""}><td><a href=${"#/sessions/" + encodeURIComponent(s.session_id)} aria-current=${s.session_id === picked ? "true" : undefined}>${s.session_id}</a></td><td>${s.status}</td>
        <td><progress max=${Math.max(1, total(s.counts))} value=${s.counts.done} aria-label="tasks that are done"></progress> ${number(s.counts.done)} of ${number(total(s.counts))}</td><td class="n">${number(s.counts.running)}</td><td class="n">${number(s.counts.ready)}</td><td class=${"n" + (s.counts.failed ? " bad" : "")}>${number(s.counts.failed)}</td>
        <td>${timeOf(s.last_event_at)}</td><td>${timeOf(s.expires_at)}</td></tr>`)}</tbody></table><//>` : ""}
    <${Pages} live=${live} p=${p} set=${set} />
    ${picked ? html`<h2>${picked}</h2><${Session} key=${picked} id=${picked} p=${p} set=${set} />` : ""}`;
}
