// history.js - loads, failures and models: what was observed, and what it says.
import { html, useEffect, useMemo, useState } from "/ui/preact-htm.js";
import { get, query } from "/ui/api.js";
import { colours, prepare, useCanvas, Curve, Rows, Wide } from "/ui/chart.js";
import { duration, instant, number, percent, short } from "/ui/format.js";
import { Empty, LiveBar, Pages, Title, Wrong, usePoll } from "/ui/live.js";
import { Choice } from "/ui/decisions.js";

const minute = () => Math.floor(Date.now() / 60000) * 60;
const iso = (s) => new Date(s * 1000).toISOString().slice(0, 19) + "Z";

// ---- load ----

const SPANS = { "1 h": 3600, "6 h": 21600, "24 h": 86400, "7 d": 604800 };

const three = (v) => String(Number(v.toPrecision(3)));

// What is measured: how it is said, as what a map shows it, and what its curve is called.
const MEASURES = {
  cpu_available_ratio: { name: "cpu", say: percent, width: (v) => (50 * v).toFixed(1), map: "Busy share by day and hour, in %", dark: (v) => 1 - v, curve: "free share" },
  memory_available_bytes: { name: "memory", say: (v) => typeof v === "number" ? `${three(v / 1e9)} GB` : "", map: "Free memory by day and hour, in % of the most", curve: "free memory, bytes" },
  bandwidth_mbps: { name: "bandwidth", say: (v) => typeof v === "number" ? `${three(v)} Mbit/s` : "", map: "Bandwidth by day and hour, in % of the most", curve: "bandwidth, Mbit/s" },
  latency_s: { name: "latency", say: duration, map: "Latency by day and hour, in % of the most", curve: "latency, s" },
};
const measureOf = (name) => MEASURES[name] || { name, say: short, map: "Mean by day and hour, in % of the most", curve: name };

// A map as it is drawn, or as the table of what is in it.
function MapOrTable({ title, label, head, rows, cells, children }) {
  const [table, setTable] = useState(false);
  return html`<div class="bar"><h2 class="grow">${title}</h2><button aria-pressed=${table} onClick=${() => setTable(!table)}>As table</button></div>
    ${table ? html`<${Rows} label=${label} head=${head} rows=${rows} cells=${cells} />` : children}`;
}

// Means by day and hour, darker where less is free, or more is used.
function DayMap({ data, measure }) {
  const how = measureOf(measure), most = Math.max(1e-300, ...data.intervals.map((i) => typeof i.mean === "number" ? Math.abs(i.mean) : 0));
  const share = (mean) => how.dark ? how.dark(mean) : mean / most;
  const days = useMemo(() => {
    const map = new Map();
    for (const i of data.intervals) {
      const t = new Date(i.start_at), day = `${t.getMonth() + 1}-${String(t.getDate()).padStart(2, "0")}`;
      if (!map.has(day)) map.set(day, []);
      map.get(day).push([t.getHours(), i.mean]);
    }
    return map;
  }, [data]);
  return html`<${MapOrTable} title=${how.map} label="By day and hour" head=${["day", "hour", "mean"]} rows=${[...days].flatMap(([day, list]) => list.map(([hour, mean]) => [day, String(hour), how.say(mean)]))}><${DayPicture} days=${days} share=${share} label=${how.map + ", the last seven days, local time"} /><//>`;
}

function DayPicture({ days, share, label }) {
  const draw = (canvas) => {
    const { context: c, width, height } = prepare(canvas), col = colours();
    const w = (width - 48) / 24, h = (height - 14) / Math.max(1, days.size);
    c.clearRect(0, 0, width, height); c.font = "10px system-ui, sans-serif"; c.textBaseline = "middle";
    [...days].forEach(([day, list], y) => {
      c.fillStyle = col.dim; c.fillText(day, 2, y * h + h / 2);
      for (const [hour, mean] of list) {
        if (typeof mean !== "number") continue;
        const busy = share(mean);
        c.fillStyle = col.series[0]; c.globalAlpha = 0.08 + 0.92 * Math.max(0, Math.min(1, busy)); c.fillRect(48 + hour * w, y * h, w - 1, h - 1); c.globalAlpha = 1;
        if (w > 22 && h > 11) { c.fillStyle = busy > 0.55 ? col.ground : col.text; c.fillText(String(Math.round(100 * busy)), 48 + hour * w + 3, y * h + h / 2); }
      }
    });
    c.fillStyle = col.dim; for (let k = 0; k < 24; k += 3) c.fillText(String(k), 48 + k * w, height - 6);
  };
  const [ref] = useCanvas(draw, [days, share]);
  return html`<canvas class="small" ref=${ref} role="img" aria-label=${label}></canvas>`;
}

export function Load({ p, set }) {
  const next = usePoll("/v1/forecasts" + query({ page_size: 100, page_token: p.get("page") }), 15), list = next.data ? next.data.items : [];
  const wanted = { resource_id: p.get("resource"), to_resource_id: p.get("to") || undefined, measure: p.get("measure") || (p.get("resource") ? "cpu_available_ratio" : undefined) };
  const same = (f) => f.resource_id === wanted.resource_id && (f.to_resource_id || undefined) === wanted.to_resource_id && f.measure === wanted.measure;
  const forecast = list.find(same) || (wanted.resource_id ? undefined : list[0]), series = forecast || (wanted.resource_id ? wanted : null);
  const resource = series ? series.resource_id : "", measure = series ? series.measure : "cpu_available_ratio", how = measureOf(measure);
  const name = series && series.to_resource_id ? `${resource} to ${series.to_resource_id}` : resource, mixed = list.some((f) => f.measure !== "cpu_available_ratio") || measure !== "cpu_available_ratio";
  const span = SPANS[p.get("span")] || 86400;
  const [to, setTo] = useState(minute());
  useEffect(() => { const t = setInterval(() => setTo(minute()), 60000); return () => clearInterval(t); }, []);
  const aggregates = (from, interval_s) => resource ? "/v1/load-samples/aggregates" + query({ resource_id: resource, to_resource_id: series.to_resource_id, measure: measure === "cpu_available_ratio" ? "" : measure, from: iso(from), to: iso(to + 60), interval_s }) : null;
  const past = usePoll(aggregates(to - span, Math.max(60, span / 144)), 15), week = usePoll(aggregates(to - 7 * 86400, 3600), 0);
  const horizon = (next.data && next.data.horizon_s) || 600;
  const data = useMemo(() => {
    if (!past.data || !past.data.intervals.length) return null;
    const xs = past.data.intervals.map((i) => Date.parse(i.start_at) / 1000), at = (k) => past.data.intervals.map((i) => i[k] ?? null);
    const series = [xs, at("mean"), at("p05"), at("p95"), xs.map(() => null)];
    if (forecast && typeof forecast.value === "number") {
      const now = Date.parse(next.data.at || iso(to)) / 1000;
      for (const x of [now, now + horizon]) {
        series[0].push(x); series[1].push(null); series[2].push(forecast.low ?? null); series[3].push(forecast.high ?? null); series[4].push(forecast.value);
      }
    }
    return series;
  }, [past.data, forecast && forecast.value, horizon]);
  return html`<${Title} text="Load" />
    <div class="bar"><${Choice} label="window" value=${p.get("span") || "24 h"} values=${Object.keys(SPANS)} onChange=${(v) => set({ span: v })} />
      <span class="grow"></span><${LiveBar} live=${next} /></div>
    <${Wrong} error=${past.error || next.error} />
    ${next.data && !list.length && !resource ? html`<${Empty} what="No load was observed. Send some:" path="/v1/load-samples" body='{"resource_id":"m0","observed_at":"2026-11-20T10:00:00Z","cpu_available_ratio":0.5}' />` : ""}
    ${list.length || resource ? html`<div class="split"><div><${Wide}><table aria-label="Forecasts"><thead><tr><th scope="col">resource</th>${mixed ? html`<th scope="col">measure</th>` : ""}<th scope="col" class="n">last</th><th scope="col" class="n">in ${duration(horizon)}</th><th scope="col">forecaster</th></tr></thead>
      <tbody>${list.map((f) => { const say = measureOf(f.measure); return html`<tr class=${f === forecast ? "picked" : ""}><td><button aria-pressed=${f === forecast} onClick=${() => set({ resource: f.resource_id, to: f.to_resource_id, measure: f.measure === "cpu_available_ratio" ? "" : f.measure })}>${f.resource_id}${f.to_resource_id ? ` to ${f.to_resource_id}` : ""}</button></td>${mixed ? html`<td>${say.name}</td>` : ""}<td class="n" title=${f.last_at}>${say.say(f.last)}</td>
        <td class="n">${say.say(f.value)}${typeof f.high === "number" ? ` ± ${say.width ? say.width(f.high - f.low) : say.say((f.high - f.low) / 2)}` : ""}</td><td>${f.forecaster || ""}</td></tr>`; })}</tbody></table><//>
      <${Pages} live=${next} p=${p} set=${set} /></div>
    <div><h2>${name}</h2>
    ${past.data && !past.data.intervals.length ? html`<p>No samples of ${name} in this window.</p>` : ""}
    ${data ? html`<${Curve} data=${data} label=${`Mean ${how.curve} of ${name}, with the middle nine tenths, and its forecast`}
      series=${[{ label: `mean ${how.curve}`, colour: 0 }, { label: "5 %", colour: "dim", dash: [4, 4] }, { label: "95 %", colour: "dim", dash: [4, 4] }, { label: "forecast", colour: 2, dash: [8, 3], width: 2.5 }]} bands=${[[3, 2]]} />` : ""}
    ${forecast ? html`<p>In ${duration(horizon)}: <strong>${how.say(forecast.value)}</strong>${forecast.low !== undefined && forecast.low !== null ? `, ${how.say(forecast.low)} to ${how.say(forecast.high)}` : ""}${forecast.forecaster ? `, by ${forecast.forecaster}` : ""}${forecast.mae !== undefined && forecast.mae !== null ? `, mean error so far ${short(forecast.mae)}` : ""}.</p>` : ""}
    ${week.data && week.data.intervals.length ? html`<${DayMap} data=${week.data} measure=${measure} />` : ""}</div></div>` : ""}
    ${next.data && next.data.warnings && next.data.warnings.length ? html`<ul>${next.data.warnings.map((w) => html`<li>${w}</li>`)}</ul>` : ""}`;
}

// ---- failures ----

// All failures of a resource in the window, page by page, and again when there are more:
// {times: from, to, from, to ... in seconds, to NaN: not yet up; count, outages, more, error}.
const PAGE = 1000, PAGES_MAX = 200, PAGES_SHOWN = 10;
const AGAIN_MAX = 10000; // of more, those that come are seen when the page is opened again

// Outages of so many failures: those that overlap or touch are one, as the service has it;
// one without an end goes on to the next one.
function outageCount(times) {
  const order = Array.from({ length: times.length / 2 }, (x, i) => 2 * i).sort((a, b) => times[a] - times[b]);
  let count = 0, end = -Infinity;
  for (const i of order) {
    if (!(times[i] <= end)) count++;
    end = Math.max(end, Number.isNaN(times[i + 1]) ? times[i] : times[i + 1]);
  }
  return count;
}

function useOutages(id, from, to, count) {
  const [state, setState] = useState(null);
  useEffect(() => {
    if (!id) return undefined;
    const abort = new AbortController();
    (async () => {
      const times = [];
      let token = "", pages = 0;
      try {
        do {
          const { items, next_page_token } = (await get("/v1/failures" + query({ resource_id: id, from: iso(from), to: iso(to), page_size: PAGE, page_token: token }), { signal: abort.signal })).data;
          for (const f of items) times.push(Date.parse(f.down_at) / 1000, f.up_at ? Date.parse(f.up_at) / 1000 : NaN);
          token = next_page_token;
          if (++pages === 1 || pages % PAGES_SHOWN === 0 || !token) setState({ id, times: Float64Array.from(times), count: times.length / 2, outages: outageCount(times), more: Boolean(token), error: null });
        } while (token && pages < PAGES_MAX);
      } catch (e) { if (e.name !== "AbortError") setState((s) => ({ ...(s && s.id === id ? s : { id, times: new Float64Array(0), count: 0, outages: 0, more: false }), error: e })); }
    })();
    return () => abort.abort();
  }, [id, from, to, count]);
  return state && state.id === id ? state : null;
}

const counted = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

// Up and down over the window, one row: of outages that share a pixel the first is drawn.
function Outages({ outages, from, to, name }) {
  const draw = (canvas) => {
    const { context: c, width, height } = prepare(canvas), col = colours(), x = (t) => ((t - from) / (to - from)) * width, { times } = outages, spans = [];
    for (let i = 0; i < times.length; i += 2) {
      const a = x(times[i]), b = Math.max(a + 2, x(Number.isNaN(times[i + 1]) ? to : times[i + 1])), last = spans[spans.length - 1];
      if (last && a - last[0] < 1) last[1] = Math.max(last[1], b); else spans.push([a, b]);
    }
    c.fillStyle = col.series[1]; c.fillRect(0, 0, width, height - 18);
    c.fillStyle = col.ground; for (const [a, b] of spans) c.fillRect(a, 0, b - a, height - 18);
    c.fillStyle = col.bad; for (const [a, b] of spans) c.fillRect(a, 4, b - a, height - 26);
    c.fillStyle = col.dim; c.font = "11px system-ui, sans-serif"; c.textBaseline = "bottom";
    c.fillText(iso(from).slice(0, 10), 0, height); c.textAlign = "right"; c.fillText(iso(to).slice(0, 10), width, height);
    canvas.dataset.drawn = String(spans.length);
  };
  const [ref] = useCanvas(draw, [outages, from, to]);
  return html`<canvas class="small" ref=${ref} role="img" aria-label=${`${name}: ${counted(outages.outages, "outage")} from ${iso(from)} to ${iso(to)}`}></canvas>`;
}
const outageCells = (i, times) => [instant(times[i] * 1000), Number.isNaN(times[i + 1]) ? "" : instant(times[i + 1] * 1000), Number.isNaN(times[i + 1]) ? "not yet up" : duration(times[i + 1] - times[i])];

const DAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];

// Failures by hour of the week; a number says the count too.
function WeekMap({ outages }) {
  const counts = useMemo(() => {
    const list = Array.from({ length: 7 }, () => new Array(24).fill(0)), { times } = outages;
    for (let i = 0; i < times.length; i += 2) list[(Math.floor(times[i] / 86400) + 3) % 7][Math.floor(times[i] / 3600) % 24]++; // 1970 began on a Thursday
    return list;
  }, [outages]);
  return html`<${MapOrTable} title="Hour of the week" label="Failures by hour of the week" head=${["day", "hour (UTC)", "failures"]} rows=${counts.flatMap((hours, d) => hours.map((n, k) => [DAYS[d], String(k), n]).filter((r) => r[2]))}><${WeekPicture} counts=${counts} /><//>`;
}

function WeekPicture({ counts }) {
  const most = Math.max(1, ...counts.flat());
  const draw = (canvas) => {
    const { context: c, width, height } = prepare(canvas), col = colours(), w = (width - 30) / 24, h = (height - 14) / 7;
    c.clearRect(0, 0, width, height); c.font = "10px system-ui, sans-serif"; c.textBaseline = "middle";
    DAYS.forEach((d, i) => { c.fillStyle = col.dim; c.fillText(d, 2, i * h + h / 2); });
    for (let d = 0; d < 7; d++) for (let k = 0; k < 24; k++) {
      const n = counts[d][k];
      c.fillStyle = col.shade; c.fillRect(30 + k * w, d * h, w - 1, h - 1);
      if (!n) continue;
      c.globalAlpha = 0.25 + 0.75 * n / most; c.fillStyle = col.series[0]; c.fillRect(30 + k * w, d * h, w - 1, h - 1); c.globalAlpha = 1;
      c.fillStyle = n > most / 2 ? col.ground : col.text; c.fillText(String(n), 30 + k * w + w / 2 - 3, d * h + h / 2);
    }
    c.fillStyle = col.dim; for (let k = 0; k < 24; k += 3) c.fillText(String(k), 30 + k * w, height - 6);
  };
  const [ref] = useCanvas(draw, [counts]);
  return html`<canvas class="small" ref=${ref} role="img" aria-label=${`Failures by day and hour of the week (UTC), ${most} in an hour at most`}></canvas>`;
}

const LAWS = { exponential: ["rate_per_s"], weibull: ["shape", "scale_s"], lognormal: ["mu", "sigma"] };

function Laws({ s }) {
  const rows = Object.entries(LAWS).filter(([k]) => s[k] && typeof s[k].log_likelihood === "number")
    .map(([k, names]) => [k + (s.best_model === k ? " (best)" : ""), names.map((n) => `${n} ${short(s[k][n])}`).join(", "), 2 * names.length - 2 * s[k].log_likelihood]);
  return rows.length ? html`<${Rows} label="Fitted laws" head=${["law of the gaps", "parameters", "AIC"]} rows=${rows} />` : html`<p class="dim">Too few failures for a law.</p>`;
}

// Its whole statistics, with the fitted laws.
function Statistics({ id, from, to }) {
  const live = usePoll("/v1/failures/statistics" + query({ resource_id: id, from: iso(from), to: iso(to) }), 0), s = live.data;
  return html`<${Wrong} error=${live.error} />${s ? html`<h2>Law of the time between failures</h2><${Laws} s=${s} />${s.warnings && s.warnings.length ? html`<ul>${s.warnings.map((w) => html`<li>${w}</li>`)}</ul>` : ""}` : ""}`;
}

export function Failures({ p, set }) {
  const [to] = useState(minute() + 60), from = to - 90 * 86400;
  const live = usePoll("/v1/failures/statistics/resources" + query({ order: "availability", page_size: 100, page_token: p.get("page"), from: iso(from), to: iso(to) }), 15);
  const items = live.data ? live.data.items : [], picked = p.get("resource") || (items[0] && items[0].resource_id);
  const known = items.find((x) => x.resource_id === picked), outages = useOutages(live.data ? picked : null, from, to, known && known.failure_count <= AGAIN_MAX ? known.failure_count : 0);
  const starts = useMemo(() => outages ? Array.from({ length: outages.count }, (x, i) => 2 * i) : [], [outages]);
  return html`<${Title} text="Failures" /><div class="bar"><span>of 90 days, the least available first</span><span class="grow"></span><${LiveBar} live=${live} /></div>
    <${Wrong} error=${live.error || (outages && outages.error)} />
    ${live.data && !items.length ? html`<${Empty} what="No failures were reported. Report one:" path="/v1/failures" body='{"resource_id":"m0","down_at":"2026-11-20T10:00:00Z","up_at":"2026-11-20T11:00:00Z"}' />` : ""}
    ${items.length ? html`<div class="split"><div><${Wide}><table aria-label="Resources"><thead><tr><th scope="col">resource</th><th scope="col" class="n">available</th><th scope="col" class="n">outages</th><th scope="col" class="n">MTBF</th><th scope="col" class="n">MTTR</th></tr></thead>
      <tbody>${items.map((x) => html`<tr class=${x.resource_id === picked ? "picked" : ""}><td><button aria-pressed=${x.resource_id === picked} onClick=${() => set({ resource: x.resource_id })}>${x.resource_id}</button></td>
        <td class="n">${percent(x.availability_ratio)}</td><td class="n">${number(x.failure_count)}</td><td class="n">${duration(x.mtbf_bayes_s)}</td><td class="n">${duration(x.mttr_s)}</td></tr>`)}</tbody></table><//>
      <${Pages} live=${live} p=${p} set=${set} /></div>
      <div>${outages ? html`<${MapOrTable} title=${picked} label="Outages" head=${["down", "up", "for"]} rows=${starts} cells=${(i) => outageCells(i, outages.times)}><${Outages} outages=${outages} from=${from} to=${to} name=${picked} /><//>
      <p class="dim" aria-live="polite">${picked}: ${counted(outages.outages, "outage")}${outages.more ? " so far" : ""} in 90 days${outages.count === outages.outages ? "" : `, of ${counted(outages.count, "failure")}: those that overlap are one outage`}</p>
      <${WeekMap} outages=${outages} />` : html`<h2>${picked}</h2>`}<${Statistics} key=${picked} id=${picked} from=${from} to=${to} /></div></div>` : ""}`;
}

// ---- models ----

function Versions({ list }) {
  const rows = list.slice().reverse().filter((v) => v.summary);
  if (rows.length < 2) return "";
  const data = [rows.map((v) => v.version), rows.map((v) => v.summary.fit_appe_ratio ?? null), rows.map((v) => v.summary.cross_appe_ratio ?? null), rows.map((v) => v.summary.recent_appe_ratio ?? null)];
  return html`<h2>Error by version</h2><${Curve} data=${data} scale="number" points=${true} label="Error of each version" series=${[{ label: "fit" }, { label: "unseen (cross-validation)" }, { label: "recent", colour: "bad", dash: [5, 4] }]} />`;
}

// The value of a formula as models print it, "23.8 + 0.49 problem_size"; NaN: it is
// another kind of text.
export function valueOf(formula, of) {
  const tokens = String(formula).match(/[0-9.]+(?:e[-+]?[0-9]+)?|[a-z_][a-z_0-9]*|[-+*/^()]/gi) || [];
  if (tokens.join("") !== String(formula).replace(/\s+/g, "")) return NaN;
  let i = 0;
  const atom = () => {
    const t = tokens[i++];
    if (t === "(") { const v = sum(); return tokens[i++] === ")" ? v : NaN; }
    if (t === "-") return -power();
    if (t === undefined) return NaN;
    if (/^[0-9.]/.test(t)) return Number(t);
    if (/^(log|log2|sqrt|exp)$/.test(t)) return Math[t](atom());
    return typeof of[t] === "number" ? of[t] : NaN;
  };
  const power = () => { const base = atom(); if (tokens[i] !== "^") return base; i++; return Math.pow(base, power()); };
  const product = () => {
    let v = power();
    while (i < tokens.length && !/^[-+)]$/.test(tokens[i])) { if (tokens[i] === "/") { i++; v /= power(); } else { if (tokens[i] === "*") i++; v *= power(); } }
    return v;
  };
  const sum = () => { let v = product(); while (tokens[i] === "+" || tokens[i] === "-") v += tokens[i++] === "-" ? -product() : product(); return v; };
  const v = sum();
  return i === tokens.length ? v : NaN;
}

function Model({ id }) {
  const m = usePoll("/v1/models/" + encodeURIComponent(id), 15), v = usePoll(`/v1/models/${encodeURIComponent(id)}/versions?page_size=100`, 60), s = usePoll(`/v1/models/${encodeURIComponent(id)}/samples?page_size=1000`, 60);
  const points = useMemo(() => {
    const of = s.data ? s.data.items.filter((x) => x.run_time_s > 0 && x.problem_size > 0) : [];
    const sorted = of.sort((a, b) => a.problem_size - b.problem_size);
    return sorted.length < 2 ? null : [sorted.map((x) => x.problem_size), sorted.map((x) => x.run_time_s)];
  }, [s.data]);
  const formula = m.data && m.data.formula;
  const against = useMemo(() => {
    const of = s.data ? s.data.items.map((x) => [x.predicted_s ?? (formula ? valueOf(formula, x) : NaN), x.run_time_s]).filter(([a, b]) => a > 0 && b > 0).sort((a, b) => a[0] - b[0]) : [];
    return of.length < 2 ? null : [of.map((x) => x[0]), of.map((x) => x[1]), of.map((x) => x[0]), of.map((x) => 0.8 * x[0]), of.map((x) => 1.2 * x[0])];
  }, [s.data, formula]);
  const d = m.data, sum = d && (d.summary || (v.data && v.data.items[0] && v.data.items[0].summary));
  return html`<${Wrong} error=${m.error || v.error || s.error} />
    ${d && d.state !== "trained" ? html`<div class="note"><p>Not trained yet: ${number(d.waiting_count)} ${d.waiting_count === 1 ? "execution waits" : "executions wait"}.${d.waiting_count ? "" : " It learns from runs that are reported to POST /v1/executions."}</p></div>` : ""}
    ${sum && sum.recent_appe_ratio && sum.cross_appe_ratio && sum.recent_appe_ratio > 2 * sum.cross_appe_ratio ? html`<div class="note wrong" role="alert">Drift: the error of late, ${percent(sum.recent_appe_ratio)}, is more than twice that of learning, ${percent(sum.cross_appe_ratio)}.</div>` : ""}
    ${sum && sum.change ? html`<div class="note" role="alert">Drift: since ${instant(sum.change.at)} runs take ${short(sum.change.factor)} times as long as before; of ${number(sum.sample_count)} runs ${number(sum.change.run_count)} are of that time${sum.change_count > 1 ? `, and ${number(sum.change_count - 1)} changes were earlier` : ""}.</div>` : ""}
    ${d && d.formula ? html`<h2>Formula</h2><pre tabindex="0">${d.formula}</pre>` : ""}
    ${sum ? html`<p>${number(sum.sample_count)} runs; error of the fit ${percent(sum.fit_appe_ratio)}, of runs left out ${percent(sum.cross_appe_ratio)}${sum.recent_appe_ratio !== null ? `, of late ${percent(sum.recent_appe_ratio)}` : ""}.</p>` : ""}
    ${against ? html`<h2>Predicted against seen, in s</h2><${Curve} data=${against} scale="number" logarithmic=${true} label="Run times that were seen, by what the model predicts; lines: the same, and 20 % less and more" series=${[{ label: "seen", points: true, colour: 1 }, { label: "as predicted", colour: 0 }, { label: "-20 %", colour: "dim", dash: [4, 4] }, { label: "+20 %", colour: "dim", dash: [4, 4] }]} />` : ""}
    ${points ? html`<h2>Run time by size</h2><${Curve} data=${points} scale="number" logarithmic=${true} label="Run times that were seen, by the size of the problem" series=${[{ label: "run time s", points: true }]} />` : ""}
    ${v.data ? html`<${Versions} list=${v.data.items} />` : ""}
    ${sum ? html`<h2>What it has seen</h2><${Rows} head=${["input", "from", "to"]} rows=${["problem_size", "processors", "cpu_available_ratio", "bandwidth_mbps"].filter((k) => sum[k] && sum[k].low !== null).map((k) => [k, short(sum[k].low), short(sum[k].high)])} />` : ""}
    ${d && d.members && d.members.length ? html`<h2>Members</h2><${Rows} label="Members" head=${["for runs", "member", "weight", "error"]} rows=${d.members.map((x) => [String(x.group).replace(/_/g, " "), x.name, percent(x.weight_ratio), percent(x.error_ratio)])} />` : ""}
    ${s.data && s.data.items.length ? html`<h2>Runs</h2><${Rows} head=${["execution", "size", "processors", "run time", "verdict"]} rows=${s.data.items.map((x) => [x.execution_id || "", short(x.problem_size), short(x.processors), duration(x.run_time_s), x.verdict || ""])} />` : ""}`;
}

export function Models({ p, set }) {
  const live = usePoll("/v1/models" + query({ page_size: 200, page_token: p.get("page") }), 5), items = live.data ? live.data.items : [];
  const picked = p.get("model") || (items[0] && items[0].id);
  return html`<${Title} text="Models" /><div class="bar"><span class="grow"></span><${LiveBar} live=${live} /></div><${Wrong} error=${live.error} />
    ${live.data && !items.length && !p.get("page") ? html`<${Empty} what="No runs were reported. The first run of an application brings a model that learns from it and all that follow:" path="/v1/executions" body='{"execution_id":"run-1","application_id":"solver","started_at":"2026-11-20T10:00:00Z","processors":4,"problem_size":1000,"run_time_s":120}' />` : ""}
    ${items.length ? html`<div class="split"><${Wide}><table aria-label="Models"><thead><tr><th scope="col">model</th><th scope="col">kind</th><th scope="col" class="n">runs</th><th scope="col" class="n">error</th><th scope="col" class="n">unseen</th><th scope="col" class="n">recent</th><th scope="col">state</th><th scope="col" class="n">waiting</th><th scope="col">changed</th></tr></thead>
      <tbody>${items.map((m) => html`<tr class=${m.id === picked ? "picked" : ""}><td><button aria-pressed=${m.id === picked} onClick=${() => set({ model: m.id })}>${m.id}</button></td><td>${m.kind}</td>${["sample_count", "fit_appe_ratio", "cross_appe_ratio", "recent_appe_ratio"].map((k) => html`<td class="n">${m.summary ? k === "sample_count" ? number(m.summary[k]) : percent(m.summary[k]) : ""}</td>`)}
        <td>${m.state}</td><td class="n">${number(m.waiting_count)}</td><td title=${m.updated_at}>${instant(m.updated_at)}</td></tr>`)}</tbody></table>
      <p class="dim">Errors are means: on the runs that a model was fitted to, on runs that were left out of the fit, and of late.</p>
      <${Pages} live=${live} p=${p} set=${set} /><//>
      <div><h2>${picked}</h2>${picked ? html`<${Model} key=${picked} id=${picked} />` : ""}</div></div>` : ""}`;
}
