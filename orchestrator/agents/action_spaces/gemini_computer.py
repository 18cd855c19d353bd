"""Gemini's computer use: a function for each action, with places on a grid from 0 to 1000.

Source: google-gemini/computer-use-preview (`agent.py`, 2026-06), both sets of names: up to 3-flash
(`click_at`, `type_text_at`, …) and from gemini-3.5-flash (`click`, `type`, …). The newer set is
offered, both are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from pydantic import Field

from orchestrator.agents.action_spaces.computer_use import (
    Command,
    ComputerUse,
    Direction,
    Read,
    Shown,
    SimpleCommand,
    Size,
    Text,
    act,
    act_at,
    drag,
    key_of,
    offset,
    press,
    press_written,
    split_chord,
    wheel,
)
from orchestrator.agents.action_spaces.functions import described, read_as, unknown
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.model.messages import ToolSpec

GRID: Final = Size(1000, 1000)
_MAGNITUDE: Final = 800.0


class _At(Command):
    x: float
    y: float

    _kind: ClassVar[str] = "mouse_click"
    _fields: ClassVar[Mapping[str, object]] = {}

    def to_actions(self, shown: Shown) -> Read:
        return act_at(shown, (self.x, self.y), self._kind, **self._fields)


class _Click(_At):
    """Click at a place; x and y count from 0 to 1000 over the picture."""


class _DoubleClick(_At):
    """Click twice at a place."""

    _fields: ClassVar[Mapping[str, object]] = {"count": 2}


class _TripleClick(_At):
    """Click three times at a place."""

    _fields: ClassVar[Mapping[str, object]] = {"count": 3}


class _RightClick(_At):
    """Click at a place with the right button."""

    _fields: ClassVar[Mapping[str, object]] = {"button": "right"}


class _Move(_At):
    """Move the mouse to a place."""

    _kind: ClassVar[str] = "mouse_move"


class _MouseDown(_At):
    """Press the left button at a place and hold it."""

    _kind: ClassVar[str] = "mouse_down"


class _MouseUp(_At):
    """Let go of the left button at a place."""

    _kind: ClassVar[str] = "mouse_up"


class _Type(Command):
    """Type text into what has the focus.

    Attributes:
        press_enter: press Enter afterwards.
    """

    text: Text
    press_enter: bool = False

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("write", text=_with_enter(self.text, press_enter=self.press_enter))


class _TypeAt(Command):
    """Click at a place, and type there."""

    x: float
    y: float
    text: Text
    press_enter: bool = True
    clear_before_typing: bool = True

    def to_actions(self, shown: Shown) -> Read:
        clicked = act_at(shown, (self.x, self.y), "mouse_click")
        # What is marked gives way to what is typed, and to Backspace where that is nothing.
        marked = press(("Control", "a")) if self.clear_before_typing else ()
        gone = press(("Backspace",)) if self.clear_before_typing and not self.text else ()
        said = _with_enter(self.text, press_enter=self.press_enter)
        return (*clicked, *marked, *gone, *(act("write", text=said) if said else ()))


class _Press(Command):
    """Press a key, such as Enter."""

    key: Text

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return press_written(self.key)


class _KeyDown(Command):
    """Press a key and hold it."""

    key: Text

    _kind: ClassVar = "key_down"

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return act(self._kind, key=key_of(self.key))


class _KeyUp(_KeyDown):
    """Let go of a key."""

    _kind: ClassVar = "key_up"


class _Hotkey(Command):
    """Press keys together.

    Attributes:
        keys: such as ["control", "a"], or "control+a".
    """

    keys: Text | Annotated[tuple[Text, ...], Field(max_length=10)]

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return press(split_chord(self.keys) if isinstance(self.keys, str) else self.keys)


class _Scroll(Command):
    """Turn the wheel at a place.

    Attributes:
        magnitude: how far, on the grid.
    """

    x: float
    y: float
    direction: Direction
    magnitude: float = _MAGNITUDE

    def to_actions(self, shown: Shown) -> Read:
        dx, dy = shown.distance(*offset(self.direction, self.magnitude))
        return wheel(shown, (self.x, self.y), dx, dy)


class _ScrollDocument(SimpleCommand):
    direction: Direction

    _kind: ClassVar = "scroll"


class _Drag(Command):
    """Drag from one place to another."""

    x: float
    y: float
    destination_x: float
    destination_y: float

    def to_actions(self, shown: Shown) -> Read:
        return drag(shown, ((self.x, self.y), (self.destination_x, self.destination_y)))


class _Wait(SimpleCommand):
    """Wait."""

    seconds: float = 5.0

    _kind: ClassVar = "wait"


class _WaitFive(SimpleCommand):
    _kind: ClassVar = "wait"
    _fixed: ClassVar = {"seconds": 5}


class _Look(SimpleCommand):
    """See the page again."""

    _kind: ClassVar = "wait"
    _fixed: ClassVar = {"seconds": 0}


class _Navigate(SimpleCommand):
    """Open a URL."""

    url: Text

    _kind: ClassVar = "goto"


class _Back(SimpleCommand):
    """Go back."""

    _kind: ClassVar = "back"


class _Forward(SimpleCommand):
    """Go forward."""

    _kind: ClassVar = "forward"


class _Search(Command):
    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return (Misread("there is no search engine: only the task's sites can be reached"),)


def _with_enter(text: str, *, press_enter: bool) -> str:
    """Return a text that ends with the line break for which Enter is pressed."""
    return f"{text}\n" if press_enter else text


_OFFERED: Final[Mapping[str, type[Command]]] = {
    "click": _Click,
    "double_click": _DoubleClick,
    "triple_click": _TripleClick,
    "right_click": _RightClick,
    "move": _Move,
    "mouse_down": _MouseDown,
    "mouse_up": _MouseUp,
    "type": _Type,
    "press_key": _Press,
    "key_down": _KeyDown,
    "key_up": _KeyUp,
    "hotkey": _Hotkey,
    "scroll": _Scroll,
    "drag_and_drop": _Drag,
    "wait": _Wait,
    "take_screenshot": _Look,
    "navigate": _Navigate,
    "go_back": _Back,
    "go_forward": _Forward,
}
_OLDER: Final[Mapping[str, type[Command]]] = {
    "open_web_browser": _Look,
    "click_at": _Click,
    "hover_at": _Move,
    "type_text_at": _TypeAt,
    "scroll_at": _Scroll,
    "scroll_document": _ScrollDocument,
    "key_combination": _Hotkey,
    "wait_5_seconds": _WaitFive,
    "search": _Search,
}
_READ: Final = {**_OLDER, **_OFFERED}


@dataclass(frozen=True, slots=True)
class GeminiComputer(ComputerUse):
    """Reads calls of the vocabulary of Gemini; the grid is the same whatever the picture's size."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The functions of the newer set."""
        return tuple(described(name, model) for name, model in _OFFERED.items())

    def command(self, name: str, arguments: str) -> Command | Misread:
        model = _READ.get(name)
        return unknown(name, self.tools) if model is None else read_as(model, name, arguments)

    def shown(self, viewport: Size) -> Shown:
        return Shown(viewport, GRID, has_edge=True)
