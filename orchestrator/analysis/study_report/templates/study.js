"use strict";
// What the page's tables show stands in its own address (#agent=…), so that it can be sent and gone
// back to. Texts of pages, models and people become text nodes only: nothing here writes markup.

const INDEX = JSON.parse(document.getElementById("index").textContent);
const AT = Object.fromEntries(INDEX.columns.map((name, place) => [name, place]));
const FILTERS = ["agent", "world", "suite", "site", "family", "outcome", "check", "status", "task", "q"];
const STATUS = { m: "met", u: "not met", "?": "not known" };
const SIGN = { success: "✓", failure: "✗", unscored: "?" };
const ROWS_A_PAGE = 50;
const TASKS_A_PAGE = 40;

const EPISODES = INDEX.rows.map((row, number) => {
  const task = INDEX.tasks[row[AT.task]];
  const outcome = INDEX.outcomes[row[AT.outcome]];
  const world = INDEX.worlds[row[AT.world]];
  return {
    number, task, outcome, world,
    run: row[AT.run], agent: INDEX.agents[row[AT.agent]], repeat: row[AT.repeat],
    kind: outcome.split(":")[0], met: row[AT.met], nodes: row[AT.nodes], steps: row[AT.steps],
    seconds: row[AT.seconds], usd: row[AT.usd], tokens: row[AT.tokens], started: row[AT.started],
    because: INDEX.reasons[row[AT.because]], verdicts: row[AT.verdicts],
    name: `${row[AT.run]}/${world}-${task.id}-r${row[AT.repeat]}-a${row[AT.attempt]}`,
  };
});
const BY_NAME = new Map(EPISODES.map((episode) => [episode.name, episode]));
const keyOf = (task) => `${task.suite}/${task.id}`;
const HAS_SUITES = new Set(INDEX.tasks.map((task) => task.suite)).size > 1;
const suiteOf = (task) => HAS_SUITES ? [" ", make("small", {}, task.suite)] : [];

function make(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "onclick") made.addEventListener("click", value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
const inTime = (seconds) => seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
const inMoney = (usd) => usd === null ? "–" : `$${usd >= 0.1 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`;
const chip = (episode) => make("span", { class: `chip ${episode.kind}` }, `${SIGN[episode.kind]} ${episode.outcome}`);

// ---- the state in the address

let state = {};

function readState() {
  const hash = location.hash.slice(1);
  if (hash && !hash.includes("=")) return false; // a section of the page
  const { all, ...found } = Object.fromEntries(new URLSearchParams(hash)); // `all=` stands for nothing
  state = found;
  return true;
}

function address(changes) {
  const next = { ...state, ...changes };
  const kept = Object.entries(next).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return `#${new URLSearchParams(kept)}`;
}

function change(changes, isNew) {
  const hash = address(changes);
  if (isNew) location.hash = hash === "#" ? "#all=" : hash;
  else {
    history.replaceState(null, "", hash === "#" ? location.pathname + location.search : hash);
    state = Object.fromEntries(new URLSearchParams(hash.slice(1)));
    show();
  }
}

// ---- filters

const form = document.getElementById("filters");

function choices() {
  const several = (of) => [...new Set(EPISODES.flatMap(of))].sort();
  const checks = several((episode) => episode.task.checks);
  return {
    agent: several((episode) => episode.agent),
    world: several((episode) => episode.world),
    suite: several((episode) => episode.task.suite),
    site: several((episode) => episode.task.sites),
    family: several((episode) => episode.task.family),
    outcome: ["success", "failure", "unscored", ...several((episode) => episode.outcome).filter((one) => one.includes(":"))],
    check: checks,
    status: Object.values(STATUS),
    task: several((episode) => keyOf(episode.task)),
  };
}

function fillFilters() {
  for (const [name, values] of Object.entries(choices())) {
    const any = name === "status" ? "met or not" : "any";
    form.elements[name].append(make("option", { value: "" }, any), ...values.map((value) => make("option", { value }, value)));
  }
  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const now = Object.fromEntries(FILTERS.map((name) => [name, form.elements[name].value]));
      change({ ...now, page: "", tasks: "", episode: "" });
    }, 120);
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    change({ ...Object.fromEntries(FILTERS.map((name) => [name, ""])), page: "", tasks: "" });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
}

const TEXTS = new Map();
function textOf(episode) {
  if (!TEXTS.has(episode.task)) {
    TEXTS.set(episode.task, `${episode.task.id} ${episode.task.intent} ${episode.task.template || ""}`.toLowerCase());
  }
  return TEXTS.get(episode.task);
}

// What of the filters says which tasks and cells, and what says which of their episodes.
function ofTask(episode, wanted) {
  return (!wanted.agent || episode.agent === wanted.agent)
    && (!wanted.world || episode.world === wanted.world)
    && (!wanted.suite || episode.task.suite === wanted.suite)
    && (!wanted.site || episode.task.sites.includes(wanted.site))
    && (!wanted.family || episode.task.family === wanted.family)
    && (!wanted.q || textOf(episode).includes(wanted.q.toLowerCase()) || episode.because.toLowerCase().includes(wanted.q.toLowerCase()));
}

function ofEpisode(episode, wanted) {
  if (wanted.task && keyOf(episode.task) !== wanted.task) return false;
  if (wanted.outcome && episode.outcome !== wanted.outcome && episode.kind !== wanted.outcome) return false;
  if (!wanted.check && !wanted.status) return true;
  const names = wanted.check ? [wanted.check] : episode.task.checks;
  return names.some((name) => {
    const said = STATUS[episode.verdicts[episode.task.checks.indexOf(name)]];
    return said !== undefined && (!wanted.status || said === wanted.status);
  });
}

// ---- the heat map

const HEAT_ORDERS = { spread: "largest difference first", hardest: "hardest first", easiest: "easiest first", name: "by name" };
const order = document.getElementById("heat-order");

function heatRows(shown) {
  const tasks = new Map();
  for (const episode of shown) {
    const key = keyOf(episode.task);
    if (!tasks.has(key)) tasks.set(key, { key, task: episode.task, cells: new Map() });
    const cells = tasks.get(key).cells;
    const column = `${episode.agent}\u0000${episode.world}`;
    const cell = cells.get(column) || { won: 0, scored: 0, all: [] };
    cell.all.push(episode);
    if (episode.kind !== "unscored") cell.scored += 1;
    if (episode.kind === "success") cell.won += 1;
    cells.set(column, cell);
  }
  for (const row of tasks.values()) {
    const rates = [...row.cells.values()].filter((cell) => cell.scored).map((cell) => cell.won / cell.scored);
    row.mean = rates.length ? rates.reduce((sum, rate) => sum + rate, 0) / rates.length : 2;
    row.spread = rates.length ? Math.max(...rates) - Math.min(...rates) : -1;
  }
  const by = {
    spread: (a, b) => b.spread - a.spread || a.mean - b.mean,
    hardest: (a, b) => a.mean - b.mean,
    easiest: (a, b) => (b.mean > 1 ? -1 : b.mean) - (a.mean > 1 ? -1 : a.mean),
    name: () => 0,
  }[state.order in HEAT_ORDERS ? state.order : "spread"];
  return [...tasks.values()].sort((a, b) => by(a, b) || a.key.localeCompare(b.key, "en"));
}

const shade = (rate) => `h${Math.min(5, Math.floor(rate * 5 + 1e-9))}`;

function heatCell(row, agent, world) {
  const cell = row.cells.get(`${agent}\u0000${world}`);
  if (!cell) return make("td", {}, make("span", { class: "unseen" }, "not played"));
  const unscored = cell.all.length - cell.scored;
  const words = `${row.task.id}, ${agent}, ${world}: ${cell.won} of ${cell.scored} scored episodes succeeded${unscored ? `, ${unscored} unscored` : ""}`;
  const open = cell.all.length === 1
    ? () => change({ episode: cell.all[0].name, beside: "", step: "" }, true)
    : () => { change({ agent, world, task: row.key, outcome: "", check: "", status: "", page: "" }); goTo("episodes"); };
  const text = `${cell.won}/${cell.scored}${unscored ? ` +${unscored}?` : ""}`;
  const kind = cell.scored ? shade(cell.won / cell.scored) : "hx";
  return make("td", {}, make("button", { type: "button", class: kind, "aria-label": words, title: words, onclick: open }, text));
}

function showHeat() {
  const shown = EPISODES.filter((episode) => ofTask(episode, state));
  const rows = heatRows(shown);
  const columns = [...new Set(shown.map((episode) => `${episode.agent}\u0000${episode.world}`))]
    .map((column) => column.split("\u0000"))
    .sort((a, b) => INDEX.agents.indexOf(a[0]) - INDEX.agents.indexOf(b[0]) || INDEX.worlds.indexOf(a[1]) - INDEX.worlds.indexOf(b[1]));
  const { page, pages, part } = paged(rows, TASKS_A_PAGE, state.tasks);
  const head = make("tr", {}, make("th", { scope: "col" }, "task"),
    columns.map(([agent, world]) => make("th", { scope: "col" }, agent, make("br"), make("small", {}, world))));
  document.getElementById("heat").replaceChildren(
    make("thead", {}, head),
    make("tbody", {}, part.map((row) => make("tr", {},
      make("th", { scope: "row", title: row.task.intent }, row.task.id, suiteOf(row.task)),
      columns.map(([agent, world]) => heatCell(row, agent, world))))));
  document.getElementById("heat-said").textContent = `${counted(rows.length, "task")}; choose a field to see its episodes.`;
  order.value = state.order in HEAT_ORDERS ? state.order : "spread";
  showPages("heat-pages", "tasks", page, pages, "tasks");
}

// ---- the episodes

const COLUMNS = [
  { name: "task", says: "task", of: (one) => one.task.id },
  { name: "agent", says: "agent", of: (one) => one.agent },
  { name: "world", says: "world", of: (one) => one.world },
  { name: "repeat", says: "repeat", of: (one) => one.repeat, isNumber: true },
  { name: "outcome", says: "outcome", of: (one) => one.outcome },
  { name: "nodes", says: "key nodes", of: (one) => one.nodes ? one.met / one.nodes : null, isNumber: true },
  { name: "steps", says: "steps", of: (one) => one.steps, isNumber: true },
  { name: "seconds", says: "time", of: (one) => one.seconds, isNumber: true },
  { name: "usd", says: "cost", of: (one) => one.usd, isNumber: true },
  { name: "tokens", says: "tokens", of: (one) => one.tokens, isNumber: true },
  { name: "started", says: "began", of: (one) => one.started, isNumber: true },
];

function compared(a, b) {
  if (a === null || b === null) return (a === null) - (b === null); // what is not known comes last
  return typeof a === "string" ? a.localeCompare(b, "en") : a - b;
}

function shownEpisodes() {
  const shown = EPISODES.filter((episode) => ofTask(episode, state) && ofEpisode(episode, state));
  const column = COLUMNS.find((one) => one.name === state.sort);
  if (!column) return shown;
  const sign = state.down ? -1 : 1;
  return shown.sort((a, b) => {
    const [left, right] = [column.of(a), column.of(b)];
    const known = left === null || right === null ? 1 : sign;
    return known * compared(left, right) || a.number - b.number;
  });
}

function headOf(column) {
  const isSorted = state.sort === column.name;
  const sort = () => {
    change(isSorted ? { down: state.down ? "" : "1", page: "" } : { sort: column.name, down: "", page: "" });
    document.querySelector(`#rows button[data-column="${column.name}"]`).focus();
  };
  const mark = isSorted ? (state.down ? " ↓" : " ↑") : "";
  return make("th", { scope: "col", class: column.isNumber ? "num" : null, "aria-sort": isSorted ? (state.down ? "descending" : "ascending") : null },
    make("button", { type: "button", "data-column": column.name, onclick: sort }, column.says + mark));
}

function rowOf(episode) {
  const began = episode.started === null ? "–" : new Date(episode.started * 1000).toISOString().slice(5, 19).replace("T", " ");
  return make("tr", {},
    make("th", { scope: "row" }, make("a", { href: address({ episode: episode.name, beside: "", step: "" }), class: "open" }, episode.task.id), suiteOf(episode.task)),
    make("td", {}, episode.agent), make("td", {}, episode.world), make("td", { class: "num" }, String(episode.repeat)),
    make("td", {}, chip(episode)),
    make("td", { class: "num" }, episode.nodes ? `${episode.met}/${episode.nodes}` : "–"),
    make("td", { class: "num" }, String(episode.steps)), make("td", { class: "num" }, inTime(episode.seconds)),
    make("td", { class: "num" }, inMoney(episode.usd)),
    make("td", { class: "num" }, episode.tokens ? episode.tokens.toLocaleString("en") : "–"),
    make("td", { class: "num" }, began),
    make("td", { class: "why", title: episode.because }, make("span", {}, episode.because)));
}

function showRows() {
  const shown = shownEpisodes();
  const { page, pages, part } = paged(shown, ROWS_A_PAGE, state.page);
  document.getElementById("rows").replaceChildren(
    make("thead", {}, make("tr", {}, COLUMNS.map(headOf), make("th", { scope: "col" }, "why"))),
    make("tbody", {}, part.map(rowOf)));
  stack(document.getElementById("rows"));
  const wanted = FILTERS.filter((name) => state[name]).map((name) => `${name === "q" ? "text" : name} “${state[name]}”`);
  const first = page * ROWS_A_PAGE + 1;
  document.getElementById("rows-said").textContent = shown.length
    ? `${counted(shown.length, "episode")}${wanted.length ? ` with ${wanted.join(", ")}` : ""}: ${first.toLocaleString("en")} to ${(first + part.length - 1).toLocaleString("en")}. Times are UTC.`
    : `No episode ${wanted.length ? `with ${wanted.join(", ")}` : "ended yet"}.`;
  showPages("rows-pages", "episodes", page, pages, "page");
}

// In a narrow window each row is a block, each cell under its column's title: no column is cut off.
// Rows that are laid out so are no table to a reader of the screen any more, unless they say it.
function stack(table) {
  const titles = [...table.tHead.rows].at(-1).cells;
  table.classList.add("stacked");
  table.setAttribute("role", "table");
  for (const part of [table.tHead, ...table.tBodies, table.tFoot]) if (part) part.setAttribute("role", "rowgroup");
  for (const row of table.rows) {
    row.setAttribute("role", "row");
    [...row.cells].forEach((cell, place) => {
      const isTitle = row.parentNode === table.tHead;
      cell.setAttribute("role", isTitle ? "columnheader" : cell.tagName === "TH" ? "rowheader" : "cell");
      if (!isTitle && cell.tagName === "TD" && cell.colSpan === 1) cell.dataset.title = titles[place].textContent;
    });
  }
}

function paged(rows, size, wanted) {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = Math.min(pages - 1, Math.max(0, (Number.parseInt(wanted, 10) || 1) - 1));
  return { page, pages, part: rows.slice(page * size, (page + 1) * size) };
}

function showPages(place, what, page, pages, name) {
  const holder = document.getElementById(place);
  if (pages < 2) return holder.replaceChildren();
  const button = (text, to) => make("button", {
    type: "button", disabled: to < 0 || to >= pages || to === page, "aria-label": `${text} page of ${what}`, "data-to": text,
    onclick: () => { change({ [name]: to ? String(to + 1) : "" }); const again = holder.querySelector(`[data-to="${text}"]:enabled`) || holder.querySelector("button:enabled"); if (again) again.focus(); },
  }, text);
  holder.replaceChildren(button("first", 0), button("previous", page - 1), make("span", {}, `page ${page + 1} of ${pages}`), button("next", page + 1), button("last", pages - 1));
  return undefined;
}

function goTo(id) {
  const heading = document.getElementById(id);
  heading.setAttribute("tabindex", "-1");
  heading.scrollIntoView();
  heading.focus({ preventScroll: true });
}

let shownState = null;

function show() {
  // An episode that opens or closes leaves the tables, and what is focused in them, as they are.
  const { episode, beside, step, ...tables } = state;
  const now = JSON.stringify(Object.entries(tables).sort());
  if (now === shownState) return;
  shownState = now;
  for (const name of FILTERS) form.elements[name].value = state[name] || "";
  showHeat();
  showRows();
}
