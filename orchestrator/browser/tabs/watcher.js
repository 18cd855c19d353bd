// The page watcher: reports what a person or an agent did, before the page handles it.
// Events that the browser made itself count; the page cannot make one with isTrusted set. Where an
// agent from elsewhere acts by script (hearsScripts), others are reported too, each as a claim: what
// has become of it is asked when the page has settled.
const ACTIONABLE =
  "a[href],area[href],button,input,select,textarea,summary,label,option,[role],[onclick],[tabindex],[contenteditable]";

// A click lands on the innermost element: an icon inside a button. What was acted on is the button.
const INNERMOST = { click: ACTIONABLE, context_menu: ACTIONABLE, drag: "[draggable=true]," + ACTIONABLE };

// What an arm laid over the page (orchestrator/gateway/scripts.py) is no part of any site: what is
// done to it must not stand for something that was done there.
const OF_ARMS = ["site-notice", "site-consent"];

const elementAt = (event) => {
  const target = event.composedPath()[0];
  if (OF_ARMS.includes(target.getRootNode?.().host?.localName)) return null;
  return target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement || null;
};

const ownName = `${performance.timeOrigin}:${Math.random()}`;
const claims = new Map();
let changes = null;

const claimed = (kind, element, value) => {
  const name = `${ownName}:${claims.size}`;
  claims.set(name, { element, value, isValue: kind === "input" || kind === "change", hasChanged: false });
  if (!changes) {
    changes = new MutationObserver(() => { for (const claim of claims.values()) claim.hasChanged = true; });
    changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  return name;
};

// Which claims the page bears out: a field still has the value, after a click something changed.
arena.borneOut = () =>
  [...claims].map(([name, claim]) => [
    name,
    claim.isValue ? claim.element.isConnected && arena.describe(claim.element).value === claim.value : claim.hasChanged,
  ]);

// An element as evidence holds it: named as its site names it, whatever an arm calls it.
arena.noted = (element) => {
  for (const claim of changes?.takeRecords().length ? claims.values() : []) claim.hasChanged = true;
  const asSent = [...(globalThis.arenaArms?.values() ?? [])].reduce(
    (look, arm) => () => arm.asSent(look), () => arena.describe(element));
  try { return asSent(); } finally { changes?.takeRecords(); }
};

// Where the mouse did it: a point of the window and a button, which agents' own actions have anyway. Null
// where the keyboard did it; no point where a frame of another origin does not say where it lies.
const BUTTONS = ["left", "middle", "right"];
const handOf = (event) => {
  if (!hearsScripts || !(event instanceof MouseEvent) || (event.type === "click" && !event.detail)) return null;
  const button = BUTTONS[event.button] || "left";
  let { clientX: x, clientY: y } = event;
  for (let at = window; at !== at.top; at = at.parent) {
    const frame = at.frameElement;
    if (!frame) return { button, x: null, y: null };
    const box = frame.getBoundingClientRect();
    x += box.left + frame.clientLeft;
    y += box.top + frame.clientTop;
  }
  return { button, x: Math.max(0, x), y: Math.max(0, y) };
};

const reportOf = (kind, element, isTrusted = true, hand = null) => {
  if (!element) return;
  const acted = (INNERMOST[kind] && element.closest(INNERMOST[kind])) || element;
  const url = window === window.top ? location.href : null;
  const described = arena.noted(acted);
  const claim = isTrusted ? null : claimed(kind, acted, described.value);
  arenaReport(JSON.stringify({ event: kind, url, claim, hand, ...described }));
};

const onTrusted = (type, handle) =>
  addEventListener(type, (event) => { if (event.isTrusted) handle(event); }, { capture: true, passive: true, signal: ends.signal });

for (const type of ["click", "input", "change", "submit"]) onTrusted(type, (event) => reportOf(type, elementAt(event), true, handOf(event)));
if (hearsScripts)
  for (const type of ["click", "input", "change", "submit"])
    addEventListener(type, (event) => { if (!event.isTrusted) reportOf(type, elementAt(event), false); }, { capture: true, passive: true, signal: ends.signal });

// Keys, and what else no other event tells of, for a recorder: they reach no evidence.
const keyed = (key, element, more) => {
  const url = window === window.top ? location.href : null;
  arenaReport(JSON.stringify({ key, url, ...more, ...arena.noted(element) }));
};
const KEYS = new Set(["Enter", "Escape", "Tab", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);
if (hearsScripts)
  onTrusted("keydown", (event) => {
    const isChord = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;
    const element = KEYS.has(event.key) && !isChord && !event.isComposing && elementAt(event);
    if (!element) return;
    keyed(event.key, element);
  });

// How far a person scrolls the page, in steps of `arena.scroll`, from where it rested to where it rests.
// A wheel's turn has scrolled already when it is heard of.
const SCROLLING = new Set(["PageDown", "PageUp", "End", "Home", " "]);
const LATEST_MS = 2000;
let rest = 0;
let turned = -Infinity;
const isTurned = () => { turned = performance.now(); };
if (hearsScripts) {
  onTrusted("wheel", isTurned);
  onTrusted("keydown", (event) => { if (SCROLLING.has(event.key)) isTurned(); });
  onTrusted("mousedown", () => { turned = -Infinity; });
  onTrusted("scrollend", () => {
    const page = pageScroller(AXES.y);
    const steps = (page.scrollTop - rest) / stepOf(page, AXES.y);
    rest = page.scrollTop;
    if (steps && performance.now() - turned < LATEST_MS) keyed("Scroll", page, { steps });
  });
}

// What a person chose in a file field, as far as a task may hold it (tasks/sources.py).
const MOST_BYTES = 4e6;
const encoded = async (file) => {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
};
if (hearsScripts)
  onTrusted("change", async (event) => {
    const field = elementAt(event);
    if (field?.localName !== "input" || field.type !== "file") return;
    keyed("Files", field); // at once, for whoever reads the events; what is in them follows
    const files = [...field.files];
    const isSmall = files.reduce((sum, file) => sum + file.size, 0) <= MOST_BYTES;
    const read = files.map(async ({ name }, at) => ({ name, content: isSmall ? await encoded(files[at]).catch(() => null) : null }));
    keyed("Files", field, { files: await Promise.all(read) });
  });

// Who moves a page within its document is told by the call stack, which the console alone keeps in a
// form that no script can forge.
if (hearsScripts && window === window.top && window.navigation)
  navigation.addEventListener("navigate", (event) => {
    const { url, sameDocument } = event.destination;
    const move = { url, kind: event.navigationType, by_user: event.userInitiated, is_fragment: event.hashChange };
    if (sameDocument) console.trace(moveMark, JSON.stringify(move));
  }, { signal: ends.signal });

// The middle button follows a link as the left one does; what the right one opens is another matter.
onTrusted("auxclick", (event) => { if (event.button === 1) reportOf("click", elementAt(event), true, handOf(event)); });
onTrusted("contextmenu", (event) => reportOf("context_menu", elementAt(event), true, handOf(event)));

// A drag has two ends: of the browser's own (`draggable`), it says both itself; of one that the page
// makes up from the mouse, they are where the button went down and where it came up.
const FAR_PX = 4;
let pressed = null;
onTrusted("mousedown", (event) => { pressed = { element: elementAt(event), x: event.clientX, y: event.clientY, hand: handOf(event) }; });
onTrusted("dragstart", (event) => { pressed = null; reportOf("drag", elementAt(event), true, handOf(event)); });
onTrusted("drop", (event) => reportOf("drop", elementAt(event), true, handOf(event)));
onTrusted("mouseup", (event) => {
  const start = pressed;
  pressed = null;
  if (!start || Math.hypot(event.clientX - start.x, event.clientY - start.y) < FAR_PX) return;
  reportOf("drag", start.element, true, start.hand);
  reportOf("drop", under(event, start.element), true, handOf(event));
});

// What lies under the mouse beside what it drags, which often lies there as well.
const under = (event, dragged) => {
  const found = document.elementsFromPoint(event.clientX, event.clientY).filter((e) => !dragged || !dragged.contains(e));
  return found.find((e) => !dragged || !e.contains(dragged)) || found[0];
};
