// down.mjs - scenario 14: the database goes away; pages say so, and come back. `run` stops
// and starts it when it sees the files that are written here.
import { existsSync, writeFileSync } from "node:fs";
import { base, check, done, open } from "./browser.mjs";

const { page, seen, close } = await open();
const until = async (name) => { for (let i = 0; i < 600 && !existsSync(name); i++) await new Promise((go) => setTimeout(go, 100)); };
await page.goto(base + "/#/decisions");
await page.waitForSelector("tbody tr");
writeFileSync("stop", "");
await until("stopped");
await page.waitForSelector("[role=alert]", { timeout: 60000 });
check("the page says that the database is away", /database|unavailable|answer/i.test(await page.innerText("[role=alert]")), await page.innerText("[role=alert]"));
check("what was there stays", await page.locator("tbody tr").count() > 0);
await page.screenshot({ path: "down.png" });
await page.evaluate(() => { location.hash = "#/system"; });
await page.waitForFunction(() => /database: (?!ok)/.test(document.body.innerText) || document.querySelector("[role=alert]"), null, { timeout: 30000 });
check("the system page says so, too", true);
await page.evaluate(() => { location.hash = "#/decisions"; });
writeFileSync("start", "");
await until("started");
await page.waitForFunction(() => !document.querySelector("[role=alert]") && document.querySelectorAll("tbody tr").length > 0, null, { timeout: 120000 });
check("the page comes back by itself", true);
check("no script fails meanwhile", seen.errors.filter((e) => !/status of 50[0-9]/.test(e)).length === 0, seen.errors);
await close();
done();
