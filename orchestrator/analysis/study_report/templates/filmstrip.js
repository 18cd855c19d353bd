// Episodes are files that are loaded as scripts when they are looked at: a page that was opened from
// a disk may load scripts, and may fetch nothing.

const LOADED = new Map();
const KEPT = 24;
const waiting = new Map();
const CHECK = { met: "✓", unmet: "✗", unknown: "?" };
const PHASES = ["decide", "act", "settle", "locate", "observe"];

Object.defineProperty(window, "arenaEpisode", {
  value: (name, text) => {
    const waits = waiting.get(name);
    if (!waits) return;
    waiting.delete(name);
    try { waits.resolve(JSON.parse(text)); } catch (error) { waits.reject(error); }
  },
});

function load(episode) {
  if (LOADED.has(episode.name)) return LOADED.get(episode.name);
  const path = `episodes/${episode.name.split("/").map(encodeURIComponent).join("/")}.js`;
  const promise = new Promise((resolve, reject) => {
    waiting.set(episode.name, { resolve, reject });
    const script = make("script", { src: path });
    const failed = () => { if (waiting.delete(episode.name)) reject(new Error(`${path} is missing beside this page, or cannot be read.`)); };
    script.addEventListener("error", failed);
    script.addEventListener("load", () => { failed(); script.remove(); });
    document.head.append(script);
  });
  LOADED.set(episode.name, promise);
  promise.catch(() => LOADED.delete(episode.name));
  if (LOADED.size > KEPT) LOADED.delete(LOADED.keys().next().value);
  return promise;
}

const dialog = document.getElementById("episode");
let opener = null;
let sides = [];
let shownPair = "";

const otherWorld = (episode) => EPISODES.find((one) => one.task === episode.task && one.agent === episode.agent
  && one.repeat === episode.repeat && one.world !== episode.world) || null;

function besides(episode) {
  return EPISODES.filter((one) => one.task === episode.task && one !== episode);
}

function pairOf() {
  const episode = BY_NAME.get(state.episode);
  if (!episode) return null;
  const chosen = state.beside === "none" ? null : BY_NAME.get(state.beside) || otherWorld(episode);
  return { episode, beside: chosen };
}

function showEpisode() {
  const pair = pairOf();
  if (!pair) {
    if (dialog.open) dialog.close();
    shownPair = "";
    return;
  }
  const now = `${pair.episode.name} ${pair.beside ? pair.beside.name : ""}`;
  if (now === shownPair) return;
  shownPair = now;
  const first = !dialog.open;
  if (first) opener = document.activeElement;
  const both = [pair.episode, pair.beside].filter(Boolean);
  both.sort((a, b) => (pair.beside && a.world !== b.world ? a.world.localeCompare(b.world) : 0));
  sides = both.map((episode) => ({ episode, step: 0, holder: make("section", { class: "side", "aria-label": `${episode.agent}, ${episode.world}, repeat ${episode.repeat}` }, make("p", { role: "status" }, "loading…")) }));
  dialog.replaceChildren(topOf(pair), make("p", { class: "intent" }, pair.episode.task.intent),
    make("p", { class: "hint" }, "← and → go through the steps, Home and End to the first and the last, Esc closes. A picture shows the page after its step."),
    make("div", { class: "sides" }, sides.map((side) => side.holder)));
  if (first) dialog.showModal();
  dialog.scrollTop = 0;
  const heading = document.getElementById("episode-title");
  heading.focus();
  sides.forEach(fill);
}

function topOf({ episode, beside }) {
  const shown = shownEpisodes();
  const place = shown.indexOf(episode);
  const go = (to) => change({ episode: shown[to].name, beside: "", step: "" }, true);
  const choose = make("select", {},
    make("option", { value: "none" }, "nothing"),
    besides(episode).map((one) => make("option", { value: one.name }, `${one.agent}, ${one.world}, repeat ${one.repeat}: ${one.outcome}`)));
  choose.value = beside ? beside.name : "none";
  choose.addEventListener("change", () => change({ beside: choose.value, step: "" }, true));
  return make("div", { class: "top" },
    make("h2", { id: "episode-title", tabindex: "-1" }, episode.task.id),
    make("label", {}, "beside it: ", choose),
    make("button", { type: "button", disabled: place < 1, onclick: () => go(place - 1) }, "previous episode"),
    make("button", { type: "button", disabled: place < 0 || place + 1 >= shown.length, onclick: () => go(place + 1) }, "next episode"),
    make("button", { type: "button", onclick: () => dialog.close() }, "close"));
}

function fill(side) {
  const { episode, holder } = side;
  const head = [
    make("h3", {}, `${episode.agent} · ${episode.world} · repeat ${episode.repeat}`),
    make("p", {}, chip(episode), " ", make("span", { class: "because" }, episode.because)),
  ];
  load(episode).then((found) => {
    side.found = found;
    side.head = head;
    head[1].querySelector(".because").textContent = found.because;
    side.step = Math.min(Number.parseInt(state.step, 10) || 0, Math.max(0, found.steps.length - 1));
    drawSide(side);
  }).catch((error) => {
    holder.replaceChildren(...head, make("p", { class: "error" }, `This episode cannot be shown: ${error.message}`));
  });
}

function drawSide(side) {
  const { found, holder, head } = side;
  side.stage = make("div", {});
  side.buttons = found.steps.map((step, place) => frameOf(side, step, place));
  const strip = found.steps.length
    ? make("ol", { class: "strip", "aria-label": "steps" }, side.buttons.map((button) => make("li", {}, button)))
    : make("p", {}, "No step was taken.");
  const parts = [...head, shortChecks(side, found), factsOf(side.episode, found), strip, side.stage,
    found.unread ? make("p", { class: "error" }, found.unread) : null,
    make("h4", {}, "checks"), checksOf(side, found), changesOf(found), timeLine(found)];
  holder.replaceChildren(...parts.filter(Boolean));
  moveTo(side, side.step, false);
}

function factsOf(episode, found) {
  const [asked, answered] = found.tokens;
  const facts = [
    `began ${found.startedAt.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?\+00:00$/, "$1 $2 UTC")}`, inTime(found.seconds), counted(episode.steps, "step"),
    asked || answered ? `${asked.toLocaleString("en")} tokens in, ${answered.toLocaleString("en")} out` : null,
    found.usd === null ? null : inMoney(found.usd),
    found.replayedFrom ? `replayed from ${found.replayedFrom}, not spent` : null,
    found.ended ? `ended: ${found.ended}` : "no end", found.attempt > 1 ? `attempt ${found.attempt}` : null,
    found.staged.length ? `staged: ${found.staged.join(", ")}` : null,
  ].filter(Boolean);
  return make("div", {}, make("p", { class: "hint" }, facts.join(" · ")),
    found.endedBecause ? make("p", {}, found.endedBecause) : null,
    found.answer === null ? null : make("p", {}, "answer: ", make("b", {}, found.answer)));
}

const placeOf = (found, check) => found.steps.findIndex((step) => step.index === check.step);

// Every check in a word; the list below says why.
function shortChecks(side, found) {
  return make("p", { class: "short" }, found.checks.map((check) => {
    const kind = { met: "success", unmet: "failure", unknown: "unscored" }[check.status];
    const place = placeOf(found, check);
    return place < 0 ? make("span", { class: `chip ${kind}`, title: check.reason }, `${CHECK[check.status]} ${check.name}`)
      : make("button", { type: "button", class: `chip ${kind}`, title: check.reason, onclick: () => move(side, place) }, `${CHECK[check.status]} ${check.name} at ${check.step}`);
  }));
}

function checksOf(side, found) {
  if (!found.checks.length) return make("p", { class: "hint" }, "No check was judged.");
  const kinds = { before: "required before the start", step: "key node", end: "at the end" };
  return make("ul", { class: "checks", "aria-label": "checks" }, found.checks.map((check) => {
    const place = placeOf(found, check);
    const kind = check.when === "step" && check.decides ? "required key node" : kinds[check.when];
    return make("li", { class: check.status },
      make("span", { class: "sign", "aria-hidden": "true" }, CHECK[check.status]),
      make("b", {}, check.name), make("small", {}, ` ${kind}, ${check.status === "unknown" ? "not known" : check.status === "met" ? "met" : "not met"}`),
      place >= 0 ? [" ", make("button", { type: "button", class: "inline", onclick: () => move(side, place) }, `at step ${check.step}`)] : null,
      make("br"), make("span", {}, check.reason));
  }));
}

function changesOf(found) {
  const parts = found.changes.map((one) => make("li", {}, make("b", {}, one.check), make("ul", {},
    one.lines.map((line) => make("li", {}, line)), one.more ? make("li", {}, `and ${one.more} more`) : null)));
  const resets = found.resets.map((one) => make("li", {},
    `${one.site}: ${one.strategy}, ${inTime(one.seconds)}${one.swapped ? ", swapped in" : ""}, waited ${inTime(one.waited)}; ${one.proven ? "proven" : "NOT proven"} ${one.start ? "at its start" : "golden"}${one.proven ? ` by ${one.proof}` : ""}`,
    one.fallbacks.length || one.undone.length ? make("ul", {}, one.fallbacks.map((line) => make("li", {}, `not enough: ${line}`)), one.undone.map((line) => make("li", {}, `undone: ${line}`))) : null));
  return make("div", {},
    parts.length ? make("details", { open: true }, make("summary", {}, "changes in databases and files"), make("ul", {}, parts)) : null,
    resets.length ? make("details", {}, make("summary", {}, `${counted(resets.length, "reset")} before it`), make("ul", {}, resets)) : null,
    found.networkFault ? make("p", { class: "error" }, `not all requests were recorded: ${found.networkFault}`) : null);
}

// One bar an episode: the waiting for its replicas, then each step's phases.
function timeLine(found) {
  const parts = [...found.resets.map((one) => ["reset", one.waited * 1000, `waited for ${one.site}`]),
    ...found.steps.flatMap((step) => PHASES.map((name, place) => [name, step.ms[place], `step ${step.index}`]))];
  const whole = parts.reduce((sum, part) => sum + part[1], 0);
  if (!whole) return null;
  const space = "http://www.w3.org/2000/svg";
  const drawn = document.createElementNS(space, "svg");
  drawn.setAttribute("class", "track");
  drawn.setAttribute("role", "img");
  const sums = ["reset", ...PHASES].map((name) => [name, parts.filter((part) => part[0] === name).reduce((sum, part) => sum + part[1], 0)]).filter((part) => part[1]);
  drawn.setAttribute("aria-label", `time: ${sums.map(([name, ms]) => `${name} ${inTime(ms / 1000)}`).join(", ")}`);
  let place = 0;
  for (const [name, ms, about] of parts) {
    if (!ms) continue;
    const bar = document.createElementNS(space, "rect");
    const says = document.createElementNS(space, "title");
    says.textContent = `${about}: ${name} ${inTime(ms / 1000)}`;
    const set = { x: `${100 * place / whole}%`, width: `${100 * ms / whole}%`, y: "20%", height: "55%", class: `phase ${name}` };
    for (const [key, value] of Object.entries(set)) bar.setAttribute(key, value);
    bar.append(says);
    drawn.append(bar);
    place += ms;
  }
  return make("div", {}, make("h4", {}, "time"), make("p", { class: "caption" }, sums.flatMap(([name, ms]) => [make("span", { class: `swatch phase ${name}` }), ` ${name} ${inTime(ms / 1000)} `])), drawn);
}

const metAt = (side, step) => side.found.checks.filter((check) => check.when === "step" && check.status === "met" && check.step === step.index);

// A picture; where its file is gone, as where a report was sent without its runs, words that say so.
function picture(attributes, missing) {
  const image = make("img", { decoding: "async", ...attributes });
  image.addEventListener("error", () => image.replaceWith(missing));
  return image;
}

function frameOf(side, step, place) {
  const met = metAt(side, step);
  const image = step.shot
    ? picture({ src: side.found.shots + encodeURIComponent(step.shot), alt: "", loading: "lazy" }, make("span", { class: "none" }, "missing"))
    : make("span", { class: "none" }, "no picture");
  const words = `step ${step.index}: ${step.action}${met.length ? `; met: ${met.map((check) => check.name).join(", ")}` : ""}${step.error ? "; error" : ""}`;
  return make("button", { type: "button", "aria-label": words, title: words, tabindex: "-1", onclick: () => move(side, place) }, image,
    make("span", { class: "did" }, `${step.index}${met.length ? " ✓" : ""}${step.error ? " !" : ""} ${step.action}`));
}

function stageOf(side, step) {
  const met = metAt(side, step);
  const phases = PHASES.map((name, place) => `${name} ${inTime(step.ms[place] / 1000)}`).join(", ");
  const requests = [...step.notes.map(([what, how]) => `${what}: ${how}`), ...step.network.map(([what, how]) => `${what}: ${how}`)];
  const shot = step.shot ? side.found.shots + encodeURIComponent(step.shot) : null;
  return [
    make("h4", {}, `step ${step.index}: ${step.action}`),
    step.error ? make("p", { class: "error" }, step.error) : null,
    step.thought ? make("p", { class: "thought" }, step.thought) : null,
    met.map((check) => make("p", {}, make("span", { class: "chip success" }, `✓ ${check.name}`), ` ${check.reason}`)),
    shot ? make("a", { href: shot, target: "_blank", rel: "noopener" }, picture({ class: "shot", src: shot, alt: `the page after step ${step.index}: ${step.title}` }, make("span", {}, "The picture is missing: it lay in the run's folder."))) : make("p", { class: "hint" }, "No picture of this step was kept."),
    make("p", {}, make("code", {}, step.url), step.status ? ` ${step.status}` : "", step.title ? ` · ${step.title}` : "", step.login ? ` · as ${step.login}` : ""),
    make("p", { class: "hint" }, `${counted(step.requests, "request")}${step.settled ? "" : ", not settled"} · ${phases}`),
    requests.length ? make("details", { open: step.notes.length > 0 }, make("summary", {}, `network: ${counted(requests.length, "request")} listed`),
      make("ul", { class: "requests" }, requests.map((line) => make("li", {}, line)), step.moreNetwork > 0 ? make("li", {}, `and ${step.moreNetwork} more, of files or beyond the first`) : null)) : null,
    step.seen.map(([name, text, left]) => make("details", {}, make("summary", {}, `what the agent saw then: ${name}`),
      make("pre", { tabindex: "0" }, text + (left ? `\n… ${left.toLocaleString("en")} more letters in the run's folder` : "")))),
  ].flat(2).filter(Boolean);
}

function moveTo(side, place, isSeen) {
  const { steps } = side.found;
  if (!steps.length) return;
  side.step = Math.max(0, Math.min(steps.length - 1, place));
  side.buttons.forEach((button, number) => {
    if (number === side.step) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    button.tabIndex = number === side.step ? 0 : -1;
  });
  const current = side.buttons[side.step];
  const strip = current.closest(".strip");
  strip.scrollLeft = current.offsetLeft - strip.offsetLeft - strip.clientWidth / 2 + current.clientWidth / 2;
  side.stage.replaceChildren(...stageOf(side, steps[side.step]));
  if (isSeen && strip.contains(document.activeElement)) current.focus({ preventScroll: true });
}

// A step that is chosen is shown on its side; the arrow keys move both.
function move(side, place) {
  moveTo(side, place, true);
  remember(side);
}

function remember(side) {
  state.step = side.step ? String(side.step) : "";
  history.replaceState(null, "", address({}));
}

dialog.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("select,input,pre");
  const ready = sides.filter((side) => side.found && side.found.steps.length);
  if (isTyping || !ready.length || event.altKey || event.ctrlKey || event.metaKey) return;
  const own = ready.find((side) => side.holder.contains(event.target)) || ready[0];
  const last = Math.max(...ready.map((side) => side.found.steps.length)) - 1;
  const to = { ArrowLeft: own.step - 1, ArrowRight: own.step + 1, Home: 0, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  ready.forEach((side) => moveTo(side, to, true));
  remember(own);
});
dialog.addEventListener("close", () => {
  shownPair = "";
  if (state.episode) change({ episode: "", beside: "", step: "" }, true);
  if (opener && opener.isConnected) opener.focus();
});

// ---- begin

order.append(...Object.entries(HEAT_ORDERS).map(([value, says]) => make("option", { value }, says)));
order.addEventListener("change", () => change({ order: order.value, tasks: "" }));
document.getElementById("heat-legend").append("share of scored episodes that succeeded: ",
  ...["0", "20", "40", "60", "80", "100%"].flatMap((says, place) => [make("span", { class: `swatch h${place}` }), ` ${says}`]), " · “+1?”: one more is unscored");
document.getElementById("rows").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const links = [...document.querySelectorAll("#rows a.open")];
  const next = links[links.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
  if (!links.includes(event.target) || !next) return;
  event.preventDefault();
  next.focus();
});
for (const link of document.querySelectorAll("a.see")) link.addEventListener("click", () => setTimeout(() => goTo("episodes"), 0));
addEventListener("hashchange", () => { if (readState()) { show(); showEpisode(); } });
fillFilters();
document.querySelectorAll(".scroll > .rows, .scroll > .figures").forEach(stack);
readState();
show();
showEpisode();
if (FILTERS.some((name) => state[name]) && !state.episode) goTo("episodes"); // a link to some of them
