// live.js - what is asked for again and again, and how pages say what came of it.
import { html, useEffect, useRef, useState } from "/ui/preact-htm.js";
import { get } from "/ui/api.js";

const SLOWEST_S = 60;

// {data, error, at, stopped, toggle}. Nothing is asked while the tab is hidden; after an
// error it waits twice as long each time, up to a minute. path null: nothing is asked.
// waitS: the service answers when there is something new, after so long at the latest.
function useAsked(path, everyS, waitS) {
  const [state, setState] = useState({ data: null, error: null, at: null, path: null });
  const [stopped, setStopped] = useState(false);
  const latest = useRef({});
  useEffect(() => {
    if (!path) return undefined;
    const abort = new AbortController(), usual = waitS ? 0.2 : everyS;
    let timer = 0, wait = usual, etag = null, gone = false;
    const ask = async () => {
      clearTimeout(timer);
      if (gone) return;
      if (document.hidden || (latest.current.stopped && latest.current.path === path)) { timer = setTimeout(ask, 1000); return; }
      try {
        const r = await get(waitS && etag ? path + (path.includes("?") ? "&" : "?") + "wait_s=" + waitS : path, { etag, signal: abort.signal });
        if (gone) return;
        etag = r.etag;
        wait = usual;
        latest.current.path = path;
        setState((s) => ({ data: r.same && s.path === path ? s.data : r.data, error: null, at: new Date(), path }));
      } catch (e) {
        if (gone || e.name === "AbortError") return;
        wait = Math.min(SLOWEST_S, Math.max(1, wait) * 2);
        setState((s) => ({ data: s.path === path ? s.data : null, error: e, at: new Date(), path }));
        if (e.status === 401) window.dispatchEvent(new CustomEvent("key", { detail: e }));
      }
      if (usual) timer = setTimeout(ask, wait * 1000);
    };
    ask();
    return () => { gone = true; abort.abort(); clearTimeout(timer); };
  }, [path, everyS, waitS]);
  latest.current.stopped = stopped;
  const fits = state.path === path;
  return { data: fits ? state.data : null, error: fits ? state.error : null, at: state.at, everyS, waitS, stopped,
    toggle: () => setStopped(!stopped), loading: path !== null && !fits };
}
export const usePoll = (path, everyS) => useAsked(path, everyS, 0);
export const useLong = (path, waitS) => useAsked(path, 0, waitS);

export function LiveBar({ live }) {
  const s = live.everyS;
  return html`<div class="live"><span class="dim" role="status" aria-live="off">${live.at ? `as of ${live.at.toTimeString().slice(0, 8)}` : "asking"}${s || live.waitS ? live.stopped ? ", stopped" : s ? `, refreshed every ${s} s` : ", new at once" : ""}</span>
    ${s || live.waitS ? html`<button aria-pressed=${live.stopped} onClick=${live.toggle}>${live.stopped ? "Go on" : "Stop"}</button>` : ""}</div>`;
}

export function Wrong({ error }) {
  if (!error) return "";
  const scope = error.status === 403 ? html`<p>This key may not read here.</p>` : "";
  return html`<div class="note wrong" role="alert"><strong>${error.title}</strong>
    <p>${error.message}</p>${error.hint ? html`<p>Hint: ${error.hint}</p>` : ""}${scope}
    ${error.id ? html`<p class="dim">request ${error.id}</p>` : ""}
    ${error.code ? html`<p><a href=${"/docs/errors/" + encodeURIComponent(error.code)}>What ${error.code} means</a></p>` : ""}</div>`;
}

// What to post when there is nothing.
export function Empty({ what, path, body, method }) {
  const command = body ? `curl -s${method ? " -X " + method : ""} -H 'Content-Type: application/json' ${location.origin}${path} \\\n  --data '${body}'` : `curl -s ${location.origin}${path}`;
  return html`<div class="note"><p>${what}</p><pre tabindex="0">${command}</pre></div>`;
}

// To the first page of a list, and to the one behind this.
export function Pages({ live, p, set }) {
  const next = live.data && live.data.next_page_token;
  return html`<div class="bar">${p.get("page") ? html`<button onClick=${() => set({ page: "" })}>First</button>` : ""}${next ? html`<button onClick=${() => set({ page: next })}>Further</button>` : ""}</div>`;
}

// Sets the title, and the heading of the page.
export function Title({ text, children }) {
  useEffect(() => { document.title = text + " - gridplan"; }, [text]);
  return html`<h1 tabindex="-1">${children || text}</h1>`;
}
