// What a page shows, and when that may have changed: for whoever waits.
const roots = function* (root = document) {
  yield root;
  for (const element of root.querySelectorAll("*")) if (element.shadowRoot) yield* roots(element.shadowRoot);
};

const shownText = () => {
  const texts = [];
  for (const root of roots()) {
    const tops = root === document ? [document.body] : [...root.children];
    for (const top of tops) texts.push(top && (top.innerText ?? ""));
  }
  return arena.collapse(texts.join(" "));
};

arena.shows = (text) => shownText().includes(arena.collapse(text));

// Resolve when something may have changed that the page shows; whoever asks waits half a minute at most.
const MAY_SHOW = ["load", "transitionend", "animationend", "toggle"];
arena.changed = () => new Promise((resolve) => {
  let soon = 0;
  const done = () => {
    observer.disconnect();
    for (const type of MAY_SHOW) removeEventListener(type, later, true);
    clearTimeout(limit);
    resolve(true);
  };
  const later = () => { soon = soon || setTimeout(done, 30); };
  const observer = new MutationObserver(later);
  for (const root of roots()) {
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  for (const type of MAY_SHOW) addEventListener(type, later, { capture: true, passive: true });
  const limit = setTimeout(done, 31000);
});
