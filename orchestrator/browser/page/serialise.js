// What a script returned, as JSON text that tells apart what Playwright tells apart: the same values
// become the same objects of Python. Runs in the script's own world; async, so that promises are awaited.
async function (value) {
  value = typeof value === "function" ? await value() : await value;
  const visited = new Map();
  let last = 0;
  const of = (one) => {
    if (typeof one === "symbol" || typeof one === "function" || one === undefined) return { v: "undefined" };
    if (one === null) return { v: "null" };
    if (typeof one === "number") {
      if (Number.isNaN(one)) return { v: "NaN" };
      if (one === Infinity) return { v: "Infinity" };
      if (one === -Infinity) return { v: "-Infinity" };
      return Object.is(one, -0) ? { v: "-0" } : one;
    }
    if (typeof one === "bigint") return { bi: one.toString() };
    if (typeof one !== "object") return one;
    if (one instanceof Window) return "ref: <Window>";
    if (one instanceof Document) return "ref: <Document>";
    if (one instanceof Node) return "ref: <Node>";
    if (one instanceof Error) return { text: one.stack || String(one) };
    if (one instanceof Date) return { d: one.toJSON() };
    if (one instanceof URL || one instanceof RegExp) return { text: String(one) };
    if (visited.has(one)) return { ref: visited.get(one) };
    const id = ++last;
    visited.set(one, id);
    if (Array.isArray(one)) return { a: one.map(of), id };
    const named = [];
    for (const k of Object.keys(one)) {
      try { named.push({ k, v: of(one[k]) }); } catch (error) { continue; }
    }
    return { o: named, id };
  };
  return JSON.stringify(of(value));
}
