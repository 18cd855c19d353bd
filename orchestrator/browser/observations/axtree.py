"""The accessibility tree as text: one line a node, or YAML as Playwright MCP shows it.

The YAML follows Playwright's `ariaSnapshotRenderer` and `yaml` (1.65) in what is quoted and in the
order of what stands in brackets. It differs: refs are Arena's ids, a link's `/url` is absolute,
`[cursor=pointer]` is left out, and a password is shown as dots.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestrator.browser.observation import AriaSnapshot, AxTree, Node
from orchestrator.browser.observations.forms import ObservationForm, ObservedPage
from orchestrator.browser.observations.layout import in_viewport, tree_with_layout


def tree_text(nodes: Sequence[Node], dialogs: Sequence[str] = (), *, was_cut: bool = False) -> str:
    """Return one line a node: `[id] role "name" value="…" states`, indented by depth.

    Dialogs stand at the head; `was_cut` says that the page had more nodes.
    """
    lines = [f"(dialog: {line})" for line in dialogs]
    lines += [_line(node) for node in nodes]
    if was_cut:
        lines.append(f"(the page goes on: only its first {len(nodes)} nodes are shown)")
    return "\n".join(lines)


def _line(node: Node) -> str:
    parts = [f"{'  ' * node.depth}[{node.id}] {node.role}"]
    if node.name:
        parts.append(f'"{_one_line(node.name)}"')
    if node.value is not None:
        parts.append(f'value="{_one_line(node.value)}"')
    parts.extend(node.states)
    return " ".join(parts)


def _one_line(text: str) -> str:
    return " ".join(text.split())


class AxTreeForm:
    """The accessibility tree."""

    async def observe(self, page: ObservedPage) -> AxTree:
        return await page.axtree()

    async def observe_viewport(self, page: ObservedPage) -> AxTree:
        tree, snapshot = await tree_with_layout(page)
        nodes = in_viewport(tree.nodes, snapshot)
        return AxTree(nodes, tree_text(nodes, page.dialogs))


AXTREE_FORM: Final[ObservationForm] = AxTreeForm()


_LONGEST_NAME: Final = 900
# Chromium's names of ARIA roles; its other names with a capital are not ARIA roles.
_ROLES: Final = {
    "image": "img",
    "Iframe": "iframe",
    "StaticText": "text",
    "ColorWell": "textbox",
    "Date": "textbox",
    "DateTime": "textbox",
    "InputTime": "textbox",
    "unnamed": "generic",
}
# These have no name of their own: their text is shown as one.
_HOLD_TEXT: Final = frozenset(
    {"paragraph", "listitem", "term", "definition", "blockquote", "code", "strong", "emphasis"}
    | {"mark", "time", "caption", "superscript", "subscript", "status", "alert", "deletion"}
    | {"insertion", "generic"}
)
_STATES: Final = (
    ("checked", "checked"),
    ("disabled", "disabled"),
    ("expanded", "expanded"),
    ("focused", "active"),
    ("invalid", "invalid"),
)
_LAST_STATES: Final = (("pressed", "pressed"), ("selected", "selected"))
_WORDS: Final = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null", "~"})
# Beyond what JSON escapes, YAML takes these for a line break or not at all.
_BEYOND: Final = r"\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
_UNPRINTABLE: Final = re.compile(f"[{_BEYOND}]")
_TO_QUOTE: Final = re.compile(
    rf"^\s|\s$|[\x00-\x1f{_BEYOND}]|^-|:(\s|$)|\s#|^[&*\],?!>|@\"'#%=]|[{{}}`]|^\["
    r"|^[-+]?\.(?:inf|nan)$",
    re.IGNORECASE,
)
_TO_ESCAPE: Final = re.compile(rf"[\\\"\x00-\x1f{_BEYOND}]")
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class AriaForm:
    """The tree as YAML: one line a node, with the id that actions name as `[ref=e12]`."""

    async def observe(self, page: ObservedPage) -> AriaSnapshot:
        return AriaSnapshot(aria_text((await page.axtree()).nodes, page.dialogs))

    async def observe_viewport(self, page: ObservedPage) -> AriaSnapshot:
        tree, snapshot = await tree_with_layout(page)
        nodes = in_viewport(tree.nodes, snapshot)
        return AriaSnapshot(aria_text(nodes, page.dialogs))


ARIA_FORM: Final[ObservationForm] = AriaForm()


@dataclass(slots=True)
class _Branch:
    """A node with its children; a text if there is no node."""

    node: Node | None = None
    text: str = ""
    children: list[_Branch] = field(default_factory=list)


def aria_text(nodes: Sequence[Node], dialogs: Sequence[str] = ()) -> str:
    """Return nodes as YAML, with dialogs as comments at its head."""
    lines = [f"# dialog: {_TO_ESCAPE.sub(_escaped, line)}" for line in dialogs]
    return "\n".join([*lines, *_printed(_nested(nodes))])


def _nested(nodes: Sequence[Node]) -> list[_Branch]:
    """Return the nodes as a tree; adjacent texts are joined."""
    root = _Branch()
    around = [(-1, root)]
    for node in nodes:
        while around[-1][0] >= node.depth:
            around.pop()
        above = around[-1][1].children
        if node.role == "StaticText":
            if above and above[-1].node is None:
                above[-1].text += f" {node.name}"
            else:
                above.append(_Branch(text=node.name))
            continue
        branch = _Branch(node)
        above.append(branch)
        around.append((node.depth, branch))
    return root.children


def _printed(branches: Sequence[_Branch]) -> Iterator[str]:
    left = [(branch, 0) for branch in reversed(branches)]
    while left:
        branch, depth = left.pop()
        indent = "  " * depth
        if branch.node is None:
            yield f"{indent}- text: {quoted_value(branch.text)}"
            continue
        text, url = _text(branch), branch.node.url if _role(branch.node) == "link" else None
        children = [] if _repeats(branch) else branch.children
        head = f"{indent}- {_quoted_key(_key(branch.node))}"
        if not (text or url is not None or children):
            yield head
            continue
        if text and url is None and not children:
            yield f"{head}: {quoted_value(text)}"
            continue
        yield f"{head}:"
        if url is not None:
            yield f"{indent}  - /url: {quoted_value(url)}"
        if text:
            yield f"{indent}  - text: {quoted_value(text)}"
        left += [(child, depth + 1) for child in reversed(children)]


def _repeats(branch: _Branch) -> bool:
    """Whether a node's only content is the text that is its name or its value."""
    if branch.node is None or len(branch.children) != 1:
        return False
    (only,) = branch.children
    said = {"".join(one.split()) for one in (branch.node.name, branch.node.value or "")}
    return only.node is None and "".join(only.text.split()) in said


def _role(node: Node) -> str:
    known = _ROLES.get(node.role)
    if known is not None:
        return known
    return "generic" if node.role[:1].isupper() else node.role


def _key(node: Node) -> str:
    role = _role(node)
    key = role
    if node.name and role not in _HOLD_TEXT and len(node.name) <= _LONGEST_NAME:
        quoted = json.dumps(node.name, ensure_ascii=False)
        key += f" {_UNPRINTABLE.sub(_escaped, quoted)}"
    key += "".join(_state(node, *names) for names in _STATES)
    if node.level and role == "heading":
        key += f" [level={node.level}]"
    key += "".join(_state(node, *names) for names in _LAST_STATES)
    return f"{key} [ref=e{node.id}]"


def _state(node: Node, ours: str, theirs: str) -> str:
    if ours in node.states:
        return f" [{theirs}]"
    for value in ("mixed", "grammar", "spelling"):
        if f"{ours}={value}" in node.states:
            return f" [{theirs}={value}]"
    return ""


def _text(branch: _Branch) -> str:
    """Return a node's text besides its children, or its field's value."""
    node = branch.node
    if node is None:
        return branch.text
    if _role(node) in _HOLD_TEXT and node.name:
        return node.name
    is_list = any(
        child.node is not None and child.node.role == "option" for child in branch.children
    )
    return "" if is_list else (node.value or "")


def _quoted_key(text: str) -> str:
    return f"'{text.replace(chr(39), chr(39) * 2)}'" if _needs_quotes(text) else text


def quoted_value(text: str) -> str:
    if not _needs_quotes(text):
        return text
    return f'"{_TO_ESCAPE.sub(_escaped, text)}"'


def _escaped(found: re.Match[str]) -> str:
    letter = found[0]
    return _ESCAPES.get(letter) or (f"\\u{ord(letter):04x}")


def _needs_quotes(text: str) -> bool:
    return not text or bool(_TO_QUOTE.search(text)) or text.lower() in _WORDS or _is_number(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return bool(re.fullmatch(r"0[xob][0-9a-f]+", text, re.IGNORECASE))
    return True
