// The page watcher: reports what a person or an agent did, before the page handles it.
// Only events the browser itself made count; the page cannot make one with isTrusted set.
const ACTIONABLE =
  "a[href],area[href],button,input,select,textarea,summary,label,option,[role],[onclick],[tabindex],[contenteditable]";

// A click lands on the innermost element: an icon inside a button. What was acted on is the button.
const INNERMOST = { click: ACTIONABLE, context_menu: ACTIONABLE, drag: "[draggable=true]," + ACTIONABLE };

const elementAt = (event) => {
  const target = event.composedPath()[0];
  return target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement || null;
};

const reportOf = (kind, element) => {
  if (!element) return;
  const acted = (INNERMOST[kind] && element.closest(INNERMOST[kind])) || element;
  const url = window === window.top ? location.href : null;
  arenaReport(JSON.stringify({ event: kind, url, ...arena.describe(acted) }));
};

const onTrusted = (type, handle) =>
  addEventListener(type, (event) => { if (event.isTrusted) handle(event); }, { capture: true, passive: true });

for (const type of ["click", "input", "change", "submit"]) onTrusted(type, (event) => reportOf(type, elementAt(event)));

// The middle button follows a link as the left one does; what the right one opens is another matter.
onTrusted("auxclick", (event) => { if (event.button === 1) reportOf("click", elementAt(event)); });
onTrusted("contextmenu", (event) => reportOf("context_menu", elementAt(event)));

// A drag has two ends: of the browser's own (`draggable`), it says both itself; of one that the page
// makes up from the mouse, they are where the button went down and where it came up.
const FAR_PX = 4;
let pressed = null;
onTrusted("mousedown", (event) => { pressed = { element: elementAt(event), x: event.clientX, y: event.clientY }; });
onTrusted("dragstart", (event) => { pressed = null; reportOf("drag", elementAt(event)); });
onTrusted("drop", (event) => reportOf("drop", elementAt(event)));
onTrusted("mouseup", (event) => {
  const start = pressed;
  pressed = null;
  if (!start || Math.hypot(event.clientX - start.x, event.clientY - start.y) < FAR_PX) return;
  reportOf("drag", start.element);
  reportOf("drop", under(event, start.element));
});

// What lies under the mouse beside what it drags, which often lies there as well.
const under = (event, dragged) => {
  const found = document.elementsFromPoint(event.clientX, event.clientY).filter((e) => !dragged || !dragged.contains(e));
  return found.find((e) => !dragged || !e.contains(dragged)) || found[0];
};
