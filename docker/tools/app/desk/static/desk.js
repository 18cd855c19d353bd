"use strict";
// Keys, memory and history of the calculator. Values come from the server's own parser.
const $ = (id) => document.getElementById(id);
const form = $("calculator"), expression = $("expression"), result = $("result");
const kept = (name, fallback) => JSON.parse(sessionStorage.getItem(name) ?? JSON.stringify(fallback));
const keep = (name, value) => sessionStorage.setItem(name, JSON.stringify(value));
let asked = 0;

async function valueOf(text) {
  const query = new URLSearchParams({ expression: text, angle: $("angle").value });
  const answer = await fetch("/calculator.json?" + query);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.problem);
  return { value: told.value, address: "/calculator?" + query };
}

function complain(text) {
  $("problem").textContent = text;
  $("problem").hidden = !text;
}

function showHistory() {
  $("history").replaceChildren(...kept("history", []).map(([text, value]) => {
    const line = document.createElement("li"), again = document.createElement("button");
    const strong = document.createElement("strong");
    again.type = "button";
    again.className = "link";
    again.textContent = text;
    again.dataset.again = text;
    strong.textContent = value;
    line.append(again, " = ", strong);
    return line;
  }));
}

function remember(text, value) {
  keep("history", [[text, value], ...kept("history", [])].slice(0, 50));
  showHistory();
}

async function calculate() {
  const text = expression.value.trim(), turn = ++asked;
  if (!text) return complain("Type an expression first.");
  try {
    const found = await valueOf(text);
    if (turn !== asked) return;
    complain("");
    result.value = found.value;
    history.replaceState(null, "", found.address);
    remember(text, found.value);
  } catch (problem) {
    if (turn !== asked) return;
    result.value = "";
    complain(problem.message);
  }
}

function type(text) {
  const from = expression.selectionStart ?? expression.value.length;
  expression.setRangeText(text, from, expression.selectionEnd ?? from, "end");
  expression.focus();
}

function plain(value) {
  return value.replace(" × 10^", "e");
}

async function memory(action) {
  const now = kept("memory", "0");
  if (action === "recall") return type(plain(now));
  if (action === "clear") keep("memory", "0");
  else {
    if (!result.value) return complain("Calculate something first.");
    const sign = action === "add" ? "+" : "-";
    const sum = await valueOf(`(${plain(now)}) ${sign} (${plain(result.value)})`);
    keep("memory", sum.value);
  }
  $("memory").value = kept("memory", "0");
}

form.addEventListener("submit", (event) => { event.preventDefault(); calculate(); });
document.querySelectorAll("[data-types]").forEach((key) =>
  key.addEventListener("click", () => type(key.dataset.types)));
document.querySelectorAll("[data-memory]").forEach((key) =>
  key.addEventListener("click", () => memory(key.dataset.memory)));
$("clear").addEventListener("click", () => { expression.value = ""; result.value = ""; complain(""); expression.focus(); });
$("back").addEventListener("click", () => {
  const at = expression.selectionStart;
  if (at === expression.selectionEnd && at > 0) expression.setSelectionRange(at - 1, at);
  type("");
});
$("history").addEventListener("click", (event) => {
  if (event.target.dataset.again !== undefined) { expression.value = event.target.dataset.again; expression.focus(); }
});
$("forget").addEventListener("click", () => { keep("history", []); showHistory(); });
$("memory").value = kept("memory", "0");
if (expression.value && result.value && kept("history", [])[0]?.[0] !== expression.value) {
  remember(expression.value, result.value);
}
showHistory();
