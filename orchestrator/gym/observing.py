"""Arena's observations under BrowserGym's keys.

Keys, shapes and types are those of `BrowserEnv` (ServiceNow/BrowserGym,
`browsergym/core/src/browsergym/core/env.py`) and of its observation processors; what Arena does not
compute (`dom_object`, `axtree_object`) is not there.
"""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from orchestrator.observation import AxTree, Box, MarkedPicture, Observation, Picture
from orchestrator.serving.wire import part_as_json


def observed(
    observation: Observation, goal: str, *, last_action: str, elapsed_s: float
) -> dict[str, Any]:
    """Return an observation under BrowserGym's keys; everything in it is new at each call."""
    tabs = observation.tabs
    current = next((place for place, tab in enumerate(tabs) if tab.is_current), 0)
    found: dict[str, Any] = {
        "chat_messages": ({"role": "user", "timestamp": 0.0, "message": goal},),
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


def _box(box: Box) -> dict[str, Any]:
    return {
        "visibility": 1.0 if box.visible else 0.0,
        "bbox": (box.x, box.y, box.width, box.height),
    }


def pixels(picture: Picture) -> NDArray[np.uint8]:
    """Return a picture as height, width, and red, green, blue."""
    with Image.open(BytesIO(picture.data)) as image:
        return np.array(image.convert("RGB"), dtype=np.uint8)
