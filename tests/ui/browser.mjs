// browser.mjs - Chromium, watched: errors, other hosts and breaches of the policy count.
import { execFileSync } from "node:child_process";
import { chromium } from "playwright-core";

export const base = process.env.GRIDPLAN_URL;
let failed = 0, passed = 0;

export function check(what, ok, more) {
  if (ok) passed++; else { failed++; console.error("FAILED: " + what + (more === undefined ? "" : ": " + JSON.stringify(more))); }
}
export function done() {
  console.log(`${passed} checks passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

let browser;
export async function open(options = {}) {
  browser ??= await chromium.launch({ executablePath: execFileSync("sh", ["-c", "command -v chromium"]).toString().trim(), args: ["--no-sandbox"] });
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  context.setDefaultTimeout(90000);
  const page = await context.newPage(), seen = { errors: [], posts: [], hosts: new Set(), dialogs: 0 };
  const here = [base, process.env.GRIDPLAN_LOCKED_URL].filter(Boolean).map((u) => new URL(u).host);
  page.on("console", (m) => { if (m.type() === "error") seen.errors.push(m.text()); });
  page.on("pageerror", (e) => seen.errors.push(e.message));
  page.on("dialog", (d) => { seen.dialogs++; d.dismiss(); });
  page.on("request", (r) => {
    const u = new URL(r.url());
    if (/^https?:$/.test(u.protocol) && !here.includes(u.host)) seen.hosts.add(u.host);
    if (r.method() !== "GET") seen.posts.push(r.method() + " " + u.pathname);
  });
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (e) => console.error("policy: " + e.violatedDirective + " " + e.blockedURI)));
  return { page, context, seen, close: async () => { await browser.close(); } };
}
