// An agent whose hands are Puppeteer, unchanged from npm: its word is the package's folder.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const puppeteer = createRequire(process.argv[2] + "/")(process.argv[2]);
const episode = JSON.parse(readFileSync(process.env.ARENA_EPISODE, "utf8"));

const browser = await puppeteer.connect({ browserURL: episode.cdp_url, defaultViewport: null });
const [page] = await browser.pages();
await page.keyboard.type("belfries");
await Promise.all([page.waitForNavigation(), page.click("a[href$=Bruges]")]);
const [, bells] = /(\d+) bells/.exec(await page.$eval("body", (body) => body.innerText));
await browser.disconnect();
console.log(JSON.stringify({ answer: bells }));
