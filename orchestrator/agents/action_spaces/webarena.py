"""WebArena's actions on ids: `click [12]`, `type [7] [red kettle] [1]`, `stop [19.99]`.

Read as WebArena's `create_id_based_action` reads it, traps included, so that an agent that was
tuned there says the same here. It differs where upstream crashes or does what was not said:

- an empty action and letters beyond Latin-1 are no crash; the latter are typed;
- an answer over several lines is the answer, where upstream takes it for none;
- a verb's arguments follow the verb, where upstream takes the first place in the text that fits;
- `ask_user [question]` is Arena's own;
- `Ctrl`, which WebArena's own prompt writes and no browser knows, is `Control`, and so is `Cmd`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Click,
    CloseTab,
    FocusTab,
    Forward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Stop,
    Type,
)
from orchestrator.agents.action_spaces.parser import Misread, build
from orchestrator.browser.observation import Observation

_LONGEST: Final = 20_000
_FENCED: Final = re.compile(r"```(.*?)```", re.DOTALL)
_CLICK: Final = re.compile(r"click ?\[([0-9]{1,9})\]")
_HOVER: Final = re.compile(r"hover ?\[([0-9]{1,9})\]")
# Greedy: a text with brackets ends at the last ones. `.` is no line break: upstream refuses these.
_TYPE: Final = re.compile(r"type ?\[([0-9]{1,9})\] ?\[(.+)\] ?\[([0-9]+)\]")
_FLAGS: Final = ("[0]", "[1]")
_PRESS: Final = re.compile(r"press ?\[(.+)\]")
_SCROLL: Final = re.compile(r"scroll ?\[?(up|down)\]?")
_GOTO: Final = re.compile(r"goto ?\[(.+)\]")
_TAB: Final = re.compile(r"tab_focus ?\[([0-9]{1,9})\]")
_ASK: Final = re.compile(r"ask_user ?\[(.+)\]", re.DOTALL)
_STOP: Final = re.compile(r"stop ?\[(.+)\]", re.DOTALL)
# Upstream sends Control for Meta off the Mac, and no replica is one.
_KEYS: Final = {"ctrl": "Control", "cmd": "Control", "meta": "Control"}


@dataclass(frozen=True, slots=True)
class Written:
    """An action as it is written: whether the page has its element is another question."""

    kind: str
    fields: Mapping[str, object]

    def on(self, observation: Observation) -> Action | Misread:
        return build(observation, self.kind, **self.fields)


class WebArenaActions:
    """Reads the first action between two fences of three back-ticks."""

    def parse(self, said: str, observation: Observation) -> Action | Misread:
        """Return the action of the first fenced text, if it is valid and the page has its element.

        Source: `PromptConstructor._extract_action` and `create_id_based_action` of WebArena.
        """
        fenced = fenced_action(said)
        written = fenced if isinstance(fenced, Misread) else read_written(fenced)
        return written if isinstance(written, Misread) else written.on(observation)


def fenced_action(said: str) -> str | Misread:
    """Return what stands between the first two fences; later ones, as upstream, count for nothing.

    A language after the opening fence belongs to the text, which is no action then.
    """
    if len(said) > _LONGEST:
        return Misread(f"it is longer than {_LONGEST} characters")
    found = _FENCED.search(said)
    if found is None:
        return Misread("there is no action between two fences of three back-ticks")
    return found[1].strip()


def read_written(text: str) -> Written | Misread:
    text = text.strip()
    verb = text.split("[", 1)[0].strip() if "[" in text else "".join(text.split()[:1])
    reader = _READERS.get(verb)
    if reader is None:
        return Misread(f"{_quoted(text)} is none of the actions: {', '.join(_READERS)}")
    fields = reader(text)
    if fields is None:
        return Misread(f"{_quoted(text)} is not written as {_FORMS[verb]}")
    return Written(_KINDS[verb], fields)


def print_action(action: Action) -> str | None:  # noqa: C901, PLR0911 - a case each
    """Return an action as WebArena writes it; None for one that it has no words for."""
    match action:
        case Click() | Hover():
            plain = type(action)(element=action.element)
            return f"{action.kind} [{action.element}]" if action == plain else None
        case Type(clear=False):
            return f"type [{action.element}] [{action.text}] [{int(action.submit)}]"
        case Press():
            return f"press [{action.keys}]"
        case Scroll(element=None):
            return f"scroll [{action.direction}]" if action.direction in {"up", "down"} else None
        case Goto():
            return f"goto [{action.url}]"
        case FocusTab():
            return f"tab_focus [{action.index}]"
        case NewTab(url=None) | CloseTab():
            return action.kind
        case Back() | Forward():
            return f"go_{action.kind}"
        case AskUser():
            return f"ask_user [{action.question}]"
        case Stop():
            return f"stop [{action.answer or ''}]"
        case _:
            return None


def _field(
    pattern: re.Pattern[str], name: str, read: Callable[[str], object] = str
) -> Callable[[str], dict[str, object] | None]:
    def reader(written: str) -> dict[str, object] | None:
        found = pattern.match(written)
        return None if found is None else {name: read(found[1])}

    return reader


def _type(written: str) -> dict[str, object] | None:
    """Read a text and whether Enter follows, which it does where nothing is said of it.

    Upstream clicks the field and types: what stood there stays.
    """
    found = _TYPE.match(written if written.endswith(_FLAGS) else f"{written} [1]")
    if found is None:
        return None
    submit = found[3] == "1"
    return {"element": int(found[1]), "text": found[2], "submit": submit, "clear": False}


def _press(written: str) -> dict[str, object] | None:
    found = _PRESS.match(written)
    if found is None:
        return None
    keys = (_KEYS.get(key.strip().lower(), key) for key in found[1].split("+"))
    return {"keys": "+".join(keys)}


def _stop(written: str) -> dict[str, object]:
    """Read an answer. `N/A` is one: WebArena scores it by comparing it, as every other."""
    found = _STOP.match(written)
    return {"answer": None if found is None else found[1]}


def _nothing(_: str) -> dict[str, object]:
    return {}


_READERS: Final[Mapping[str, Callable[[str], dict[str, object] | None]]] = {
    "click": _field(_CLICK, "element", int),
    "hover": _field(_HOVER, "element", int),
    "type": _type,
    "press": _press,
    "scroll": _field(_SCROLL, "direction"),
    "new_tab": _nothing,
    "tab_focus": _field(_TAB, "index", int),
    "close_tab": _nothing,
    "goto": _field(_GOTO, "url"),
    "go_back": _nothing,
    "go_forward": _nothing,
    "ask_user": _field(_ASK, "question"),
    "stop": _stop,
}
_KINDS: Final = {verb: verb for verb in _READERS} | {
    "tab_focus": "focus_tab",
    "go_back": "back",
    "go_forward": "forward",
}
_FORMS: Final = {
    "click": "click [id]",
    "hover": "hover [id]",
    "type": "type [id] [content] [1 or 0]",
    "press": "press [keys]",
    "scroll": "scroll [down] or scroll [up]",
    "tab_focus": "tab_focus [number]",
    "goto": "goto [url]",
    "ask_user": "ask_user [question]",
}
_SHOWN: Final = 120


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…")
