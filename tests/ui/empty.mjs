// empty.mjs - pages of a service that knows nothing yet: each says what to post.
// The commands are kept, and run by answers.mjs when what they store is in nobody's way.
import { writeFileSync } from "node:fs";
import { open, check, done } from "./browser.mjs";

const commands = {};

const { page, close } = await open();
for (const name of ["decisions", "load", "failures", "models", "simulations", "queue", "sessions"]) {
  await page.goto(process.env.GRIDPLAN_URL + "/#/" + name);
  await page.waitForSelector(".note");
  commands[name] = await page.locator(".note pre").first().textContent();
  check(`empty ${name} says what to post`, commands[name].includes("curl -s"));
  await page.goto("about:blank");
}
writeFileSync("empty.json", JSON.stringify(commands));
await close();
done();
