"use strict";
// Shows what the desk says and tells it what the person says. All text is set as text, never as markup.
// The token stands in no history and on no screen; whoever loads the page again still has it.
const token = location.hash.slice(1) || (sessionStorage.getItem("token") ?? "");
sessionStorage.setItem("token", token);
history.replaceState(null, "", "/");
const $ = (id) => document.getElementById(id);
let state = null;
let since = 0;

const clockText = (seconds) => {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
};

const limitText = (seconds) => {
  const minutes = Math.floor(seconds / 60), rest = Math.round(seconds % 60);
  return [minutes && `${minutes} min`, rest && `${rest} s`].filter(Boolean).join(" ");
};

const tick = () => {
  if (state?.phase !== "running") return;
  const passed = state.paused ? 0 : (performance.now() - since) / 1000;
  $("clock").textContent = clockText(Math.min(state.seconds + passed, state.limit_s));
  $("clock").classList.toggle("stands", state.paused);
};

const showConsent = (text) => {
  const parts = text.trim().split("\n\n").map((part) => {
    const paragraph = document.createElement("p");
    paragraph.textContent = part;
    return paragraph;
  });
  $("consent").replaceChildren(...parts);
};

const show = (next) => {
  const isNew = state?.phase !== next.phase || state?.turn !== next.turn;
  state = next;
  since = performance.now();
  $("gone").hidden = true;
  for (const section of document.querySelectorAll("section")) section.hidden = section.dataset.phase !== next.phase;
  for (const one of document.querySelectorAll(".intent")) one.textContent = next.intent ?? "";
  for (const one of document.querySelectorAll(".limit")) one.textContent = limitText(next.limit_s ?? 0);
  if (next.consent) showConsent(next.consent);
  $("note").textContent = next.note;
  $("note").hidden = !next.note;
  $("progress").textContent = next.total === null ? "" : `${next.done} of ${next.total} done`;
  $("stop").hidden = ["consent", "over"].includes(next.phase);
  $("stop-hint").textContent = ["opening", "running"].includes(next.phase)
    ? "This task would not count, and comes again." : "";
  const pause = $("pause");
  pause.textContent = next.paused ? "Go on" : "Pause";
  pause.dataset.say = next.paused ? "go_on" : "pause";
  for (const button of document.querySelectorAll("button")) button.disabled = next.stopping;
  tick();
  if (!isNew) return;
  for (const field of document.querySelectorAll("textarea")) field.value = "";
  for (const one of document.querySelectorAll("details")) one.open = false;
  document.title = next.phase === "running" ? "Arena: the clock runs" : "Arena: your tasks";
  document.querySelector(`section[data-phase="${next.phase}"] h1`)?.focus();
};

const say = async (kind) => {
  const said = { kind, turn: state.turn };
  if (kind === "done") said.answer = $("answer").value;
  if (kind === "cannot") said.reason = $("reason").value;
  if (kind === "stop" && ["opening", "running"].includes(state.phase) && !confirm("Stop for today? This task will not count, and comes again.")) return;
  try {
    const answer = await fetch("/say", {
      method: "POST", body: JSON.stringify(said),
      headers: { "Content-Type": "application/json", "X-Arena-Token": token },
    });
    if (!answer.ok && answer.status !== 409) {
      $("note").textContent = (await answer.json()).error;
      $("note").hidden = false;
    }
  } catch { $("gone").hidden = false; }
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-say]");
  if (!button || !state) return;
  event.preventDefault();
  say(button.dataset.say);
});
$("ending").addEventListener("submit", (event) => event.preventDefault());

const events = new EventSource(`/events?token=${encodeURIComponent(token)}`);
events.onmessage = (event) => {
  show(JSON.parse(event.data));
  if (state.phase === "over") events.close();
};
events.onerror = () => { $("gone").hidden = state?.phase === "over"; };
setInterval(tick, 250);
