"""What an agent can do in one step: the one action vocabulary of agents, browser and evidence."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class ScrollDirection(StrEnum):
    """Where a page is scrolled, by most of one viewport."""

    UP = "up"
    DOWN = "down"


class _Action(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Click(_Action):
    """Click the element with this id of the observation."""

    kind: Literal["click"] = "click"
    element: int


class Hover(_Action):
    """Move the pointer over the element."""

    kind: Literal["hover"] = "hover"
    element: int


class Type(_Action):
    """Replace the element's text; `submit` presses Enter afterwards."""

    kind: Literal["type"] = "type"
    element: int
    text: str
    submit: bool = False


class Select(_Action):
    """Choose the option with this label (or value) in a select element."""

    kind: Literal["select"] = "select"
    element: int
    option: str


class Press(_Action):
    """Press a key or a chord, in Playwright's names: `Enter`, `Control+A`."""

    kind: Literal["press"] = "press"
    keys: str


class Scroll(_Action):
    """Scroll the page."""

    kind: Literal["scroll"] = "scroll"
    direction: ScrollDirection


class Goto(_Action):
    """Open a URL in the current tab."""

    kind: Literal["goto"] = "goto"
    url: str


class Back(_Action):
    """Go back in the tab's history."""

    kind: Literal["back"] = "back"


class Forward(_Action):
    """Go forward in the tab's history."""

    kind: Literal["forward"] = "forward"


class NewTab(_Action):
    """Open a new tab and make it current; blank where no URL is given."""

    kind: Literal["new_tab"] = "new_tab"
    url: str | None = None


class FocusTab(_Action):
    """Make the tab with this index current."""

    kind: Literal["focus_tab"] = "focus_tab"
    index: int


class CloseTab(_Action):
    """Close the current tab; the one before it becomes current."""

    kind: Literal["close_tab"] = "close_tab"


class Stop(_Action):
    """End the episode, with an answer where the task asks for one."""

    kind: Literal["stop"] = "stop"
    answer: str | None = None


Action = Annotated[
    Click
    | Hover
    | Type
    | Select
    | Press
    | Scroll
    | Goto
    | Back
    | Forward
    | NewTab
    | FocusTab
    | CloseTab
    | Stop,
    Field(discriminator="kind"),
]
