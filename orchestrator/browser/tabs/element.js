// What an element is, as a person or an assistive technology would say it: path, role, name, text.
// Runs in an isolated world: the page shares the DOM with it, but no object, prototype or name.
const arena = {};
globalThis.arena = arena;

arena.collapse = (text) => (text || "").replace(/\s+/g, " ").trim();
const LONGEST = 200;
const brief = (text) => arena.collapse(text).slice(0, LONGEST);

const isUnique = (root, path) => root.querySelectorAll(path).length === 1;

function pathInside(root, element) {
  const steps = [];
  for (let at = element; at && at.nodeType === Node.ELEMENT_NODE; at = at.parentElement) {
    if (at.id) {
      const anchor = "#" + CSS.escape(at.id);
      if (isUnique(root, anchor)) return [anchor, ...steps].join(" > ");
    }
    const tag = CSS.escape(at.localName);
    const twins = at.parentNode ? [...at.parentNode.children].filter((e) => e.localName === at.localName) : [];
    steps.unshift(twins.length > 1 ? `${tag}:nth-of-type(${twins.indexOf(at) + 1})` : tag);
  }
  return steps.join(" > ");
}

// A CSS path that fits one element of its document; `>>>` enters a shadow root.
arena.path = (element) => {
  const root = element.getRootNode();
  const inner = pathInside(root, element);
  return root instanceof ShadowRoot ? `${arena.path(root.host)} >>> ${inner}` : inner;
};

const INPUT_ROLES = {
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox",
  radio: "radio", range: "slider", number: "spinbutton", search: "searchbox",
  email: "textbox", tel: "textbox", text: "textbox", url: "textbox", password: "textbox",
};
const TAG_ROLES = {
  article: "article", aside: "complementary", button: "button", datalist: "listbox", dd: "definition",
  details: "group", dialog: "dialog", dt: "term", fieldset: "group", figure: "figure", form: "form",
  h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading",
  hr: "separator", img: "image", li: "listitem", main: "main", menu: "list", meter: "meter", nav: "navigation",
  ol: "list", optgroup: "group", option: "option", output: "status", p: "paragraph", progress: "progressbar",
  summary: "button", table: "table", tbody: "rowgroup", td: "cell", textarea: "textbox", tfoot: "rowgroup",
  th: "columnheader", thead: "rowgroup", tr: "row", ul: "list", label: "label", iframe: "iframe",
};

arena.role = (element) => {
  const said = (element.getAttribute("role") || "").trim().split(/\s+/)[0].toLowerCase();
  if (said === "img") return "image";
  if (said) return said;
  const tag = element.localName;
  if (tag === "input") {
    if (element.list && ["text", "search", "email", "tel", "url"].includes(element.type)) return "combobox";
    return INPUT_ROLES[element.type] || "textbox";
  }
  if (tag === "a" || tag === "area") return element.hasAttribute("href") ? "link" : "generic";
  if (tag === "select") return element.multiple || element.size > 1 ? "listbox" : "combobox";
  if (element.isContentEditable && element.getAttribute("contenteditable") !== null) return "textbox";
  return TAG_ROLES[tag] || "generic";
};

const NAMED_BY_CONTENT = new Set([
  "button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem", "menuitemcheckbox",
  "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip", "treeitem",
]);

// A label's text is not that of the field inside it.
const isShown = (element) =>
  !["select", "textarea", "script", "style"].includes(element.localName) &&
  element.getAttribute("aria-hidden") !== "true" &&
  (element.localName === "option" || element.checkVisibility({ visibilityProperty: true }) ||
    (getComputedStyle(element).display === "contents" && getComputedStyle(element).visibility === "visible"));

// Chromium names text as it is shown.
const SHOWN_AS = {
  uppercase: (text) => text.toUpperCase(),
  lowercase: (text) => text.toLowerCase(),
  capitalize: (text) => text.replace(/(?<![\p{L}\p{M}\p{N}_'’])\p{L}/gu, (letter) => letter.toUpperCase()),
};

// What a style sheet puts before or after an element; text after a slash stands for it.
const QUOTES = { "open-quote": "“", "close-quote": "”" };
function generated(element, where) {
  const style = getComputedStyle(element, where);
  const content = style.content;
  if (content === "none" || content === "normal" || style.display === "none") return "";
  const words = [...content.replace(/url\("[^"]*"\)/g, "").matchAll(/"((?:[^"\\]|\\.)*)"|(open-quote|close-quote)|(\/)/g)];
  const slash = words.findIndex((found) => found[3]);
  const said = words.slice(slash + 1).map((found) => QUOTES[found[2]] || (found[1] || "").replace(/\\(.)/g, "$1"));
  return spaced(said.join(""), style.display);
}

const spaced = (text, display) => (display === "inline" || display === "contents" || !text ? text : ` ${text} `);

// Chromium leaves these out of names by content, and not out of what `aria-labelledby` names.
const NO_PART_OF_A_NAME = new Set([
  "article", "figure", "form", "group", "menu", "navigation", "radiogroup", "status", "toolbar",
]);

// What an element inside another adds to its name.
function innerName(child, labels) {
  if (!labels && child.localName !== "details" && NO_PART_OF_A_NAME.has(arena.role(child))) return "";
  if (child.localName === "br") return " ";
  const label = child.getAttribute("aria-label");
  if (label) return label;
  if (child.localName === "img") return child.getAttribute("alt") ?? child.getAttribute("title") ?? "";
  if (child instanceof SVGElement) {
    const title = [...child.children].find((e) => e.localName === "title");
    if (title) return ` ${title.textContent} `;
  }
  return child.getAttribute("alt") || contentName(child, labels);
}

function contentName(element, labels = false) {
  const parts = [generated(element, "::before")];
  const shownAs = SHOWN_AS[getComputedStyle(element).textTransform] || ((text) => text);
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) parts.push(shownAs(child.data));
    else if (child.nodeType === Node.ELEMENT_NODE && isShown(child)) {
      parts.push(spaced(innerName(child, labels), getComputedStyle(child).display));
    }
  }
  parts.push(generated(element, "::after"));
  return parts.join("");
}

function nativeName(element, role) {
  const tag = element.localName;
  if (tag === "img" || tag === "area") return element.getAttribute("alt");
  if (tag === "input" && element.type === "image") {
    return ["alt", "value", "title"].map((name) => element.getAttribute(name)).find(Boolean) || "Submit";
  }
  if (tag === "input" && ["submit", "reset", "button"].includes(element.type)) {
    return element.value || { submit: "Submit", reset: "Reset" }[element.type];
  }
  if (tag === "fieldset") return contentName(element.querySelector(":scope > legend") || document.createElement("i"));
  if (tag === "table") return contentName(element.caption || document.createElement("i"));
  if (tag === "optgroup") return element.label;
  if (tag === "option") return element.label || element.text;
  if (element.labels && element.labels.length) return [...element.labels].map((e) => contentName(e)).join(" ");
  if (tag === "input" && element.type === "file") {
    return element.getAttribute("title") || (element.multiple ? "Choose Files" : "Choose File");
  }
  return NAMED_BY_CONTENT.has(role) || tag === "summary" || tag === "label" ? contentName(element) : "";
}

// The accessible name, after the order of the Accessible Name computation: aria-labelledby, aria-label,
// what the host language says, title, placeholder.
arena.name = (element, role = arena.role(element)) => {
  const ids = (element.getAttribute("aria-labelledby") || "").trim();
  const root = element.getRootNode();
  const labels = ids ? ids.split(/\s+/).map((id) => root.getElementById && root.getElementById(id)).filter(Boolean) : [];
  const candidates = [
    () => labels.map((e) => e.getAttribute("aria-label") || contentName(e, true)).join(" "),
    () => element.getAttribute("aria-label"),
    () => nativeName(element, role),
    () => (element.localName === "img" && element.getAttribute("alt") === "" ? "" : element.getAttribute("title")),
    () => element.getAttribute("placeholder"),
  ];
  for (const candidate of candidates) {
    const name = brief(candidate());
    if (name) return name;
  }
  return "";
};

// Elements that ever were password fields stay secret, also where the page shows their text.
const secrets = new WeakSet();
const SECRET_HINT = /password|one-time-code|cc-/i;

arena.isSecret = (element) => {
  if (element.localName !== "input") return false;
  if (element.type === "password" || SECRET_HINT.test(element.autocomplete)) secrets.add(element);
  return secrets.has(element);
};

arena.value = (element) => {
  if (arena.isSecret(element)) return null;
  switch (element.localName) {
    case "select": return [...element.selectedOptions].map((o) => arena.collapse(o.label || o.text)).join(", ");
    case "input":
      if (element.type === "checkbox") return String(element.checked);
      return element.type === "file" ? [...element.files].map((file) => file.name).join(", ") : element.value;
    case "textarea": return element.value;
    default: return element.isContentEditable ? brief(element.textContent) : null;
  }
};

// How far an element is from those that each selector finds around it: 0 is one of them, n the n-th
// ancestor of one.
arena.fits = (element) => watchedSelectors.map((selector) => {
  const steps = (from) => {
    let n = 0;
    for (let at = from; at; at = at.parentElement, n++) if (at === element) return n;
    return null;
  };
  let found = [];
  try { found = [...element.getRootNode().querySelectorAll(selector)].map(steps); } catch (error) { found = []; }
  const near = found.filter((n) => n !== null);
  return { selector, distance: near.length ? near.reduce((a, b) => Math.min(a, b)) : null, first: found[0] ?? null };
});

arena.describe = (element) => {
  const role = arena.role(element);
  return {
    path: arena.path(element), tag: element.localName, role, name: arena.name(element, role),
    text: arena.isSecret(element) ? "" : brief(element.innerText ?? element.textContent), value: arena.value(element),
    fits: arena.fits(element),
  };
};
