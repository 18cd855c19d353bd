// The recorder's page. Whatever a site said is text: nothing of it becomes markup.
"use strict";

const at = (id) => document.getElementById(id);
const chosen = new Map(); // key: whether it is chosen, as far as the person said
const leftOut = new Set(); // "step-place"
const reworded = new Map(); // "step-place": the words in place of those recorded
const shownSteps = new Map(); // number: the step as it was drawn

// The token stands in no history and on no screen; whoever loads the page again still has it.
const token = location.hash.slice(1) || (sessionStorage.getItem("token") ?? "");
sessionStorage.setItem("token", token);
history.replaceState(null, "", "/");

function made(tag, text = "", of = {}) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  return Object.assign(element, of);
}

async function ask(path, body) {
  const headers = { "Content-Type": "application/json", "X-Arena-Token": token };
  const reply = await fetch(path, body === undefined ? { headers } : { method: "POST", body: JSON.stringify(body), headers });
  const found = await reply.json();
  if (!reply.ok) throw new Error(found.error || reply.statusText);
  return found;
}

function checkLine(one) {
  const line = made("div", "", { className: `check ${one.trial}` });
  const box = made("input", "", { type: "checkbox", id: `check-${one.key}` });
  // What fits an end best is proposed; a key node is marked by a person alone.
  box.checked = chosen.get(one.key) ?? (one.is_end && one.likely && one.trial === "met");
  chosen.set(one.key, box.checked);
  box.addEventListener("change", () => { chosen.set(one.key, box.checked); changed(); });
  const label = made("label", one.label, { htmlFor: box.id });
  label.append(made("small", one.said));
  line.append(box, label);
  return line;
}

async function showKeyNodes(step, place) {
  const found = await ask(`/api/steps/${step.number}`);
  place.replaceChildren(...found.checks.map(checkLine));
  if (!found.checks.length) place.append(made("small", "Nothing here tells this step from others."));
  changed();
}

function actionLine(step, action) {
  const key = `${step.number}-${action.place}`;
  const line = made("div", "", { className: leftOut.has(key) ? "action out" : "action" });
  const words = made("span", reworded.has(key) ? `${action.said} → “${reworded.get(key)}”` : action.said);
  const drop = made("button", leftOut.has(key) ? "Keep" : "Leave out", { type: "button" });
  drop.setAttribute("aria-label", `${drop.textContent}: ${action.said}`);
  const redraw = () => {
    const again = actionLine(step, action);
    line.replaceWith(again);
    again.querySelector("button").focus(); // whoever goes by keyboard stays here
    changed();
  };
  drop.addEventListener("click", () => { leftOut.has(key) ? leftOut.delete(key) : leftOut.add(key); redraw(); });
  line.append(words);
  if (action.words !== null) {
    const edit = made("button", "Reword", { type: "button" });
    edit.setAttribute("aria-label", `Reword: ${action.said}`);
    edit.addEventListener("click", () => {
      const field = made("input", "", { value: reworded.get(key) ?? action.words });
      field.setAttribute("aria-label", "What to write in its place");
      field.addEventListener("change", () => { reworded.set(key, field.value); redraw(); });
      words.replaceWith(field);
      field.focus();
    });
    const vary = made("button", "Vary", { type: "button" });
    vary.setAttribute("aria-label", `Vary: ${action.said}`);
    vary.addEventListener("click", () => addParameter(reworded.get(key) ?? action.words, action.others));
    line.append(edit, vary);
  }
  line.append(drop);
  return line;
}

// What was said of a step holds no longer when it is another one.
function forget(step) {
  const isOf = (key) => key.startsWith(`${step}-`);
  for (const key of [...chosen.keys(), ...leftOut, ...reworded.keys()].filter(isOf)) {
    chosen.delete(key); leftOut.delete(key); reworded.delete(key);
  }
}

function mergeButton(step, into, merged, text) {
  const button = made("button", text, { type: "button" });
  button.setAttribute("aria-label", `${text}: step ${step}`);
  button.addEventListener("click", async () => {
    try {
      await ask("/api/merge", { step, merged });
      [step, into].forEach(forget);
      await draw();
      at(`step-${into}`)?.querySelector("button")?.focus(); // whoever goes by keyboard stays here
    } catch (error) { broke(error); }
  });
  return button;
}

function stepItem(step, before) {
  const item = made("li", "", { className: "step", id: `step-${step.number}` });
  const left = made("div"), right = made("div");
  if (step.picture)
    left.append(made("img", "", { src: `/pictures/${step.picture}?token=${encodeURIComponent(token)}`, loading: "lazy", alt: `The page after step ${step.number}` }));
  right.append(made("h3", step.number ? `${step.number}. ${step.heading || step.title || step.url}` : "Start"));
  right.append(made("p", step.logical || step.url, { className: "where" }));
  for (const action of step.actions) {
    right.append(actionLine(step, action));
    if (action.problem) right.append(made("p", action.problem, { className: "problem" }));
  }
  const merges = made("div", "", { className: "action" });
  if (before) merges.append(mergeButton(step.number, before, true, "Merge with the step before"));
  for (const one of step.merged) merges.append(mergeButton(one, step.number, false, "Split off again"));
  if (merges.childElementCount) right.append(merges);
  if (step.rows.length) {
    const rows = made("ul", "", { className: "rows" });
    rows.append(...step.rows.map((row) => made("li", row)));
    right.append(rows);
  }
  if (step.number) {
    const details = made("details"), place = made("div", "", { className: "checks" });
    details.append(made("summary", "Key nodes: mark what shows the way"), place);
    details.addEventListener("toggle", () => details.open && showKeyNodes(step, place));
    right.append(details);
  }
  item.append(left, right);
  return item;
}

function showSteps(steps) {
  const list = at("steps");
  const kept = new Set(steps.map((step) => step.number));
  for (const number of [...shownSteps.keys()].filter((one) => !kept.has(one))) {
    at(`step-${number}`).remove();
    shownSteps.delete(number);
  }
  steps.forEach((step, place) => {
    const before = place ? steps[place - 1].number : 0, text = JSON.stringify([before, step]);
    if (shownSteps.get(step.number) === text) return;
    at(`step-${step.number}`)?.remove();
    list.insertBefore(stepItem(step, before), list.children[place] ?? null);
    shownSteps.set(step.number, text);
  });
}

// A parameter of a template: a name, and a value a line, that of the recording first.
function addParameter(value, others = []) {
  const line = made("fieldset", "", { className: "parameter" });
  const name = made("input", "", { value: `value_${at("parameters").childElementCount + 1}`, spellcheck: false, maxLength: 60 });
  const values = made("textarea", "", { value: `${value}\n`, rows: 3, spellcheck: false });
  const called = made("label", "Called "), listed = made("label", "Its value in each task, a line each; the recorded one first ");
  const drop = made("button", "No parameter", { type: "button" });
  drop.addEventListener("click", () => { line.remove(); changed(); });
  called.append(name); listed.append(values);
  const offered = made("p", "", { className: "row" });
  for (const other of others.filter((one) => one !== value)) {
    const add = made("button", `+ ${other}`, { type: "button" });
    add.addEventListener("click", () => { values.value = `${values.value.trimEnd()}\n${other}\n`; add.remove(); changed(); });
    offered.append(add);
  }
  for (const field of [name, values]) field.addEventListener("input", changed);
  line.append(called, listed, offered, drop);
  at("parameters").append(line);
  at("several").open = true;
  (value ? name : values).focus();
  changed();
}

function parameters() {
  return [...at("parameters").children].map((line) => ({
    name: line.querySelector("input").value,
    values: line.querySelector("textarea").value.split("\n").map((one) => one.trim()).filter(Boolean),
  })).filter((one) => one.values.length);
}

function draft() {
  return {
    id: at("id").value, intent: at("intent").value, answer: at("answer").value, template: at("template").value,
    own: at("own").value, shows_file: at("file").open, chosen: [...chosen].filter(([, is]) => is).map(([key]) => key),
    left_out: [...leftOut], reworded: Object.fromEntries(reworded), parameters: parameters(),
  };
}

let waiting = 0, asked = 0;
function changed() {
  clearTimeout(waiting);
  waiting = setTimeout(() => show().catch((error) => {
    at("missing").replaceChildren(made("li", error.message));
    at("save").disabled = true;
  }), 150);
}

async function show() {
  const turn = ++asked, said_now = draft(), sent = JSON.stringify(said_now);
  const said = await ask("/api/draft", said_now);
  if (turn !== asked) return; // a later question is under way
  at("ends").replaceChildren(...said.ends.map(checkLine));
  if (!said.ends.length) at("ends").append(made("small", "Stop the recording first: then it is seen what changed."));
  at("own-tried").replaceChildren(...said.own.map((one) => made("p", one)));
  // What is chosen by itself is a part of the task only when it is asked for once more: until then
  // nobody can say what is missing.
  if (JSON.stringify(draft()) !== sent) return show();
  at("missing").replaceChildren(...said.missing.map((one) => made("li", one)));
  at("yaml").textContent = said.yaml;
  at("save").disabled = said.missing.length > 0;
}

async function draw() {
  const found = await ask("/api/recording");
  at("name").textContent = found.name;
  document.title = `${found.name} · Recorder · Arena`;
  if (!at("id").value) at("id").value = found.name;
  at("status").textContent = found.status;
  at("stop").hidden = !found.is_running;
  showSteps(found.steps);
  if (found.state !== draw.state) { draw.state = found.state; changed(); }
  return found.is_over;
}

async function look() {
  if (!(await draw())) setTimeout(() => look().catch(broke), 1000);
}

function broke(error) {
  at("status").textContent = `The recorder does not answer: ${error.message}`;
}

at("stop").addEventListener("click", async () => {
  at("stop").disabled = true;
  await ask("/api/stop", {}).catch(broke);
});
for (const id of ["id", "intent", "answer", "template", "own"]) at(id).addEventListener("input", changed);
at("add").addEventListener("click", () => addParameter(""));
at("file").addEventListener("toggle", changed);
at("task").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const saved = await ask("/api/save", draft());
    at("saved").textContent = `Saved: ${saved.path}. Prove it: ${saved.next}`;
  } catch (error) {
    at("saved").textContent = error.message;
  }
});

look().catch(broke);
