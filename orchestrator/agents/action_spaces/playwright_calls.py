"""Playwright's calls, `page.get_by_role("link", name="Kettles").click()`, never run by Playwright.

Source: the action set `playwright` of WebArena (`browser_env/actions.py`, 2025-09), which takes the
last call of a chain, and Playwright's own names of 2026. What WebArena reads otherwise than
Playwright means it is read here as Playwright means it: `fill` replaces, `select_option` selects.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.actions import Action
from orchestrator.agents.action_spaces.calls import Call, Value, bound, expressions, read_call
from orchestrator.agents.action_spaces.parser import Misread, held, script_of, single, switch, valid
from orchestrator.browser.observation import AxTree, Node, Observation

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
    nodes: Sequence[Node], role: Value, *, name: Value = None, exact: Value = None, **states: Value
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


_LONGEST_CHAIN: Final = 20
_ROOTS: Final = frozenset({"page", "browser", "context"})
_DEVICES: Final = frozenset({"keyboard", "mouse"})
_WORDS: Final = frozenset({"up", "down", "left", "right"})

_Read = tuple[Action | Misread, ...]


@dataclass(frozen=True, slots=True)
class PlaywrightCalls:
    """Reads chains of locators and one verb, on lines of their own, with literals as arguments.

    A locator must leave exactly one element of the accessibility tree. `press` on an element stands
    for two actions, as do several lines; `parse` takes one alone.
    """

    def parse(self, said: str, observation: Observation) -> Action | Misread:
        return single(self.script(said, observation))

    def script(self, said: str, observation: Observation) -> tuple[Action, ...] | Misread:
        found = expressions(said)
        if isinstance(found, Misread):
            return found
        return script_of((_read(one, observation) for one in found), observation)


def _read(expression: ast.expr, observation: Observation) -> _Read | Misread:
    chain = _chain(expression)
    if isinstance(chain, Misread):
        return chain
    *steps, verb = chain
    if not steps:
        return _done(_ON_PAGE, verb)
    if len(steps) == 1 and steps[0].name in _DEVICES:
        return _done(_ON_PAGE, Call(f"{steps[0].name}.{verb.name}", verb.arguments, verb.named))
    element = _element(steps, observation)
    if isinstance(element, Misread):
        return element
    if verb.name in _SWITCHES and not verb.arguments and not verb.named:
        return (switch(observation, element, is_on=_SWITCHES[verb.name]),)
    return _done(_ON_ELEMENT, verb, element)


def _element(steps: Sequence[Call], observation: Observation) -> int | Misread:
    """Return the one element that a locator leaves."""
    nodes = _nodes(observation)
    if nodes is None:
        return Misread("what a locator finds is not in what you see: it needs the form `axtree`")
    found: Found | None = None
    for step in steps:
        left = locate(nodes, found, step)
        if isinstance(left, Misread):
            return left
        found = left
    if found is None or len(found) != 1:
        advice = "; narrow it, or add .first or .nth(…)" if found else ""
        return Misread(f"{len(found or ())} elements match{advice}")
    return nodes[found[0]].id


def _chain(expression: ast.expr) -> tuple[Call, ...] | Misread:
    """Return the calls of a chain from its root on; `first` and `keyboard` are calls of nothing."""
    node = expression.value if isinstance(expression, ast.Await) else expression
    calls: list[Call] = []
    while not isinstance(node, ast.Name) and len(calls) < _LONGEST_CHAIN:
        called = node if isinstance(node, ast.Call) else None
        named = called.func if called is not None else node
        if called is not None and isinstance(named, ast.Name):
            read = _arguments(called, named.id)
            return read if isinstance(read, Misread) else _rooted([*calls, read])
        if not isinstance(named, ast.Attribute) or (called is None and not calls):
            break
        read = Call(named.attr, (), {}) if called is None else _arguments(called, named.attr)
        if isinstance(read, Misread):
            return read
        calls.append(read)
        node = named.value
    if not isinstance(node, ast.Name) or node.id not in _ROOTS or not calls:
        return Misread(f"line {expression.lineno} is no call of the form page.….verb(…)")
    return _rooted(calls)


def _rooted(calls: Sequence[Call]) -> tuple[Call, ...]:
    return tuple(reversed(calls))


def _arguments(node: ast.Call, name: str) -> Call | Misread:
    match node:
        # WebArena's own notation: scroll(down).
        case ast.Call(args=[ast.Name(id=word)], keywords=[]) if name == "scroll" and word in _WORDS:
            return Call(name, (word,), {})
        case _:
            return read_call(node, name)


def _nodes(observation: Observation) -> Sequence[Node] | None:
    trees = [part for part in observation.parts.values() if isinstance(part, AxTree)]
    return trees[0].nodes if trees else None


def _done(verbs: Mapping[str, Callable[..., _Read]], verb: Call, *first: object) -> _Read | Misread:
    takes = verbs.get(verb.name)
    if takes is None:
        known = ", ".join(sorted([*verbs, *_SWITCHES] if first else verbs))
        return Misread(f"there is no call {verb.name!r} here; there are: {known}")
    return bound(takes, verb, *first)


def _act(kind: str, **fields: object) -> _Read:
    return (valid(kind, **fields),)


def _click(
    element: int, *, button: Value = "left", click_count: Value = 1, modifiers: Value = None
) -> _Read:
    keys = held(modifiers) if isinstance(modifiers, list) else modifiers or []
    return _act("click", element=element, button=button, count=click_count, modifiers=keys)


def _dblclick(element: int, *, button: Value = "left", modifiers: Value = None) -> _Read:
    return _click(element, button=button, click_count=2, modifiers=modifiers)


def _select_option(
    element: int, value: Value = None, *, label: Value = None, option: Value = None
) -> _Read:
    given = [one for one in (value, label, option) if one is not None]
    if len(given) != 1:
        return (Misread("select_option takes a value or a label"),)
    return _act("select", element=element, option=given[0])


def _press(element: int, key: Value) -> _Read:
    return (*_act("focus", element=element), *_act("press", keys=key))


def _set_input_files(element: int, files: Value) -> _Read:
    return _act("upload", element=element, files=files if isinstance(files, list) else [files])


def _wait(timeout: Value) -> _Read:
    if not isinstance(timeout, int | float) or isinstance(timeout, bool):
        return (Misread(f"{timeout!r} is no number of milliseconds"),)
    return _act("wait", seconds=timeout / 1000)


_ON_ELEMENT: Final[Mapping[str, Callable[..., _Read]]] = {
    "clear": lambda element: _act("clear", element=element),
    "click": _click,
    "dblclick": _dblclick,
    "dclick": _dblclick,  # as WebArena spells it
    "fill": lambda element, value: _act("type", element=element, text=value),
    "focus": lambda element: _act("focus", element=element),
    "hover": lambda element: _act("hover", element=element),
    "press": _press,
    "press_sequentially": lambda element, text: _act(
        "type", element=element, text=text, clear=False
    ),
    "select_option": _select_option,
    "set_input_files": _set_input_files,
    "type": lambda element, text: _act("type", element=element, text=text, clear=False),
}
_SWITCHES: Final[Mapping[str, bool]] = {"check": True, "uncheck": False}
_ON_PAGE: Final[Mapping[str, Callable[..., _Read]]] = {
    "ask_user": lambda question: _act("ask_user", question=question),
    "close": lambda: _act("close_tab"),
    "go_back": lambda: _act("back"),
    "go_forward": lambda: _act("forward"),
    "goto": lambda url: _act("goto", url=url),
    "keyboard.down": lambda key: _act("key_down", key=key),
    "keyboard.insert_text": lambda text: _act("write", text=text),
    "keyboard.press": lambda key: _act("press", keys=key),
    "keyboard.type": lambda text: _act("write", text=text),
    "keyboard.up": lambda key: _act("key_up", key=key),
    "mouse.click": lambda x, y, *, button="left", click_count=1: _act(
        "mouse_click", x=x, y=y, button=button, count=click_count
    ),
    "mouse.dblclick": lambda x, y, *, button="left": _act(
        "mouse_click", x=x, y=y, button=button, count=2
    ),
    "mouse.down": lambda *, button="left": _act("mouse_down", button=button),
    "mouse.move": lambda x, y: _act("mouse_move", x=x, y=y),
    "mouse.up": lambda *, button="left": _act("mouse_up", button=button),
    "new_page": lambda: _act("new_tab"),
    "new_tab": lambda: _act("new_tab"),
    "page_close": lambda: _act("close_tab"),
    "page_focus": lambda page_number: _act("focus_tab", index=page_number),
    "press": lambda key_comb: _act("press", keys=key_comb),
    "scroll": lambda direction: _act("scroll", direction=direction),
    "stop": lambda answer="": _act("stop", answer=answer),
    "wait_for_timeout": _wait,
}
