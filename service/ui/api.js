// api.js - GET only, until computing is allowed; the key lives in one variable.
let key = "";
let allowed = false;           // POST .../replay, for this page load
let running = 0;
const waiting = [];

export const setKey = (k) => { key = k; };
export const hasKey = () => key !== "";
export const allowComputing = (on) => { allowed = on; };
export const computingAllowed = () => allowed;

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || "the service does not answer");
    this.status = status;
    this.title = body.title || "No answer";
    this.code = body.code || "";
    this.hint = (body.errors || []).map((e) => e.hint).filter(Boolean)[0] || "";
    this.id = body.request_id || "";
  }
}

// At most two requests at once.
async function turn() {
  if (running >= 2) await new Promise((go) => waiting.push(go));
  running++;
}
function done() {
  running--;
  const next = waiting.shift();
  if (next) next();
}

// {data, etag, same}: `same` when the version is still that of `etag`.
async function send(method, path, { etag, accept, signal } = {}) {
  const headers = { Accept: accept || "application/json" };
  if (key) headers.Authorization = "Bearer " + key;
  if (etag) headers["If-None-Match"] = etag;
  await turn();
  try {
    let r;
    try {
      r = await fetch(path, { method, headers, credentials: "omit", cache: "no-store", signal });
    } catch (e) {
      if (e.name === "AbortError") throw e;
      throw new Problem(0, { title: "No answer", detail: "The service cannot be reached." });
    }
    if (r.status === 304) return { same: true, etag };
    if (!r.ok) throw new Problem(r.status, await r.json().catch(() => ({})));
    const data = accept ? await r.text() : await r.json();
    return { data, etag: r.headers.get("ETag") };
  } finally {
    done();
  }
}

export const get = (path, options) => send("GET", path, options);
export function replay(id) {
  if (!allowed) throw new Problem(0, { title: "Not allowed", detail: "Allow computing first." });
  return send("POST", `/v1/decisions/${encodeURIComponent(id)}/replay`);
}

// "?a=1&b=2" of what is set.
export function query(values) {
  const list = Object.entries(values).filter(([, v]) => v !== "" && v !== null && v !== undefined);
  return list.length ? "?" + list.map(([k, v]) => `${k}=${encodeURIComponent(v)}`).join("&") : "";
}
