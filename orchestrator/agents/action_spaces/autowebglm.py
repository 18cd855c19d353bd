"""AutoWebGLM's calls: `click(A)`, `type_string(A, "red kettle", True)`, `finish("19.99")`.

Python's own parser reads them as data; nothing is evaluated. AutoWebGLM's runner looks for the
first place in the reply that fits one of its patterns, comments included, and evaluates literals.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Final

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Click,
    FocusTab,
    Forward,
    Goto,
    Hover,
    NewTab,
    Scroll,
    Select,
    Stop,
    Type,
)
from orchestrator.agents.action_spaces.calls import Value, bound, expressions, read_call
from orchestrator.agents.action_spaces.parser import Misread, build
from orchestrator.browser.observation import Observation, PrunedHtml

_OF_ELEMENTS: Final = frozenset({"click", "hover", "select", "type_string"})
_LABEL: Final = "id"
_SHOWN: Final = 40
Read = Action | Misread


class AutoWebGlmActions:
    """Reads one command, which may have a comment behind it and a fence around it."""

    def parse(self, said: str, observation: Observation) -> Action | Misread:
        """Return the one command, if it is valid and its label is one of the page's.

        Source: AutoWebGLM (arXiv 2404.03648), table 1 and `NewASPromptConstructor` of its code.
        """
        found = expressions(said)
        if isinstance(found, Misread):
            return found
        if len(found) > 1:
            return Misread(f"it holds {len(found)} commands, and one step is one command")
        node = found[0]
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return Misread("it is no command of the form name(…)")
        name = node.func.id
        reader = _READERS.get(name)
        if reader is None:
            return Misread(f"there is no function {name}: use one of {', '.join(_READERS)}")
        call = read_call(_with_label(node) if name in _OF_ELEMENTS else node, name)
        return call if isinstance(call, Misread) else bound(reader, call, observation)


def _with_label(node: ast.Call) -> ast.Call:
    """Return a call whose label, which stands bare, is a text."""
    arguments = [_as_text(one) if at == 0 else one for at, one in enumerate(node.args)]
    keywords = [
        ast.keyword(one.arg, _as_text(one.value)) if one.arg == _LABEL else one
        for one in node.keywords
    ]
    return ast.copy_location(ast.Call(node.func, arguments, keywords), node)


def _as_text(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(node.id), node) if isinstance(node, ast.Name) else node


def _on(observation: Observation, label: Value, kind: str, **fields: object) -> Read:
    labels = page_of(observation).ids
    if not isinstance(label, str):
        return Misread(f"{kind} takes the label of an element first")
    if label not in labels:
        return Misread(f"there is no element {label[:_SHOWN]!r} on the current page")
    return build(observation, kind, element=labels[label], **fields)


def page_of(observation: Observation) -> PrunedHtml:
    """Return the simplified HTML that the agent was shown; an empty page where there is none."""
    for part in observation.parts.values():
        if isinstance(part, PrunedHtml):
            return part
    return PrunedHtml("", {})


def _click(observation: Observation, id: Value) -> Read:  # noqa: A002 - as models write it
    return _on(observation, id, "click")


def _hover(observation: Observation, id: Value) -> Read:  # noqa: A002 - the same
    return _on(observation, id, "hover")


def _select(observation: Observation, id: Value, option: Value) -> Read:  # noqa: A002 - the same
    if not isinstance(option, str):
        return Misread("select: the option must be a text in quotes")
    return _on(observation, id, "select", option=option)


def _type(
    observation: Observation,
    id: Value,  # noqa: A002 - the same
    text: Value,
    press_enter: Value,
) -> Read:
    """Read a text that replaces what stands there.

    Whether Enter follows is True or False: upstream on MiniWoB++ takes the word 'False' for yes.
    """
    if not isinstance(text, str):
        return Misread("type_string: what is typed must be a text in quotes")
    if not isinstance(press_enter, bool):
        return Misread("type_string: press_enter is True or False")
    return _on(observation, id, "type", text=text, submit=press_enter)


def _scroll(observation: Observation, direction: Value) -> Read:
    if direction not in {"up", "down"}:
        return Misread("scroll_page takes 'up' or 'down'")
    return build(observation, "scroll", direction=direction)


def _go(observation: Observation, direction: Value) -> Read:
    match direction:
        case "backward":
            return build(observation, "back")
        case "forward":
            return build(observation, "forward")
        case _:
            return Misread("go takes 'forward' or 'backward'")


def _jump(observation: Observation, url: Value, new_tab: Value) -> Read:
    if not isinstance(new_tab, bool):
        return Misread("jump_to: new_tab is True or False")
    return build(observation, "new_tab" if new_tab else "goto", url=url)


def _switch(observation: Observation, index: Value) -> Read:
    """Read a tab's place in the list of tabs, from 1."""
    if isinstance(index, int) and not isinstance(index, bool):
        places = dict(enumerate(observation.tabs, start=1))
        if index in places:
            return build(observation, "focus_tab", index=places[index].index)
    return Misread(f"switch_tab takes the number of a tab, 1 to {len(observation.tabs)}")


def _ask(observation: Observation, message: Value) -> Read:
    return build(observation, "ask_user", question=message)


def _finish(observation: Observation, answer: Value = None) -> Read:
    """Read an answer; a number that stands bare would lose the zeros at its end."""
    if not isinstance(answer, str | None):
        return Misread("finish: the answer must be a text in quotes")
    return build(observation, "stop", answer=answer)


_READERS: Final[Mapping[str, Callable[..., Read]]] = {
    "click": _click,
    "hover": _hover,
    "select": _select,
    "type_string": _type,
    "scroll_page": _scroll,
    "go": _go,
    "jump_to": _jump,
    "switch_tab": _switch,
    "user_input": _ask,
    "finish": _finish,
}


def print_command(action: Action, observation: Observation) -> str | None:  # noqa: C901 - a case each
    """Return an action as a command on what was shown; None for one without words for it here."""
    labels = {element: label for label, element in page_of(observation).ids.items()}
    places = {tab.index: place for place, tab in enumerate(observation.tabs, start=1)}
    written: tuple[str, tuple[object, ...]] | None
    match action:
        case Click() | Hover() if action.element in labels:
            written = (action.kind, (_Bare(labels[action.element]),))
        case Select(option=str() as option) if action.element in labels:
            written = ("select", (_Bare(labels[action.element]), option))
        case Type(clear=True) if action.element in labels:
            label = _Bare(labels[action.element])
            written = ("type_string", (label, action.text, action.submit))
        case Scroll():
            written = ("scroll_page", (str(action.direction),))
        case Back():
            written = ("go", ("backward",))
        case Forward():
            written = ("go", ("forward",))
        case Goto():
            written = ("jump_to", (action.url, False))
        case NewTab(url=str() as url):
            written = ("jump_to", (url, True))
        case FocusTab() if action.index in places:
            written = ("switch_tab", (places[action.index],))
        case AskUser():
            written = ("user_input", (action.question,))
        case Stop():
            written = ("finish", () if action.answer is None else (action.answer,))
        case _:
            written = None
    return None if written is None else f"{written[0]}({', '.join(map(repr, written[1]))})"


class _Bare(str):
    """A label, which stands without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
