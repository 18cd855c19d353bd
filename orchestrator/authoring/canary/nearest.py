"""The elements of a page that are most like one that is missing: by role, name and path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from orchestrator.agents.builtin.elements import collapse
from orchestrator.episode.page_view import PageNode

_SHOWN: Final = 3
_LEAST: Final = 0.35
_NAME, _ROLE, _PATH = 0.6, 0.25, 0.15
# What is written beside controls, and nobody acts on.
_TEXTS: Final = frozenset(
    {"StaticText", "paragraph", "strong", "emphasis", "InlineTextBox", "text"}
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An element that may be the one that is missing.

    Attributes:
        likeness: from 0 to 1: of the name 60 %, of the role 25 %, of what it is inside 15 %.
        path: what it is inside, outermost first.
    """

    role: str
    name: str
    likeness: float
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.role} {self.name!r} ({100 * self.likeness:.0f} % alike)"


def nearest(
    nodes: Sequence[PageNode], role: str, name: str, path: Sequence[str] | None = None
) -> tuple[Candidate, ...]:
    """Return the elements most like a missing one, the most alike first.

    Args:
        role: of the missing element.
        path: what it was inside when it was last there; None where nobody knows, and then only role
            and name count.
    """
    found = [_candidate(node, role, name, path) for node in nodes if node.role not in _TEXTS]
    found = [one for one in dict.fromkeys(found) if one.likeness >= _LEAST]
    return tuple(sorted(found, key=lambda one: -one.likeness)[:_SHOWN])


def path_of(nodes: Sequence[PageNode], role: str, name: str) -> tuple[str, ...] | None:
    """Return what an element is inside on a page; None where it is not there."""
    wanted = collapse(name)
    return next(
        (one.path for one in nodes if one.role == role and collapse(one.name) == wanted), None
    )


def _candidate(node: PageNode, role: str, name: str, path: Sequence[str] | None) -> Candidate:
    alike = _NAME * _ratio(collapse(node.name), collapse(name)) + _ROLE * (node.role == role)
    if path is None:
        alike /= _NAME + _ROLE
    else:
        alike += _PATH * SequenceMatcher(None, node.path, tuple(path), autojunk=False).ratio()
    return Candidate(node.role, node.name, round(alike, 3), node.path)


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()
