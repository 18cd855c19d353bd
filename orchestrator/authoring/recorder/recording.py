"""A recording: what a person did, step by step, in a folder that grows while it is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from arena_core.errors import StoreError
from arena_core.foreign import first_fault
from arena_core.worlds import World
from evaluators.evidence import ActedElement, Ended, Evidence, StepEvidence
from evaluators.fields import Slug
from tasks.reference import FileName, ReferenceAction
from tasks.sources import FOLDER

HEAD_FILE: Final = "recording.json"
STEPS_FILE: Final = "steps.jsonl"
END_FILE: Final = "end.json"
_MOST_BYTES: Final = 200_000_000

Kind = TypeVar("Kind", bound=BaseModel)


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DoneAction(_Record):
    """One thing that was done.

    Attributes:
        action: as a task's reference says it; None where no reference can.
        why_not: why none can; None where one does.
        element: what it was done to, as the watcher saw it; None for a visit.
        others: names that could have been chosen in its place on that page.
    """

    action: ReferenceAction | None = None
    why_not: str | None = None
    element: ActedElement | None = None
    others: tuple[str, ...] = ()


class RecordedStep(_Record):
    """What was done until the page had settled, and what it changed.

    Attributes:
        evidence: the step as an episode's evidence holds it.
        actions: the same for a task's reference, in its order.
        changes: by site, everything that differed from the start after it, as `change_as_text`
            writes it; sites that nothing was written to are left out.
        heading: the first heading of the page, which tells pages apart.
    """

    evidence: StepEvidence
    actions: tuple[DoneAction, ...] = ()
    changes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    heading: str = ""

    @property
    def number(self) -> int:
        return self.evidence.index


class RecordingHead(_Record):
    """Where a recording began.

    Attributes:
        idle: by site, what differed from the start before anything was done.
        given: as a task says it: what was done to the sites before.
    """

    version: Literal[1] = 1
    name: Slug
    sites: Annotated[tuple[str, ...], Field(min_length=1)]
    start: Annotated[tuple[str, ...], Field(min_length=1)]
    roles: dict[str, str] = Field(default_factory=dict)
    given: dict[str, Any] = Field(default_factory=dict)
    idle: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    started_at: str = ""


class RecordingEnd(_Record):
    """What was seen at the end.

    Attributes:
        deltas: by site, the check by `db_delta` that asks for exactly what was changed.
        looked: what the running sites showed, by what was asked: a locator as JSON.
        notes: what the recorder could not see, a sentence each.
    """

    deltas: dict[str, dict[str, Any]] = Field(default_factory=dict)
    looked: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording as it stands.

    Attributes:
        steps: the opening first, under their numbers.
        end: None while the person goes on, and where the recorder was ended by force.
    """

    folder: Path
    head: RecordingHead
    steps: tuple[RecordedStep, ...] = ()
    end: RecordingEnd | None = None

    def evidence(self, answer: str | None = None) -> Evidence:
        """Return what an agent would have left behind that did the same, and answered so."""
        return Evidence(
            suite=self.head.name,
            task=self.head.name,
            world=World.OFFLINE,
            agent="person",
            repeat=0,
            attempt=1,
            started_at=self.head.started_at,
            seconds=0.0,
            answer=answer,
            ended=Ended.STOPPED,
            steps=tuple(step.evidence for step in self.steps),
        )

    def changes(self) -> Mapping[str, tuple[str, ...]]:
        """Return by site what differed from the start in the end."""
        found: dict[str, tuple[str, ...]] = dict(self.head.idle)
        for step in self.steps:
            found.update(step.changes)
        return found


@dataclass(slots=True)
class RecordingFolder:
    """Writes a recording as it grows: what is written stays, whatever ends the recorder."""

    recording: Recording
    _seen: dict[int, RecordedStep] = field(default_factory=dict)

    @classmethod
    def create(cls, folder: Path, head: RecordingHead) -> Self:
        try:
            folder.mkdir(parents=True)
            (folder / HEAD_FILE).write_text(head.model_dump_json(indent=2), encoding="utf-8")
        except FileExistsError:
            message = f"the folder {folder} is there already"
            raise StoreError(message, hint=f"arena record --open {folder}, or --out") from None
        except OSError as cause:
            raise StoreError(f"{folder} cannot be written: {cause.strerror}") from cause
        return cls(Recording(folder, head))

    def begin(self, head: RecordingHead) -> None:
        """Write down where it began, once that is known."""
        text = head.model_dump_json(indent=2)
        (self.recording.folder / HEAD_FILE).write_text(text, encoding="utf-8")
        self.recording = replace(self.recording, head=head)

    def keep(self, step: RecordedStep, picture: bytes | None) -> None:
        """Write a step; one of a number that there is already takes its place."""
        if picture is not None and step.evidence.screenshot is not None:
            (self.recording.folder / step.evidence.screenshot).write_bytes(picture)
        with (self.recording.folder / STEPS_FILE).open("a", encoding="utf-8") as file:
            file.write(step.model_dump_json() + "\n")
        self._seen[step.number] = step
        self.recording = replace(self.recording, steps=tuple(self._seen.values()))

    def keep_file(self, name: str, content: bytes) -> bool:
        """Keep a file that was chosen; False where a task cannot hold it, or has another so named.

        Every name is that of a file alone, as a task writes it.
        """
        path = self.recording.folder / FOLDER / name
        try:
            TypeAdapter[str](FileName).validate_python(name)
            path.parent.mkdir(exist_ok=True)
            if not path.exists():
                path.write_bytes(content)
            return path.read_bytes() == content
        except (ValidationError, OSError):
            return False

    def close(self, end: RecordingEnd) -> None:
        text = end.model_dump_json(indent=2)
        (self.recording.folder / END_FILE).write_text(text, encoding="utf-8")
        self.recording = replace(self.recording, end=end)


def open_recording(folder: Path) -> Recording:
    """Read a recording, also one whose recorder was ended by force: its last line may be half."""
    head = _read(folder / HEAD_FILE, RecordingHead)
    if head is None:
        raise StoreError(f"{folder} is no recording: it has no {HEAD_FILE}")
    steps: dict[int, RecordedStep] = {}
    lines = (_bytes(folder / STEPS_FILE) or b"").split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):  # a whole line ends with a line end
        try:
            step = RecordedStep.model_validate_json(line)
        except ValidationError as cause:
            message = f"{folder / STEPS_FILE}:{number}: {first_fault(cause)}"
            raise StoreError(message, hint="remove the line") from cause
        if step.evidence.screenshot not in {None, picture_name(step.number)}:
            raise StoreError(f"{folder / STEPS_FILE}:{number}: names a picture that is not its own")
        steps[step.number] = step
    return Recording(folder, head, tuple(steps.values()), _read(folder / END_FILE, RecordingEnd))


def picture_name(number: int) -> str:
    return f"step-{number:03d}.webp"


def _read(path: Path, kind: type[Kind]) -> Kind | None:
    found = _bytes(path)
    if found is None:
        return None
    try:
        return kind.model_validate_json(found)
    except ValidationError as cause:
        raise StoreError(f"{path}: {first_fault(cause)}") from cause


def _bytes(path: Path) -> bytes | None:
    """Return a file's bytes; None where there is none."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise StoreError(f"{path} is larger than {_MOST_BYTES // 1_000_000} MB")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as cause:
        raise StoreError(f"{path} cannot be read: {cause.strerror}") from cause
