"""Which commands act on a page, and what of Arena's vocabulary each is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from pydantic import ValidationError

from arena_core.actions import Action, CloseTab, Goto, MouseClick, MouseWheel, NewTab, Press

Params = Mapping[str, Any]

_SCRIPTS: Final = frozenset(
    {"Runtime.evaluate", "Runtime.callFunctionOn", "Runtime.runScript", "DOM.setAttributeValue"}
)
_COOKIES: Final = frozenset(
    {
        "Network.clearBrowserCookies",
        "Network.deleteCookies",
        "Network.setCookie",
        "Network.setCookies",
        "Storage.clearCookies",
        "Storage.clearDataForOrigin",
        "Storage.clearDataForStorageKey",
        "Storage.setCookies",
    }
)

_KINDS: Final[Mapping[str, str]] = {
    "DOM.setFileInputFiles": "upload",
    "Page.close": "close_tab",
    "Page.navigate": "goto",
    "Page.navigateToHistoryEntry": "history",
    "Page.reload": "reload",
    "Target.closeTarget": "close_tab",
    "Target.createTarget": "new_tab",
}
_HELD: Final = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
_GESTURES: Final[Mapping[tuple[str, str], str]] = {
    ("Input.dispatchDragEvent", "drop"): "drop",
    ("Input.dispatchMouseEvent", "mousePressed"): "mouse",
    ("Input.dispatchTouchEvent", "touchStart"): "touch",
    ("Input.synthesizePinchGesture", ""): "gesture",
    ("Input.synthesizeScrollGesture", ""): "gesture",
    ("Input.synthesizeTapGesture", ""): "gesture",
}


class Part(StrEnum):
    """How a command relates to the step under way.

    `begins`: it is a step of its own. `joins`: it goes on with what is under way, such as the
    release of a button; alone it is no step. `continues`: it goes on with a step of its own kind,
    such as the next letter, and begins one otherwise.
    """

    BEGINS = "begins"
    JOINS = "joins"
    CONTINUES = "continues"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A command that acts.

    Attributes:
        part: whether it is a step of its own.
        kind: `write`, `scroll` and so on: what continues what.
        action: the action that fits best; None where none does.
        text: what is written.
        target: the page it is sent to.
    """

    part: Part
    kind: str
    action: Action | None = None
    text: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A command that was refused since it would have forged evidence or left the gateway."""

    method: str
    what: str
    why: str


class EpisodeClock(Protocol):
    """The episode's side of the front: learns what the agent does, and may end it."""

    def connected(self) -> None:
        """Learn that a client has connected to the browser."""

    async def acts(self, act: Act) -> str | None:
        """Let a command begin or go on with a step; why it is refused, None where it is not."""

    def acted(self) -> None:
        """Learn that the browser answered a command that acts."""

    def scripts(self, *, is_over: bool) -> None:
        """Learn that a script of the agent's begins or ended."""

    def changes_cookies(self) -> None:
        """Learn that the agent changes cookies: what becomes of its logins is its own doing."""

    def refused(self, attempt: Attempt) -> None:
        """Learn of an attempt that was refused."""


def is_script(method: str) -> bool:
    """Whether a command runs a script of the agent's in a page."""
    return method in _SCRIPTS


def changes_cookies(method: str) -> bool:
    """Whether a command changes the browser's cookies."""
    return method in _COOKIES


def act_of(method: str, params: Params, target: str) -> Act | None:
    """Return what a command does; None where it does not act."""
    if method.startswith("Input."):
        return _input(method, params, target)
    kind = _KINDS.get(method)
    if kind is None:
        return None
    action: Action | None = None
    match kind:
        case "goto":
            action = Goto(url=str(params.get("url", "")))
        case "new_tab":
            action = NewTab()
        case "close_tab":
            action = CloseTab()
        case _:
            pass
    return _begins(kind, target, action)


def _begins(kind: str, target: str, action: Action | None = None) -> Act:
    return Act(part=Part.BEGINS, kind=kind, action=action, target=target)


def _input(method: str, params: Params, target: str) -> Act:
    """Return what an input is; the release of a button or key belongs to what is under way."""
    if method in {"Input.insertText", "Input.imeSetComposition"}:
        return _writes(str(params.get("text", "")), target)
    if kind := _GESTURES.get((method, str(params.get("type", "")))):
        return _begins(kind, target, _click(params) if kind == "mouse" else None)
    if method == "Input.dispatchMouseEvent" and params.get("type") == "mouseWheel":
        wheel = _made(MouseWheel, params, dx=params.get("deltaX"), dy=params.get("deltaY"))
        return Act(part=Part.CONTINUES, kind="wheel", action=wheel, target=target)
    if method == "Input.dispatchKeyEvent" and params.get("type") in {"keyDown", "rawKeyDown"}:
        text = str(params.get("text", ""))
        if len(text) == 1 and text.isprintable():
            return _writes(text, target)
        key = str(params.get("key", ""))
        return _begins("press", target, Press(keys=_chord(key, params)) if key else None)
    return Act(part=Part.JOINS, kind="", target=target)


def _chord(key: str, params: Params) -> str:
    bits = params.get("modifiers", 0)
    held = [name for name, bit in _HELD.items() if isinstance(bits, int) and bits & bit]
    return "+".join([*(name for name in held if name != key), key])


def _click(params: Params) -> Action | None:
    count = params.get("clickCount", 1)
    return _made(MouseClick, params, button=params.get("button", "left"), count=count)


def _made(kind: type[MouseClick | MouseWheel], params: Params, **more: object) -> Action | None:
    """Return an action at the point that a command names; None where it is none of Arena's."""
    said = {"x": params.get("x"), "y": params.get("y"), **more}
    try:
        return kind.model_validate({name: one for name, one in said.items() if one is not None})
    except ValidationError:
        return None


def _writes(text: str, target: str) -> Act:
    return Act(part=Part.CONTINUES, kind="write", text=text, target=target)
