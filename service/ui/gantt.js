// gantt.js - who does what when, on one canvas: bars in rows over time, of any number.
//
// Bars of a row are in tracks, so that none overlaps another, and sorted by start; of those
// that can be seen only the ones that are 0.7 px from the last one drawn are drawn.
import { html, useEffect, useMemo, useRef, useState } from "/ui/preact-htm.js";
import { colours, prepare, useCanvas, Rows } from "/ui/chart.js";
import { columns, commonPrefix, duration, fineStep, fitting, number } from "/ui/format.js";

const CLOSE_PX = 0.7, TRANSFERS_MAX = 200, CHARACTER_PX = 6.2, AXIS_PX = 24, MARK_PX = 14, GROUPS = 7, ROW_PX = 22, FIT_TRACKS = 120;

// What an id begins with behind `from`, up to its first digit or slash.
export function stem(id, from = 0) {
  let to = from;
  for (; to < id.length; to++) { const c = id.charCodeAt(to); if ((c >= 48 && c <= 57) || c === 47) break; }
  if (to > from && "_-.".includes(id[to - 1])) to--;
  return id.slice(from, to) || "others";
}

// stem(), that gives the same string for ids of few stems: of 100,000 ids that is half of the time.
export function stemmer() {
  const known = [], ends = (c) => (c >= 48 && c <= 57) || c === 47 || c !== c; // a digit, a slash, nothing
  return (id, from) => {
    for (const s of known) if (id.startsWith(s, from)) {
      const to = from + s.length, c = id.charCodeAt(to);
      if ((ends(c) && !"_-.".includes(s[s.length - 1])) || ("_-.".includes(id[to]) && ends(id.charCodeAt(to + 1)))) return s;
    }
    const s = stem(id, from);
    if (s !== "others" && known.length < 16) known.push(s);
    return s;
  };
}

// Colours by stem: the seven with most work, ties by name, the rest is "others". Each bar
// gets `colour`, its number.
export function groupsOf(bars) {
  const work = new Map();
  for (const b of bars) {
    const g = work.get(b.group);
    if (g) g.work += b.end - b.start; else work.set(b.group, { work: b.end - b.start, index: 0 });
  }
  const names = [...work.keys()].sort((a, b) => work.get(b).work - work.get(a).work || (a < b ? -1 : 1));
  names.forEach((n, i) => { work.get(n).index = Math.min(i, GROUPS); });
  for (const b of bars) b.colour = work.get(b.group).index;
  return new Map(names.map((n) => [n, work.get(n).index]));
}

// What there is among the bars, for legend and buttons.
function kindsOf(bars) {
  const has = { critical: false, late: false, moved: false, stageIn: false, done: false, running: false, reserved: false, bad: false };
  for (const b of bars) {
    if (b.critical) has.critical = true;
    if (b.late) has.late = true;
    if (b.moved) has.moved = true;
    if (b.stageIn > 0) has.stageIn = true;
    if (b.state) { if (b.state === "failed" || b.state === "cancelled") has.bad = true; else has[b.state] = true; }
  }
  return has;
}

const isSorted = (l) => { for (let i = 1; i < l.length; i++) if (l[i].start < l[i - 1].start || (l[i].start === l[i - 1].start && l[i].end < l[i - 1].end)) return false; return true; };

// Rows of tracks; each bar gets `track`, counted over all rows.
export function arrange(bars, rowNames) {
  const names = rowNames && rowNames.length ? rowNames.slice() : [];
  const seen = new Map(names.map((n, i) => [n, i]));
  const byRow = names.map(() => []);
  for (const b of bars) {
    let i = seen.get(b.row);
    if (i === undefined) { i = names.length; seen.set(b.row, i); names.push(b.row); byRow.push([]); }
    byRow[i].push(b);
  }
  const order = names.map((n, i) => i);
  // rows of one bar each are in the order of time, others by name
  if (!rowNames || !rowNames.length) order.sort(byRow.every((r) => r.length === 1 && r[0].id === r[0].row) ? (a, b) => byRow[a][0].start - byRow[b][0].start || a - b : (a, b) => (names[a] < names[b] ? -1 : 1));
  const tracks = [], rows = [];
  for (const i of order) {
    const first = tracks.length;
    if (!isSorted(byRow[i])) byRow[i].sort((a, b) => a.start - b.start || a.end - b.end);
    for (const b of byRow[i]) {
      let t = first;
      while (t < tracks.length && tracks[t][tracks[t].length - 1].end > b.start + 1e-9 * (1 + Math.abs(b.start))) t++;
      if (t === tracks.length) tracks.push([]);
      tracks[t].push(b);
      b.track = t;
    }
    if (tracks.length === first) tracks.push([]);
    rows.push({ name: names[i], first, count: tracks.length - first });
  }
  return { rows, tracks, longest: rows.reduce((m, r) => Math.max(m, columns(r.name)), 3), isSplit: tracks.length > rows.length };
}

const stateOf = (b) => [b.state, b.critical ? "critical" : "", b.late ? "late" : ""].filter(Boolean).join(", ");

// What the columns of the table of bars are sorted by.
const BAR_KEYS = [(b) => b.id, (b) => b.row, (b) => b.start, (b) => b.end, (b) => b.end - b.start, stateOf];

// The first bar of a track that ends after t.
function firstAfter(track, t) {
  let low = 0, high = track.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track[middle].end <= t) low = middle + 1; else high = middle;
  }
  return low;
}

// Only a rectangle in its colour: without marks, and too small for a label, in which no
// character is narrower than one column.
const isPlain = (b, w, h, prefix) => !b.state && !b.late && !b.moved && !(b.stageIn > 0) && (b.colour < 4 || b.colour === GROUPS || w <= 4) &&
  (h < 11 || (b.id.length - prefix) * CHARACTER_PX + 4 > w);

function drawBar(c, col, b, critical, x0, x1, y, h, prefix) {
  const group = b.colour, w = Math.max(1, x1 - x0);
  const over = b.state === "done", runs = b.state === "running", bad = b.state === "failed" || b.state === "cancelled";
  const plain = over || group >= GROUPS ? col.edge : bad ? col.bad : col.series[group % 4];
  c.globalAlpha = over || bad ? 0.6 : runs ? 0.35 : 1;
  c.fillStyle = plain;
  c.fillRect(x0, y, w, h);
  c.globalAlpha = 1;
  if (runs) { c.fillRect(x0, y, w * Math.max(0, Math.min(1, b.progress ?? 0)), h); c.strokeStyle = plain; c.strokeRect(x0 + 0.5, y + 0.5, Math.max(1, w - 1), Math.max(1, h - 1)); }
  if (b.stageIn > 0 && x1 > x0) { c.globalAlpha = 0.6; c.fillStyle = col.ground; c.fillRect(x0, y, w * Math.min(1, b.stageIn / (b.end - b.start)), h); c.globalAlpha = 1; }
  const crossed = b.state === "reserved";
  if (((group >= 4 && group < GROUPS && !over) || crossed) && w > 4) { // a second sign beside the colour
    c.strokeStyle = col.ground;
    c.beginPath();
    for (let x = x0 - h; x < x1; x += 6) { c.moveTo(Math.max(x, x0), y + h - Math.max(0, x0 - x)); c.lineTo(Math.min(x + h, x1), y + Math.max(0, x + h - x1)); }
    if (crossed) for (let x = x0 - h; x < x1; x += 6) { c.moveTo(Math.max(x, x0), y + Math.max(0, x0 - x)); c.lineTo(Math.min(x + h, x1), y + h - Math.max(0, x + h - x1)); }
    c.stroke();
  }
  if (critical || b.late) { c.strokeStyle = col.bad; c.lineWidth = critical ? 2 : 1; c.strokeRect(x0 + 1, y + 1, Math.max(1, w - 2), Math.max(1, h - 2)); c.lineWidth = 1; }
  if (b.moved) { c.strokeStyle = col.text; c.lineWidth = 2; c.setLineDash([4, 3]); c.strokeRect(x0 + 1, y + 1, Math.max(1, w - 2), Math.max(1, h - 2)); c.setLineDash([]); c.lineWidth = 1; }
  if (b.late && w > 10) { c.fillStyle = over || runs ? col.bad : col.ground; c.fillText("!", x1 - 8, y + h / 2); }
  // a label stands on one colour
  const label = b.id.slice(prefix), done = runs ? w * Math.max(0, Math.min(1, b.progress ?? 0)) : 0, need = columns(label) * CHARACTER_PX + 4;
  const inside = !runs || done >= need, room = (runs ? inside ? done : w - done : w) - (b.late ? 10 : 0);
  if (h >= 11 && need <= room && crossed) { c.fillStyle = col.ground; c.fillRect(x0 + 1, y + h / 2 - 6, need, 12); c.fillStyle = col.text; c.fillText(label, x0 + 3, y + h / 2); }
  else if (h >= 11 && need <= room) { c.fillStyle = over || bad || !inside ? col.text : col.ground; c.fillText(label, x0 + 3 + (inside ? 0 : done), y + h / 2); }
}

export function Gantt({ bars, rows: rowNames, end, bound, now, picked, onPick, view, onView, name }) {
  const plan = useMemo(() => arrange(bars, rowNames), [bars, rowNames]);
  const groups = useMemo(() => groupsOf(bars), [bars]);
  const has = useMemo(() => kindsOf(bars), [bars]);
  const rowPrefix = useMemo(() => commonPrefix(plan.rows.map((r) => r.name)), [plan]);
  const barPrefix = useMemo(() => commonPrefix(bars.map((b) => b.id)), [bars]);
  const last = Math.max(end || 0, 1e-9);
  const [table, setTable] = useState(false), [critical, setCritical] = useState(true), [transfers, setTransfers] = useState(true);
  const moving = useMemo(() => bars.filter((b) => b.transferTo > b.transferFrom), [bars]);
  const at = useRef({ from: 0, to: last, top: 0 });
  const cursor = useRef(null);
  const drawn = useRef({ bars: 0, list: [] });
  const layout = useRef({}), skipped = useRef(null);
  if (view && view.to > view.from) { at.current.from = view.from; at.current.to = view.to; }

  const draw = (canvas) => {
    const { context: c, width, height } = prepare(canvas), col = colours(), a = at.current;
    const longest = Math.max(3, plan.longest - columns(rowPrefix));
    const left = Math.min(160, width / 4, longest * CHARACTER_PX + 12), plotW = width - left - 2, above = bound !== undefined && bound !== null || now !== undefined ? MARK_PX : 0, plotH = height - AXIS_PX - above;
    const trackH = Math.max(3, Math.min(ROW_PX, plotH / plan.tracks.length));
    a.top = Math.max(0, Math.min(a.top, plan.tracks.length * trackH - plotH));
    const scale = plotW / (a.to - a.from), xOf = (t) => left + (t - a.from) * scale;
    Object.assign(layout.current, { left, plotW, plotH, trackH, scale, above });
    c.fillStyle = col.ground; c.fillRect(0, 0, width, height);
    c.save(); c.translate(0, above);
    c.font = "11px system-ui, sans-serif"; c.textBaseline = "middle";
    const step = fineStep(70 / scale);
    c.strokeStyle = col.line; c.fillStyle = col.dim; c.textAlign = "center";
    let free = -1e9;
    for (let t = Math.ceil(a.from / step) * step; t <= a.to; t += step) {
      const x = xOf(t), text = duration(Math.abs(t) < step / 1e6 ? 0 : t), w = text.length * CHARACTER_PX;
      c.beginPath(); c.moveTo(x, 0); c.lineTo(x, plotH); c.stroke();
      if (x - w / 2 > free && x + w / 2 < width) { c.fillText(text, x, plotH + AXIS_PX / 2); free = x + w / 2 + 4; }
    }
    // rows of several tracks are told apart by lines
    if (trackH > 8 && plan.isSplit) for (const r of plan.rows) {
      const y = Math.round(r.first * trackH - a.top) + 0.5;
      if (y > 1 && y < plotH) { c.beginPath(); c.moveTo(4, y); c.lineTo(width - 2, y); c.stroke(); }
    }
    c.save(); c.beginPath(); c.rect(left, -above, plotW, plotH + above); c.clip(); c.textAlign = "left";
    let count = 0, close = 0; const list = [], plain = Array.from({ length: GROUPS + 1 }, () => []); // x, y, width of each, by colour
    const h = Math.max(1, trackH - (trackH > 6 ? 2 : trackH > 3 ? 1 : 0)), first = Math.floor(a.top / trackH), beyond = Math.min(plan.tracks.length, Math.ceil((a.top + plotH) / trackH));
    for (let t = first; t < beyond; t++) {
      const track = plan.tracks[t], y = t * trackH - a.top + (trackH > 6 ? 1 : 0);
      let lastX = -1e9;
      for (let i = firstAfter(track, a.from); i < track.length && track[i].start < a.to; i++) {
        const b = track[i], x0 = Math.max(left - 4, xOf(b.start)), x1 = Math.min(width + 4, xOf(b.end));
        if (x1 - lastX < CLOSE_PX) { close++; continue; }
        const marked = critical && b.critical;
        if (!marked && isPlain(b, x1 - x0, h, barPrefix.length)) plain[b.colour].push(x0, y, Math.max(1, x1 - x0));
        else drawBar(c, col, b, marked, x0, x1, y, h, barPrefix.length);
        lastX = x1; count++;
        if (list.length < 200) list.push([b.row, b.id, b.state || "planned", b.colour]);
      }
    }
    plain.forEach((l, i) => { // a colour at a time: to change it takes longer than a bar
      c.fillStyle = i >= GROUPS ? col.edge : col.series[i % 4];
      for (let k = 0; k < l.length; k += 3) c.fillRect(l[k], l[k + 1], l[k + 2], h);
    });
    const chosen = picked ? bars.filter((b) => b.id === picked) : []; // of a job on several nodes each
    // what a bar's last input took to come, below its row; of many those that matter
    if (transfers) for (const b of moving) {
      const y = (b.track + 1) * trackH - a.top - 1.5;
      if (y < 0 || y > plotH + trackH || b.transferTo < a.from || b.transferFrom > a.to || (moving.length > TRANSFERS_MAX && !b.critical && b.id !== picked)) continue;
      c.strokeStyle = col.series[3]; c.lineWidth = trackH > 8 ? 2 : 1; c.beginPath(); c.moveTo(xOf(b.transferFrom), y); c.lineTo(xOf(b.transferTo), y); c.stroke(); c.lineWidth = 1;
    }
    c.strokeStyle = col.text; c.lineWidth = 2;
    for (const b of chosen) c.strokeRect(xOf(b.start) - 1, b.track * trackH - a.top, Math.max(3, (b.end - b.start) * scale + 2), trackH);
    c.lineWidth = 1;
    const line = (t, text, colour) => {
      if (t === undefined || t === null || t < a.from || t > a.to) return;
      c.strokeStyle = colour; c.setLineDash([5, 4]); c.beginPath(); c.moveTo(xOf(t), 0); c.lineTo(xOf(t), plotH); c.stroke(); c.setLineDash([]);
      const w = c.measureText(text).width + 4, x = Math.min(xOf(t), width - w - 2);
      c.fillStyle = colour; c.fillText(text, x + 2, -above / 2);
    };
    line(bound, "bound", col.dim); line(now, "now", col.text);
    c.restore();
    c.fillStyle = col.dim; c.textAlign = "right"; let lastY = -20;
    for (const r of plan.rows) {
      const y = Math.min(Math.max((r.first + 0.5) * trackH - a.top, trackH / 2), (r.first + r.count - 0.5) * trackH - a.top); // its first track in sight
      if (y < 6 || y > plotH - 4 || y - lastY < 12) continue;
      c.fillText(fitting(r.name.slice(rowPrefix.length), Math.floor((left - 8) / CHARACTER_PX)), left - 5, y); lastY = y;
    }
    c.restore();
    drawn.current = { bars: count, list };
    if (skipped.current) skipped.current.textContent = close ? `${number(close)} ${close === 1 ? "bar is" : "bars are"} closer than ${CLOSE_PX} px to ${close === 1 ? "its" : "their"} neighbour, and not drawn` : "";
    canvas.dataset.drawn = String(count);
    if (location.hash.includes("drawlist")) canvas.dataset.drawlist = JSON.stringify({ rows: plan.rows.map((r) => r.name.slice(rowPrefix.length)), bars: list });
  };
  const [ref, redraw] = useCanvas(draw, [bars, picked, table, critical, transfers, view && view.from, view && view.to, now]);
  const timer = useRef(0);
  const show = (from, to) => {
    const least = last / 1e6, span = Math.max(least, Math.min(to - from, last * 1.02));
    from = Math.max(-0.01 * last, Math.min(from, last * 1.01 - span));
    at.current.from = from; at.current.to = from + span;
    redraw();
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onView && onView(at.current.from <= 0 && at.current.to >= last ? null : { from: at.current.from, to: at.current.to }), 250);
  };
  const zoom = (factor, x) => {
    const a = at.current, t = a.from + (a.to - a.from) * (x ?? 0.5);
    show(t - (t - a.from) * factor, t + (a.to - t) * factor);
  };
  const pan = (share) => { const d = (at.current.to - at.current.from) * share; show(at.current.from + d, at.current.to + d); };
  const barAt = (event) => {
    const box = ref.current.getBoundingClientRect(), l = layout.current, a = at.current;
    const t = a.from + (event.clientX - box.left - l.left) / l.scale, track = plan.tracks[Math.floor((event.clientY - box.top - l.above + a.top) / l.trackH)];
    if (!track) return null;
    const near = 3 / l.scale;
    for (let i = firstAfter(track, t - near); i < track.length && track[i].start <= t + near; i++) if (track[i].end >= t - near) return track[i];
    return null;
  };
  const bring = (b) => {
    const a = at.current, l = layout.current;
    if (b.end < a.from || b.start > a.to) show(b.start - (a.to - a.from) / 2, b.start + (a.to - a.from) / 2);
    const y = b.track * l.trackH;
    if (y < a.top || y + l.trackH > a.top + l.plotH) a.top = y - l.plotH / 2;
    redraw();
  };
  const key = (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const b = bars.find((x) => x.id === picked);
    const go = (x) => { cursor.current = x; onPick(x.id); bring(x); };
    const actions = {
      ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1), ArrowUp: () => { at.current.top -= 3 * layout.current.trackH; redraw(); },
      ArrowDown: () => { at.current.top += 3 * layout.current.trackH; redraw(); },
      "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), 0: () => show(0, last),
      Enter: () => { const t = plan.tracks[Math.floor(at.current.top / layout.current.trackH)] || plan.tracks[0]; const x = t[firstAfter(t, at.current.from)] || bars[0]; if (x) go(x); },
      n: () => { const t = b && plan.tracks[b.track], i = t ? t.indexOf(b) : -1; if (t && t[i + 1]) go(t[i + 1]); },
      p: () => { const t = b && plan.tracks[b.track], i = t ? t.indexOf(b) : -1; if (t && t[i - 1]) go(t[i - 1]); },
      Escape: () => onPick(null),
    };
    if (!actions[e.key]) return;
    e.preventDefault(); e.stopPropagation();
    actions[e.key]();
  };
  const drag = useRef(null);
  useEffect(() => {
    const canvas = ref.current;
    if (!canvas) return undefined;
    const wheel = (e) => {
      e.preventDefault();
      const l = layout.current;
      if (e.shiftKey) { at.current.top += e.deltaY || e.deltaX; redraw(); }
      else zoom(Math.exp(e.deltaY / 500), Math.max(0, Math.min(1, (e.clientX - canvas.getBoundingClientRect().left - l.left) / l.plotW)));
    };
    canvas.addEventListener("wheel", wheel, { passive: false });
    return () => canvas.removeEventListener("wheel", wheel);
  }, [table, plan, last]);
  // One finger pans: in time, and over the rows. Two zoom in time.
  const fingers = useRef(new Map());
  const pointer = (e) => {
    const of = fingers.current, d = drag.current;
    if (e.type === "pointerdown") {
      of.set(e.pointerId, e.clientX); e.target.setPointerCapture(e.pointerId);
      drag.current = { x: e.clientX, y: e.clientY, from: at.current.from, to: at.current.to, top: at.current.top, moved: of.size > 1 };
    } else if (e.type === "pointermove" && !d && e.pointerType !== "touch") { // a bar too short for its name says it
      const b = barAt(e), text = b ? `${b.id}, ${duration(b.start)} to ${duration(b.end)} on ${b.row}` : "";
      if (e.target.title !== text) e.target.title = text;
    } else if (e.type === "pointermove" && d && of.has(e.pointerId)) {
      if (of.size > 1) {
        const before = [...of.values()];
        of.set(e.pointerId, e.clientX);
        const after = [...of.values()], apart = (l) => Math.max(8, Math.abs(l[0] - l[1]));
        zoom(apart(before) / apart(after), Math.max(0, Math.min(1, ((after[0] + after[1]) / 2 - ref.current.getBoundingClientRect().left - layout.current.left) / layout.current.plotW)));
        return;
      }
      if (Math.abs(e.clientX - d.x) > 3 || Math.abs(e.clientY - d.y) > 3) d.moved = true;
      if (!d.moved) return;
      at.current.top = d.top + d.y - e.clientY;
      show(d.from + (d.x - e.clientX) / layout.current.scale, d.to + (d.x - e.clientX) / layout.current.scale);
    } else if (e.type === "pointerup" || e.type === "pointercancel") {
      of.delete(e.pointerId);
      if (e.type === "pointerup" && d && !d.moved) { const b = barAt(e); cursor.current = b; onPick(b ? b.id : null); }
      drag.current = null;
    }
  };
  const legend = [...groups.entries()].filter(([, i]) => i < GROUPS), others = groups.size > GROUPS;
  return html`<div class="bar"><button aria-label="shorter time" onClick=${() => zoom(0.5)}>+</button><button aria-label="longer time" onClick=${() => zoom(2)}>-</button>
      <button onClick=${() => show(0, last)}>All</button><button aria-pressed=${table} onClick=${() => setTable(!table)}>As table</button>
      ${has.critical ? html`<button aria-pressed=${critical} onClick=${() => setCritical(!critical)}>Critical path</button>` : ""}
      ${moving.length ? html`<button aria-pressed=${transfers} onClick=${() => setTransfers(!transfers)}>Transfers</button>` : ""}
      <span class="dim">${rowPrefix ? "rows: " + rowPrefix + "… " : ""}${barPrefix ? "bars: " + barPrefix + "…" : ""}</span></div>
    ${table ? html`<${Rows} label=${name} head=${["id", "where", "start", "end", "length", "state"]} rows=${bars} keys=${BAR_KEYS} cells=${(b) => [b.id, b.row, duration(b.start), duration(b.end), duration(b.end - b.start), stateOf(b)]} />`
    : html`<canvas class=${plan.tracks.length <= FIT_TRACKS ? "gantt fits" : "gantt"} style=${{ height: Math.max(120, Math.min(416, plan.tracks.length * ROW_PX + AXIS_PX + MARK_PX + 2)) + "px" }} ref=${ref} tabindex="0" role="img" aria-label=${`${name}: ${bars.length} ${bars.length === 1 ? "bar" : "bars"} in ${plan.rows.length} ${plan.rows.length === 1 ? "row" : "rows"} until ${duration(last)}. Keys: arrows, plus, minus, 0, Enter, n, p.`}
        onKeyDown=${key} onPointerDown=${pointer} onPointerMove=${pointer} onPointerUp=${pointer} onPointerCancel=${pointer}></canvas>`}
    <ul class="keys" aria-label="Legend">${legend.map(([g, i]) => html`<li><span class=${"swatch c" + i}></span>${g}</li>`)}
      ${others ? html`<li><span class="swatch c7"></span>others</li>` : ""}
      ${critical && has.critical ? html`<li class="bad">red edge: critical path</li>` : ""}${transfers && moving.length ? html`<li>line below: its last input is on its way${moving.length > TRANSFERS_MAX ? " (of the critical path and the picked bar)" : ""}</li>` : ""}${has.done ? html`<li>grey: done</li>` : ""}${has.running ? html`<li>filled up to its progress: runs now</li>` : ""}${has.reserved ? html`<li>crossed: reserved</li>` : ""}${has.late || has.bad ? html`<li class="bad">! late, or failed</li>` : ""}${has.stageIn ? html`<li>light front: stage-in</li>` : ""}${has.moved ? html`<li>dashed edge: it is elsewhere</li>` : ""}</ul>
    <p class="dim" ref=${skipped}></p>`;
}
