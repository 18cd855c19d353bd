"""AutoWebGLM's HTML simplifier: markup reduced to what can be read and acted on.

After `html_tools` of THUDM/AutoWebGLM (arXiv 2404.03648, section 3.2): a node stands in the result
where it has a label, a text or kept attributes of its own, or holds several children that do; the
children of every other node take its place. Unlike there, labels and classes are never written into
the page, and text that follows an element is not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import Final

from orchestrator.observation_forms import PageNode
from orchestrator.observations.markup import short

# What says something of an element to a reader, as Mind2Web's list has it.
KEPT_ATTRIBUTES: Final = (
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
        label: of what can be acted on; empty for other nodes.
        text: its own, with that of children that are nothing but text.
    """

    tag: str
    label: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    children: list[Simplified] = field(default_factory=list)
    parent: Simplified | None = None


def labels() -> Iterator[str]:
    """Yield `A` to `Z`, `AA` to `ZZ`, and so on."""
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
    attributes: Sequence[str] = KEPT_ATTRIBUTES,
) -> Simplified:
    """Return the simplified tree of a page.

    Args:
        root: the document.
        label_of: returns an element's label, empty for one that gets none.
        shown: the nodes that are left in, by identity; all where None.
        attributes: those that are kept.
    """
    made: dict[int, list[Simplified]] = {}
    for node in _upwards(root, shown):
        children = [one for child in node.children for one in made.pop(id(child), ())]
        made[id(node)] = _simplified(node, children, label_of, attributes)
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
    attributes: Sequence[str],
) -> list[Simplified]:
    """Return what stands for a node: itself, or its children, or nothing."""
    if node.tag == "#text":
        words = " ".join(node.text.split())[:_LONGEST_TEXT]
        is_drawn = node.rect is not None or (node.parent and node.parent.tag == "option")
        return [Simplified(_TEXT, text=words)] if words and is_drawn else []
    if node.tag == "input" and node.attributes.get("type", "").lower() == "hidden":
        return []
    made = Simplified(node.tag, label_of(node), _kept(node, attributes))
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


def _kept(node: PageNode, attributes: Sequence[str]) -> tuple[tuple[str, str], ...]:
    kept: list[tuple[str, str]] = []
    for name in attributes:
        value = node.attributes.get(name)
        if value is None or (name == "role" and value.lower() in _SAID_BY_THE_TAG):
            continue
        words = " ".join(short(value).split())
        if not words and name not in {"checked", "selected"}:
            continue
        kept.append((name, words))
    return tuple(kept)


def printed(node: Simplified, style: PrintStyle, only: frozenset[int] | None = None) -> str:
    """Return a tree as text.

    Args:
        node: where it begins.
        style: how it is written.
        only: the nodes that are written, by identity; what is in another is not looked at.
    """
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
