"""Gemini's computer use: a function for each action, with places on a grid from 0 to 1000.

Source: google-gemini/computer-use-preview (`agent.py`, 2026-06), both sets of names: up to 3-flash
(`click_at`, `type_text_at`, …) and from gemini-3.5-flash (`click`, `type`, …). The newer set is
offered, both are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from arena_core.actions import Action
from orchestrator.grammars.functions import described, read_as, unknown
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.keys import key_of, split_chord
from orchestrator.grammars.pixels import NO_PICTURE, Shown, Size
from orchestrator.grammars.pointing import (
    Pointed,
    Read,
    Text,
    act,
    act_at,
    drag,
    finished,
    look,
    press,
    press_written,
    wheel,
)
from orchestrator.model.messages import ToolSpec
from orchestrator.observation import Observation

GRID: Final = Size(1000, 1000)
_WAYS: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_Way = Literal["up", "down", "left", "right"]
_MAGNITUDE: Final = 800.0


class _At(Pointed):
    x: float
    y: float

    _kind: ClassVar[str] = "mouse_click"
    _fields: ClassVar[Mapping[str, object]] = {}

    def done(self, shown: Shown) -> Read:
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


class _Type(Pointed):
    """Type text into what has the focus.

    Attributes:
        press_enter: press Enter afterwards.
    """

    text: Text
    press_enter: bool = False

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("write", text=_with_enter(self.text, press_enter=self.press_enter))


class _TypeAt(Pointed):
    """Click at a place, and type there."""

    x: float
    y: float
    text: Text
    press_enter: bool = True
    clear_before_typing: bool = True

    def done(self, shown: Shown) -> Read:
        clicked = act_at(shown, (self.x, self.y), "mouse_click")
        # What is marked gives way to what is typed, and to Backspace where that is nothing.
        marked = press(("Control", "a")) if self.clear_before_typing else ()
        gone = press(("Backspace",)) if self.clear_before_typing and not self.text else ()
        said = _with_enter(self.text, press_enter=self.press_enter)
        return (*clicked, *marked, *gone, *(act("write", text=said) if said else ()))


class _Press(Pointed):
    """Press a key, such as Enter."""

    key: Text

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return press_written(self.key)


class _KeyDown(Pointed):
    """Press a key and hold it."""

    key: Text

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("key_down", key=key_of(self.key))


class _KeyUp(Pointed):
    """Let go of a key."""

    key: Text

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("key_up", key=key_of(self.key))


class _Hotkey(Pointed):
    """Press keys together.

    Attributes:
        keys: such as ["control", "a"], or "control+a".
    """

    keys: Text | Annotated[tuple[Text, ...], Field(max_length=10)]

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return press(split_chord(self.keys) if isinstance(self.keys, str) else self.keys)


class _Scroll(Pointed):
    """Turn the wheel at a place.

    Attributes:
        magnitude: how far, on the grid.
    """

    x: float
    y: float
    direction: _Way
    magnitude: float = _MAGNITUDE

    def done(self, shown: Shown) -> Read:
        across, down = _WAYS[self.direction]
        dx, dy = shown.distance(across * self.magnitude, down * self.magnitude)
        return wheel(shown, (self.x, self.y), dx, dy)


class _ScrollDocument(Pointed):
    direction: _Way

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("scroll", direction=self.direction)


class _Drag(Pointed):
    """Drag from one place to another."""

    x: float
    y: float
    destination_x: float
    destination_y: float

    def done(self, shown: Shown) -> Read:
        return drag(shown, ((self.x, self.y), (self.destination_x, self.destination_y)))


class _Wait(Pointed):
    """Wait."""

    seconds: float = 5.0

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("wait", seconds=self.seconds)


class _WaitFive(Pointed):
    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("wait", seconds=5)


class _Look(Pointed):
    """See the page again."""

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return look()


class _Navigate(Pointed):
    """Open a URL."""

    url: Text

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("goto", url=self.url)


class _Back(Pointed):
    """Go back."""

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("back")


class _Forward(Pointed):
    """Go forward."""

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("forward")


class _Search(Pointed):
    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return (Misread("there is no search engine: only the task's sites can be reached"),)


def _with_enter(text: str, *, press_enter: bool) -> str:
    """Return a text that ends with the line break for which Enter is pressed."""
    return f"{text}\n" if press_enter else text


_OFFERED: Final[Mapping[str, type[Pointed]]] = {
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
_OLDER: Final[Mapping[str, type[Pointed]]] = {
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
class GeminiComputer:
    """Reads calls of the vocabulary of Gemini; the grid is the same whatever the picture's size."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The functions of the newer set."""
        return tuple(described(name, model) for name, model in _OFFERED.items())

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        """Return the actions of a call."""
        model = _READ.get(name)
        if model is None:
            return unknown(name, self.tools)
        said = read_as(model, name, arguments)
        if isinstance(said, Misread):
            return said
        viewport = Size.of(observation)
        if viewport is None:
            return NO_PICTURE
        return finished([said.done(Shown(viewport, GRID, has_edge=True))])
