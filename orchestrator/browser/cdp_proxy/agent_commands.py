"""Which CDP commands act on a page, and the closest action of Arena's for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Protocol

from pydantic import ValidationError

from arena_core.actions import Action, CloseTab, Goto, MouseClick, MouseWheel, NewTab, Press
from arena_core.foreign import cut

Params = Mapping[str, Any]

SCRIPTS: Final = frozenset(
    {"Runtime.evaluate", "Runtime.callFunctionOn", "Runtime.runScript", "DOM.setAttributeValue"}
)
COOKIE_CHANGES: Final = frozenset(
    {"Network.clearBrowserCookies", "Network.deleteCookies", "Network.setCookie"}
    | {"Network.setCookies", "Storage.clearCookies", "Storage.clearDataForOrigin"}
    | {"Storage.clearDataForStorageKey", "Storage.setCookies"}
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
_MOST_TEXT: Final = 100_000
_MOST_KEY: Final = 100
_KEY_GOES_DOWN: Final = frozenset({"keyDown", "rawKeyDown"})
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

    `begins`: it is a step of its own. `joins`: it belongs to the step under way, such as the
    release of a button; alone it is no step. `continues`: it continues a step of its own kind, such
    as the next letter, and begins one otherwise.
    """

    BEGINS = "begins"
    JOINS = "joins"
    CONTINUES = "continues"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A command that acts.

    Attributes:
        kind: `write`, `scroll` and so on: only the same kind continues a step.
        action: the closest action of Arena's; None if there is none.
        target: the page that the command is sent to.
    """

    part: Part
    kind: str
    action: Action | None = None
    text: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A command that was refused because it would have forged evidence or left the gateway."""

    method: str
    what: str
    why: str


class EpisodeObserver(Protocol):
    """The episode's side of the proxy: it hears what the agent does, and may end the episode."""

    def connected(self) -> None:
        """A client has connected."""

    async def acts(self, act: Act) -> str | None:
        """A command is about to act; return why it is refused, None if it may."""

    def acted(self) -> None:
        """The browser has answered a command that acts."""

    def scripts(self, *, is_over: bool) -> None:
        """A script of the agent's begins or ends."""

    def changes_cookies(self) -> None:
        """The agent changes cookies: what happens to its logins is its own doing."""

    def makes_answers(self) -> None:
        """The agent answers a request in place of the site."""

    def refused(self, attempt: Attempt) -> None:
        """An attempt was refused."""


def act_of(method: str, params: Params, target: str) -> Act | None:
    """Return what a command does; None if it does not act."""
    if method.startswith("Input."):
        return _input(method, params, target)
    kind = _KINDS.get(method)
    if kind is None:
        return None
    action: Action | None = None
    match kind:
        case "goto":
            action = Goto(url=cut(str(params.get("url", "")), _MOST_TEXT))
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
    """Classify an input; the release of a button or key belongs to the step under way."""
    if method in {"Input.insertText", "Input.imeSetComposition"}:
        return _writes(cut(str(params.get("text", "")), _MOST_TEXT), target)
    if kind := _GESTURES.get((method, str(params.get("type", "")))):
        return _begins(kind, target, _click(params) if kind == "mouse" else None)
    if method == "Input.dispatchMouseEvent" and params.get("type") == "mouseWheel":
        wheel = _made(MouseWheel, params, dx=params.get("deltaX"), dy=params.get("deltaY"))
        return Act(part=Part.CONTINUES, kind="wheel", action=wheel, target=target)
    if method == "Input.dispatchKeyEvent":
        return _key(str(params.get("type", "")), params, target)
    return Act(part=Part.JOINS, kind="", target=target)


def _key(kind: str, params: Params, target: str) -> Act:
    """Classify a key event.

    A letter comes with its `keyDown`, or by a `char` of its own after it: both belong to one text.
    A `rawKeyDown` does not write the text that it names.
    """
    text, key = str(params.get("text", "")), str(params.get("key", ""))[:_MOST_KEY]
    held = _held(params)
    if kind == "char" and _is_letter(text):
        return _writes(text, target)
    if kind not in _KEY_GOES_DOWN:
        return Act(part=Part.JOINS, kind="", target=target)
    press = Press(keys="+".join([*(name for name in held if name != key), key])) if key else None
    if _is_letter(text or key) and not {"Alt", "Control", "Meta"} & {*held}:
        return replace(_writes(text if kind == "keyDown" else "", target), action=press)
    return _begins("press", target, press)


def _is_letter(text: str) -> bool:
    return len(text) == 1 and text.isprintable()


def _held(params: Params) -> list[str]:
    bits = params.get("modifiers", 0)
    return [name for name, bit in _HELD.items() if isinstance(bits, int) and bits & bit]


def _click(params: Params) -> Action | None:
    count = params.get("clickCount", 1)
    return _made(MouseClick, params, button=params.get("button", "left"), count=count)


def _made(kind: type[MouseClick | MouseWheel], params: Params, **more: object) -> Action | None:
    """Return an action at the point that a command names; None if Arena has no such action."""
    said = {"x": params.get("x"), "y": params.get("y"), **more}
    try:
        return kind.model_validate({name: one for name, one in said.items() if one is not None})
    except ValidationError:
        return None


def _writes(text: str, target: str) -> Act:
    return Act(part=Part.CONTINUES, kind="write", text=text, target=target)
