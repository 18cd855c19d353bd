// The page watcher: reports what a person or an agent did, before the page handles it.
// Only events the browser itself made count; the page cannot make one with isTrusted set.
const ACTIONABLE =
  "a[href],area[href],button,input,select,textarea,summary,label,option,[role],[onclick],[tabindex],[contenteditable]";

// A click lands on the innermost element: an icon inside a button. What was acted on is the button.
const actedOn = (event) => {
  const target = event.composedPath()[0];
  const element = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
  if (!element) return null;
  return event.type === "click" ? element.closest(ACTIONABLE) || element : element;
};

const watch = (event) => {
  if (!event.isTrusted) return;
  const element = actedOn(event);
  if (!element) return;
  const url = window === window.top ? location.href : null;
  arenaReport(JSON.stringify({ event: event.type, url, ...arena.describe(element) }));
};

for (const type of ["click", "input", "change", "submit"]) addEventListener(type, watch, { capture: true, passive: true });
