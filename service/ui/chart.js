// chart.js - what charts share: colours of the theme, sharp canvases, curves over time.
import { html, useEffect, useMemo, useRef, useState } from "/ui/preact-htm.js";

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  return {
    ground: of("ground"), text: of("text"), dim: of("dim"), edge: of("edge"), line: of("line"),
    bad: of("bad"), shade: of("shade"), series: [of("s1"), of("s2"), of("s3"), of("s4")],
  };
}

// The canvas at the size that CSS gives it, in device pixels; {context, width, height}.
export function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.textAlign = "left";
  context.lineWidth = 1;
  return { context, width, height };
}

// Calls `draw` once a frame at most: when the size changes, and when it is asked to.
export function useCanvas(draw, inputs) {
  const ref = useRef(null), frame = useRef(0), last = useRef(draw);
  last.current = draw;
  const redraw = () => {
    if (!frame.current) frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      if (ref.current) last.current(ref.current);
    });
  };
  useEffect(() => {
    const watch = new ResizeObserver(redraw);
    watch.observe(ref.current);
    window.addEventListener("theme", redraw);
    return () => { watch.disconnect(); window.removeEventListener("theme", redraw); cancelAnimationFrame(frame.current); frame.current = 0; };
  }, []);
  useEffect(redraw, inputs);
  return [ref, redraw];
}

// An instant on an axis, by the step between its ticks.
function clock(t, step) {
  const d = new Date(1000 * t), two = (n) => String(n).padStart(2, "0");
  if (step >= 86400 || (d.getHours() === 0 && d.getMinutes() === 0 && step >= 60)) return `${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  return `${two(d.getHours())}:${two(d.getMinutes())}${step < 60 ? ":" + two(d.getSeconds()) : ""}`;
}

// Curves over time: data as of uPlot, series [{label, colour, dash, width, fill}].
export function Curve({ data, series, bands, label, scale, logarithmic, points }) {
  const ref = useRef(null);
  const [table, setTable] = useState(false);
  useEffect(() => {
    if (table || !window.uPlot) return undefined;
    let plot = null;
    const build = () => {
      const c = colours();
      if (plot) plot.destroy();
      const axis = { stroke: c.dim, grid: { stroke: c.line }, ticks: { stroke: c.line } };
      plot = new window.uPlot({
        width: Math.max(240, ref.current.clientWidth), height: 300,
        scales: { x: { time: scale !== "number", distr: logarithmic ? 3 : 1 }, y: { distr: logarithmic ? 3 : 1 } },
        axes: [scale === "number" ? axis : { ...axis, values: (u, list, i, space, step) => list.map((t) => clock(t, step)) }, axis],
        bands: (bands || []).map((b) => ({ series: b, fill: c.series[0] + "26" })),
        series: [scale === "number" ? { label: "x" } : { label: "time", value: (u, t) => t === null ? "--" : new Date(1000 * t).toTimeString().slice(0, 8) }].concat(series.map((s, i) => ({
          label: s.label, stroke: s.colour === "bad" ? c.bad : s.colour === "dim" ? c.dim : c.series[(s.colour ?? i) % 4],
          dash: s.dash, width: s.width ?? 1.5, fill: s.fill ? c.shade : undefined,
          points: { show: s.points ?? points ?? false, size: 6, fill: c.ground }, paths: s.points ? () => null : undefined,
        }))),
      }, data, ref.current);
    };
    build();
    const watch = new ResizeObserver(() => plot && plot.setSize({ width: Math.max(240, ref.current.clientWidth), height: 300 }));
    watch.observe(ref.current);
    window.addEventListener("theme", build);
    return () => { watch.disconnect(); window.removeEventListener("theme", build); if (plot) plot.destroy(); };
  }, [data, table]);
  const rows = data[0].map((x, i) => [scale === "number" ? x : new Date(x * 1000).toISOString(), ...data.slice(1).map((d) => d[i])]);
  return html`<div class="bar"><button aria-pressed=${table} onClick=${() => setTable(!table)}>As table</button></div>
    ${table ? html`<${Rows} head=${[scale === "number" ? "x" : "time", ...series.map((s) => s.label)]} rows=${rows} />`
    : html`<div role="img" aria-label=${label} ref=${ref}></div>`}`;
}

// What may be wider than the page scrolls in itself, by keyboard too.
export function Wide({ children }) {
  const ref = useRef(null);
  const look = () => { const e = ref.current; if (e && e.scrollWidth > e.clientWidth) e.tabIndex = 0; else if (e) e.removeAttribute("tabindex"); };
  useEffect(look);
  useEffect(() => { const watch = new ResizeObserver(look); watch.observe(ref.current); return () => watch.disconnect(); }, []);
  return html`<div class="wide" ref=${ref}>${children}</div>`;
}

const ORDERS = { ascending: 1, descending: -1 };

// A table of which 50 rows are shown at a time. `cells`: makes a row of what is in `rows`,
// of those that are shown only. `keys`: of each column what it is sorted by, numbers or
// texts; a press on its head sorts, the second one the other way, the third as it came.
export function Rows({ head, rows, label, cells, keys }) {
  const [page, setPage] = useState(0), [sorted, setSorted] = useState({ by: -1, order: "none" });
  const list = useMemo(() => {
    if (!keys || sorted.order === "none") return rows;
    const way = ORDERS[sorted.order], at = rows.map(keys[sorted.by]);
    return rows.map((r, i) => i).sort((a, b) => (at[a] < at[b] ? -way : at[a] > at[b] ? way : a - b)).map((i) => rows[i]);
  }, [rows, keys, sorted]);
  const pages = Math.max(1, Math.ceil(rows.length / 50)), here = Math.min(page, pages - 1);
  const part = list.slice(50 * here, 50 * here + 50), shown = cells ? part.map(cells) : part;
  const orderOf = (i) => sorted.by === i ? sorted.order : "none";
  const press = (i) => { setSorted({ by: i, order: { none: "ascending", ascending: "descending", descending: "none" }[orderOf(i)] }); setPage(0); };
  return html`<${Wide}><table aria-label=${label}><thead><tr>${head.map((h, i) => html`<th scope="col" class=${typeof (shown[0] || [])[i] === "number" ? "n" : ""} aria-sort=${keys ? orderOf(i) : undefined}>${keys ? html`<button onClick=${() => press(i)}>${h}${{ ascending: " ▲", descending: " ▼" }[orderOf(i)] || ""}</button>` : h}</th>`)}</tr></thead>
    <tbody>${shown.map((r) => html`<tr>${r.map((v) => html`<td class=${typeof v === "number" ? "n" : ""}>${typeof v === "number" ? Number(v.toPrecision(6)) : v}</td>`)}</tr>`)}</tbody></table><//>
    ${pages > 1 ? html`<div class="bar"><button disabled=${here === 0} onClick=${() => setPage(here - 1)}>Back</button>
      <span>rows ${50 * here + 1} to ${Math.min(rows.length, 50 * here + 50)} of ${rows.length}</span>
      <button disabled=${here === pages - 1} onClick=${() => setPage(here + 1)}>On</button></div>` : ""}`;
}
