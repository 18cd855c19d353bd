// Reaching elements for the agent's hands, reading them for locators, and feeling whether the DOM is quiet.

const elementOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);

const deepest = (x, y) => {
  let hit = document.elementFromPoint(x, y);
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
};

const composedContains = (outer, inner) => {
  for (let at = inner; at; at = at.parentNode || at.host) if (at === outer) return true;
  return false;
};

// A hit on an ancestor that hands clicks on (a label, a link around it) reaches the element as well.
const reaches = (element, hit) =>
  composedContains(element, hit) || Boolean(element.labels && [...element.labels].some((l) => l.contains(hit)));

function* pointsOf(element) {
  const boxes = [...element.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
  for (const [fx, fy] of [[0.5, 0.5], [0.2, 0.5], [0.8, 0.5], [0.5, 0.2], [0.5, 0.8], [0.1, 0.1], [0.9, 0.9]]) {
    for (const box of boxes.slice(0, 3)) yield { x: box.left + box.width * fx, y: box.top + box.height * fy };
  }
}

const inView = ({ x, y }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;

const isDisabled = (element) => element.matches(":disabled") || Boolean(element.closest("[aria-disabled=true],[inert]"));

const isVisible = (element) =>
  element.checkVisibility({ visibilityProperty: true }) && !pointsOf(element).next().done;

const isList = (select) => select.multiple || select.size > 1;

// Find a point at which the pointer reaches the element: {state, x, y} or what is in the way.
arena.probe = async (node, needsEnabled) => {
  const found = reach(node, needsEnabled);
  return found.state === "covered" && (await still()) ? reach(node, needsEnabled) : found;
};

const reach = (node, needsEnabled) => {
  const element = elementOf(node);
  if (!element || !element.isConnected) return { state: "gone" };
  const dropdown = element.localName === "option" && element.closest("select");
  if (dropdown && !isList(dropdown)) return { state: "option", at: element.index };
  const shown = element;
  if (!isVisible(shown)) {
    // Custom checkboxes hide the real one; people click its label.
    const label = element.labels && [...element.labels].find(isVisible);
    if (!label) return { state: "hidden" };
    return needsEnabled && isDisabled(element) ? { state: "disabled" } : reach(label, needsEnabled);
  }
  if (needsEnabled && isDisabled(element)) return { state: "disabled" };
  const found = aim(shown);
  if (found.state === "ok") return found;
  shown.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  return aim(shown);
};

const LONGEST_MS = 1000;
const within = (ms) => new Promise((done) => setTimeout(done, ms));

// Wait for the transitions of the page that end soon, and for the scripts that hear of it; false without any.
// A menu that opens takes no click before.
const still = async () => {
  const endsSoon = ({ playState, effect }) => playState === "running" && effect.getComputedTiming().endTime <= LONGEST_MS;
  const moving = document.getAnimations().filter(endsSoon);
  if (!moving.length) return false;
  const ended = Promise.allSettled(moving.map(({ finished }) => finished)).then(() => new Promise(requestAnimationFrame));
  await Promise.race([ended.then(() => within(0)), within(LONGEST_MS)]);
  return true;
};

// Find a point of the element, as it is scrolled now, at which nothing else is hit.
const aim = (shown) => {
  let cover = null;
  for (const point of pointsOf(shown)) {
    if (!inView(point)) continue;
    const hit = deepest(point.x, point.y);
    if (hit && reaches(shown, hit)) return { state: "ok", ...point };
    cover = cover || hit;
  }
  return cover ? { state: "covered", by: coverOf(cover, shown) } : { state: "outside" };
};

// Name what covers by the nearest ancestor that has a name or says it is a dialog or banner.
const coverOf = (cover, wanted) => {
  for (let at = cover; at && at !== document.body && !at.contains(wanted); at = at.parentElement) {
    const role = arena.role(at);
    const name = arena.name(at, role);
    if (name || ["dialog", "alertdialog", "alert", "banner"].includes(role)) return { role, name };
  }
  return { role: arena.role(cover), name: arena.collapse(cover.innerText).slice(0, 80) };
};

const TEXTLESS = new Set(["button", "checkbox", "radio", "submit", "reset", "image", "file", "hidden"]);
const BY_VALUE = new Set(["date", "datetime-local", "month", "week", "time", "color", "range"]);

// Focus a field with all of its text selected, or with the caret at the end of it: {state, how}.
arena.take = (node, atEnd) => {
  let element = elementOf(node);
  if (!element || !element.isConnected) return { state: "gone" };
  if (element.localName === "label" && element.control) element = element.control;
  const isField = (element.localName === "input" && !TEXTLESS.has(element.type)) || element.localName === "textarea";
  if (!isField && !element.isContentEditable) return { state: "untypable", role: arena.role(element) };
  if (isDisabled(element)) return { state: "disabled" };
  if (element.readOnly) return { state: "readonly" };
  element.focus();
  if (isField && BY_VALUE.has(element.type)) return { state: "ok", how: "value" };
  if (isField) element.select();
  else getSelection().selectAllChildren(element);
  if (atEnd && isField) getSelection().modify("move", "forward", "documentboundary");
  else if (atEnd) getSelection().collapseToEnd();
  return { state: "ok", how: "keys" };
};

arena.focus = (node) => {
  let element = elementOf(node);
  if (!element || !element.isConnected) return { state: "gone" };
  if (element.localName === "label" && element.control) element = element.control;
  if (isDisabled(element)) return { state: "disabled" };
  element.focus();
  return element.matches(":focus") ? { state: "ok" } : { state: "untypable", role: arena.role(element) };
};

// Whether files are chosen here, or by a click that asks for some: {state, isField, isMultiple, role}.
arena.fileField = (node) => {
  const element = elementOf(node);
  if (!element || !element.isConnected) return { state: "gone" };
  if (isDisabled(element)) return { state: "disabled" };
  const isField = element.localName === "input" && element.type === "file";
  return { state: "ok", isField, isMultiple: isField && element.multiple, role: arena.role(element) };
};

// Date-like fields take no text. Set the value as the browser's own picker would, and describe it.
arena.put = (node, text) => {
  const element = elementOf(node);
  element.value = text;
  if (element.value !== text) return { state: "malformed", type: element.type };
  for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  return { state: "ok", element: arena.noted(element) };
};

// Look a select's option up, by label and then by value: {state, at, from, count, options}.
// The option itself may be the node: then `wanted` is null.
arena.option = (node, wanted) => {
  let element = elementOf(node);
  if (!element || !element.isConnected) return { state: "gone" };
  const itself = element;
  if (element.localName === "option") element = element.closest("select") || element;
  if (element.localName !== "select") return { state: "untypable", role: arena.role(element) };
  if (isDisabled(element)) return { state: "disabled" };
  const options = [...element.options];
  const labels = options.map((option) => arena.collapse(option.label || option.text));
  const wish = arena.collapse(wanted ?? "");
  const tests = wanted === null ? [(option) => option === itself] : [
    (option, i) => labels[i] === wish, (option) => option.value === wanted,
    (option, i) => labels[i].toLowerCase() === wish.toLowerCase(),
  ];
  const at = tests.map((test) => options.findIndex(test)).find((i) => i >= 0) ?? -1;
  if (at < 0) return { state: "missing", options: labels.slice(0, 40) };
  if (options[at].matches(":disabled")) return { state: "disabled" };
  const canBeChosen = (option) => !option.matches(":disabled") && getComputedStyle(option).display !== "none";
  const above = options.slice(0, at).filter(canBeChosen).length;
  return { state: "ok", at, above, isOn: options[at].selected, isList: isList(element), isMultiple: element.multiple };
};

const selectOf = (node) => elementOf(node).closest("select");

// Whether those options are chosen now, and no others.
arena.areChosen = (node, places) =>
  [...selectOf(node).options].every((option, at) => option.selected === places.includes(at));

arena.focusSelect = (node) => selectOf(node).focus();

arena.probeOption = (node, at) => arena.probe(selectOf(node).options[at], true);

// Where a frame's own point lies in the document around it, and what lies over it there.
arena.frameSpot = (frame, x, y) => {
  const style = getComputedStyle(frame);
  const box = frame.getBoundingClientRect();
  const spot = {
    x: box.left + frame.clientLeft + parseFloat(style.paddingLeft) + x,
    y: box.top + frame.clientTop + parseFloat(style.paddingTop) + y,
  };
  if (!inView(spot)) return { state: "outside" };
  const hit = deepest(spot.x, spot.y);
  return hit === frame || !hit ? { state: "ok", ...spot } : { state: "covered", by: coverOf(hit, frame) };
};

arena.choose = (node, places) => {
  const element = selectOf(node);
  element.selectedIndex = places[0];
  for (const at of places.slice(1)) element.options[at].selected = true;
  for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  return arena.noted(element);
};

// What a CSS selector yields: visible text, an attribute (`value` is the live one), or a live property.
arena.read = (selector, attribute, property, most) => {
  let found;
  try {
    found = [...document.querySelectorAll(selector)].slice(0, most);
  } catch (error) {
    return { error: String(error.message) };
  }
  const values = [];
  for (const element of found) {
    if (property !== null) {
      if (property in element && !(property === "value" && arena.isSecret(element))) values.push(String(element[property]));
    } else if (attribute === null) values.push(arena.collapse(element.innerText ?? element.textContent));
    else if (attribute === "value" && "value" in element) values.push(String(arena.isSecret(element) ? "" : element.value));
    else if (element.hasAttribute(attribute)) values.push(element.getAttribute(attribute));
  }
  return { values };
};

// Whether an element can be in sight at all; one of `display: contents` is where its parent is.
const rendered = (e) => e.checkVisibility() ||
  (getComputedStyle(e).display === "contents" && (!e.parentElement || rendered(e.parentElement)));

// A spinner may turn on in a hidden corner for as long as the page lives. The parent decides: an
// element that was itself shown or hidden has changed the page.
const outOfSight = (record) => {
  const parent = record.type === "attributes" && record.target.parentElement;
  return parent && !rendered(parent);
};

// Resolve once the DOM has been still: for `still` ms, or for `busy` ms after anything changed but
// the attributes of elements out of sight.
arena.quiet = (still, busy) => new Promise((resolve) => {
  let moved = false;
  let timer = 0;
  const done = () => { observer.disconnect(); resolve(moved); };
  const wait = (ms) => { clearTimeout(timer); timer = setTimeout(done, ms); };
  const observer = new MutationObserver((records) => {
    if (records.every(outOfSight)) return;
    moved = true;
    wait(busy);
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  if (document.readyState === "complete") wait(still);
  else addEventListener("load", () => { moved = true; wait(busy); }, { once: true });
});

// What of an element or of its own page could be shown beyond what is, along one axis.
const AXES = {
  x: { room: "scrollWidth", shown: "clientWidth", at: "scrollLeft", to: "left", overflow: "overflowX", view: () => innerWidth },
  y: { room: "scrollHeight", shown: "clientHeight", at: "scrollTop", to: "top", overflow: "overflowY", view: () => innerHeight },
};
const canMove = (e, axis) => e[axis.room] > e[axis.shown] + 1 && e[axis.shown] > 0;
const scrolls = (e, axis) =>
  canMove(e, axis) && (/auto|scroll/.test(getComputedStyle(e)[axis.overflow]) || e.localName === "textarea");

// The nearest scroller around an element; of a page, itself where it is larger than its window, and
// otherwise the largest scroller in view. Returns whether it moved.
const pageScroller = (axis) => {
  const root = document.scrollingElement || document.documentElement;
  if (canMove(root, axis)) return root;
  const inner = [...document.querySelectorAll("*")].filter((e) => scrolls(e, axis));
  return inner.sort((a, b) => b.clientHeight * b.clientWidth - a.clientHeight * a.clientWidth)[0] || root;
};
const stepOf = (scroller, axis) => 0.85 * Math.min(scroller[axis.shown], axis.view());
arena.scroll = (node, name, way) => {
  const axis = AXES[name];
  const root = document.scrollingElement || document.documentElement;
  let target = root;
  if (node) {
    for (let at = elementOf(node); at; at = at.parentElement || (at.getRootNode().host ?? null)) {
      if (at !== root && scrolls(at, axis)) { target = at; break; }
    }
  } else target = pageScroller(axis);
  const before = target[axis.at];
  target.scrollBy({ [axis.to]: way * stepOf(target, axis), behavior: "instant" });
  return target[axis.at] !== before;
};
