"""What actions and observations may be: text of any length, and rows of such."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Space

from orchestrator.browser.context import DEFAULT_VIEWPORT

_WIDTH, _HEIGHT = DEFAULT_VIEWPORT
_HARMLESS = ("noop()", "scroll(0, 200)", "scroll(0, -200)")


class AnyText(Space[str]):
    """Any text; a sample of it is an action that does no harm."""

    def __init__(self) -> None:
        super().__init__(shape=None, dtype=None)

    @property
    def is_np_flattenable(self) -> bool:
        """No: texts have no fixed size."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:  # noqa: ARG002
        """Return an action as text that scrolls the page."""
        return _HARMLESS[int(self.np_random.integers(len(_HARMLESS)))]

    def contains(self, x: Any) -> bool:
        """Whether it is text."""
        return isinstance(x, str)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyText)

    def __hash__(self) -> int:
        return hash(AnyText)


class AnyRecord(Space[Any]):
    """Texts, numbers, and tuples and mappings of them."""

    def __init__(self) -> None:
        super().__init__(shape=None, dtype=None)

    @property
    def is_np_flattenable(self) -> bool:
        """No: records have no fixed size."""
        return False

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyRecord)

    def __hash__(self) -> int:
        return hash(AnyRecord)


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
