"""Arena's observations under BrowserGym's keys, and the spaces of actions and observations.

Keys, shapes and types are those of `BrowserEnv` (ServiceNow/BrowserGym,
`browsergym/core/src/browsergym/core/env.py`) and of its observation processors; what Arena does not
compute (`dom_object`, `axtree_object`) is not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray
from PIL import Image

from orchestrator.browser.observation import AxTree, MarkedPicture, Observation, Picture
from orchestrator.browser.observation import Box as ElementBox
from orchestrator.browser.session.context import DEFAULT_VIEWPORT
from orchestrator.serve.messages import part_as_json

_WIDTH, _HEIGHT = DEFAULT_VIEWPORT
_HARMLESS = ("noop()", "scroll(0, 200)", "scroll(0, -200)")


class _Sizeless(Space[Any]):
    """What has no fixed size; all spaces of one kind are equal."""

    def __init__(self) -> None:
        super().__init__(shape=None, dtype=None)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


class AnyText(_Sizeless):
    """Any text; a sample of it is an action that does no harm."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:  # noqa: ARG002
        """Return an action as text that scrolls the page."""
        return _HARMLESS[int(self.np_random.integers(len(_HARMLESS)))]

    def contains(self, x: Any) -> bool:
        """Whether it is text."""
        return isinstance(x, str)


class AnyRecord(_Sizeless):
    """Texts, numbers, and tuples and mappings of them."""

    def sample(self, mask: Any = None, probability: Any = None) -> Any:  # noqa: ARG002
        """Return the smallest record."""
        return ()

    def contains(self, x: Any) -> bool:
        """Whether it is made of nothing else."""
        if isinstance(x, Mapping):
            return all(isinstance(key, str) and self.contains(one) for key, one in x.items())
        if isinstance(x, tuple | list):
            return all(self.contains(one) for one in x)
        return x is None or isinstance(x, str | int | float | bool)


def picture_space() -> Box:
    """Return the space of pictures: height, width, and red, green, blue."""
    return Box(0, 255, (_HEIGHT, _WIDTH, 3), np.uint8)


def observation_space(forms: frozenset[str]) -> gymnasium.spaces.Dict:
    """Return the space of observations with these forms; its keys are BrowserGym's."""
    found: dict[str, Space[Any]] = {
        "chat_messages": AnyRecord(),
        "goal": AnyText(),
        "goal_object": AnyRecord(),
        "open_pages_urls": AnyRecord(),
        "open_pages_titles": AnyRecord(),
        "active_page_index": Box(0, 2**31 - 1, (1,), np.int64),
        "url": AnyText(),
        "last_action": AnyText(),
        "last_action_error": AnyText(),
        "elapsed_time": Box(0.0, 1e9, (1,), np.float64),
    }
    for form in forms:
        found.update(_of_form(form))
    return gymnasium.spaces.Dict(found)


def _of_form(form: str) -> dict[str, Space[Any]]:
    match form.partition("@")[0]:
        case "axtree":
            return {"axtree_txt": AnyText(), "focused_element_bid": AnyText()}
        case "screenshot":
            return {"screenshot": picture_space()}
        case "som":
            return {"screenshot_som": picture_space()}
        case "boxes":
            return {"extra_element_properties": AnyRecord()}
        case name:
            return {name: AnyText()}


def observed(
    observation: Observation, goal: str, *, last_action: str, elapsed_s: float
) -> dict[str, Any]:
    """Return an observation under BrowserGym's keys; everything in it is new at each call."""
    tabs = observation.tabs
    current = next((place for place, tab in enumerate(tabs) if tab.is_current), 0)
    found: dict[str, Any] = {
        "chat_messages": tuple(
            {"role": "user", "timestamp": 0.0, "message": said}
            for said in (goal, observation.reply)
            if said is not None
        ),
        "goal": goal,
        "goal_object": ({"type": "text", "text": goal},),
        "open_pages_urls": tuple(tab.url for tab in tabs),
        "open_pages_titles": tuple(tab.title for tab in tabs),
        "active_page_index": np.array([current], dtype=np.int64),
        "url": observation.url,
        "last_action": last_action,
        "last_action_error": observation.last_error or "",
        "elapsed_time": np.array([elapsed_s], dtype=np.float64),
    }
    for form, part in observation.parts.items():
        found.update(_part(form.partition("@")[0], part))
    return found


def _part(form: str, part: object) -> dict[str, Any]:
    match part:
        case AxTree():
            focused = [node.id for node in part.nodes if "focused" in node.states]
            bid = str(focused[-1]) if focused else ""
            return {"axtree_txt": part.text, "focused_element_bid": bid}
        case Picture():
            return {"screenshot": pixels(part)}
        case MarkedPicture():
            return {"screenshot_som": pixels(part.picture)}
        case dict() if form == "boxes":
            return {
                "extra_element_properties": {str(name): _box(one) for name, one in part.items()}
            }
        case _:
            said = part_as_json(part)
            if isinstance(said, dict) and isinstance(said.get("text"), str):
                said = said["text"]
            return {form: said if isinstance(said, str) else json.dumps(said)}


def _box(box: ElementBox) -> dict[str, Any]:
    return {
        "visibility": 1.0 if box.visible else 0.0,
        "bbox": (box.x, box.y, box.width, box.height),
    }


def pixels(picture: Picture) -> NDArray[np.uint8]:
    """Return a picture as height, width, and red, green, blue."""
    with Image.open(BytesIO(picture.data)) as image:
        return np.array(image.convert("RGB"), dtype=np.uint8)
