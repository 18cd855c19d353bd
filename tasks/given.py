"""What a task sets up before it begins: `given`, by site a list of steps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Final, Literal, Self, assert_never

from pydantic import (
    AwareDatetime,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)

from sites.fields import SitePath, Strict
from tasks.reference import ReferenceAction, TaskFile

_SHOWN: Final = 60


def _is_none(value: object) -> bool:
    return value is None


class _Step(Strict):
    """What all steps share: they are written with the names that a suite uses."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)


class RunSql(_Step):
    """Statements for the site's database, run by its owner."""

    sql: str = Field(min_length=1, max_length=100_000)


class ApiCall(_Step):
    """A request to the site's API with a role's API login; an answer from 400 up is a fault."""

    role: str
    method: Literal["POST", "PUT", "PATCH", "DELETE"] = "POST"
    path: SitePath
    body: JsonValue = Field(default=None, alias="json", exclude_if=_is_none)


class CallApi(_Step):
    """Call the site's API."""

    api: ApiCall


class GivenFile(_Step):
    """A file in the site's state folder: a text, or a file from the suite's folder `files`."""

    path: SitePath
    text: str | None = Field(default=None, max_length=1_000_000, exclude_if=_is_none)
    source: Annotated[TaskFile | None, WithJsonSchema({"type": "string"})] = Field(
        default=None, alias="from", exclude_if=_is_none
    )

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.text is None) == (self.source is None):
            raise ValueError("a file needs `text` or `from`, and not both")
        return self

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.source.content if self.source else (self.text or "").encode()


class PutFile(_Step):
    """Write a file."""

    file: GivenFile


class RunCommand(_Step):
    """A shell command, run in the container by the user that the site runs as."""

    command: str = Field(min_length=1, max_length=10_000)


class DoAs(_Step):
    """Actions in a browser, as a reference writes them, by a role that is logged in.

    Attributes:
        role: `as` in suites; nobody is logged in where omitted.
        start: the page that they begin on.
    """

    do: tuple[ReferenceAction, ...] = Field(min_length=1)
    role: str | None = Field(default=None, alias="as", exclude_if=_is_none)
    start: SitePath = "/"


class SetClock(_Step):
    """The moment at which the site's clock stands when the episode begins."""

    clock: AwareDatetime


Step = RunSql | CallApi | PutFile | RunCommand | DoAs | SetClock
_KINDS = ("sql", "api", "file", "command", "do", "clock")


def _tag_of(step: object) -> str:
    """Return which step is meant: the first field of a step that it has."""
    has = step.__contains__ if isinstance(step, Mapping) else partial(hasattr, step)
    return next((f"{kind} step" for kind in _KINDS if has(kind)), "")


def _is_a_step(step: object) -> object:
    if not _tag_of(step):
        raise ValueError(f"a step needs one of {', '.join(_KINDS)}")
    return step


GivenStep = Annotated[
    Annotated[RunSql, Tag("sql step")]
    | Annotated[CallApi, Tag("api step")]
    | Annotated[PutFile, Tag("file step")]
    | Annotated[RunCommand, Tag("command step")]
    | Annotated[DoAs, Tag("do step")]
    | Annotated[SetClock, Tag("clock step")],
    Discriminator(_tag_of),
    BeforeValidator(_is_a_step),
]
GivenSteps = Annotated[tuple[GivenStep, ...], Field(min_length=1)]
_STEPS: TypeAdapter[tuple[Step, ...]] = TypeAdapter(tuple[GivenStep, ...])


def digest_of(steps: tuple[Step, ...]) -> str:
    """Return a digest that is equal where the steps are, whatever their order of fields."""
    written = _STEPS.dump_python(steps, mode="json", by_alias=True)
    return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()


def step_in_words(step: Step) -> str:
    """Say in a few words what a step does, to name it in a message."""
    match step:
        case RunSql():
            return f"sql: {_short(step.sql)}"
        case CallApi():
            return f"api: {step.api.method} {step.api.path}"
        case PutFile():
            return f"file: {step.file.path}"
        case RunCommand():
            return f"command: {_short(step.command)}"
        case DoAs():
            return f"do: {len(step.do)} actions{f' as {step.role}' if step.role else ''}"
        case SetClock():
            return f"clock: {step.clock.isoformat()}"
        case _:
            assert_never(step)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
