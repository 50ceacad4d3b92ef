// format.js - numbers and times as people say them, the same as in charts of the service.

// Three significant digits without trailing zeros or exponent.
const digits = (v) => String(Number(v.toPrecision(3)));

// 86.6 is "1 min 27 s": below a minute three digits, else the two largest units.
export function duration(s) {
  if (s === null || s === undefined || !isFinite(s)) return "";
  if (s < 0) return "-" + duration(-s);
  if (s < 1e-9) return "0 s";
  if (s < 1e-3) return digits(s * 1e6) + " µs";
  if (s < 1) return digits(s * 1e3) + " ms";
  if (s < 60) return digits(s) + " s";
  let rest = Math.round(s);
  const parts = [];
  for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
    const n = Math.floor(rest / length);
    rest -= n * length;
    if (parts.length || n) parts.push(n ? n + " " + unit : "");
    if (parts.length === 2) break;
  }
  return parts.filter(Boolean).join(" ");
}

export const number = (v) => v === null || v === undefined ? "" : v.toLocaleString("en-US");
export const percent = (v) =>
  v === null || v === undefined || !isFinite(v) ? "" : (100 * v).toFixed(1) + " %";
export const short = (v) =>
  v === null || v === undefined ? "" : typeof v === "number" ? String(Number(v.toPrecision(5))) : String(v);

// Bytes with three digits, in powers of ten.
export function bytes(v) {
  if (typeof v !== "number" || !isFinite(v)) return "";
  const k = Math.min(6, Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(v))) / 3 + 1e-9)));
  return digits(v / Math.pow(10, 3 * k)) + " " + ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"][k];
}
// An amount by its name, of which the end is the unit.
export const amount = (name, v) => /_bytes$/.test(name) ? bytes(v) : /_s$/.test(name) ? duration(v) : short(v);

// An instant in local time; today without its date.
export function instant(text) {
  if (!text) return "";
  const t = new Date(text), now = new Date();
  const time = t.toTimeString().slice(0, 8);
  return t.toDateString() === now.toDateString() ? time
    : `${t.getFullYear()}-${String(t.getMonth() + 1).padStart(2, "0")}-${String(t.getDate()).padStart(2, "0")} ${time}`;
}

// Columns of a text (models/base/text_width.h): ideographs, kana, Hangul and pictographs,
// which are two UTF-16 units, take two.
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/;
export function columns(text) {
  let n = text.length;
  if (WIDE.test(text)) for (const c of text) if (WIDE.test(c)) n++;
  return n;
}
// As much of a text as has room in so many columns.
export function fitting(text, most) {
  if (columns(text) <= most) return text;
  let out = "", n = 0;
  for (const c of text) {
    n += columns(c);
    if (n > most) break;
    out += c;
  }
  return out;
}

// What all labels begin with, that can be left out: it ends behind one of "/._-:", has
// three characters at least, and leaves something of each.
export function commonPrefix(labels) {
  if (labels.length < 2) return "";
  let p = labels[0];
  for (const l of labels) {
    if (l.startsWith(p)) continue;
    let i = 0;
    while (i < p.length && p[i] === l[i]) i++;
    p = p.slice(0, i);
    if (!p) return "";
  }
  while (p && !"/._-:".includes(p[p.length - 1])) p = p.slice(0, -1);
  return p.length >= 3 && labels.every((l) => l.length > p.length) ? p : "";
}

// Steps of an axis over `span` seconds of which each has `least` of them at least.
export function axisStep(least) {
  for (const s of [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
    43200, 86400, 172800, 604800, 2419200]) if (s >= least) return s;
  let step = 2419200;
  while (step < least) step *= 2;
  return step;
}
export function fineStep(least) {
  if (least >= 1) return axisStep(least);
  const k = Math.pow(10, Math.floor(Math.log10(least)));
  for (const m of [1, 2, 5, 10]) if (m * k >= least) return m * k;
  return 1;
}
