// Calls the controls of a document otherwise, by a table: their words, and the attributes that name
// them. What a form sends stays: fields, options, and buttons whose text is sent.
(table, altered) => {
  const CONTROLS =
    "a[href],area[href],button,summary,label,legend,caption,th,dt,h1,h2,h3,h4,h5,h6,[role=button],[role=link]," +
    "[role=heading],[role=tab],[role=menuitem],[role=columnheader],[role=rowheader],[role=switch]";
  const CLOSED =
    "textarea,select,datalist,script,style,template,svg,[contenteditable]:not([contenteditable=false])";
  const ATTRIBUTES = ["aria-label", "placeholder", "title", "alt"];
  const BUTTONS = ["submit", "reset", "button"].map((type) => `input[type=${type}]:not([name])`).join(",");
  const LONGEST = 400;
  // A page that writes a label back each time has its way: else the two would never come to an end.
  const MOST_TIMES = 20;

  const key = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();
  const names = new Map(Object.entries(table).map(([old, now]) => [key(old), now]));
  const renamed = new WeakMap(); // by node, then by attribute; the data of a text has no name
  const nodes = new Set();
  const written = new WeakMap(); // by element
  let isCounted = false;
  let isResting = false;
  let turn = 0; // of the page's event loop, as far as labels were renamed in it
  let isTurning = false;

  const read = (node, place) => (place ? node.getAttribute(place) : node.data);
  const write = (node, place, text) => { if (place) node.setAttribute(place, text); else node.data = text; };

  // Whether a page writes labels of an element back in one turn of its event loop, again and again.
  const isContested = (element) => {
    if (!isTurning) setTimeout(() => { turn++; isTurning = false; });
    isTurning = true;
    const before = written.get(element);
    const times = before?.turn === turn ? before.times + 1 : 1;
    written.set(element, { turn, times });
    return times > MOST_TIMES;
  };

  const rename = (node, place) => {
    const old = read(node, place);
    if (old === null || old.length > LONGEST || !names.has(key(old))) return;
    if (!renamed.has(node)) {
      renamed.set(node, new Map());
      nodes.add(new WeakRef(node));
    }
    if (isContested(place ? node : node.parentElement)) return;
    const now = old.match(/^\s*/)[0] + names.get(key(old)) + old.match(/\s*$/)[0];
    renamed.get(node).set(place, { old, now, isUndone: false });
    write(node, place, now);
    if (!isCounted) altered();
    isCounted = true;
  };
  // Whether a text is all the words of its control: part of a title must not be taken for a label.
  const isAlone = (text, control) => {
    const walk = document.createTreeWalker(control, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const other = walk.currentNode;
      if (other !== text && /\p{L}/u.test(other.data) && !other.parentElement.closest(CLOSED)) return false;
    }
    return true;
  };
  const renameText = (text) => {
    if (text.length > LONGEST || !names.has(key(text.data))) return;
    const control = text.parentElement?.closest(CONTROLS);
    if (control && !text.parentElement.closest(CLOSED) && isAlone(text, control)) rename(text, "");
  };
  const renameElement = (element) => {
    if (!element.closest("body") || element.parentElement?.closest(CLOSED)) return;
    for (const place of ATTRIBUTES) if (element.hasAttribute(place)) rename(element, place);
    if (element.matches(BUTTONS) && element.hasAttribute("value")) rename(element, "value");
  };
  const sweep = (root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let at = root; at; at = walk.nextNode()) {
      if (at.nodeType === Node.TEXT_NODE) renameText(at);
      else if (at.nodeType === Node.ELEMENT_NODE) renameElement(at);
    }
  };

  const follow = (records) => {
    if (isResting) return;
    for (const { type, target, addedNodes } of records) {
      if (type === "childList") addedNodes.forEach(sweep);
      else sweep(target);
    }
  };
  const observer = new MutationObserver(follow);

  const each = (change) => {
    for (const reference of nodes) {
      const node = reference.deref();
      if (!node) nodes.delete(reference);
      else for (const [place, one] of renamed.get(node)) change(node, place, one);
    }
  };
  const undo = () => each((node, place, one) => {
    one.isUndone = read(node, place) === one.now;
    if (one.isUndone) write(node, place, one.old);
  });
  const redo = () => each((node, place, one) => {
    if (one.isUndone && read(node, place) === one.old) write(node, place, one.now);
    one.isUndone = false;
  });

  let watched = null;
  // Not before the document is read: a text that has arrived in part may look like a label.
  const begin = () => {
    if (isResting || !document.body || watched === document) return;
    watched = document;
    const what = { subtree: true, childList: true, characterData: true };
    observer.observe(document, { ...what, attributeFilter: [...ATTRIBUTES, "value"] });
    sweep(document.body);
  };
  if (document.readyState !== "loading") begin();
  for (const type of ["DOMContentLoaded", "load"]) addEventListener(type, begin, { capture: true });

  return {
    rest: () => {
      follow(observer.takeRecords());
      isResting = true;
      undo();
    },
    resume: () => {
      redo();
      isResting = false;
      if (watched === document) sweep(document.body);
      else if (document.readyState !== "loading") begin();
      observer.takeRecords();
    },
    // What `read` finds where everything is called as the site calls it.
    asSent: (look) => {
      if (isResting) return look();
      follow(observer.takeRecords());
      undo();
      try {
        return look();
      } finally {
        redo();
        observer.takeRecords();
      }
    },
  };
}
