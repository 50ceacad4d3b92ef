// ui.mjs - the dashboard and the manual in a browser, on a service that seed.mjs has filled.
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { gunzipSync } from "node:zlib";
import { base, check, done, open } from "./browser.mjs";

const axe = readFileSync(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const list = (await (await fetch(base + "/v1/decisions")).json()).items;
const idOf = (fits) => list.find(fits).decision_id;
const big = idOf((d) => d.job_count === 10000), small = idOf((d) => d.unplaced_count === 1), workflow = idOf((d) => d.endpoint.includes("workflow"));
const nasty = idOf((d) => d.job_count === 4);
const PAGES = { Decisions: "#/decisions", Decision: "#/decisions/" + big, Load: "#/load", Failures: "#/failures", Models: "#/models", Simulations: "#/simulations", Queue: "#/queue", Sessions: "#/sessions", System: "#/system" };

async function visit(page, hash) {
  await page.goto("about:blank");
  await page.goto(base + "/" + hash);
  await page.waitForSelector("main h1");
  await page.waitForFunction(() => !document.body.innerText.includes("\nasking\n"));
}
async function violations(page) {
  return page.evaluate(async (source) => {
    if (!window.axe) (0, Function)(source)();
    const r = await window.axe.run(document, { resultTypes: ["violations"] });
    return r.violations.map((v) => v.id + " " + v.nodes.map((n) => n.target.join(" ")).slice(0, 3).join(", "));
  }, axe);
}

// 1, 16: every page, both themes, wide and narrow.
for (const colorScheme of ["light", "dark"]) {
  const { page, seen, context } = await open({ colorScheme, bypassCSP: true, reducedMotion: "reduce" });
  for (const [name, hash] of Object.entries(PAGES)) {
    await visit(page, hash);
    await page.waitForTimeout(700);
    check(`${name} has its title`, (await page.title()).startsWith(name) && (await page.title()).endsWith("- gridplan"), await page.title());
    const found = await violations(page);
    check(`${name} in ${colorScheme}: axe-core`, found.length === 0, found);
    await page.screenshot({ path: `${name.toLowerCase()}-${colorScheme}.png` });
  }
  check(`no errors in ${colorScheme}`, seen.errors.length === 0, seen.errors);
  await context.close();
}
{
  const { page, seen, context } = await open({ viewport: { width: 320, height: 700 } });
  for (const [name, hash] of Object.entries(PAGES)) {
    await visit(page, hash);
    await page.waitForTimeout(400);
    check(`${name} at 320 px: the links have all of the width`, await page.evaluate(() => document.querySelector("header nav").offsetWidth > 290));
    if (name === "System") check("names of metrics have the wider column", await page.evaluate(() => { const c = document.querySelector("table[aria-label=Metrics] tbody tr").cells; return c[0].offsetWidth > c[1].offsetWidth; }));
    check(`${name} fits 320 px`, await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), await page.evaluate(() => document.documentElement.scrollWidth));
  }
  await page.screenshot({ path: "narrow.png" });
  check("no other host, no error, no policy breach", seen.hosts.size === 0 && seen.errors.length === 0, [...seen.hosts, ...seen.errors]);
  await context.close();
}

const { page, seen, close } = await open();
await page.addInitScript(() => { // what is done in each frame takes so long
  const plain = window.requestAnimationFrame;
  window.draws = [];
  window.requestAnimationFrame = (f) => plain((at) => { const t = performance.now(); f(at); window.draws.push(performance.now() - t); });
});

// 2: list, filter, deep link, back.
await visit(page, "#/decisions");
// 9.1, 9.2: prefixes and times as the service has them (gantt_test.cpp); widths of texts.
{
  const said = await page.evaluate(async ([prefixes, times, texts]) => {
    const f = await import(performance.getEntriesByType("resource").find((e) => /\/ui\/format\./.test(e.name)).name);
    return { prefixes: prefixes.map(f.commonPrefix), times: times.map(f.duration), columns: texts.map(f.columns), fitting: texts.map((t) => f.fitting(t, 3)) };
  }, [[["demo/a", "demo/b"], ["cluster-a-node-001", "cluster-a-node-002", "cluster-a-node-100"], ["align_s1", "align_s2", "sort_s1"], ["n1", "n2"], ["alone/x"], ["abc", "abcd"], ["rnaseq/align_sample_00001", "rnaseq/align_sample_00002"]],
    [0, 0.00042, 0.25, 3.5, 59.96, 86.6466667, 3600, 5400, 86400, 121605, 1000000, 31536000], ["abcd", "漢字", "e漢", "\u{1f600}x"]]);
  const wanted = { prefixes: ["demo/", "cluster-a-node-", "", "", "", "", "rnaseq/align_sample_"],
    times: ["0 s", "420 µs", "250 ms", "3.5 s", "60 s", "1 min 27 s", "1 h", "1 h 30 min", "1 d", "1 d 9 h", "11 d 13 h", "365 d"], columns: [4, 4, 3, 3], fitting: ["abc", "漢", "e漢", "\u{1f600}x"] };
  check("prefixes, times and widths are those of the service", JSON.stringify(said) === JSON.stringify(wanted), said);
}
await page.waitForSelector("tbody tr");
check("five decisions", await page.locator("tbody tr").count() === 5);
await page.selectOption("select", "placements");
await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 3);
check("the filter is in the address", (await page.evaluate(() => location.hash)).includes("endpoint=placements"));
await page.fill("#filter", "big");
await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
const filtered = await page.evaluate(() => location.href);
await visit(page, new URL(filtered).hash);
await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
check("a link shows the same", await page.inputValue("#filter") === "big");
await page.click("tbody a");
await page.waitForSelector("[role=tablist]");
await page.goBack();
await page.waitForSelector("#filter");
check("back leads to the filtered list", await page.inputValue("#filter") === "big");
// Lists of many pages: as if two rows were a page.
{
  await page.route(/\/v1\/(decisions|models|simulations)\?/, (route) => route.continue({ url: route.request().url().replace(/page_size=\d+/, "page_size=2") }));
  await visit(page, "#/decisions");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 2);
  const rows = await page.locator("tbody").innerText();
  await page.click("text=Older");
  await page.waitForFunction((r) => document.querySelectorAll("tbody tr").length === 2 && document.querySelector("tbody").innerText !== r, rows);
  await page.click("text=Newest");
  await page.waitForFunction((r) => document.querySelector("tbody")?.innerText === r, rows);
  check("pages lead on and back", !(await page.evaluate(() => location.hash)).includes("page="));
  for (const [name, hash] of [["Models", "#/models"], ["Simulations", "#/simulations"]]) {
    const list = name.toLowerCase();
    await page.route(new RegExp(`/v1/${list}\\?`), async (route) => { const url = route.request().url(), r = await route.fetch({ url: url.replace(/&page_token=[^&]*/, "") }), body = await r.json(); if (!url.includes("page_token")) body.next_page_token = "behind"; await route.fulfill({ response: r, json: body }).catch(() => {}); }); // the last poll may come when the route is gone
    await visit(page, hash);
    const asked = page.waitForRequest((r) => r.url().includes(`/v1/${list}?`) && r.url().includes("page_token=behind"));
    await page.click("main button:text-is('Further')");
    await asked;
    check(`${list} lead on`, (await page.evaluate(() => location.hash)).includes("page=behind"));
    await page.goto("about:blank"); // before the service is asked for that page itself
    await page.unroute(new RegExp(`/v1/${list}\\?`));
  }
  await page.unroute(/\/v1\/(decisions|models|simulations)\?/);
}

// 3, 17: the Gantt by keyboard, then by mouse.
await visit(page, "#/decisions/" + workflow);
await page.waitForSelector("canvas");
await page.locator("canvas").focus();
await page.keyboard.press("Enter");
await page.waitForFunction(() => location.hash.includes("pick="));
const first = await page.evaluate(() => location.hash);
await page.keyboard.press("n");
await page.waitForFunction((h) => location.hash !== h, first);
check("n picks the next bar, and says so", /t\d+, .* to .* on p/.test(await page.locator("[aria-live=polite]").first().textContent()), await page.locator("[aria-live=polite]").first().textContent());
await page.keyboard.press("p");
await page.waitForFunction((h) => location.hash === h, first);
await page.keyboard.press("+");
await page.waitForFunction(() => location.hash.includes("from_s="));
await page.keyboard.press("ArrowRight");
await page.keyboard.press("0");
await page.waitForFunction(() => !location.hash.includes("from_s="));
await page.keyboard.press("Escape");
await page.waitForFunction(() => !location.hash.includes("pick="));
const box = await page.locator("canvas").boundingBox();
await page.mouse.click(box.x + 60, box.y + 26);
await page.waitForFunction(() => location.hash.includes("pick="));
await page.mouse.wheel(0, -300);
await page.waitForFunction(() => location.hash.includes("from_s="));
await page.click("text=As table");
await page.waitForSelector("table[aria-label=Plan]");
check("the table has all tasks", await page.locator("table[aria-label=Plan] tbody tr").count() === 24);
{
  const answer = (await (await fetch(`${base}/v1/decisions/${workflow}?parts=answer`)).json()).answer, column = (i) => page.locator(`table[aria-label=Plan] tbody tr td:nth-child(${i})`).allInnerTexts();
  const length = (e) => e.finish_s - e.start_s, by = (l, f) => l.slice().sort((a, b) => f(a) - f(b)).map(f), before = await column(1);
  const press = (text) => page.locator(`table[aria-label=Plan] th button:has-text("${text}")`).click();
  const ids = async () => (await column(1)).map((id) => answer.schedule.find((e) => e.task_id === id));
  await press("length");
  check("the table is sorted by what is pressed", JSON.stringify((await ids()).map(length)) === JSON.stringify(by(answer.schedule, length)), await column(5));
  check("and says so", await page.locator('table[aria-label=Plan] th[aria-sort=ascending]').innerText() === "length ▲");
  await press("length");
  check("the other way, too", JSON.stringify((await ids()).map(length)) === JSON.stringify(by(answer.schedule, (e) => -length(e)).map((x) => -x)));
  await press("length");
  check("and as it came", JSON.stringify(await column(1)) === JSON.stringify(before));
  await press("id");
  check("by name", JSON.stringify(await column(1)) === JSON.stringify(before.slice().sort()), await column(1));
}

// 4: 10,000 bars.
await visit(page, "#/decisions");
await page.waitForSelector("tbody tr");
const asks = Date.now(); // how long the service alone takes for it now
await (await fetch(base + "/v1/decisions/" + big + "?parts=answer")).text();
const answered = Date.now() - asks, began = Date.now();
await page.click(`a[href="#/decisions/${big}"]`);
await page.waitForFunction(() => document.querySelector("canvas") && Number(document.querySelector("canvas").dataset.drawn) > 5000);
const took = Date.now() - began;
console.log(`10,000 bars: click to picture ${took} ms`);
check("10,000 bars are there soon", took < 6000 + 10 * answered, [took, answered]); // the bar is 600 ms, on an idle machine
// Redraws while zooming in and out: what drawing takes, and the frame with all else that
// the browser does, beside what as many plain rectangles take here. Others may keep the
// machine busy: what is checked is the fastest tenth.
async function redraws() {
  await page.locator("canvas").focus();
  return page.evaluate(async () => {
    const canvas = document.querySelector("canvas"), list = [], plain = [];
    const quantile = (l, q) => l.sort((a, b) => a - b)[Math.floor(q * (l.length - 1))];
    const other = document.createElement("canvas"), c = other.getContext("2d"), count = 10000;
    other.width = canvas.width; other.height = canvas.height;
    window.draws = [];
    for (let i = 0; i < 60; i++) {
      canvas.dispatchEvent(new KeyboardEvent("keydown", { key: i % 20 < 10 ? "+" : "-", bubbles: true }));
      list.push(await new Promise((go) => requestAnimationFrame((a) => setTimeout(() => go(performance.now() - a)))));
      const t = performance.now();
      for (let k = 0; k < count; k++) { c.fillStyle = ["#0a58ca", "#1a7f37", "#8250df", "#9a6700"][k % 4]; c.fillRect((k * 7) % other.width, (k * 13) % other.height, 9, 3); }
      plain.push(performance.now() - t);
    }
    const draws = window.draws.filter((t) => t > 0.2); // the others count frames
    return { draw: quantile(draws, 0.1), drawMedian: quantile(draws, 0.5), draw95: quantile(draws, 0.95), fast: quantile(list, 0.1), median: quantile(list, 0.5), p95: quantile(list, 0.95), plain: quantile(plain, 0.1), heap: performance.memory ? performance.memory.usedJSHeapSize : 0 };
  });
}
const told = (what, r) => console.log(`${what}: drawn in ${r.draw.toFixed(1)} ms (fastest tenth; median ${r.drawMedian.toFixed(1)}, 95 % ${r.draw95.toFixed(1)}); frame fastest tenth ${r.fast.toFixed(1)} ms (10,000 rectangles ${r.plain.toFixed(1)} ms), median ${r.median.toFixed(1)} ms, 95 % ${r.p95.toFixed(1)} ms, heap ${(r.heap / 1e6).toFixed(0)} MB`);
{
  const r = await redraws();
  told("10,000 bars", r);
  check("10,000 bars are drawn within 5 ms", r.draw < 5, r);
  check("redraws are no slide show", r.fast < 250, r);
}
await page.click("text=As table");
check("all bars are in the table", (await page.locator("text=of 10000").count()) === 1);
{
  const answer = (await (await fetch(`${base}/v1/decisions/${big}?parts=answer`)).json()).answer, file = page.waitForEvent("download");
  await page.click("button:text-is('JSON')");
  check("what is saved is the answer as it was given", readFileSync(await (await file).path(), "utf8") === JSON.stringify(answer, null, 1));
  await page.click("button:text-is('Answer')");
  await page.waitForFunction(() => document.querySelector("main pre")?.textContent.includes("job_id"));
  check("and so it is shown", await page.locator("main pre").textContent() === JSON.stringify(answer, null, 1).slice(0, 400000));
}

// 4, 12: 100,000 bars on 1,000 rows, of an answer that is made up on the way.
{
  const rows = 1000, bars = 100000, at = new Array(rows).fill(0);
  const placements = Array.from({ length: bars }, (x, i) => {
    const r = (i * 7919) % rows, length = 60 + ((i * 104729) % 997), start = at[r];
    at[r] += length;
    return { job_id: `${["align", "sort", "call"][i % 3]}_${i}`, resource_id: `node-${String(r).padStart(4, "0")}`, slot: 0, start_s: start, stage_in_s: 0, run_time_s: length, finish_s: start + length, bytes_moved: 0 };
  });
  const column = (name) => ({ values: placements.map((e) => e[name]) }), names = [...new Set(placements.map((e) => e.resource_id))];
  const columns = { job_id: column("job_id"), resource_id: { index: placements.map((e) => names.indexOf(e.resource_id)), values: names }, slot: { values: [0] }, start_s: column("start_s"), run_time_s: column("run_time_s"), finish_s: column("finish_s"),
    because: { at: [7], values: ["it was free"] }, status: { at: [0, 1], values: ["running"] }, stage_in_s: { at: [7, 8], values: [5, 10] } };
  const body = JSON.stringify({ decision_id: big, created_at: "2026-11-28T08:00:00Z", endpoint: "/v1/placements", algorithm: "mct", status: "feasible", seed: 1, job_count: bars, unplaced_count: 0, answer_columns: { placements: { count: bars, columns } },
    answer: { algorithm: "mct", status: "feasible", unplaced: [], warnings: [], critical_tasks: ["align_3"], objective: { makespan_s: Math.max(...at), lower_bound_s: Math.max(...at), gap_ratio: 0 } } });
  await page.route(/\/v1\/decisions\/[0-9a-f-]+(\?.*)?$/, (route) => route.fulfill({ contentType: "application/json", body }));
  await visit(page, "#/decisions");
  await page.waitForSelector("tbody tr");
  const began = Date.now();
  await page.click(`a[href="#/decisions/${big}"]`);
  await page.waitForFunction(() => document.querySelector("canvas") && Number(document.querySelector("canvas").dataset.drawn) > 5000);
  console.log(`100,000 bars: click to picture ${Date.now() - began} ms`); // the bar is 1.5 s, on an idle machine
  const r = await redraws();
  told("100,000 bars", r);
  check("100,000 bars are drawn within 12 ms", r.draw < 12, r);
  check("redraws of 100,000 bars are no slide show", r.fast < 250, r);
  check("100,000 bars have their room", r.heap < 120e6, r.heap); // 60 MB, and what the test itself holds
  check("on 1,000 resources", /100,000 jobs on 1,000 resources/.test(await page.innerText("h1")), await page.innerText("h1"));
  const legend = await page.innerText("ul[aria-label=Legend]");
  check("marks of some of many are in the legend", /align[^]*critical path[^]*runs now[^]*stage-in/.test(legend), legend);
  const longest = placements.slice().sort((a, b) => b.run_time_s - a.run_time_s)[0];
  await page.click("text=As table");
  check("all 100,000 are in the table", (await page.locator("text=of 100000").count()) === 1);
  await page.locator("table[aria-label=Plan] th button:has-text('length')").click();
  await page.locator("table[aria-label=Plan] th button:has-text('length')").click();
  await page.waitForSelector("th[aria-sort=descending]");
  check("and sorted", (await page.locator("table[aria-label=Plan] tbody tr").first().innerText()).startsWith(longest.job_id + "\t" + longest.resource_id), await page.locator("table[aria-label=Plan] tbody tr").first().innerText());
  const picked = placements[7];
  await visit(page, `#/decisions/${big}?pick=${picked.job_id}`);
  await page.waitForSelector(`strong:text-is("${picked.job_id}")`);
  const said = await page.locator("[aria-live=polite]").first().innerText();
  check("of a bar of many it is said what its row says", said.includes("on " + picked.resource_id) && said.includes("Why here: it was free") && said.includes("stage-in 5 s"), said);
  await page.locator("canvas").focus();
  await page.keyboard.press("n");
  const next = placements.find((e) => e.resource_id === picked.resource_id && e.start_s === picked.finish_s);
  await page.waitForSelector(`strong:text-is("${next.job_id}")`);
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + 100);
  await page.waitForFunction((id) => { const e = document.querySelector("[aria-live=polite] strong"); return e && e.textContent !== id; }, next.job_id);
  await page.unroute(/\/v1\/decisions\/[0-9a-f-]+(\?.*)?$/);
}

// 5: unplaced with reasons.
await visit(page, `#/decisions/${small}?tab=why`);
await page.waitForSelector("td.text");
check("the head says how many have none", /2 jobs, 1 without a place, on 1 resource/.test(await page.innerText("h1")), await page.innerText("h1"));
check("why not: reason and nearest miss", /too_small.*m1: 50.0 % short/s.test(await page.locator("tbody").first().innerText()), await page.locator("tbody").first().innerText());

// 6, 11: replay is off by default, and the only thing that is ever posted.
await visit(page, `#/decisions/${small}?tab=replay`);
await page.waitForSelector("text=Allow computing");
check("replay is off", await page.locator("button:text-is('Replay') >> nth=-1").isDisabled());
await page.check("input[type=checkbox]");
await page.locator("main button:text-is('Replay')").last().click();
await page.waitForSelector("text=Identical.");
// A policy that decides otherwise now: its answer is changed on the way.
await page.route("**/replay", async (route) => {
  const r = await route.fetch(), body = await r.json();
  body.identical = false;
  body.differences = ["/placements/0/resource_id"];
  body.answer.placements[0].resource_id = body.answer.placements[0].resource_id === "m0" ? "m1" : "m0";
  await route.fulfill({ response: r, json: body }).catch(() => {}); // the page may have gone on
});
await page.locator("main button:text-is('Replay')").last().click();
await page.waitForSelector("text=1 member differs");
check("what differs is told", /\/placements\/0\/resource_id/.test(await page.innerText("main")));
check("and drawn", await page.locator("canvas").count() > 0);
await page.unroute("**/replay");
seen.posts.pop();
check("nothing else was posted", seen.posts.length === 1 && seen.posts[0].endsWith("/replay"), seen.posts);

// 7, 8, 9, 10
await visit(page, "#/load?resource=m0");
await page.waitForSelector(".uplot canvas");
check("a forecast is told", /In 10 min: \d/.test(await page.innerText("main")));
await visit(page, "#/load?resource=nobody");
await page.waitForSelector("text=No samples of nobody");
await visit(page, "#/failures");
await page.waitForSelector("canvas.small");
check("the timeline has what there is", /m5: \d+ outages in 90 days/.test(await page.innerText("main")), await page.innerText("main"));
check("ten resources", await page.locator("tbody").first().locator("tr").count() === 10, await page.locator("tbody").first().locator("tr").count());
check("strange ids of failures are text", (await page.innerText("main")).includes("<img src=x onerror=alert(1)>") && await page.locator("main img").count() === 0);
// Two failures of m5 overlap: one outage, and the page says why the numbers differ.
{
  const one = await (await fetch(base + "/v1/failures/statistics?resource_id=m5")).json(), row = page.locator("table[aria-label=Resources] tbody tr", { hasText: "m5" });
  check("m5 has failures that overlap", one.failure_count === 14 && one.outage_count === 13, one);
  await visit(page, "#/failures?resource=m5");
  await page.waitForSelector("text=m5: 13 outages in 90 days, of 14 failures: those that overlap are one outage");
  check("the table counts outages", (await row.locator("td").nth(2).innerText()) === "13", await row.innerText());
  await visit(page, "#/failures?resource=m4");
  await page.waitForSelector("text=m4: 12 outages in 90 days");
  check("nothing is explained where the numbers are equal", !/overlap/.test(await page.innerText("main")));
}
// 100,000 outages of one resource, in pages that are made up on the way: all count.
{
  const all = 100000, now = Date.now(), pages = [];
  await page.route(/\/v1\/failures\?/, (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("page_token") || 0);
    pages.push(from);
    const items = Array.from({ length: 1000 }, (x, i) => { const t = now - 60000 * (all - from - i); return { resource_id: "m5", down_at: new Date(t).toISOString(), up_at: new Date(t + 20000).toISOString() }; });
    return route.fulfill({ contentType: "application/json", body: JSON.stringify({ items, ...(from + 1000 < all ? { next_page_token: String(from + 1000) } : {}) }) });
  });
  await visit(page, "#/failures?resource=m5");
  const began = Date.now();
  await page.waitForSelector("text=m5: 100,000 outages in 90 days");
  console.log(`100,000 outages are there after ${Date.now() - began} ms`);
  check("each page was asked for once", pages.length === 100 && new Set(pages).size === 100, pages.length);
  await page.waitForTimeout(500);
  const r = await page.evaluate(async () => {
    const list = [], canvas = document.querySelector("canvas.small");
    for (let i = 0; i < 30; i++) { window.draws = []; window.dispatchEvent(new Event("theme")); await new Promise((go) => requestAnimationFrame(() => setTimeout(go, 20))); list.push(window.draws.reduce((a, b) => a + b, 0)); }
    list.sort((a, b) => a - b);
    return { fast: list[3], median: list[15], drawn: Number(canvas.dataset.drawn), width: canvas.clientWidth };
  });
  console.log(`redraw of 100,000 outages: ${r.fast.toFixed(1)} ms (fastest tenth), median ${r.median.toFixed(1)} ms, ${r.drawn} marks`);
  check("outages of one pixel are one mark", r.drawn > 100 && r.drawn <= r.width + 1, r);
  check("they are drawn within 50 ms", r.fast < 50, r);
  await page.locator("main button:text-is('As table')").first().click();
  check("all of them are in the table", (await page.locator("text=of 100000").count()) === 1);
  await page.unroute(/\/v1\/failures\?/);
}
await visit(page, "#/load");
await page.waitForSelector("table[aria-label=Forecasts] tbody tr");
check("strange ids of loads are text", (await page.innerText("main")).includes("<img src=x onerror=alert(1)>") && await page.locator("main img").count() === 0);
await visit(page, "#/models");
await page.waitForSelector("text=fresh");
check("a model that is not trained says so", /Not trained yet/.test(await page.innerText("main")) || (await page.click("button:text-is('fresh')"), await page.waitForSelector("text=Not trained yet"), true));
await visit(page, "#/models?model=solver");
await page.waitForSelector("text=Run time by size");
await page.waitForSelector("text=Predicted against seen");
// A model whose errors of late are large: what the service says of it is made so on the way.
await page.route("**/v1/models/solver", async (route) => {
  const r = await route.fetch(), body = await r.json();
  body.summary.recent_appe_ratio = 10 * body.summary.cross_appe_ratio;
  await route.fulfill({ response: r, json: body }).catch(() => {}); // the page may have gone on
});
await visit(page, "#/models?model=solver");
await page.waitForSelector("[role=alert]");
check("drift is told", /Drift: /.test(await page.innerText("[role=alert]")));
await page.unroute("**/v1/models/solver");
await visit(page, "#/simulations");
await page.waitForSelector("select");
check("intervals are compared", /less|more|cannot tell/.test(await page.innerText("main")));
check("a simulation tells its kind", /done/.test(await page.innerText("table[aria-label=Simulations] tr:has(td:text-is('grid'))")));
await page.selectOption("select >> nth=0", "queue");
await page.waitForSelector("text=No simulation fits.");
await page.selectOption("select >> nth=0", "grid");
await page.waitForSelector("table[aria-label=Simulations]");
// From running to done: the service is said to be at work for the first two answers.
let asked = 0;
await page.route(/\/v1\/simulations\/[0-9a-f-]+$/, async (route) => {
  const r = await route.fetch(), body = await r.json();
  if (asked++ < 2) { Object.assign(body, { status: "running", progress_ratio: 0.43 }); delete body.answer; delete body.result; }
  await route.fulfill({ response: r, json: body }).catch(() => {}); // the page may have gone on
});
await visit(page, "#/simulations");
await page.waitForSelector("text=43.0 %");
await page.waitForSelector("table >> text=cannot tell", { timeout: 15000 }).catch(() => {});
check("a simulation is followed to its end", /difference to/.test(await page.innerText("main")), (await page.innerText("main")).slice(0, 400));
await page.unroute(/\/v1\/simulations\/[0-9a-f-]+$/);
await visit(page, "#/queue");
await page.waitForSelector("table[aria-label='Jobs of the queue']");
check("who is in the way is told", /r1/.test(await page.innerText("table[aria-label='Jobs of the queue']")));

// 12: a run, live: what an engine reports is on the screen soon.
{
  const post = (path, body) => fetch(base + "/v1/workflow-sessions/rnaseq" + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  await visit(page, "#/sessions/rnaseq?status=running");
  await page.waitForSelector("table[aria-label=Tasks] tbody tr");
  const before = await page.locator("table[aria-label=Tasks] tbody tr").count();
  check("two tasks run", before === 2, before);
  check("what was granted is told", /engine-1/.test(await page.innerText("table[aria-label=Granted]")) && await page.locator("table[aria-label=Granted] tbody tr").count() === 2);
  check("done and all are told", /done 9 of 61, running 2/.test(await page.innerText("main")), await page.innerText("main"));
  await page.click("text=Graph as table");
  check("three levels, and the end", await page.locator("table[aria-label=Levels] tbody tr").count() === 4);
  const before0 = Date.now();
  await (await fetch(base + "/v1/workflow-sessions/rnaseq/tasks")).text();
  const answered = Date.now() - before0;
  await page.waitForTimeout(500); // the long poll is on its way
  const sent = Date.now();
  await post("/events", { event_id: "live", kind: "started", task_id: "align_s12", resource_id: "node-0", observed_at: new Date().toISOString() });
  await page.waitForFunction(() => document.querySelectorAll("table[aria-label=Tasks] tbody tr").length === 3);
  const tookEvent = Date.now() - sent;
  console.log(`an event is on the screen after ${tookEvent} ms`);
  // 2 s, and what the service takes for the three answers where others keep it busy.
  check("an event is on the screen within 2 s", tookEvent < 2000 + 3 * answered, [tookEvent, answered]);
  await page.waitForFunction(() => /started\s+align_s12/.test(document.querySelector("table[aria-label=Events]").innerText), null, { timeout: 5000 });
  await visit(page, "#/sessions/strange");
  await page.waitForSelector("table[aria-label=Tasks] tbody tr");
  check("strange ids are text there, too", (await page.innerText("table[aria-label=Tasks]")).includes("<img src=x onerror=alert(1)>") && await page.locator("main img").count() === 0);
}

// 15: ids that are no names.
await visit(page, "#/decisions/" + nasty);
await page.waitForSelector("canvas");
await page.click("text=As table");
await page.waitForSelector("table");
const text = await page.innerText("main");
// A label of ideographs is drawn only where it has room: what the canvas writes is no wider than its bar.
{
  const id = "漢字の名前", { decision_id } = await (await fetch(base + "/v1/placements", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ store: true, algorithm: "mct", snapshot: { resources: [{ id: "計算機" }] }, jobs: [{ id, estimate_ref_s: 450 }, { id: id + "長", estimate_ref_s: 950 }, { id: "rest", estimate_ref_s: 8600 }] }) })).json();
  await page.addInitScript(() => { window.written = []; const plain = CanvasRenderingContext2D.prototype.fillText; CanvasRenderingContext2D.prototype.fillText = function (t, ...at) { window.written.push([t, this.measureText(t).width]); return plain.call(this, t, ...at); }; });
  await visit(page, "#/decisions/" + decision_id);
  await page.waitForFunction(() => document.querySelector("canvas") && document.querySelector("canvas").dataset.drawn === "3");
  const { written, width } = await page.evaluate(() => ({ written: window.written, width: document.querySelector("canvas").clientWidth })), of = (t) => written.filter((w) => w[0] === t);
  check("a label without room is not drawn", of(id).length === 0, written);
  check("one with room is, within its bar", of(id + "長").length > 0 && of(id + "長")[0][1] <= width * 950 / 10000, [written, width]);
  check("names of rows have their room", of("計算機").length > 0);
  await fetch(`${base}/v1/decisions/${decision_id}`, { method: "DELETE" });
}
check("ids are shown as text", text.includes("<img src=x onerror=alert(1)>") && text.includes("__proto__") && text.includes("漢漢漢"));
check("no script of theirs ran", seen.dialogs === 0 && await page.locator("main img").count() === 0);

// 17: from the list to a picked bar without a mouse; the order of tabs (9.4).
{
  await visit(page, "#/decisions?endpoint=workflow-schedules");
  await page.waitForSelector("tbody a");
  const focused = () => page.evaluate(() => { const e = document.activeElement; return e.tagName === "CANVAS" ? "canvas" : (e.labels && e.labels[0] ? e.labels[0].firstChild.textContent.trim() : "") || e.textContent.trim(); });
  const order = [];
  await page.evaluate(() => document.activeElement.blur());
  for (let i = 0; i < 40 && !/\d\d:\d\d:\d\d$/.test(order[order.length - 1] || ""); i++) { await page.keyboard.press("Tab"); order.push(await focused()); }
  const places = ["To the content", "Decisions", "Load", "Sessions", "Docs", "Id or job"].map((t) => order.indexOf(t));
  check("tabs go from the skip link over the pages and the filter to the rows", places.every((x, i) => x >= 0 && (i === 0 || x > places[i - 1])), order);
  await page.keyboard.press("Enter");
  await page.waitForSelector("canvas");
  for (let i = 0; i < 40 && await focused() !== "canvas"; i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.includes("pick="));
  await page.keyboard.press("+");
  await page.waitForFunction(() => location.hash.includes("from_s="));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+Tab");
  for (let i = 0; i < 10 && await focused() !== "As table"; i++) await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Space");
  await page.waitForSelector("table[aria-label=Plan]");
  check("all by keyboard", await page.locator("table[aria-label=Plan] tbody tr").count() === 24);
}

// Keys that lead to pages, and the help.
await visit(page, "#/decisions");
await page.keyboard.press("g");
await page.keyboard.press("f");
await page.waitForFunction(() => location.hash.startsWith("#/failures"));
await page.keyboard.press("?");
await page.waitForSelector("dialog[open]");
await page.keyboard.press("Escape");
await visit(page, "#/nothing");
check("an unknown page says so", (await page.innerText("h1")).includes("no such page"));
await visit(page, "#/decisions/00000000-0000-4000-8000-000000000000");
await page.waitForSelector("[role=alert]");
check("an unknown decision says so", /There is nothing of that name/.test(await page.innerText("main")));
const bad = seen.errors.filter((e) => !/404/.test(e));
check("no errors, no other hosts", bad.length === 0 && seen.hosts.size === 0, bad);

// 13: keys.
{
  const locked = await open(), p = locked.page;
  await p.goto(process.env.GRIDPLAN_LOCKED_URL + "/");
  await p.waitForSelector("input[type=password]");
  await p.fill("input[type=password]", "gp_wrong");
  await p.click("text=Go on");
  await p.waitForSelector("[role=alert]");
  await p.fill("input[type=password]", process.env.GRIDPLAN_READ_KEY);
  await p.click("text=Go on");
  await p.waitForSelector("input[type=password]", { state: "detached" });
  await p.waitForSelector("tbody tr, .note");
  check("a key of scope read reads", await p.locator("input[type=password]").count() === 0);
  const kept = await p.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.length]));
  check("the key is kept nowhere", !kept.includes(process.env.GRIDPLAN_READ_KEY) && kept.startsWith('[{},{},""'), kept);
  check("the key is not in the log", !readFileSync("locked.log", "utf8").includes(process.env.GRIDPLAN_READ_KEY));
  await p.reload();
  await p.waitForSelector("input[type=password]");
  await p.fill("input[type=password]", process.env.GRIDPLAN_INGEST_KEY);
  await p.click("text=Go on");
  await p.waitForSelector("input[type=password]", { state: "detached" });
  await p.evaluate(() => { location.hash = "#/sessions"; });
  await p.waitForSelector("[role=alert]");
  check("a key without the scope is told so", /may not read here/.test(await p.innerText("main")), await p.innerText("main"));
  const r = await fetch(process.env.GRIDPLAN_LOCKED_URL + "/v1/load-samples", { method: "POST", headers: { Authorization: "Bearer " + process.env.GRIDPLAN_READ_KEY, "Content-Type": "application/json" }, body: "[]" });
  check("a key of scope read does not write", r.status === 403, r.status);
  await locked.context.close();
}

// 18, 19: the manual without scripts.
{
  const plain = await open({ javaScriptEnabled: false }), p = plain.page;
  for (const path of ["/docs/", "/docs/which", "/docs/api/decidePlacements", "/docs/algorithms/placement/min_min", "/docs/errors/", "/docs/search?q=checkpoint"]) {
    const r = await p.goto(base + path);
    check(`${path} is there`, r.status() === 200 && await p.locator("h1").count() === 1);
    check(`${path} may be framed by the portal`, r.headers()["content-security-policy"].includes("frame-ancestors https://portal.example"));
    await p.screenshot({ path: `docs-${path.replace(/\W+/g, "-")}.png` });
  }
  check("the manual has no errors", plain.seen.errors.length === 0, plain.seen.errors);
  await plain.context.close();
}
{
  const scripted = await open({ bypassCSP: true });
  for (const path of ["/docs/", "/docs/api/decidePlacements", "/docs/glossary", "/docs/algorithms/"]) for (const colorScheme of ["light", "dark"]) {
    await scripted.page.emulateMedia({ colorScheme });
    await scripted.page.goto(base + path);
    const found = await violations(scripted.page);
    check(`${path} in ${colorScheme}: axe-core`, found.length === 0, found);
    if (path.includes("/api/")) check("pictures of the manual are drawn", await scripted.page.evaluate(() => [...document.images].every((i) => i.complete && i.naturalWidth > 100) && document.images.length > 0));
  }
  await scripted.context.close();
}
// 20, and 9.10: without gzip the same bytes; names with a hash never change.
{
  const raw = (path, headers) => new Promise((go, no) => request(base + path, { headers }, (r) => { const parts = []; r.on("data", (d) => parts.push(d)); r.on("end", () => go({ status: r.statusCode, headers: r.headers, body: Buffer.concat(parts) })); }).on("error", no).end());
  const home = await raw("/", { Accept: "text/html", "Accept-Encoding": "identity" });
  const files = ["/", ...[...home.body.toString().matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)].map((m) => m[1])];
  for (const path of files) {
    const plain = await raw(path, { Accept: "text/html,*/*;q=0.5", "Accept-Encoding": "identity" }), gz = await raw(path, { Accept: "text/html,*/*;q=0.5", "Accept-Encoding": "gzip" });
    check(`${path} is the same without gzip`, plain.status === 200 && !plain.headers["content-encoding"] && gz.headers["content-encoding"] === "gzip" && gunzipSync(gz.body).equals(plain.body));
    check(`${path}: a tag of each encoding`, plain.headers.etag !== gz.headers.etag);
    if (path === "/") { check("/ is asked for anew", plain.headers["cache-control"] === "no-cache" && /Accept/.test(plain.headers.vary)); continue; }
    check(`${path} never changes`, plain.headers["cache-control"] === "public, max-age=31536000, immutable");
    const again = await raw(path, { "Accept-Encoding": "gzip", "If-None-Match": gz.headers.etag });
    check(`${path}: 304`, again.status === 304 && again.body.length === 0);
  }
  check("names without a hash are none", (await raw("/ui/app.js", {})).status === 404);
  check("curl gets JSON at /", JSON.parse((await raw("/", { Accept: "*/*" })).body).links !== undefined);
}
await close();
done();
