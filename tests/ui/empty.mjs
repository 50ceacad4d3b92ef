// empty.mjs - pages of a service that knows nothing yet: each says what to post.
import { open, check, done } from "./browser.mjs";

const { page, close } = await open();
for (const name of ["decisions", "load", "failures", "models", "simulations", "queue", "sessions"]) {
  await page.goto(process.env.GRIDPLAN_URL + "/#/" + name);
  await page.waitForSelector(".note");
  check(`empty ${name} says what to post`, (await page.locator(".note pre").first().textContent()).includes("curl -s"));
  await page.goto("about:blank");
}
await close();
done();
