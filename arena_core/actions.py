"""What an agent can do in one step: the one action vocabulary of agents, browser and evidence."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Final, Literal, Self, assert_never, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena_core.foreign_fields import Data, Id, Text

Button = Literal["left", "middle", "right"]
Modifier = Literal["Alt", "Control", "Meta", "Shift"]

_Pixel = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
_Distance = Annotated[float, Field(ge=-100_000, le=100_000, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=1, le=3)]
# Strict: `true` and "0.9" are no numbers, and none is taken for one that nobody stated.
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


# Other names that people and models give to keys, in lower case.
_ALIASES: Final = {
    "ctrl": "Control",
    "cmd": "Meta",
    "esc": "Escape",
    "del": "Delete",
    "return": "Enter",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
}
_NAMED: Final = (
    *("Escape", "Backquote", "Minus", "Equal", "Backslash", "Backspace", "Tab", "BracketLeft"),
    *("BracketRight", "CapsLock", "Semicolon", "Quote", "Enter", "Comma", "Period", "Slash"),
    *("Space", "AltGraph", "ContextMenu", "PrintScreen", "ScrollLock", "Pause", "PageUp"),
    *("PageDown", "Insert", "Delete", "Home", "End", "ArrowLeft", "ArrowUp", "ArrowRight"),
    *("ArrowDown", "AudioVolumeMute", "AudioVolumeDown", "AudioVolumeUp", "MediaTrackNext"),
    *("MediaTrackPrevious", "MediaPlayPause", "NumLock", "ControlOrMeta", "Clear"),
)
_HELD: Final = tuple(
    f"{name}{side}"
    for name in ("Shift", "Control", "Alt", "Meta")
    for side in ("", "Left", "Right")
)
_NUMPAD: Final = ("Divide", "Multiply", "Subtract", "Add", "Decimal", "Enter", *"0123456789")
KEYS: Final = frozenset(
    (
        *_NAMED,
        *_HELD,
        *(f"F{number}" for number in range(1, 13)),
        *(f"Digit{digit}" for digit in "0123456789"),
        *(f"Key{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        *(f"Numpad{name}" for name in _NUMPAD),
        *(chr(code) for code in range(ord(" "), ord("~") + 1)),
    )
)


class ScrollDirection(StrEnum):
    """Where a page or a part of it is scrolled, by most of what it shows."""

    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"


class _Action(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Point(_Action):
    """A point of the viewport in CSS pixels, from its upper left corner."""

    x: _Pixel
    y: _Pixel


class Click(_Action):
    """Click the element with this id of the observation.

    Attributes:
        count: 2 is a double click.
        modifiers: keys that are held meanwhile.
    """

    kind: Literal["click"] = "click"
    element: Id
    button: Button = "left"
    count: _Count = 1
    modifiers: tuple[Modifier, ...] = ()


class Hover(_Action):
    """Move the pointer over the element."""

    kind: Literal["hover"] = "hover"
    element: Id


class Focus(_Action):
    """Give the element the keyboard focus."""

    kind: Literal["focus"] = "focus"
    element: Id


class Type(_Action):
    """Put text into the element.

    Attributes:
        submit: press Enter afterwards.
        clear: replace what is there; without, the text is typed at the end of it.
    """

    kind: Literal["type"] = "type"
    element: Id
    text: Text
    submit: bool = False
    clear: bool = True


class Clear(_Action):
    """Remove the element's text."""

    kind: Literal["clear"] = "clear"
    element: Id


class Write(_Action):
    """Type text into whatever has the focus, key by key; a line break is Enter."""

    kind: Literal["write"] = "write"
    text: Text


class Select(_Action):
    """Choose the option with this label (or value) in a select element.

    Attributes:
        option: of a list that takes several, all those that shall be chosen.
    """

    kind: Literal["select"] = "select"
    element: Id
    option: Text | Annotated[tuple[Text, ...], Field(min_length=1, max_length=1000)]

    @property
    def options(self) -> tuple[str, ...]:
        """All options that shall be chosen."""
        return (self.option,) if isinstance(self.option, str) else self.option


class Press(_Action):
    """Press a key or a chord, in Playwright's names: `Enter`, `Control+A`."""

    kind: Literal["press"] = "press"
    keys: Text


class KeyDown(_Action):
    """Press a key and hold it, in its tab, until `KeyUp`."""

    kind: Literal["key_down"] = "key_down"
    key: Text


class KeyUp(_Action):
    """Let go of a key."""

    kind: Literal["key_up"] = "key_up"
    key: Text


class Scroll(_Action):
    """Scroll the page, or the nearest part around `element` that scrolls."""

    kind: Literal["scroll"] = "scroll"
    direction: ScrollDirection
    element: Id | None = None


class Drag(_Action):
    """Drag one element onto another."""

    kind: Literal["drag"] = "drag"
    element: Id
    to: Id


class Upload(_Action):
    """Choose files in a file field, or at the button that asks for some.

    Attributes:
        files: names of files that the task provides; no others can be reached.
    """

    kind: Literal["upload"] = "upload"
    element: Id
    files: Annotated[tuple[Text, ...], Field(min_length=1, max_length=100)]


class MouseMove(_Action):
    """Move the mouse to a point of the viewport, in CSS pixels."""

    kind: Literal["mouse_move"] = "mouse_move"
    x: _Pixel
    y: _Pixel


class MouseClick(_Action):
    """Click at a point of the viewport, whatever lies there.

    Attributes:
        count: 2 is a double click.
        modifiers: keys that are held meanwhile.
    """

    kind: Literal["mouse_click"] = "mouse_click"
    x: _Pixel
    y: _Pixel
    button: Button = "left"
    count: _Count = 1
    modifiers: tuple[Modifier, ...] = ()


class _Somewhere(_Action):
    """What is done at a point, or where the mouse is."""

    x: _Pixel | None = None
    y: _Pixel | None = None
    button: Button = "left"

    @model_validator(mode="after")
    def _is_a_point_or_none(self) -> Self:
        if (self.x is None) != (self.y is None):
            raise ValueError("`x` and `y` go together: both, or neither for where the mouse is")
        return self

    @property
    def point(self) -> Point | None:
        """Where; None for where the mouse is."""
        return None if self.x is None or self.y is None else Point(x=self.x, y=self.y)


class MouseDown(_Somewhere):
    """Press a button of the mouse and hold it, in its tab, until `MouseUp`."""

    kind: Literal["mouse_down"] = "mouse_down"


class MouseUp(_Somewhere):
    """Let go of a button of the mouse."""

    kind: Literal["mouse_up"] = "mouse_up"


class MouseDrag(_Action):
    """Press a button at the first point, move along the others, and let go at the last."""

    kind: Literal["mouse_drag"] = "mouse_drag"
    path: Annotated[tuple[Point, ...], Field(min_length=2, max_length=500)]
    button: Button = "left"
    modifiers: tuple[Modifier, ...] = ()


class MouseWheel(_Action):
    """Turn the wheel at a point; `dy` above 0 scrolls down, `dx` above 0 to the right."""

    kind: Literal["mouse_wheel"] = "mouse_wheel"
    x: _Pixel
    y: _Pixel
    dx: _Distance = 0.0
    dy: _Distance = 0.0


class Wait(_Action):
    """Wait until the page shows a text or shows one no longer; with neither, just wait.

    Attributes:
        text: what the page shall show: visible text, white space collapsed, case as it is.
        gone: what it shall show no longer.
        seconds: how long at most; with neither, how long.
    """

    kind: Literal["wait"] = "wait"
    text: Text | None = None
    gone: Text | None = None
    seconds: Annotated[float, Field(ge=0, le=30, allow_inf_nan=False)] = 5.0


class Goto(_Action):
    """Open a URL in the current tab."""

    kind: Literal["goto"] = "goto"
    url: Text


class Back(_Action):
    """Go back in the tab's history."""

    kind: Literal["back"] = "back"


class Forward(_Action):
    """Go forward in the tab's history."""

    kind: Literal["forward"] = "forward"


class NewTab(_Action):
    """Open a new tab and make it current; blank where no URL is given."""

    kind: Literal["new_tab"] = "new_tab"
    url: Text | None = None


class FocusTab(_Action):
    """Make the tab with this index current."""

    kind: Literal["focus_tab"] = "focus_tab"
    index: Id


class CloseTab(_Action):
    """Close the current tab; the one before it becomes current."""

    kind: Literal["close_tab"] = "close_tab"


class AskUser(_Action):
    """Ask the user one thing, in one sentence; what they say comes with what you see next.

    They know what the task leaves open and what they agree to, and answer nothing else.
    """

    kind: Literal["ask_user"] = "ask_user"
    question: Annotated[Text, Field(min_length=1, max_length=2000)]


class AnswerStatus(StrEnum):
    """How an agent says that a task ended.

    The words of webarena-verified's responses: `SUCCESS`, `ACTION_NOT_ALLOWED_ERROR`,
    `NOT_FOUND_ERROR`, `PERMISSION_DENIED_ERROR`, `DATA_VALIDATION_ERROR`, `UNKNOWN_ERROR`.
    `needs_input` is Arena's own: only the user could say what is missing, and they cannot.
    """

    DONE = "done"
    INFEASIBLE = "infeasible"
    NOT_FOUND = "not_found"
    PERMISSION_DENIED = "permission_denied"
    DATA_VALIDATION_ERROR = "data_validation_error"
    UNKNOWN_ERROR = "unknown_error"
    NEEDS_INPUT = "needs_input"


class Stop(_Action):
    """End the episode, with an answer where the task asks for one.

    Attributes:
        answer: in words; or else `data`, the same as JSON.
        status: another than `done` where the task cannot be done, with the reason.
        confidence: how likely the agent says that it did the task right, from 0 to 1; no score
            depends on it.
    """

    kind: Literal["stop"] = "stop"
    answer: Text | None = None
    status: AnswerStatus | None = None
    data: Data = None
    reason: Text | None = None
    confidence: Confidence | None = Field(default=None, exclude_if=lambda value: value is None)


class Infeasible(_Action):
    """End the episode without an answer: the task cannot be done, for this reason.

    Attributes:
        confidence: as of `Stop`.
    """

    kind: Literal["infeasible"] = "infeasible"
    reason: Text
    confidence: Confidence | None = Field(default=None, exclude_if=lambda value: value is None)


Action = Annotated[
    Click
    | Hover
    | Focus
    | Type
    | Clear
    | Write
    | Select
    | Press
    | KeyDown
    | KeyUp
    | Scroll
    | Drag
    | Upload
    | MouseMove
    | MouseClick
    | MouseDown
    | MouseUp
    | MouseDrag
    | MouseWheel
    | Wait
    | Goto
    | Back
    | Forward
    | NewTab
    | FocusTab
    | CloseTab
    | AskUser
    | Stop
    | Infeasible,
    Field(discriminator="kind"),
]


ACTIONS: Final[tuple[type[Action], ...]] = get_args(get_args(Action)[0])


def elements_of(action: Action) -> tuple[int, ...]:
    """Return the ids of the elements that an action names."""
    match action:
        case Drag(element=element, to=to):
            return (element, to)
        case Click() | Hover() | Focus() | Type() | Clear() | Select() | Upload():
            return (action.element,)
        case Scroll(element=one):
            return () if one is None else (one,)
        case Write() | Press() | KeyDown() | KeyUp() | Wait() | Goto() | Back() | Forward():
            return ()
        case MouseMove() | MouseClick() | MouseDown() | MouseUp() | MouseDrag() | MouseWheel():
            return ()
        case NewTab() | FocusTab() | CloseTab() | AskUser() | Stop() | Infeasible():
            return ()
        case _:
            assert_never(action)


def playwright_keys(keys: str) -> str:
    """Spell a chord as Playwright does: common other names of keys are understood."""
    if keys in {"+", " "}:
        return keys
    parts = [part.strip() for part in keys.split("+")]
    spelled = [_ALIASES.get(part.lower(), part) for part in parts]
    return "+".join(spelled) if all(spelled) else keys


def key_fault(keys: str) -> str | None:
    """Say which key of a chord no keyboard has; None where all are there."""
    for key in _parts(playwright_keys(keys)):
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=3) or ["Enter", "Tab", "Control+A"]
            return f"there is no key '{key}'; keys are named like {', '.join(near)}"
    return None


def _parts(keys: str) -> Iterator[str]:
    """Yield the keys of a chord; a `+` after another one is the key itself."""
    part = ""
    for character in keys:
        if character == "+" and part:
            yield part
            part = ""
        else:
            part += character
    yield part
