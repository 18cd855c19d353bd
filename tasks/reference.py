"""The actions of a reference: how a task is done, by the names of elements."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Base64Bytes, Field, JsonValue, model_validator

from arena_core.actions import AnswerStatus, Button, Modifier, Stop
from arena_core.worlds import World
from evaluators.fields import PerWorld, Slug
from sites.fields import Strict, written

Text = str | PerWorld[str]
FileName = Annotated[
    str,
    written(
        r"[A-Za-z0-9_][A-Za-z0-9._ -]{0,99}",
        "a file's name, without any folder: letters, digits, spaces and . _ -",
    ),
]


class _Reference(Strict):
    """What all reference actions share.

    `only` limits an action to one world; a field that takes `{offline: …, online: …}` differs
    between the worlds.
    """

    only: World | None = None


class TaskFile(Strict):
    """A file that an agent may upload; a suite names it, and its loader reads it."""

    name: FileName
    content: Base64Bytes


class OnElement(_Reference):
    """An action on the element with this accessible role and name.

    Attributes:
        name: compared exactly after white space is collapsed; `within` narrows to the descendants
            of the element with this accessible name.
        nth: which of several, from 0, in document order.
        button, count, modifiers: of a click; see `Click`.
    """

    do: Literal["click", "hover"]
    role: Text
    name: Text
    within: Text | None = None
    nth: int = Field(default=0, ge=0)
    button: Button = Field(default="left", exclude_if=lambda value: value == "left")
    count: int = Field(default=1, ge=1, le=3, exclude_if=lambda value: value == 1)
    modifiers: tuple[Modifier, ...] = Field(default=(), exclude_if=lambda value: not value)


class UploadTo(_Reference):
    """Choose files of the task in a file field, or at the button that asks for some."""

    do: Literal["upload"]
    role: Text
    name: Text
    within: Text | None = None
    nth: int = Field(default=0, ge=0)
    files: tuple[FileName, ...] = Field(min_length=1)


class TypeInto(_Reference):
    """Type text into an element, replacing what it holds."""

    do: Literal["type"]
    role: Text
    name: Text
    within: Text | None = None
    nth: int = Field(default=0, ge=0)
    text: Text
    submit: bool = False


class SelectIn(_Reference):
    """Choose an option of a select element by its label."""

    do: Literal["select"]
    role: Text = "combobox"
    name: Text
    within: Text | None = None
    nth: int = Field(default=0, ge=0)
    option: Text


class PressKeys(_Reference):
    """Press a key or chord."""

    do: Literal["press"]
    keys: str


class ScrollPage(_Reference):
    """Scroll the page."""

    do: Literal["scroll"]
    direction: Literal["up", "down"]


class GotoPage(_Reference):
    """Open a page by its logical URL, `site:/path`."""

    do: Literal["goto"]
    page: Text


class Simple(_Reference):
    """An action without arguments."""

    do: Literal["back", "forward", "new_tab", "close_tab"]


class FocusTabAt(_Reference):
    """Make a tab current."""

    do: Literal["focus_tab"]
    index: int = Field(ge=0)


class SolveMiniWob(_Reference):
    """Solve a MiniWoB++ page by its rules, as far as the oracle has any for it."""

    do: Literal["wob"]
    page: Slug


class Ask(_Reference):
    """Ask the user; what they answer changes nothing of what a reference does next."""

    do: Literal["ask"]
    question: str = Field(min_length=1, max_length=2000)


class StopWith(_Reference):
    """Stop, with an answer where the task asks for one.

    Attributes:
        answer: in words; or else `data`, the same as JSON.
        status: another than `done` where the task cannot be done, with the reason.
    """

    do: Literal["stop"]
    answer: Text | None = None
    data: JsonValue = Field(default=None, exclude_if=lambda value: value is None)
    status: AnswerStatus | None = Field(default=None, exclude_if=lambda value: value is None)
    reason: str | None = Field(default=None, min_length=1, exclude_if=lambda value: value is None)

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.answer is not None and self.data is not None:
            raise ValueError("an answer is in words (`answer`) or JSON (`data`), not both")
        is_done = self.status in {None, AnswerStatus.DONE}
        if is_done is not (self.reason is None):
            message = "`reason` says why a task cannot be done: with another `status` than `done`"
            raise ValueError(message)
        return self

    def ending(self, world: World) -> Stop:
        answer = self.answer.of(world) if isinstance(self.answer, PerWorld) else self.answer
        return Stop(answer=answer, status=self.status, data=self.data, reason=self.reason)


class GiveUp(_Reference):
    """End without an answer: the task cannot be done, for this reason."""

    do: Literal["infeasible"]
    reason: str = Field(min_length=1)


ReferenceAction = Annotated[
    OnElement
    | UploadTo
    | TypeInto
    | SelectIn
    | PressKeys
    | ScrollPage
    | GotoPage
    | Simple
    | FocusTabAt
    | SolveMiniWob
    | Ask
    | StopWith
    | GiveUp,
    Field(discriminator="do"),
]
