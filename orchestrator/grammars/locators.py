"""Playwright's locators, resolved on the accessibility tree that the agent was shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from orchestrator.grammars.calls import Call, Value, bound
from orchestrator.grammars.grammar import Misread
from orchestrator.observation import Node

# Roles that Chromium's tree calls by another name than ARIA and Playwright.
_ROLES: Final[Mapping[str, frozenset[str]]] = {
    "img": frozenset({"img", "image"}),
    "image": frozenset({"img", "image"}),
}
_TYPED: Final = frozenset({"combobox", "searchbox", "spinbutton", "textbox"})
_FIELDS: Final = _TYPED | {"checkbox", "listbox", "radio", "slider", "switch"}
_STATES: Final = ("checked", "disabled", "expanded", "pressed", "selected")

# Positions in the tree's nodes, in document order.
Found = tuple[int, ...]
_Keeps = Callable[[int], bool]


def locate(nodes: Sequence[Node], within: Found | None, call: Call) -> Found | Misread:
    """Return what one step of a locator leaves of what those before it found, None for all."""
    narrow = _NARROWING.get(call.name)
    if narrow is not None:
        if within is None:
            return Misread(f"{call.name} follows a locator")
        return bound(narrow, call, nodes, within)
    takes = _FINDING.get(call.name)
    if takes is None:
        known = ", ".join(sorted([*_FINDING, *_NARROWING]))
        return Misread(f"{call.name} is nothing that the tree can tell; there are: {known}")
    keeps = bound(takes, call, nodes)
    if isinstance(keeps, Misread):
        return keeps
    searched = range(len(nodes)) if within is None else _inside(nodes, within)
    return tuple(position for position in searched if keeps(position))


def _by_role(
    nodes: Sequence[Node],
    role: Value,
    *,
    name: Value = None,
    exact: Value = None,
    **states: Value,
) -> _Keeps | Misread:
    if not isinstance(role, str) or not (name is None or isinstance(name, str)):
        return Misread("get_by_role takes a role and a name as texts")
    unknown = [one for one in states if one not in _STATES or not isinstance(states[one], bool)]
    if unknown:
        return Misread(f"get_by_role: {unknown[0]} is not known")
    roles = _ROLES.get(role, frozenset({role}))

    def keeps(position: int) -> bool:
        node = nodes[position]
        return (
            node.role in roles
            and (name is None or _is_said(name, node.name, exact))
            and all((state in node.states) is wanted for state, wanted in states.items())
        )

    return keeps


def _by_text(nodes: Sequence[Node], text: Value, *, exact: Value = None) -> _Keeps | Misread:
    """Keep the smallest elements that show the text, as Playwright does."""
    if not isinstance(text, str):
        return Misread("get_by_text takes a text")

    def keeps(position: int) -> bool:
        return _is_said(text, nodes[position].name, exact) and not any(
            _is_said(text, nodes[inner].name, exact) for inner in _inside(nodes, (position,))
        )

    return keeps


def _named(roles: frozenset[str], called: str) -> Callable[..., _Keeps | Misread]:
    def takes(nodes: Sequence[Node], text: Value, *, exact: Value = None) -> _Keeps | Misread:
        if not isinstance(text, str):
            return Misread(f"{called} takes a text")
        return lambda at: nodes[at].role in roles and _is_said(text, nodes[at].name, exact)

    return takes


def _filter(
    nodes: Sequence[Node], within: Found, *, has_text: Value = None, has_not_text: Value = None
) -> Found | Misread:
    if not all(one is None or isinstance(one, str) for one in (has_text, has_not_text)):
        return Misread("filter takes texts")

    def shows(position: int, text: str) -> bool:
        whole = (position, *_inside(nodes, (position,)))
        return any(_is_said(text, nodes[one].name, exact=None) for one in whole)

    return tuple(
        position
        for position in within
        if (not isinstance(has_text, str) or shows(position, has_text))
        and not (isinstance(has_not_text, str) and shows(position, has_not_text))
    )


def _nth(_: Sequence[Node], within: Found, index: Value) -> Found | Misread:
    if not isinstance(index, int) or isinstance(index, bool):
        return Misread("nth takes a whole number")
    return within[index:][:1] if -len(within) <= index < len(within) else ()


def _first(_: Sequence[Node], within: Found) -> Found:
    return within[:1]


def _last(_: Sequence[Node], within: Found) -> Found:
    return within[-1:]


def _inside(nodes: Sequence[Node], outer: Found) -> Iterator[int]:
    """Yield the positions of all descendants, each once, in document order."""
    reached = 0
    for position in outer:
        for inner in range(max(reached, position + 1), len(nodes)):
            if nodes[inner].depth <= nodes[position].depth:
                break
            yield inner
            reached = inner + 1


def _is_said(text: str, name: str, exact: Value) -> bool:
    """Compare as Playwright does: a part in any case, or the whole as it stands."""
    wanted, had = " ".join(text.split()), " ".join(name.split())
    return wanted == had if exact is True else wanted.casefold() in had.casefold()


_FINDING: Final[Mapping[str, Callable[..., _Keeps | Misread]]] = {
    "get_by_alt_text": _named(_ROLES["img"], "get_by_alt_text"),
    "get_by_label": _named(_FIELDS, "get_by_label"),
    "get_by_placeholder": _named(_TYPED, "get_by_placeholder"),
    "get_by_role": _by_role,
    "get_by_text": _by_text,
}
_NARROWING: Final[Mapping[str, Callable[..., Found | Misread]]] = {
    "filter": _filter,
    "first": _first,
    "last": _last,
    "nth": _nth,
}
