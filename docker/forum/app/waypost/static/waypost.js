// Everything works without this script; with it, votes, subscriptions and replies need no new page.
"use strict";

const token = document.body.dataset.token;
const loggedIn = document.body.classList.contains("user-logged-in");
const minus = "\u2212";

async function post(path, data) {
  const body = new URLSearchParams({ csrfmiddlewaretoken: token, ...data });
  const answer = await fetch(path, { method: "POST", body, headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

function showVote(form, { netScore, choice }) {
  form.className = "vote" + ({ 1: " vote--user-upvoted", "-1": " vote--user-downvoted" }[choice] ?? "");
  const shown = Math.abs(netScore).toLocaleString("en-US");
  form.querySelector(".vote__net-score").textContent = (netScore < 0 ? minus : "") + shown;
  for (const [name, value, word] of [["up", 1, "upvote"], ["down", -1, "downvote"]]) {
    const button = form.querySelector(`.vote__${name}`);
    const held = choice === value;
    button.value = held ? 0 : value;
    button.title = held ? `Retract ${word}` : word[0].toUpperCase() + word.slice(1);
    button.setAttribute("aria-pressed", String(held));
  }
}

function showSubscription(form, wanted, { subscriberCount }) {
  form.action = form.getAttribute("action").replace(/\/(un)?subscribe$/, wanted ? "/unsubscribe" : "/subscribe");
  const button = form.querySelector("button");
  button.classList.toggle("subscribe-button--unsubscribe", wanted);
  button.classList.toggle("subscribe-button--subscribe", !wanted);
  form.querySelector(".subscribe-button__label").textContent = wanted ? "Unsubscribe" : "Subscribe";
  form.querySelector(".subscribe-button__subscriber-count").textContent = subscriberCount.toLocaleString("en-US");
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) {
    event.preventDefault();
    return;
  }
  const path = form.getAttribute("action");
  const isVote = form.classList.contains("vote");
  if (!loggedIn || !(isVote || form.classList.contains("subscribe-form"))) return;
  event.preventDefault();
  try {
    if (isVote) {
      showVote(form, await post(`${path}.json`, { choice: event.submitter.value }));
    } else {
      const wanted = path.endsWith("/subscribe");
      showSubscription(form, wanted, await post(`${path}.json`, {}));
    }
  } catch (error) {
    window.alert(error.message);
  }
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a.comment__reply");
  if (!link || !loggedIn || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const comment = link.closest(".comment");
  event.preventDefault();
  let place = comment.querySelector(":scope > .comment__form");
  if (!place) {
    place = document.createElement("div");
    place.className = "comment__form";
    const answer = await fetch(link.dataset.form);
    place.innerHTML = await answer.text();
    comment.querySelector(":scope > .comment__row").after(place);
  }
  place.querySelector("textarea")?.focus();
});

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.dropdown[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
