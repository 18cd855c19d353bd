// Puppeteer plays an episode of Arena.
//
//     npm install puppeteer-core@24.43.1
//     arena eval wiki-bells-of-bruges --agent-cmd 'node puppeteer_agent.mjs'
import puppeteer from "puppeteer-core";

const { ARENA_CDP_URL: browserURL } = process.env;
const browser = await puppeteer.connect({ browserURL, defaultViewport: null });
const [page] = await browser.pages();
await page.keyboard.type("belfries"); // one step of the episode, however many keys
await Promise.all([page.waitForNavigation(), page.click("a[href$=Bruges]")]);
const [, bells] = /(\d+) bells/.exec(await page.$eval("body", (body) => body.innerText));
await browser.disconnect();
console.log(JSON.stringify({ answer: bells }));
