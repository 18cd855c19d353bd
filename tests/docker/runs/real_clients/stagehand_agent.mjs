// An agent whose hands are Stagehand, unchanged from npm: its word is the package's folder. It asks
// no model: it acts by Stagehand's own pages and locators.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { module, main } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { Stagehand } = await import(pathToFileURL(join(folder, module ?? main)));
const episode = JSON.parse(readFileSync(process.env.ARENA_EPISODE, "utf8"));
const version = await (await fetch(`${episode.cdp_url}/json/version`)).json();

const stagehand = new Stagehand({
  env: "LOCAL",
  verbose: 0,
  disablePino: true,
  localBrowserLaunchOptions: { cdpUrl: version.webSocketDebuggerUrl },
  model: { modelName: "openai/none", apiKey: "none" },
});
await stagehand.init();
const [page] = stagehand.context.pages();
await page.type("belfries", { delay: 5 });
await page.locator("a[href$=Bruges]").click();
await page.waitForLoadState("load");
const [, bells] = /(\d+) bells/.exec(await page.evaluate(() => document.body.innerText));
console.log(JSON.stringify({ answer: bells }));
process.exit(0);
