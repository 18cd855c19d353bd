"""Finds elements of an observation by what a person would call them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from orchestrator.browser.observation import Node

_NEAREST = 3
_SIMILARITY = 0.3


def collapse(text: str) -> str:
    return " ".join(text.split())


def descendants(nodes: Sequence[Node], position: int) -> Iterator[Node]:
    """Yield the nodes inside the one at `position`, in document order."""
    depth = nodes[position].depth
    for node in nodes[position + 1 :]:
        if node.depth <= depth:
            return
        yield node


def inside_named(nodes: Sequence[Node], name: str) -> tuple[Node, ...]:
    """Return the nodes inside any node of that name, each once, in document order."""
    found: list[Node] = []
    outer: int | None = None
    for node in nodes:
        if outer is not None and node.depth <= outer:
            outer = None
        if outer is not None:
            found.append(node)
        elif same_name(node.name, name):
            outer = node.depth
    return tuple(found)


def with_role_and_name(nodes: Sequence[Node], role: str, name: str) -> tuple[Node, ...]:
    """Return the nodes of that role and name, in document order.

    Names are compared exactly after white space is collapsed. Only where none is equal, case is
    ignored: browsers report the text that a style sheet has turned into capitals.
    """
    of_role = [node for node in nodes if node.role == role]
    exact = tuple(node for node in of_role if collapse(node.name) == collapse(name))
    return exact or tuple(node for node in of_role if same_name(node.name, name))


def nearest_names(nodes: Sequence[Node], role: str, name: str) -> tuple[str, ...]:
    """Return the names of that role that are most like `name`, else the first ones on the page."""
    names = list(
        dict.fromkeys(collapse(node.name) for node in nodes if node.role == role and node.name)
    )
    close = get_close_matches(collapse(name), names, n=_NEAREST, cutoff=_SIMILARITY)
    return tuple(close or names[:_NEAREST])


def same_name(left: str, right: str) -> bool:
    """Tell whether two names differ in case and white space at most."""
    return collapse(left).casefold() == collapse(right).casefold()
