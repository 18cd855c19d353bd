"use strict";
// Shows a run while it is played. All text is set as text, never as markup.
// The token stands in no history and on no screen; whoever loads the page again still has it.
const token = location.hash.slice(1) || (sessionStorage.getItem("token") ?? "");
sessionStorage.setItem("token", token);
history.replaceState(null, "", "/");
const $ = (id) => document.getElementById(id);
const SIGN = { met: "✓", unmet: "✗", unknown: "?", pending: "…" };
const slots = new Map(); // by run and episode: what the page shows of it
let state = null;
let asking = false;
let filming = null; // what ends the film, while one is shown

const make = (name, words, ...children) => {
  const made = document.createElement(name);
  if (words?.class) made.className = words.class;
  made.append(...children);
  return made;
};
const inTime = (s) => (s < 90 ? `${Math.round(s)} s` : s < 5400 ? `${Math.round(s / 60)} min` : `${(s / 3600).toFixed(1)} h`);

const ask = async (path, body) => {
  const answer = await fetch(path, {
    method: body ? "POST" : "GET",
    headers: { "X-Arena-Token": token },
    body: body && JSON.stringify(body),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
};

const note = (text) => {
  $("note").textContent = text;
  $("note").hidden = !text;
};

const order = async (body) => {
  try {
    const now = await ask("/order", body);
    show(now);
    note(now.said);
  } catch (error) {
    note(error.message);
  }
};

const checksOf = (checks) => checks.map((one) => make("li", { class: one.status }, `${SIGN[one.status] ?? "?"} ${one.name}`, make("small", {}, ` ${one.reason}`)));
const stepOf = (step) => make("li", {}, step.said, " ", make("small", {}, step.url), ...(step.error ? [" ", make("small", { class: "error" }, step.error)] : []));

const slotOf = (one) => {
  const key = `${one.run}/${one.episode}`;
  if (slots.has(key)) return slots.get(key);
  const parts = {
    key, seen: 0, one,
    title: make("h3", {}, one.episode), since: make("small"), intent: make("p", { class: "hint" }),
    picture: make("img"), checks: make("ul", { class: "checks" }), steps: make("ol", { class: "steps" }),
    stop: make("button", {}, "Stop this episode"),
  };
  parts.picture.alt = `The page of ${one.episode}`;
  parts.picture.hidden = true;
  parts.stop.type = "button";
  parts.stop.addEventListener("click", () => order({ do: "stop", episode: key }));
  parts.card = make("article", { class: "slot" }, parts.title, parts.since, parts.intent, parts.picture, parts.checks, parts.steps, parts.stop);
  slots.set(key, parts);
  return parts;
};

const picture = (slot, src) => {
  slot.picture.src = src;
  slot.picture.hidden = false;
};

const fill = (slot, found) => {
  if (found.seen < slot.seen) slot.seen = 0; // another attempt began
  if (!found.steps) return;
  slot.seen = found.seen;
  slot.intent.textContent = found.intent;
  slot.checks.replaceChildren(...checksOf(found.checks));
  const last = found.steps.slice(-5);
  slot.steps.start = Math.max(0, found.steps.length - last.length);
  slot.steps.replaceChildren(...last.map(stepOf));
  if (found.picture && !slot.isLive) picture(slot, found.picture);
};

const openEpisode = async (one) => {
  try {
    const found = await ask(`/episode?${new URLSearchParams({ run: one.run, name: one.name })}`);
    $("episode-title").textContent = one.name;
    $("episode-intent").textContent = found.intent;
    $("episode-outcome").textContent = `${found.outcome}: ${found.because}`;
    $("episode-checks").replaceChildren(...checksOf(found.checks));
    $("episode-steps").replaceChildren(...found.steps.map((step) => {
      const item = stepOf(step);
      if (step.shot) {
        const image = make("img");
        image.loading = "lazy";
        image.alt = `The page after: ${step.said}`;
        image.src = `/shot?${new URLSearchParams({ run: one.run, name: one.name, shot: step.shot, token })}`;
        item.append(image);
      }
      return item;
    }));
    $("episode-steps").start = 0;
    $("episode").showModal();
  } catch (error) {
    note(error.message);
  }
};

let listed = "";
const showEnded = (now) => {
  const key = JSON.stringify(now.ended);
  if (key === listed) return; // what is focused stays as it is
  listed = key;
  $("more").textContent = now.more ? `The last ${now.ended.length}; ${now.more} more are in the report.` : "";
  $("ended").replaceChildren(...now.ended.map((one) => {
    const button = make("button", {}, now.runs > 1 ? `${one.run}/${one.episode}` : one.episode);
    button.type = "button";
    button.addEventListener("click", () => openEpisode(one));
    return make("li", {}, button, " ", make("small", {}, one.outcome));
  }));
};

const show = (now) => {
  state = now.state;
  $("name").textContent = now.name;
  showEnded(now);
  for (const one of $("steer").elements) one.disabled = !state;
  if (!state) {
    $("progress").textContent = "It is not played now.";
    $("cost").textContent = "";
    slots.clear();
    $("slots").replaceChildren();
    return;
  }
  const left = now.left_s === null ? "" : `, about ${inTime(now.left_s)} left`;
  $("progress").textContent = `${state.done} of ${state.total} episodes ended, ${now.queued} in the queue${left}${state.is_paused ? "; paused" : ""}`;
  const usd = state.usd === null ? "" : `, $${state.usd.toFixed(4)}`;
  $("cost").textContent = state.tokens ? `spent: ${state.tokens.toLocaleString("en")} tokens${usd}` : "";
  $("pause").textContent = state.is_paused ? "Go on" : "Pause";
  if (document.activeElement !== $("workers")) $("workers").value = state.workers;
  $("usd-label").hidden = $("set-usd").hidden = now.runs > 1;
  const playing = state.playing.map((one) => {
    const slot = slotOf(one);
    slot.since.textContent = `${inTime(one.seconds)}${one.is_stopping ? ", stopping" : ""}`;
    slot.one = one;
    slot.stop.disabled = one.is_stopping;
    return slot;
  });
  for (const [key, slot] of slots) if (!playing.includes(slot)) { slot.card.remove(); slots.delete(key); }
  for (const slot of playing) if (!slot.card.isConnected) $("slots").append(slot.card);
};

const look = async () => {
  if (asking || document.hidden) return; // nobody looks
  asking = true;
  try {
    show(await ask("/state"));
    film();
    await Promise.all([...slots.values()].map(async (slot) => {
      const wanted = new URLSearchParams({ run: slot.one.run, name: slot.one.episode, seen: slot.seen });
      await ask(`/episode?${wanted}`).then((found) => fill(slot, found), () => undefined); // it has just ended
    }));
  } catch (error) {
    note(error.message);
  } finally {
    asking = false;
  }
};

const film = async () => {
  if (filming || document.hidden || !state?.playing.length) return;
  filming = new AbortController();
  try {
    const answer = await fetch("/film", { headers: { "X-Arena-Token": token }, signal: filming.signal });
    if (!answer.ok) return;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      const newest = new Map(lines.map((line) => JSON.parse(line)).map((one) => [one.episode, one.picture]));
      for (const [key, jpeg] of newest) {
        const slot = slots.get(key);
        if (!slot) continue;
        slot.isLive = true; // newer than what is kept of its last step
        picture(slot, `data:image/jpeg;base64,${jpeg}`);
      }
    }
  } catch { // the run ended, or nobody looks
  } finally {
    filming = null;
    for (const slot of slots.values()) slot.isLive = false;
  }
};

$("pause").addEventListener("click", () => order({ do: state?.is_paused ? "go" : "pause" }));
$("requeue").addEventListener("click", () => order({ do: "requeue" }));
$("set-usd").addEventListener("click", () => order({ do: "limit", max_usd: Number($("usd").value) || null }));
$("steer").addEventListener("submit", (event) => {
  event.preventDefault();
  order({ do: "workers", workers: Number($("workers").value) || null });
});
document.addEventListener("visibilitychange", () => (document.hidden ? filming?.abort() : look()));
setInterval(look, 1000);
look();
