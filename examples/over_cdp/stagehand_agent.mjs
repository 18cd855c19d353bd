// Stagehand plays an episode of Arena, by its pages and locators; `stagehand.act` asks a model.
//
//     npm install @browserbasehq/stagehand@3.7.3
//     arena eval wiki-bells-of-bruges --agent-cmd 'node stagehand_agent.mjs'
import { Stagehand } from "@browserbasehq/stagehand";

const version = await (await fetch(`${process.env.ARENA_CDP_URL}/json/version`)).json();
const stagehand = new Stagehand({
  env: "LOCAL",
  verbose: 0,
  disablePino: true,
  localBrowserLaunchOptions: { cdpUrl: version.webSocketDebuggerUrl },
  model: { modelName: "openai/none", apiKey: "none" },
});
await stagehand.init();
const [page] = stagehand.context.pages();
await page.type("belfries", { delay: 5 }); // one step of the episode, however many keys
await page.locator("a[href$=Bruges]").click();
await page.waitForLoadState("load");
const [, bells] = /(\d+) bells/.exec(await page.evaluate(() => document.body.innerText));
console.log(JSON.stringify({ answer: bells }));
process.exit(0);
