// app.js - the dashboard: pages by the hash of the address, the key, the theme.
import { html, render, useEffect, useRef, useState } from "/ui/preact-htm.js";
import { get, hasKey, setKey } from "/ui/api.js";
import { Decision, Decisions } from "/ui/decisions.js";
import { Failures, Load, Models } from "/ui/history.js";
import { Queue, Simulations, System } from "/ui/runs.js";
import { Sessions } from "/ui/sessions.js";
import { Wrong } from "/ui/live.js";

const PAGES = [["decisions", "Decisions", "d", Decisions], ["load", "Load", "l", Load], ["failures", "Failures", "f", Failures],
  ["models", "Models", "m", Models], ["simulations", "Simulations", "s", Simulations], ["queue", "Queue", "q", Queue], ["sessions", "Sessions", "w", Sessions], ["system", "System", "y", System]];

// "#/decisions/ID?tab=why" -> {page, id, p}
function route() {
  const [path, search] = (location.hash.slice(2) || "decisions").split("?");
  const [page, id] = path.split("/");
  let name = id || "";
  try { name = decodeURIComponent(name); } catch (e) { /* as it is */ }
  return { page, id: name, p: new URLSearchParams(search || "") };
}

function useRoute() {
  const [here, setHere] = useState(route());
  useEffect(() => {
    const on = () => setHere(route());
    window.addEventListener("hashchange", on);
    return () => window.removeEventListener("hashchange", on);
  }, []);
  // Filters replace the address, so that Back leaves the page.
  const set = (values) => {
    const now = route();
    for (const [k, v] of Object.entries(values)) if (v === "" || v === null || v === undefined) now.p.delete(k); else now.p.set(k, v);
    const search = now.p.toString();
    history.replaceState(null, "", "#/" + now.page + (now.id ? "/" + encodeURIComponent(now.id) : "") + (search ? "?" + search : ""));
    setHere(route());
  };
  return [here, set];
}

function useTheme() {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const [choice, setChoice] = useState("");
  useEffect(() => {
    const apply = () => {
      document.documentElement.classList.toggle("dark", choice ? choice === "dark" : system.matches);
      window.dispatchEvent(new Event("theme"));
    };
    apply();
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  }, [choice]);
  return [choice || (system.matches ? "dark" : "light"), setChoice];
}

function KeyForm({ error, onKey }) {
  const input = useRef(null);
  const [wrong, setWrong] = useState(error);
  useEffect(() => { input.current.focus(); document.title = "Key - gridplan"; }, []);
  const go = async (e) => {
    e.preventDefault();
    setKey(input.current.value.trim());
    try { await get("/v1/decisions?page_size=1"); onKey(); } catch (x) {
      if (x.status === 401 || x.status === 400) { setKey(""); setWrong(x); } else onKey();
    }
  };
  return html`<main id="main"><h1>Key</h1><p>This service asks for a key. It stays in this page and is forgotten when the page is loaded again. A key with the scope read is enough.</p>
    <form class="bar" onSubmit=${go}><label>Key <input ref=${input} type="password" autocomplete="off" size="48" /></label><button>Go on</button></form><${Wrong} error=${wrong} /></main>`;
}

const KEYS = [["/", "filter"], ["g then d l f m s q w y", PAGES.map(([, label]) => label).join(", ")], ["arrows", "pan"], ["+ -", "zoom in time"], ["0", "all"], ["Enter", "pick a bar"], ["n p", "next, previous bar"], ["Esc", "back"], ["?", "this help"]];

function Help({ onClose }) {
  const ref = useRef(null);
  useEffect(() => { ref.current.showModal(); }, []);
  return html`<dialog ref=${ref} onClose=${onClose} aria-label="Keys"><h2>Keys</h2><table><tbody>${KEYS.map(([k, t]) => html`<tr><th scope="row">${k}</th><td class="text">${t}</td></tr>`)}</tbody></table>
    <form method="dialog"><button>Close</button></form></dialog>`;
}

function App() {
  const [here, set] = useRoute();
  const [theme, setTheme] = useTheme();
  const [needsKey, setNeedsKey] = useState(null), [turn, setTurn] = useState(0), [help, setHelp] = useState(false);
  const prefix = useRef(0);
  useEffect(() => {
    const on = (e) => { setNeedsKey(hasKey() ? e.detail : true); setKey(""); };
    window.addEventListener("key", on);
    return () => window.removeEventListener("key", on);
  }, []);
  useEffect(() => {
    const on = (e) => {
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
      const page = PAGES.find((x) => x[2] === e.key);
      if (Date.now() - prefix.current < 1500 && page) { location.hash = "#/" + page[0]; prefix.current = 0; e.preventDefault(); }
      else if (e.key === "g") prefix.current = Date.now();
      else if (e.key === "?") setHelp(true);
      else if (e.key === "/" && document.getElementById("filter")) { document.getElementById("filter").focus(); e.preventDefault(); }
    };
    window.addEventListener("keydown", on);
    return () => window.removeEventListener("keydown", on);
  }, []);
  const page = PAGES.find((x) => x[0] === here.page);
  const Page = here.page === "decisions" && here.id ? Decision : page && page[3];
  return html`<header><nav aria-label="Pages"><a class="home" href="#/decisions">gridplan</a>
      ${PAGES.map(([name, label]) => html`<a href=${"#/" + name} aria-current=${here.page === name ? "page" : undefined}>${label}</a>`)}<a href="/docs/">Docs</a></nav>
      <button onClick=${() => setHelp(true)} aria-label="keys">?</button><button onClick=${() => setTheme(theme === "dark" ? "light" : "dark")}>${theme === "dark" ? "Light" : "Dark"}</button></header>
    ${needsKey ? html`<${KeyForm} error=${needsKey === true ? null : needsKey} onKey=${() => { setNeedsKey(null); setTurn(turn + 1); }} />`
    : html`<main id="main">${Page ? html`<${Page} key=${here.page + here.id + turn} id=${here.id} p=${here.p} set=${set} />` : html`<h1>There is no such page</h1><p><a href="#/decisions">Decisions</a></p>`}</main>`}
    ${help ? html`<${Help} onClose=${() => setHelp(false)} />` : ""}`;
}

const root = document.getElementById("app");
root.textContent = "";
render(html`<${App} />`, root);
