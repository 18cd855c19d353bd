"""A page of MiniWoB++ as its rules read it: the goal on top, and below it what can be used."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from arena_core.actions import Action, Click, Hover, Press, Select, Type
from orchestrator.agents.builtin.elements import collapse, descendants
from orchestrator.browser.observation import (
    HTML,
    SCREENSHOT,
    UNNAMED,
    Html,
    Node,
    Observation,
    Picture,
)


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


class MiniWobPage:
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
        part = self._parts.get(HTML)
        if not isinstance(part, Html):
            raise UnsolvedError(f"the rules need the form '{HTML}', which nobody asked for")
        return part.text

    @property
    def picture(self) -> Picture:
        part = self._parts.get(SCREENSHOT)
        if not isinstance(part, Picture):
            raise UnsolvedError(f"the rules need the form '{SCREENSHOT}', which nobody asked for")
        return part

    def all(self, role: str, name: str | None = None) -> list[Node]:
        return [
            node
            for node in self.nodes
            if node.role == role and (name is None or collapse(node.name) == collapse(name))
        ]

    def one(self, role: str, name: str | None = None, nth: int = 0) -> Node:
        found = self.all(role, name)
        if not -len(found) <= nth < len(found):
            raise UnsolvedError(
                f"the page has {len(found)} of {role} '{name or ''}', number {nth} is wanted"
            )
        return found[nth]

    def text(self, name: str) -> Node:
        for node in self.nodes:
            if node.role != UNNAMED and collapse(node.name) == collapse(name):
                return node
        raise UnsolvedError(f"the page does not show '{name}'")

    def has(self, name: str) -> bool:
        return any(n.role != UNNAMED and collapse(n.name) == collapse(name) for n in self.nodes)

    def unnamed(self, pattern: str) -> list[Node]:
        """Return the unnamed elements whose tag, id and classes fit a regular expression whole."""
        return [n for n in self.all(UNNAMED) if re.fullmatch(pattern, n.name)]

    def inside(self, node: Node) -> Sequence[Node]:
        return list(descendants(self.nodes, self.nodes.index(node)))

    def after(self, node: Node) -> Iterator[Node]:
        yield from self.nodes[self.nodes.index(node) + 1 :]

    def before(self, node: Node) -> Iterator[Node]:
        """Yield the nodes before one, the nearest first."""
        yield from reversed(self.nodes[: self.nodes.index(node)])


Moves = Generator[Action, MiniWobPage, None]
Walk = Generator[Action, MiniWobPage, MiniWobPage]  # ends on a page, to go on from
Rules = Callable[[str, MiniWobPage], Moves]


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
    page: MiniWobPage,
    ready: Callable[[MiniWobPage], bool],
    meanwhile: Callable[[MiniWobPage], Action],
    looks: int = _LOOKS,
) -> Walk:
    """Do something harmless until the page shows what its own clock brings; return that page."""
    for _ in range(looks):
        if ready(page):
            return page
        page = yield meanwhile(page)
    raise UnsolvedError("what the page should show after a moment does not come")


def box_of(node: Node) -> Box:
    found = re.match(r"([\d.e+-]+)x([\d.e+-]+) at ([\d.e+-]+),([\d.e+-]+)", node.value or "")
    if found is None:
        raise UnsolvedError(f"no box in '{node.value}'")
    width, height, left, top = map(float, found.groups())
    painted = re.search(r"rgba?\((\d+),(\d+),(\d+)", node.value or "")
    colour = (int(painted[1]), int(painted[2]), int(painted[3])) if painted else None
    return Box(width, height, left, top, colour)


def find(pattern: str, goal: str) -> re.Match[str]:
    found = re.search(pattern, goal)
    if found is None:
        raise UnsolvedError(f"the goal is not one that the rules know: {goal}")
    return found


def click(node: Node) -> Click:
    return Click(element=node.id)


def hover(node: Node) -> Hover:
    return Hover(element=node.id)


def put(node: Node, text: str) -> Type:
    return Type(element=node.id, text=text)


def choose(node: Node, option: str) -> Select:
    return Select(element=node.id, option=option)


def press(keys: str) -> Press:
    return Press(keys=keys)
