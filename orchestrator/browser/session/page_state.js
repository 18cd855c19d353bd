// What a page's document holds that its response does not, and how it gets back. Runs in Arena's own
// world; what it sets, a person could have set, and no attribute is added for it.
(() => {
  function* everything(root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* everything(element.shadowRoot);
    }
  }

  const find = (path) => {
    let element = null;
    for (const part of path.split(" >>> ")) {
      const root = element ? element.shadowRoot : document;
      element = root && root.querySelector(part);
      if (!element) return null;
    }
    return element;
  };

  const TICKED = ["checkbox", "radio"];
  const KEPT_BY_OTHERS = ["file", "button", "submit", "reset", "image"];

  const readField = (element) => {
    const nothing = { value: null, checked: null, indeterminate: false, selected: null };
    if (element.localName === "select") {
      const chosen = [...element.options].flatMap((option, at) => (option.selected ? [at] : []));
      return { ...nothing, selected: chosen };
    }
    if (element.localName === "textarea") return { ...nothing, value: element.value };
    if (element.localName !== "input" || KEPT_BY_OTHERS.includes(element.type)) return null;
    if (!TICKED.includes(element.type)) return { ...nothing, value: element.value };
    return { ...nothing, checked: element.checked, indeterminate: element.indeterminate };
  };

  // Only what differs is set: a field that was never touched stays one.
  const putField = (element, kept) => {
    const now = readField(element);
    if (!now) return;
    if (kept.selected !== null && now.selected !== null) {
      for (const [at, option] of [...element.options].entries()) {
        if (option.selected !== kept.selected.includes(at)) option.selected = kept.selected.includes(at);
      }
    } else if (kept.checked !== null && now.checked !== null) {
      if (element.checked !== kept.checked) element.checked = kept.checked;
      if (element.indeterminate !== kept.indeterminate) element.indeterminate = kept.indeterminate;
    } else if (kept.value !== null && now.value !== null && now.value !== kept.value) {
      element.value = kept.value;
    }
  };

  const focused = () => {
    let element = document.activeElement;
    while (element && element.shadowRoot && element.shadowRoot.activeElement) {
      element = element.shadowRoot.activeElement;
    }
    return element && element !== document.body && element !== document.documentElement ? element : null;
  };

  const caretOf = (element) => {
    const start = element && "selectionStart" in element ? element.selectionStart : null;
    return start === null ? null : [start, element.selectionEnd];
  };

  const isPage = (element) => element === (document.scrollingElement || document.documentElement);

  const read = () => {
    const fields = [];
    const details = [];
    const scrolled = [];
    for (const element of everything(document)) {
      const field = readField(element);
      if (field) fields.push({ path: arena.path(element), ...field });
      if (element.localName === "details") details.push([arena.path(element), element.open]);
      if (!isPage(element) && (element.scrollLeft || element.scrollTop)) {
        scrolled.push([arena.path(element), element.scrollLeft, element.scrollTop]);
      }
    }
    const focus = focused();
    const came = performance.getEntriesByType("navigation")[0];
    return {
      ready: document.readyState, referrer: document.referrer, charset: document.characterSet,
      length: came ? came.decodedBodySize : 0, nodes: document.querySelectorAll("body *").length,
      fields, details, scrolled, scroll: [scrollX, scrollY],
      focus: focus && arena.path(focus), focusVisible: Boolean(focus && focus.matches(":focus-visible")), caret: caretOf(focus),
    };
  };

  // Scripts that ran at loading have found what they themselves had left, and gone on from there.
  const mirror = (storage, entries) => {
    const wanted = new Map(entries);
    for (const name of Object.keys(storage)) if (!wanted.has(name)) storage.removeItem(name);
    for (const [name, value] of wanted) {
      if (storage.getItem(name) !== value) storage.setItem(name, value);
    }
  };

  const put = (kept) => {
    if (self.origin in kept.session) mirror(sessionStorage, kept.session[self.origin]);
    if (self.origin in kept.local) mirror(localStorage, kept.local[self.origin]);
    for (const field of kept.fields) {
      const element = find(field.path);
      if (element) putField(element, field);
    }
    // Of details with one name only one is open: those that were closed come first.
    for (const [path, open] of [...kept.details].sort((a, b) => a[1] - b[1])) {
      const element = find(path);
      if (element && element.localName === "details" && element.open !== open) element.open = open;
    }
    const focus = kept.focus && find(kept.focus);
    if (focus && focus !== focused()) focus.focus({ preventScroll: true, focusVisible: kept.focusVisible });
    if (!kept.focus && focused()) focused().blur();
    if (focus && kept.caret && caretOf(focus)) focus.setSelectionRange(...kept.caret);
    const places = new Map(kept.scrolled.map(([path, left, top]) => [find(path), { left, top }]));
    for (const element of everything(document)) {
      const to = places.get(element) || { left: 0, top: 0 };
      if (!isPage(element) && (element.scrollLeft !== to.left || element.scrollTop !== to.top)) {
        element.scrollTo({ ...to, behavior: "instant" });
      }
    }
    scrollTo({ left: kept.scroll[0], top: kept.scroll[1], behavior: "instant" });
  };

  return { read, put };
})()
