"""The elements of a page as the watcher names them, by CSS path, and as a reference does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from evaluators.evidence import ActedElement
from orchestrator.agents.builtin.elements import with_role_and_name
from orchestrator.browser.observation import AXTREE, Node, Observation
from orchestrator.browser.observations.axtree import AXTREE_FORM
from orchestrator.browser.observations.forms import ObservationForm, ObservedPage, PageNode
from orchestrator.browser.observations.layout import tree_with_layout, walk

PATHS: Final = "paths"
_PLAIN: Final = re.compile(r"[A-Za-z0-9_\-\u0080-\U0010ffff]")
_ENTERS: Final = " >>> "  # into a shadow root; a snapshot shows what is in it as its host's own
_STEP: Final = " > "
_TITLES: Final = frozenset({"button", "link", "menuitem"})
_MOST_OTHERS: Final = 12
_LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class Target:
    """An element as a reference names it."""

    role: str
    name: str
    nth: int = 0


@dataclass(frozen=True, slots=True)
class PageElements:
    """The elements of one page, as it was seen before something was done there.

    Attributes:
        logical: the page; None for a page of no site.
        nodes: its accessibility tree.
        by_path: nodes by their CSS path; paths that fit several frames are left out.
    """

    logical: str | None = None
    nodes: tuple[Node, ...] = ()
    by_path: Mapping[str, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, seen: Observation, logical: str | None) -> PageElements:
        """Read an observation in the forms `FORMS`."""
        found = seen.parts.get(PATHS)
        return cls(logical, seen.nodes, found if isinstance(found, Mapping) else {})

    def target(self, acted: ActedElement) -> Target:
        """Return how a reference names an element that was acted on.

        The accessibility tree decides, which the oracle looks it up in. Where the page is another
        one by now, or has changed, the watcher's own role and name stand.
        """
        node = self._node(acted.path) if acted.logical == self.logical else None
        if node is None:
            return Target(acted.role, acted.name)
        return self.target_of(node)

    def target_of(self, node: Node) -> Target:
        """Return how a reference names a node of this page."""
        alike = with_role_and_name(self.nodes, node.role, node.name)
        return Target(node.role, " ".join(node.name.split()), alike.index(node))

    def others(self, acted: ActedElement) -> tuple[str, ...]:
        """Return what could have been chosen in an element's place: its options, or its like."""
        node = self._node(acted.path) if acted.logical == self.logical else None
        if node is None:
            return ()
        at = self.nodes.index(node)
        inside = takewhile(lambda one: one.depth > node.depth, self.nodes[at + 1 :])
        options = [one for one in inside if one.role == "option"]
        alike = [one for one in self.nodes if (one.role, one.depth) == (node.role, node.depth)]
        names = dict.fromkeys(" ".join(one.name.split()) for one in options or alike)
        return tuple(one for one in names if one and len(one) <= _LONGEST_NAME)[:_MOST_OTHERS]

    def shows(self, acted: ActedElement) -> bool:
        return self._node(acted.path) is not None

    def has_more_than(self, before: PageElements) -> bool:
        """Whether something with a name can be acted on here that was not there before."""
        known = {(one.role, one.name) for one in before.nodes}
        return any(
            one.name and one.role != "StaticText" and (one.role, one.name) not in known
            for one in self.nodes
        )

    def over(self, acted: ActedElement) -> Target | None:
        """Return what the mouse was over for an element to show, such as a menu's title.

        An element that was not to be seen before it was acted on showed up by that; it is the one
        of its kind next to it. None where it was seen, or several could be.
        """
        is_known = acted.logical == self.logical and acted.role in _TITLES and acted.name
        path = acted.path.replace(_ENTERS, _STEP)
        if not is_known or path in self.by_path:
            return None
        while _STEP in path:
            path = path.rpartition(_STEP)[0]
            inside = [
                one
                for at, one in self.by_path.items()
                if f"{at}{_STEP}".startswith(f"{path}{_STEP}") and one.role in _TITLES and one.name
            ]
            if inside:
                return self.target_of(inside[0]) if len(inside) == 1 else None
        return None

    @property
    def heading(self) -> str:
        """The first heading; empty where there is none."""
        return next((node.name for node in self.nodes if node.role == "heading"), "")

    def _node(self, path: str) -> Node | None:
        return self.by_path.get(path.replace(_ENTERS, _STEP))


class _PathsForm:
    """The nodes of the accessibility tree by their elements' CSS paths."""

    async def observe(self, page: ObservedPage) -> Mapping[str, Node]:
        tree, snapshot = await tree_with_layout(page)
        paths = _Paths.of(snapshot.root)
        found: dict[str, Node] = {}
        twice: set[str] = set()
        for node in tree.nodes:
            element = snapshot.find(node.id)
            if element is None or element.tag.startswith("#"):
                continue
            path = paths.path(element)
            if path in found and found[path].id != node.id:
                twice.add(path)
            found.setdefault(path, node)
        return {path: node for path, node in found.items() if path not in twice}


FORMS: Final[Mapping[str, ObservationForm]] = {AXTREE: AXTREE_FORM, PATHS: _PathsForm()}


@dataclass(frozen=True, slots=True)
class _Paths:
    """Makes the CSS paths that `arena.path` in tabs/element.js makes.

    Attributes:
        ids: how often each id stands in each document, by its root.
    """

    ids: Mapping[int, Counter[str]]

    @classmethod
    def of(cls, root: PageNode) -> _Paths:
        ids: dict[int, Counter[str]] = {}
        for node in walk(root):
            if name := node.attributes.get("id"):
                ids.setdefault(id(_root_of(node)), Counter())[name] += 1
        return cls(ids)

    def path(self, element: PageNode) -> str:
        ids = self.ids.get(id(_root_of(element)), Counter())
        steps: list[str] = []
        for at in _up(element):
            name = at.attributes.get("id", "")
            if name and ids[name] == 1:
                return _STEP.join([f"#{_escaped(name)}", *reversed(steps)])
            steps.append(_step(at))
        return _STEP.join(reversed(steps))


def _up(element: PageNode) -> Iterator[PageNode]:
    """Yield an element and those around it, in its own document."""
    at: PageNode | None = element
    while at is not None and not at.tag.startswith("#"):
        yield at
        at = at.parent


def _root_of(node: PageNode) -> PageNode:
    at = node
    while at.parent is not None and not (at.tag.startswith("#") and at.tag != "#text"):
        at = at.parent
    return at


def _step(element: PageNode) -> str:
    tag = _escaped(element.tag)
    around = element.parent.children if element.parent is not None else [element]
    twins = [one for one in around if one.tag == element.tag]
    if len(twins) < 2:  # noqa: PLR2004  it has no twin
        return tag
    place = next(number for number, one in enumerate(twins, start=1) if one is element)
    return f"{tag}:nth-of-type({place})"


def _escaped(name: str) -> str:
    """Return what `CSS.escape` does."""
    return "".join(_escaped_letter(name, at) for at in range(len(name)))


def _escaped_letter(name: str, at: int) -> str:
    letter = name[at]
    leads = at == 0 or (at == 1 and name[0] == "-")
    if letter == "\0":
        return "\N{REPLACEMENT CHARACTER}"
    if letter < " " or letter == "\x7f" or (letter.isascii() and letter.isdigit() and leads):
        return f"\\{ord(letter):x} "
    if _PLAIN.match(letter) and name != "-":
        return letter
    return f"\\{letter}"
