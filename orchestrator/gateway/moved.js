// Lets the parts of a document stand elsewhere: heads and menus, feet, and what stands at the side.
// A style sheet does it, so the document's tree stays what it is; `reading-order` has those follow who
// read by the accessibility tree. Where the parts do not lie in one stack, nothing is moved.
(orders, altered) => {
  // Landmarks, and what pages without them call their parts.
  const HEAD = "header,nav,[role=banner],[role=navigation],#header,#top-menu";
  const FOOT = "footer,[role=contentinfo],#footer";
  const SIDE = "aside,[role=complementary],#sidebar";
  const CONTENT = "main,article,section,[role=main]"; // has heads and feet of its own
  const DEEPEST = ":scope > *,:scope > * > *,:scope > * > * > *";
  const STACKED = ["block", "flow-root", "flex", "grid", "list-item"];

  const inFlow = (element) => {
    const { display, position } = getComputedStyle(element);
    return display !== "none" && position !== "absolute" && position !== "fixed";
  };
  const isInStack = (element) => {
    const { display, float } = getComputedStyle(element);
    // One without a height whose content is to be seen lies beside the others, not among them.
    const isThere = element.getBoundingClientRect().height > 0 || !element.innerText.trim();
    return STACKED.includes(display) && float === "none" && isThere;
  };
  const isColumn = ({ display, flexDirection }) => display === "flex" && flexDirection === "column";
  const hasWords = (element) => [...element.childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  const isStack = (element) => {
    const parts = [...element.children].filter(inFlow);
    const style = getComputedStyle(element);
    return (
      (["block", "flow-root"].includes(style.display) || isColumn(style)) &&
      parts.some((one) => one.matches(`${HEAD},${FOOT}`)) &&
      parts.some((one) => !one.matches(`${HEAD},${FOOT}`)) &&
      parts.every(isInStack) && !hasWords(element) && !element.closest(CONTENT)
    );
  };

  const place = (element) => {
    if (element === document.body) return "body";
    if (element.id) return `#${CSS.escape(element.id)}`;
    const twins = [...element.parentElement.children].filter((one) => one.localName === element.localName);
    const among = `:nth-of-type(${twins.indexOf(element) + 1})`;
    return `${place(element.parentElement)} > ${CSS.escape(element.localName)}${among}`;
  };
  // A part is known by what stays when others come and go beside it.
  const part = (element) => {
    const first = element.classList[0];
    const known = element.id ? `#${CSS.escape(element.id)}` : first ? `.${CSS.escape(first)}` : ":not([class])";
    return `${CSS.escape(element.localName)}${known}`;
  };
  const stand = (at) => `{order:${at}!important;reading-order:${at}!important}`;

  const stacked = () => {
    const tried = [document.body, ...document.body.querySelectorAll(DEEPEST)];
    const stack = tried.find(isStack);
    if (!stack) return [];
    const at = place(stack);
    const rules = [`${at}{reading-flow:source-order!important}`];
    if (!isColumn(getComputedStyle(stack))) {
      rules.push(`${at}{display:flex!important;flex-direction:column!important;flex-wrap:nowrap!important}`);
      rules.push(`:where(${at} > *){flex:none;width:-webkit-fill-available}`);
    }
    for (const one of [...stack.children].filter(inFlow)) {
      const order = one.matches(HEAD) ? orders.heads : one.matches(FOOT) ? orders.feet : 0;
      if (order) rules.push(`${at} > ${part(one)}${stand(order)}`);
    }
    return rules;
  };

  const beside = () => {
    const asides = [...document.querySelectorAll(SIDE)].filter(inFlow);
    const isRow = (one) => {
      const { display, flexDirection } = getComputedStyle(one.parentElement);
      return display === "flex" && flexDirection.startsWith("row");
    };
    return asides.filter(isRow).flatMap((aside) => {
      const row = [...aside.parentElement.children].filter(inFlow);
      const order = row.length < 2 ? 0 : aside === row[0] ? 1 : aside === row.at(-1) ? -1 : 0;
      const at = place(aside.parentElement);
      return order ? [`${at}{reading-flow:source-order!important}`, `${at} > ${part(aside)}${stand(order)}`] : [];
    });
  };

  let sheet = null;
  let owner = null;
  let isCounted = false;
  const others = () => document.adoptedStyleSheets.filter((one) => one !== sheet);
  // Again when its style sheets are there: only then is it known how the parts lie.
  const arrange = () => {
    if (!document.body) return;
    if (owner !== document) {
      owner = document;
      sheet = new CSSStyleSheet();
    }
    document.adoptedStyleSheets = others();
    sheet.replaceSync([...stacked(), ...beside()].join("\n"));
    if (!sheet.cssRules.length) return;
    document.adoptedStyleSheets = [...others(), sheet];
    if (!isCounted) altered();
    isCounted = true;
  };
  if (document.readyState !== "loading") arrange();
  for (const type of ["DOMContentLoaded", "load"]) addEventListener(type, arrange, { capture: true });

  // While a check reads, the parts stay: it reads the same words in the same tree, and to move them
  // back would scroll the agent's page.
  return { rest: () => {}, resume: () => {}, asSent: (look) => look() };
}
