"""AutoWebGLM's simplified markup: simplifier, pruner, and the form of observation made of them.

After `html_tools` of THUDM/AutoWebGLM (arXiv 2404.03648, section 3.2). A node stays in the result
if it has a label, a text or kept attributes of its own, or several children that stay; every other
node is replaced by its children. Unlike there, labels and classes are never written into the page,
and text that follows an element is not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from itertools import islice
from typing import Final

from orchestrator.browser.observation import PrunedHtml
from orchestrator.browser.observations.forms import ObservationForm, ObservedPage, PageNode
from orchestrator.browser.observations.layout import walk
from orchestrator.browser.observations.markup import short, visible_with_ancestors

# Attributes that tell a reader something, from Mind2Web's list.
_KEPT_ATTRIBUTES: Final = (
    *("alt", "aria-label", "aria-description", "aria-placeholder", "checked", "label", "name"),
    *("placeholder", "role", "selected", "title", "type", "value"),
)
_SAID_BY_THE_TAG: Final = frozenset({"presentation", "none", "link"})
_SILENT: Final = frozenset({"script", "style", "noscript", "template", "head", "meta", "link"})
_LONGEST_TEXT: Final = 500
_TEXT: Final = "text"
_SEVERAL: Final = 2


class PrintStyle(StrEnum):
    """How the simplified tree is written.

    `refine`: `<tag[LABEL]| value; value text children >`. `xml`: `<tag id="LABEL" name="value">`.
    """

    REFINE = "refine"
    XML = "xml"


@dataclass(slots=True, eq=False)
class Simplified:
    """A node of the simplified tree.

    Attributes:
        label: of an element that can be acted on; else empty.
        text: its own, and that of children that are only text.
    """

    tag: str
    label: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    children: list[Simplified] = field(default_factory=list)
    parent: Simplified | None = None


def labels() -> Iterator[str]:
    length = 1
    while True:
        for number in range(26**length):
            yield "".join(chr(65 + number // 26**at % 26) for at in reversed(range(length)))
        length += 1


def simplify(
    root: PageNode,
    label_of: Callable[[PageNode], str],
    *,
    shown: frozenset[int] | None = None,
) -> Simplified:
    """Return the simplified tree of a page.

    `label_of` returns an element's label, empty for none. `shown` are the nodes to keep, by
    identity; None keeps all.
    """
    made: dict[int, list[Simplified]] = {}
    for node in _upwards(root, shown):
        children = [one for child in node.children for one in made.pop(id(child), ())]
        made[id(node)] = _simplified(node, children, label_of)
    found = made[id(root)]
    if len(found) == 1 and found[0].tag == "html":
        return found[0]
    return _adopt(Simplified("html"), found)


def _upwards(root: PageNode, shown: frozenset[int] | None) -> Iterator[PageNode]:
    """Yield the nodes that count, children before their parents."""
    ordered: list[PageNode] = []
    left = [root]
    while left:
        node = left.pop()
        if node.tag in _SILENT or (shown is not None and id(node) not in shown):
            continue
        ordered.append(node)
        left.extend(node.children)
    return reversed(ordered)


def _simplified(
    node: PageNode,
    children: list[Simplified],
    label_of: Callable[[PageNode], str],
) -> list[Simplified]:
    """Return what stands for a node: itself, or its children, or nothing."""
    if node.tag == "#text":
        words = " ".join(node.text.split())[:_LONGEST_TEXT]
        is_drawn = node.rect is not None or (node.parent and node.parent.tag == "option")
        return [Simplified(_TEXT, text=words)] if words and is_drawn else []
    if node.tag == "input" and node.attributes.get("type", "").lower() == "hidden":
        return []
    made = Simplified(node.tag, label_of(node), _kept(node))
    if children and all(_is_text(child) for child in children):
        made.text = " ".join(child.text for child in children)[:_LONGEST_TEXT]
        children = []
    says_something = bool(made.label or made.text or (made.attributes and node.rect is not None))
    if not says_something and node.tag == "option" and made.attributes:
        says_something = True
    if not says_something and (len(children) < _SEVERAL or node.tag.startswith("#")):
        return children
    return [_adopt(made, children)]


def _is_text(node: Simplified) -> bool:
    return node.tag == _TEXT and not node.label


def _adopt(made: Simplified, children: list[Simplified]) -> Simplified:
    made.children = children
    for child in children:
        child.parent = made
    return made


def _kept(node: PageNode) -> tuple[tuple[str, str], ...]:
    kept: list[tuple[str, str]] = []
    for name in _KEPT_ATTRIBUTES:
        value = node.attributes.get(name)
        if value is None or (name == "role" and value.lower() in _SAID_BY_THE_TAG):
            continue
        words = " ".join(short(value).split())
        if not words and name not in {"checked", "selected"}:
            continue
        kept.append((name, words))
    return tuple(kept)


def printed(node: Simplified, style: PrintStyle, only: frozenset[int] | None = None) -> str:
    """Return a tree as text; only the nodes in `only`, by identity, if that is given."""
    pieces: list[str] = []
    left: list[Simplified | str] = [node]
    while left:
        one = left.pop()
        if isinstance(one, str):
            pieces.append(one)
            continue
        if only is None or id(one) in only:
            opening, closing = _tags(one, style)
            pieces.append(opening)
            left.append(closing)
            left.extend(reversed(one.children))
    return " ".join(" ".join(pieces).split())


def _tags(node: Simplified, style: PrintStyle) -> tuple[str, str]:
    text = escape(node.text, quote=False)
    match style:
        case PrintStyle.REFINE:
            label = f"[{node.label}]" if node.label else ""
            values = dict.fromkeys(
                escape(value or name, quote=False) for name, value in node.attributes
            )
            return f"<{node.tag}{label}| {'; '.join(values)} {text}", ">"
        case PrintStyle.XML:
            label = f' id="{node.label}"' if node.label else ""
            given = "".join(f' {name}="{escape(value)}"' for name, value in node.attributes)
            return f"<{node.tag}{label}{given}>{text}", f"</{node.tag}>"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much around a target stays (paper, algorithm 1, with the defaults of its code).

    Attributes:
        depth: how many ancestors, and how many levels below; a target always shows its children.
        children: how many nodes below, in document order.
        siblings: how many before and how many after.
    """

    depth: int = 3
    children: int = 30
    siblings: int = 3

    def shrunk(self) -> Limits:
        return Limits(int(self.depth * 0.5), int(self.children * 0.5), int(self.siblings * 0.7))


# Enough to tell an element of an earlier command from others.
SEGMENT: Final = Limits(depth=0, children=2, siblings=1)


def pruned(
    targets: Sequence[Simplified], limits: Limits, style: PrintStyle, most: int | None = None
) -> str:
    """Return the parts of a page around some nodes of one tree, given in document order.

    The targets always stay. If `most` letters are allowed, the limits shrink round by round until
    the text is no longer than that, or only the targets are left.
    """
    while True:
        text = _around(targets, limits, style)
        smaller = limits.shrunk()
        if most is None or len(text) <= most or smaller == limits:
            return text
        limits = smaller


def _around(targets: Sequence[Simplified], limits: Limits, style: PrintStyle) -> str:
    near = {id(node): node for target in targets for node in _near(target, limits)}
    kept = frozenset(near)
    tops = [one for one in near.values() if one.parent is None or id(one.parent) not in kept]
    return " ".join(printed(one, style, kept) for one in tops)


def _near(target: Simplified, limits: Limits) -> Iterator[Simplified]:
    above = target.parent
    for _ in range(limits.depth):
        if above is None:
            break
        yield above
        above = above.parent
    if target.parent is not None:
        beside = target.parent.children
        at = beside.index(target)
        yield from beside[max(0, at - limits.siblings) : at + limits.siblings + 1]
    else:
        yield target
    below = _below(target, max(1, limits.depth))
    yield from islice(below, limits.children)


def _below(node: Simplified, depth: int) -> Iterator[Simplified]:
    for child in node.children:
        yield child
        if depth > 1:
            yield from _below(child, depth - 1)


@dataclass(frozen=True, slots=True)
class PrunedHtmlForm:
    """AutoWebGLM's simplified markup; each observation labels anew."""

    style: PrintStyle

    async def observe(self, page: ObservedPage) -> PrunedHtml:
        return await self._pruned(page, only_shown=False)

    async def observe_viewport(self, page: ObservedPage) -> PrunedHtml:
        return await self._pruned(page, only_shown=True)

    async def _pruned(self, page: ObservedPage, *, only_shown: bool) -> PrunedHtml:
        snapshot = await page.snapshot()
        shown = visible_with_ancestors(snapshot.root) if only_shown else None
        ids = _labelled(snapshot.root, shown)
        by_id = {element: label for label, element in ids.items()}
        tree = simplify(snapshot.root, lambda node: by_id.get(node.id or 0, ""), shown=shown)
        height = snapshot.viewport.height
        said = [f"(dialog: {line})" for line in page.dialogs]
        return PrunedHtml(
            text="\n".join([*said, printed(tree, self.style)]),
            ids=ids,
            segments={
                node.label: pruned([node], SEGMENT, self.style)
                for node in _walk(tree)
                if node.label
            },
            viewports=(snapshot.scrolled / height, snapshot.height / height),
        )


PRUNED_HTML_FORM: Final[ObservationForm] = PrunedHtmlForm(PrintStyle.REFINE)
PRUNED_HTML_XML_FORM: Final[ObservationForm] = PrunedHtmlForm(PrintStyle.XML)


def _labelled(root: PageNode, shown: frozenset[int] | None) -> dict[str, int]:
    """Label what can be acted on, in document order; with `shown`, in the viewport only."""
    free = labels()
    found = (node for node in walk(root) if node.id is not None)
    return {
        next(free): node.id
        for node in found
        if node.id is not None and (shown is None or node.shown is not None)
    }


def _walk(tree: Simplified) -> list[Simplified]:
    found: list[Simplified] = []
    left = [tree]
    while left:
        node = left.pop()
        found.append(node)
        left.extend(node.children)
    return found
