"""BrowserGym's call strings, `click('12')`, and the two calls that OpenEnv adds to them.

Source: `HighLevelActionSet` of BrowserGym 0.14.3 (`browsergym/core/action/functions.py`) and the
tools of OpenEnv's `browsergym_env` (2026-06).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.actions import Action
from orchestrator.grammars.calls import Call, Value, bound, read_calls
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.reading import held, script_of, single, switch, valid
from orchestrator.observation import Observation, Picture

# An id as Arena shows it, as BrowserGym's examples write it, or as a reference of `aria`.
_ID: Final = re.compile(r"[ae]?(\d{1,18})")
_DIRECTIONS: Final = frozenset({"up", "down", "left", "right"})
# Of Arena's default viewport: where the wheel turns, as BrowserGym's does where the mouse is.
_MIDDLE: Final = (640.0, 360.0)

_Read = tuple[Action | Misread, ...]


@dataclass(frozen=True, slots=True)
class BrowserGymCalls:
    """Reads calls on lines of their own, with literals as arguments, by place or by name.

    `press` of an element stands for two actions, as do several lines; `parse` takes one alone.
    """

    def parse(self, said: str, observation: Observation) -> Action | Misread:
        """Return the one action of the text."""
        return single(self.script(said, observation))

    def script(self, said: str, observation: Observation) -> tuple[Action, ...] | Misread:
        """Return the actions of all calls."""
        calls = read_calls(said)
        if isinstance(calls, Misread):
            return calls
        return script_of((_read(call, observation) for call in calls), observation)


def _read(call: Call, observation: Observation) -> _Read | Misread:
    takes = _CALLS.get(call.name)
    if takes is None:
        return Misread(f"there is no call {call.name!r}; there are: {', '.join(sorted(_CALLS))}")
    return bound(takes, call, observation)


def _act(kind: str, **fields: object) -> _Read:
    wrong = [one for one in fields.values() if isinstance(one, Misread)]
    return (wrong[0],) if wrong else (valid(kind, **fields),)


def _element(bid: Value) -> int | Misread:
    """Return the id of an element, which BrowserGym writes as a text."""
    if isinstance(bid, int) and not isinstance(bid, bool):
        return bid
    found = _ID.fullmatch(bid) if isinstance(bid, str) else None
    return int(found[1]) if found else Misread(f"{bid!r} is no id of an element")


def _number(value: Value) -> float | Misread:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return Misread(f"{value!r} is no number")


def _several(value: Value) -> Sequence[Value]:
    return value if isinstance(value, list) else [value]


def _click(_: Observation, bid: Value, button: Value = "left", modifiers: Value = None) -> _Read:
    return _clicked(bid, button, modifiers, 1)


def _dblclick(_: Observation, bid: Value, button: Value = "left", modifiers: Value = None) -> _Read:
    return _clicked(bid, button, modifiers, 2)


def _clicked(bid: Value, button: Value, modifiers: Value, count: int) -> _Read:
    keys = [] if modifiers is None else held(_several(modifiers))
    return _act("click", element=_element(bid), button=button, count=count, modifiers=keys)


def _fill(
    _: Observation, bid: Value, value: Value, enable_autocomplete_menu: Value = None
) -> _Read:
    # The menu comes by itself: text is typed as a person types it.
    del enable_autocomplete_menu
    return _act("type", element=_element(bid), text=value)


def _check(observation: Observation, bid: Value) -> _Read:
    return _switched(observation, bid, is_on=True)


def _uncheck(observation: Observation, bid: Value) -> _Read:
    return _switched(observation, bid, is_on=False)


def _switched(observation: Observation, bid: Value, *, is_on: bool) -> _Read:
    element = _element(bid)
    return (
        (element,) if isinstance(element, Misread) else (switch(observation, element, is_on=is_on),)
    )


def _select_option(_: Observation, bid: Value, options: Value) -> _Read:
    return _act("select", element=_element(bid), option=options)


def _hover(_: Observation, bid: Value) -> _Read:
    return _act("hover", element=_element(bid))


def _press(_: Observation, bid: Value, key_comb: Value) -> _Read:
    return (*_act("focus", element=_element(bid)), *_act("press", keys=key_comb))


def _focus(_: Observation, bid: Value) -> _Read:
    return _act("focus", element=_element(bid))


def _clear(_: Observation, bid: Value) -> _Read:
    return _act("clear", element=_element(bid))


def _drag_and_drop(_: Observation, from_bid: Value, to_bid: Value) -> _Read:
    return _act("drag", element=_element(from_bid), to=_element(to_bid))


def _scroll(observation: Observation, delta_x: Value, delta_y: Value = None) -> _Read:
    if delta_y is None and isinstance(delta_x, str) and delta_x in _DIRECTIONS:
        return _act("scroll", direction=delta_x)
    if delta_y is None:
        return (Misread("scroll takes two numbers of pixels, or one direction"),)
    x, y = _middle(observation)
    return _act("mouse_wheel", x=x, y=y, dx=_number(delta_x), dy=_number(delta_y))


def _scroll_at(_: Observation, x: Value, y: Value, dx: Value, dy: Value) -> _Read:
    return _act("mouse_wheel", x=_number(x), y=_number(y), dx=_number(dx), dy=_number(dy))


def _middle(observation: Observation) -> tuple[float, float]:
    for part in observation.parts.values():
        if isinstance(part, Picture):
            return part.width / 2, part.height / 2
    return _MIDDLE


def _mouse_move(_: Observation, x: Value, y: Value) -> _Read:
    return _act("mouse_move", x=_number(x), y=_number(y))


def _mouse_up(_: Observation, x: Value, y: Value, button: Value = "left") -> _Read:
    return _act("mouse_up", x=_number(x), y=_number(y), button=button)


def _mouse_down(_: Observation, x: Value, y: Value, button: Value = "left") -> _Read:
    return _act("mouse_down", x=_number(x), y=_number(y), button=button)


def _mouse_click(_: Observation, x: Value, y: Value, button: Value = "left") -> _Read:
    return _act("mouse_click", x=_number(x), y=_number(y), button=button)


def _mouse_dblclick(_: Observation, x: Value, y: Value, button: Value = "left") -> _Read:
    return _act("mouse_click", x=_number(x), y=_number(y), button=button, count=2)


def _mouse_drag_and_drop(
    _: Observation, from_x: Value, from_y: Value, to_x: Value, to_y: Value
) -> _Read:
    ends = [(_number(from_x), _number(from_y)), (_number(to_x), _number(to_y))]
    wrong = next((one for end in ends for one in end if isinstance(one, Misread)), None)
    return (wrong,) if wrong else _act("mouse_drag", path=[{"x": x, "y": y} for x, y in ends])


def _keyboard_press(_: Observation, key: Value) -> _Read:
    return _act("press", keys=key)


def _keyboard_down(_: Observation, key: Value) -> _Read:
    return _act("key_down", key=key)


def _keyboard_up(_: Observation, key: Value) -> _Read:
    return _act("key_up", key=key)


def _keyboard_type(_: Observation, text: Value) -> _Read:
    return _act("write", text=text)


def _upload_file(_: Observation, bid: Value, file: Value) -> _Read:
    return _act("upload", element=_element(bid), files=_several(file))


def _goto(_: Observation, url: Value) -> _Read:
    return _act("goto", url=url)


def _go_back(_: Observation) -> _Read:
    return _act("back")


def _go_forward(_: Observation) -> _Read:
    return _act("forward")


def _new_tab(_: Observation) -> _Read:
    return _act("new_tab")


def _tab_close(_: Observation) -> _Read:
    return _act("close_tab")


def _tab_focus(_: Observation, index: Value) -> _Read:
    return _act("focus_tab", index=_number(index))


def _send_msg_to_user(_: Observation, text: Value) -> _Read:
    return _act("stop", answer=text)


def _report_infeasible(_: Observation, reason: Value) -> _Read:
    return _act("infeasible", reason=reason)


def _noop(_: Observation, wait_ms: Value = 1000) -> _Read:
    milliseconds = _number(wait_ms)
    if isinstance(milliseconds, Misread):
        return (milliseconds,)
    return _act("wait", seconds=milliseconds / 1000)


_CALLS: Final[Mapping[str, Callable[..., _Read]]] = {
    "check": _check,
    "clear": _clear,
    "click": _click,
    "dblclick": _dblclick,
    "drag_and_drop": _drag_and_drop,
    "fill": _fill,
    "focus": _focus,
    "go_back": _go_back,
    "go_forward": _go_forward,
    "goto": _goto,
    "hover": _hover,
    "keyboard_down": _keyboard_down,
    "keyboard_insert_text": _keyboard_type,
    "keyboard_press": _keyboard_press,
    "keyboard_type": _keyboard_type,
    "keyboard_up": _keyboard_up,
    "mouse_click": _mouse_click,
    "mouse_dblclick": _mouse_dblclick,
    "mouse_down": _mouse_down,
    "mouse_drag_and_drop": _mouse_drag_and_drop,
    "mouse_move": _mouse_move,
    "mouse_up": _mouse_up,
    "new_tab": _new_tab,
    "noop": _noop,
    "press": _press,
    "report_infeasible": _report_infeasible,
    "scroll": _scroll,
    "scroll_at": _scroll_at,
    "select_option": _select_option,
    "send_keys": _keyboard_type,
    "send_msg_to_user": _send_msg_to_user,
    "tab_close": _tab_close,
    "tab_focus": _tab_focus,
    "uncheck": _uncheck,
    "upload_file": _upload_file,
}
