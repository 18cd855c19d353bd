"""The tools of Playwright MCP that an agent has here, and what each does in Arena's own actions.

Names and parameters are those of Playwright MCP (microsoft/playwright-mcp, README "Tools"): what
was written for it works here. What evaluates code is left out (`browser_evaluate`,
`browser_run_code_unsafe`); `submit_answer` ends the episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Button,
    Click,
    CloseTab,
    Confidence,
    Drag,
    FocusTab,
    Goto,
    Hover,
    Modifier,
    MouseClick,
    NewTab,
    Press,
    Select,
    Type,
    Wait,
)
from arena_core.foreign import cut, first_fault, whole
from arena_core.foreign_fields import Data, Text
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.interface import Assignment
from orchestrator.browser.observation import AriaSnapshot, AxTree, Observation
from orchestrator.serve.results import FinishStatus

_MOST_WAIT_S: Final = 30.0
_MOST_NAMED: Final = 100
_MOST_SAID: Final = 500

Target = Annotated[
    str,
    Field(pattern=r"^e?\d{1,9}$", description="ref of the element in the snapshot, such as e12"),
]
Described = Annotated[str, Field(max_length=1000, description="the element in words; not used")]


def _id_of(target: str) -> int:
    return int(target.removeprefix("e"))


class BrowserTool(BaseModel):
    """A call of a tool, with its parameters as they are on the wire."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)

    tool: ClassVar[str]

    def actions(self) -> tuple[Action, ...]:
        """Return what is to be done; nothing for a tool that only looks, or ends the episode."""
        return ()


class Navigate(BrowserTool):
    """Open a URL in the current tab."""

    tool = "browser_navigate"
    url: str

    def actions(self) -> tuple[Action, ...]:
        return (Goto(url=self.url),)


class NavigateBack(BrowserTool):
    """Go back to the previous page."""

    tool = "browser_navigate_back"

    def actions(self) -> tuple[Action, ...]:
        return (Back(),)


class Snapshot(BrowserTool):
    """Show the page as the last action left it, as an accessibility snapshot with refs."""

    tool = "browser_snapshot"


class TakeScreenshot(BrowserTool):
    """Show what the viewport shows, as the last action left it, as a picture."""

    tool = "browser_take_screenshot"


class ClickElement(BrowserTool):
    """Click an element."""

    tool = "browser_click"
    target: Target
    element: Described = ""
    double_click: bool = False
    button: Button = "left"
    modifiers: Annotated[tuple[Modifier, ...], Field(max_length=4)] = ()

    def actions(self) -> tuple[Action, ...]:
        count = 2 if self.double_click else 1
        element = _id_of(self.target)
        return (Click(element=element, button=self.button, count=count, modifiers=self.modifiers),)


class TypeText(BrowserTool):
    """Put text into an editable element, in place of what is there."""

    tool = "browser_type"
    target: Target
    element: Described = ""
    text: str
    submit: Annotated[bool, Field(description="press Enter afterwards")] = False

    def actions(self) -> tuple[Action, ...]:
        return (Type(element=_id_of(self.target), text=self.text, submit=self.submit),)


class SelectOption(BrowserTool):
    """Choose options of a dropdown or list."""

    tool = "browser_select_option"
    target: Target
    element: Described = ""
    values: Annotated[tuple[str, ...], Field(min_length=1, max_length=1000)]

    def actions(self) -> tuple[Action, ...]:
        option = self.values[0] if len(self.values) == 1 else self.values
        return (Select(element=_id_of(self.target), option=option),)


class PressKey(BrowserTool):
    """Press a key or a chord, such as `Enter` or `Control+A`."""

    tool = "browser_press_key"
    key: Annotated[str, Field(min_length=1)]

    def actions(self) -> tuple[Action, ...]:
        return (Press(keys=self.key),)


class HoverElement(BrowserTool):
    """Move the pointer over an element."""

    tool = "browser_hover"
    target: Target
    element: Described = ""

    def actions(self) -> tuple[Action, ...]:
        return (Hover(element=_id_of(self.target)),)


class DragElement(BrowserTool):
    """Drag one element onto another."""

    tool = "browser_drag"
    start_target: Target
    start_element: Described = ""
    end_target: Target
    end_element: Described = ""

    def actions(self) -> tuple[Action, ...]:
        return (Drag(element=_id_of(self.start_target), to=_id_of(self.end_target)),)


class Tabs(BrowserTool):
    """List the tabs, open one, close one, or make one current; indices are those of the list."""

    tool = "browser_tabs"
    action: Literal["list", "new", "close", "select"]
    index: int | None = None
    url: str | None = None

    @model_validator(mode="after")
    def _has_an_index_to_select(self) -> Tabs:
        if self.action == "select" and self.index is None:
            raise ValueError("`index` says which tab to select")
        return self

    def actions(self) -> tuple[Action, ...]:
        match self.action:
            case "list":
                return ()
            case "new":
                return (NewTab(url=self.url),)
            case "close":
                focus = () if self.index is None else (FocusTab(index=self.index),)
                return (*focus, CloseTab())
            case "select":
                return (FocusTab(index=self.index or 0),)


class WaitFor(BrowserTool):
    """Wait until the page shows a text, shows it no longer, or a time in seconds has passed."""

    tool = "browser_wait_for"
    time: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    text: str | None = None
    text_gone: str | None = None

    def actions(self) -> tuple[Action, ...]:
        """Return what is to be done; no wait is longer than half a minute."""
        seconds = 5.0 if self.time is None else min(self.time, _MOST_WAIT_S)
        return (Wait(text=self.text, gone=self.text_gone, seconds=seconds),)


class MouseClickXy(BrowserTool):
    """Click at a point of the viewport, in pixels of the screenshot."""

    tool = "browser_mouse_click_xy"
    element: Described = ""
    x: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    y: Annotated[float, Field(ge=0, allow_inf_nan=False)]

    def actions(self) -> tuple[Action, ...]:
        return (MouseClick(x=self.x, y=self.y),)


class Ask(BrowserTool):
    """Ask the user one thing, in one sentence: what the task leaves open, or whether they agree."""

    tool = "ask_user"
    question: Annotated[Text, Field(min_length=1, max_length=2000)]

    def actions(self) -> tuple[Action, ...]:
        return (AskUser(question=self.question),)


class SubmitAnswer(BrowserTool):
    """End the episode: with the answer where the task asks for one, as text or as JSON in `data`.

    With status `infeasible` where the task cannot be done (`not_found`, `permission_denied` and the
    others say more nearly why, `needs_input` that only the user could say what is missing) and the
    reason, `gave_up` where you could not do it. `confidence`, from 0 to 1, may say how likely it is
    that you did the task right.
    """

    tool = "submit_answer"
    answer: Text | None = None
    data: Data = None
    status: FinishStatus = FinishStatus.DONE
    reason: Text = ""
    confidence: Confidence | None = None


TOOLS: Final[Mapping[str, type[BrowserTool]]] = {
    one.tool: one
    for one in (
        Navigate,
        NavigateBack,
        Snapshot,
        TakeScreenshot,
        ClickElement,
        TypeText,
        SelectOption,
        PressKey,
        HoverElement,
        DragElement,
        Tabs,
        WaitFor,
        MouseClickXy,
        Ask,
        SubmitAnswer,
    )
}


def tools_for(assignment: Assignment) -> Mapping[str, type[BrowserTool]]:
    """Return the tools that are offered: `ask_user` only where somebody answers."""
    return {name: one for name, one in TOOLS.items() if one is not Ask or assignment.can_ask}


def read_call(name: str, arguments: Mapping[str, Any]) -> BrowserTool | Misread:
    tool = TOOLS.get(name)
    if tool is None:
        return Misread(f"there is no tool '{cut(name, _MOST_NAMED)}'")
    try:
        call = tool.model_validate(arguments)
        call.actions()
    except ValidationError as error:
        return Misread(cut(f"{name}: {first_fault(error)}", _MOST_SAID))
    return call


def schema_of(tool: type[BrowserTool]) -> dict[str, Any]:
    schema = tool.model_json_schema(by_alias=True)
    schema.pop("description", None)
    return schema


def page_as_text(seen: Observation, *, snapshot: bool = True) -> str:
    """Say what is seen, in the sections of Playwright MCP's answers."""
    parts = [f"### Error\n{seen.last_error}"] if seen.last_error else []
    if seen.reply:
        parts.append(f"### The user's answer\n{seen.reply}")
    if len(seen.tabs) > 1:
        lines = [
            f"- {tab.index}:{' (current)' if tab.is_current else ''} [{tab.title}]({tab.url})"
            for tab in seen.tabs
        ]
        parts.append("### Open tabs\n" + "\n".join(lines))
    parts.append(f"### Page\n- Page URL: {seen.url}\n- Page Title: {seen.title}")
    if snapshot:
        parts.append(f"### Snapshot\n```yaml\n{_snapshot(seen)}\n```")
    return whole("\n".join(parts))


def _snapshot(seen: Observation) -> str:
    """Return the page as text: as Playwright MCP would, where the episode observes that form."""
    parts = seen.parts.values()
    texts = [one.text for one in parts if isinstance(one, AriaSnapshot)]
    texts += [one.text for one in parts if isinstance(one, AxTree)]
    return texts[0] if texts else "(no form of text is observed in this episode)"
