// manual.mjs - scenario 18: every link of /docs/ leads somewhere, and the curl lines of
// decisions give the answers that are printed below them.
import { execFile } from "node:child_process";
import { base, check, done } from "./browser.mjs";

const text = (html) => html.replace(/<[^>]*>/g, "").replace(/&quot;/g, '"').replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&#(\d+);/g, (m, n) => String.fromCodePoint(n)).replace(/&amp;/g, "&");
const bash = (line) => new Promise((go) => execFile("bash", ["-c", line], { maxBuffer: 1 << 26 }, (e, out) => go(e ? "" : out)));

// All pages that links lead to.
const pages = new Map(), ids = new Map(), links = [];
const queue = ["/docs/"];
while (queue.length) {
  const path = queue.pop();
  if (pages.has(path)) continue;
  const r = await fetch(base + path, { headers: { Accept: "text/html,*/*;q=0.1" } }), body = await r.text();
  pages.set(path, r.status);
  if (!(r.headers.get("content-type") || "").startsWith("text/html")) continue;
  ids.set(path, { body, ids: new Set([...body.matchAll(/ id="([^"]*)"/g)].map((m) => text(m[1]))) });
  for (const [, href] of body.matchAll(/ (?:href|src)="([^"]*)"/g)) {
    const to = new URL(text(href), base + path);
    if (to.origin !== new URL(base).origin) continue;
    const target = to.pathname + to.search;
    links.push([path, target, decodeURIComponent(to.hash.slice(1))]);
    if (!pages.has(target) && !queue.includes(target) && to.pathname !== "/") queue.push(target);
  }
}
const lost = links.filter(([, to]) => to !== "/" && pages.get(to) !== 200).map(([from, to]) => `${from} -> ${to}: ${pages.get(to)}`);
check("every link of the manual resolves", lost.length === 0, lost.slice(0, 20));
const loose = links.filter(([, to, hash]) => hash && ids.has(to) && !ids.get(to).ids.has(hash)).map(([from, to, hash]) => `${from} -> ${to}#${hash}`);
check("every anchor is there", loose.length === 0, loose.slice(0, 20));
console.log(`${pages.size} pages and files, ${links.length} links`);

// Of decisions: what the request answers does not depend on what is stored.
const volatile = new Set(["decision_id", "timings", "steps", "bounds", "bound_effort", "improved_at_steps", "because", "best_list", "warnings"]);
// Members in one order, and instants and ids masked, as in what is printed.
const plain = (v) => Array.isArray(v) ? v.map(plain) : v && typeof v === "object" ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, x]) => [k, plain(x)]))
  : typeof v === "string" ? v.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "INSTANT").replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, "ID") : v;
const stable = (a) => JSON.stringify(plain(Object.fromEntries(Object.entries(a).filter(([k]) => !volatile.has(k)))));
const seen = new Set();
let run = 0;
const wrong = [], jobs = [];
for (const [path, page] of ids) for (const [figure] of page.body.matchAll(/<figure>[\s\S]*?<\/figure>/g)) {
  const line = /<pre class="sh"[^>]*>([\s\S]*?)<\/pre>/.exec(figure), answer = /<h3>Answer<\/h3>\s*<pre class="json"[^>]*>([\s\S]*?)<\/pre>/.exec(figure);
  if (!line || !answer || seen.has(line[1])) continue;
  seen.add(line[1]);
  let printed;
  try { printed = JSON.parse(text(answer[1])); } catch (e) { continue; } // cut for length
  if (printed.decision_id && printed.status !== "cut") jobs.push([path, text(line[1]), printed]);
}
async function work() {
  for (let job = jobs.shift(); job; job = jobs.shift()) {
    const [path, line, printed] = job, out = await bash(line);
    let got = {};
    try { got = JSON.parse(out); } catch (e) { /* told below */ }
    run++;
    if (got.status === "cut" || (printed.best_list && got.status === printed.status)) continue; // a search, by the clock
    // What asks the store may be answered otherwise here: the seed has its own history.
    if (stable(got) !== stable(printed) && !/history|stored|model/.test(line)) wrong.push(`${path}: ${line.split("\n")[0]}`);
  }
}
await Promise.all([work(), work(), work(), work()]);
console.log(`${run} curl lines were run`);
check("curl lines give the answers below them", wrong.length === 0, wrong);
check("many of them were run", run > 50, run);
done();
