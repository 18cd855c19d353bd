"""A page of MiniWoB++ as its rules read it: the goal on top, and below it what can be used."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from arena_core.actions import Action, Click, Hover, Press, Select, Type
from orchestrator.agents.elements import collapse, descendants
from orchestrator.observation import HTML, SCREENSHOT, UNNAMED, Html, Node, Observation, Picture


class UnsolvedError(Exception):
    """The rules do not fit what the page asks for or shows; the player says so as an AgentError."""


_LOOKS = 20


@dataclass(frozen=True, slots=True)
class Box:
    """Where an unnamed element is, in CSS pixels, and its colour."""

    width: float
    height: float
    left: float
    top: float
    colour: tuple[int, int, int] | None


class WobPage:
    """The nodes of one observation, without those that repeat the goal: these are `asked`.

    Attributes:
        seed: what the page draws its problem from, and its own moves; None where nobody said.
    """

    def __init__(self, goal: str, observation: Observation, seed: int | None = None) -> None:
        self.seed = seed
        goal_ends = _goal_ends(goal, observation.nodes)
        self.asked = observation.nodes[:goal_ends]
        self.nodes = observation.nodes[goal_ends:]
        self._parts = observation.parts

    @property
    def markup(self) -> str:
        """The page's markup.

        Raises:
            UnsolvedError: it was not asked for, see `rules.SEEN`.
        """
        part = self._parts.get(HTML)
        if not isinstance(part, Html):
            message = f"the rules need the form '{HTML}', which nobody asked for"
            raise UnsolvedError(message)
        return part.text

    @property
    def picture(self) -> Picture:
        """The picture of the viewport.

        Raises:
            UnsolvedError: it was not asked for, see `rules.SEEN`.
        """
        part = self._parts.get(SCREENSHOT)
        if not isinstance(part, Picture):
            message = f"the rules need the form '{SCREENSHOT}', which nobody asked for"
            raise UnsolvedError(message)
        return part

    def all(self, role: str, name: str | None = None) -> list[Node]:
        """Return the nodes of a role, and of a name where one is given, in document order."""
        return [
            node
            for node in self.nodes
            if node.role == role and (name is None or collapse(node.name) == collapse(name))
        ]

    def one(self, role: str, name: str | None = None, nth: int = 0) -> Node:
        """Return a node of a role and name.

        Raises:
            UnsolvedError: there is none.
        """
        found = self.all(role, name)
        if not -len(found) <= nth < len(found):
            message = f"the page has {len(found)} of {role} '{name or ''}', number {nth} is wanted"
            raise UnsolvedError(message)
        return found[nth]

    def text(self, name: str) -> Node:
        """Return the first node of that text, whatever its role.

        Raises:
            UnsolvedError: there is none.
        """
        for node in self.nodes:
            if node.role != UNNAMED and collapse(node.name) == collapse(name):
                return node
        message = f"the page does not show '{name}'"
        raise UnsolvedError(message)

    def has(self, name: str) -> bool:
        """Whether a node has that text."""
        return any(n.role != UNNAMED and collapse(n.name) == collapse(name) for n in self.nodes)

    def unnamed(self, pattern: str) -> list[Node]:
        """Return the unnamed elements whose tag, id and classes fit a regular expression whole."""
        return [n for n in self.all(UNNAMED) if re.fullmatch(pattern, n.name)]

    def inside(self, node: Node) -> Sequence[Node]:
        """Return the nodes inside one."""
        return list(descendants(self.nodes, self.nodes.index(node)))

    def after(self, node: Node) -> Iterator[Node]:
        """Yield the nodes after one, in document order."""
        yield from self.nodes[self.nodes.index(node) + 1 :]

    def before(self, node: Node) -> Iterator[Node]:
        """Yield the nodes before one, the nearest first."""
        yield from reversed(self.nodes[: self.nodes.index(node)])


Moves = Generator[Action, WobPage, None]
Rules = Callable[[str, WobPage], Moves]


def _goal_ends(goal: str, nodes: Sequence[Node]) -> int:
    """Return how many of the first nodes are the goal's own words."""
    wanted, said = "".join(goal.split()), ""
    for at, node in enumerate(nodes):
        words = "" if node.role == UNNAMED else "".join(node.name.split())
        if node.role not in {"StaticText", UNNAMED} or not wanted.startswith(said + words):
            return at
        said += words
        if said == wanted:
            return at + 1
    return len(nodes)


def until(
    page: WobPage,
    ready: Callable[[WobPage], bool],
    meanwhile: Callable[[WobPage], Action],
    looks: int = _LOOKS,
) -> Generator[Action, WobPage, WobPage]:
    """Do something harmless until the page shows what its own clock brings; return that page.

    Raises:
        UnsolvedError: it does not come.
    """
    for _ in range(looks):
        if ready(page):
            return page
        page = yield meanwhile(page)
    message = "what the page should show after a moment does not come"
    raise UnsolvedError(message)


def box_of(node: Node) -> Box:
    """Return box and colour of an unnamed element.

    Raises:
        UnsolvedError: the node is none.
    """
    found = re.match(r"([\d.e+-]+)x([\d.e+-]+) at ([\d.e+-]+),([\d.e+-]+)", node.value or "")
    if found is None:
        message = f"no box in '{node.value}'"
        raise UnsolvedError(message)
    width, height, left, top = map(float, found.groups())
    painted = re.search(r"rgba?\((\d+),(\d+),(\d+)", node.value or "")
    colour = (int(painted[1]), int(painted[2]), int(painted[3])) if painted else None
    return Box(width, height, left, top, colour)


def find(pattern: str, goal: str) -> re.Match[str]:
    """Return what a regular expression finds in a goal.

    Raises:
        UnsolvedError: nothing.
    """
    found = re.search(pattern, goal)
    if found is None:
        message = f"the goal is not one that the rules know: {goal}"
        raise UnsolvedError(message)
    return found


def click(node: Node) -> Click:
    """Click a node."""
    return Click(element=node.id)


def hover(node: Node) -> Hover:
    """Move the pointer over a node."""
    return Hover(element=node.id)


def put(node: Node, text: str) -> Type:
    """Type into a node, in place of what it holds."""
    return Type(element=node.id, text=text)


def choose(node: Node, option: str) -> Select:
    """Choose an option of a node."""
    return Select(element=node.id, option=option)


def press(keys: str) -> Press:
    """Press a key."""
    return Press(keys=keys)
