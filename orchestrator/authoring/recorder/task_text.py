"""A recording as a task: its actions the reference, the chosen checks, and a suite to hold it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote, quote_plus

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena_core.errors import TaskError, UsageError
from evaluators.checks import Check
from evaluators.fields import When
from evaluators.locators.base import Subject
from orchestrator.authoring.recorder.recording import HEAD_FILE, DoneAction, Recording
from sites.faults import mistakes
from tasks.imports.suite_file import suite_name, suite_yaml, write_suite
from tasks.reference import GotoPage, OnElement, ReferenceAction, SelectIn, TypeInto, UploadTo
from tasks.schema import Family, Task
from tasks.sources import FOLDER, with_files
from tasks.templates import PlaceholderError, Template

MARK: Final = "# Recorded by `arena record"
_SLACK: Final = 2  # an agent may take so many times the steps of the person
_LEAST_STEPS: Final = 20
_BRACED: Final = r"\{(?P<braced>[a-z][a-z0-9_]*)\}"  # a template takes it for a placeholder
_VARY: Final = frozenset({"intent", "start", "given", "checks", "reference"})
_FIXED: Final = frozenset(
    {"by", "do", "event", "how", "kind", "part", "read", "role", "site", "table", "type", "when"}
)


class Parameter(BaseModel):
    """A value that differs from task to task.

    Attributes:
        values: the recorded one first, then one for each further task; all parameters have as many.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(max_length=60)]
    values: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=2000)], ...],
        Field(min_length=1, max_length=50),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDraft:
    """What a person says of the task beside what was recorded.

    Attributes:
        left_out: actions that are no part of the reference, each a step's number and its place.
        template: what the task is an instance of.
        parameters: what makes it a template; empty where it is one task.
    """

    id: str
    intent: str
    checks: tuple[Check, ...] = ()
    answer: str | None = None
    left_out: frozenset[tuple[int, int]] = frozenset()
    template: str | None = None
    parameters: tuple[Parameter, ...] = ()


def kept_actions(
    recording: Recording, left_out: frozenset[tuple[int, int]]
) -> tuple[DoneAction, ...]:
    """Return what the reference does."""
    return tuple(
        one
        for step in recording.steps
        for place, one in enumerate(step.actions)
        if (step.number, place) not in left_out
    )


def files_of(recording: Recording, draft: TaskDraft) -> tuple[str, ...]:
    """Return the names of the files that the reference uploads."""
    uploads = [one.action for one in kept_actions(recording, draft.left_out)]
    names = [name for one in uploads if isinstance(one, UploadTo) for name in one.files]
    return tuple(dict.fromkeys(names))


def missing_in(recording: Recording, draft: TaskDraft) -> tuple[str, ...]:
    """Say what keeps a draft from being a task, a sentence each; nothing where it is one."""
    found = [
        f"“{one.element.name or one.element.path}” cannot be played: {one.why_not}"
        if one.element is not None
        else f"a step cannot be played: {one.why_not}"
        for one in kept_actions(recording, draft.left_out)
        if one.action is None
    ]
    if not any(check.decides for check in draft.checks):
        found.append("no end check is chosen: nothing would decide whether the task was done")
    wants_answer = any(one.locate.subject is Subject.ANSWER for one in draft.checks)
    if wants_answer and not draft.answer:
        found.append("a check reads the answer, and there is none: say it")
    return tuple(found)


def task_of(recording: Recording, draft: TaskDraft) -> dict[str, Any]:
    """Return the task as a suite writes it."""
    head = recording.head
    actions = [one.action for one in kept_actions(recording, draft.left_out)]
    reference = [_written(one) for one in actions if one is not None]
    files = files_of(recording, draft)
    stop = {"do": "stop", **({"answer": draft.answer} if draft.answer else {})}
    written: dict[str, Any] = {
        "id": draft.id,
        "family": str(_family(draft.checks)),
        "intent": draft.intent,
        "sites": list(head.sites),
        **({"roles": dict(head.roles)} if head.roles else {}),
        "start": list(head.start),
        "worlds": ["offline"],
        **({"given": head.given} if head.given else {}),
        **({"template": draft.template} if draft.template else {}),
        **_limits(len(reference) + 1),
        **({"files": list(files)} if files else {}),
        "checks": [
            one.model_dump(mode="json", exclude_unset=True, exclude_none=True)
            for one in _named_apart(draft.checks)
        ],
        "reference": [*reference, stop],
    }
    try:
        Task.model_validate(with_files(written, recording.folder / HEAD_FILE))
    except ValueError as cause:
        found = mistakes(cause, written) if isinstance(cause, ValidationError) else [cause]
        said = str(found[0])
        raise TaskError(f"the recording is no task yet: {said}") from cause
    return written


def tasks_of(recording: Recording, draft: TaskDraft) -> list[dict[str, Any]]:
    """Return the task; where there are parameters, that of each row, the recorded one first."""
    task = task_of(recording, draft)
    if not draft.parameters:
        return [task]
    template = _template(task, draft)
    try:
        return list(Template.model_validate(template).written(()))
    except ValidationError as cause:
        raise TaskError(f"the template: {mistakes(cause, template)[0]}") from cause
    except PlaceholderError as cause:
        raise TaskError(f"the template: {cause}") from cause


def suite_of(recording: Recording, draft: TaskDraft, name: str) -> str:
    """Return a suite with the one task, or the one template, as its file holds it."""
    task = task_of(recording, draft)
    head = {"suite": name, "version": 1, "title": name.replace("-", " ").capitalize()}
    document: dict[str, Any] = {**head, "tasks": [task]}
    if draft.parameters:
        template = _template(task, draft)
        # `instances` lets `arena tasks instantiate` draw the rows in another order by a seed.
        drawn = {"id": template["id"], "instances": len(template["params"]), **template}
        document = {**head, "templates": [drawn]}
    return f"{MARK} {recording.head.start[0]}`.\n{suite_yaml(document)}"


def _template(task: Mapping[str, Any], draft: TaskDraft) -> dict[str, Any]:
    """Return a task as a template: where a recorded value stands, its parameter stands."""
    names = [one.name for one in draft.parameters]
    rows = {len(one.values) for one in draft.parameters}
    if len(rows) > 1 or len(set(names)) < len(names):
        raise TaskError("each parameter has a name of its own, and all have as many values")
    if rows == {1}:
        raise TaskError(f"“{names[0]}” has one value: a template has another one for each task")
    params = [
        {one.name: one.values[row] for one in draft.parameters}
        for row in range(len(draft.parameters[0].values))
    ]
    if len({tuple(one.values()) for one in params}) < len(params):
        raise TaskError("two tasks of the template have the same values")
    marked = {key: _marked(task[key], draft.parameters) for key in _VARY & task.keys()}
    marked["checks"] = [
        {**one, "name": old["name"]}
        for one, old in zip(marked["checks"], task["checks"], strict=True)
    ]
    if marked["intent"] == task["intent"]:
        raise TaskError("what an agent is asked to do holds none of the recorded values")
    _refuse_encoded(task, marked, draft.parameters)
    whole = {key: marked.get(key, one) for key, one in task.items()}
    fixed = {key: one for key, one in whole.items() if key not in {"id", "template"}}
    return {"id": draft.id, "params": params, "task": fixed}


def _refuse_encoded(
    task: Mapping[str, Any], marked: Mapping[str, Any], parameters: Sequence[Parameter]
) -> None:
    """Refuse values that a placeholder cannot stand for: as an address or a query writes them."""
    texts = [*_texts(task[key] for key in sorted(_VARY & task.keys()))]
    queries = [one for one in _texts(marked["checks"]) if one.startswith("SELECT ")]
    for one in parameters:
        value = one.values[0]
        for form in {quote(value), quote(value, safe=""), quote_plus(value)} - {value}:
            found = next((text for text in texts if form in text), None)
            if found is not None:
                raise TaskError(f"“{value}” stands as “{form}” in {found}: no parameter can")
        quoted = next((other for other in one.values if set(other) & set("'\\")), None)
        if quoted is not None and any(f"{{{one.name}}}" in sql for sql in queries):
            raise TaskError(f"“{quoted}” would end a text of a query: choose another check")


def _texts(written: Any) -> Iterator[str]:
    match written:
        case str():
            yield written
        case Mapping():
            yield from _texts(written.values())
        case Iterable():
            for one in written:
                yield from _texts(one)
        case _:
            pass


def _marked(written: Any, parameters: Sequence[Parameter]) -> Any:
    """Return texts with placeholders in place of whole words; nothing else is a placeholder."""
    match written:
        case str():
            return _marked_text(written, parameters)
        case Mapping():
            return {
                key: one if key in _FIXED else _marked(one, parameters)
                for key, one in written.items()
            }
        case Sequence():
            return [_marked(one, parameters) for one in written]
        case _:
            return written


def _marked_text(text: str, parameters: Sequence[Parameter]) -> str:
    by_value = {one.values[0]: one.name for one in parameters}
    longest_first = sorted(by_value, key=len, reverse=True)
    words = "|".join(re.escape(one) for one in longest_first)

    def replaced(found: re.Match[str]) -> str:
        if found["braced"]:
            return f"{{{{{found['braced']}}}}}"
        return f"{{{by_value[found[0]]}}}"

    return re.sub(rf"{_BRACED}|(?<!\w)(?:{words})(?!\w)", replaced, text)


def save(recording: Recording, draft: TaskDraft, path: Path) -> None:
    """Write the suite; one that was recorded before takes its place."""
    missing = missing_in(recording, draft)
    if missing:
        raise TaskError(f"the recording is no task yet: {missing[0]}")
    text = suite_of(recording, draft, suite_name(path))
    _copy_files(files_of(recording, draft), recording.folder, path)
    write_suite(text, path, MARK)


def _copy_files(names: Sequence[str], folder: Path, path: Path) -> None:
    """Put the files that were chosen beside the suite; none takes the place of another."""
    beside, kept = path.parent / FOLDER, folder / FOLDER
    try:
        contents = {beside / one: (kept / one).read_bytes() for one in names}
        for place, content in contents.items():
            if place.exists() and place.read_bytes() != content:
                message = f"{place} is there, and is another file than the one that was chosen"
                raise UsageError(message, hint="save the task into another folder")
        for place, content in contents.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    except OSError as cause:
        raise UsageError(f"{beside} cannot be written: {cause.strerror}") from cause


def _limits(actions: int) -> dict[str, Any]:
    steps = min(500, _SLACK * actions)
    return {"limits": {"steps": steps}} if steps > _LEAST_STEPS else {}


def _family(checks: Sequence[Check]) -> Family:
    subjects = {one.locate.subject for one in checks if one.when is When.END}
    if Subject.CHANGES in subjects or Subject.ROWS in subjects:
        return Family.CONTENT
    return Family.INFORMATION if Subject.ANSWER in subjects else Family.NAVIGATION


def _written(action: ReferenceAction) -> dict[str, Any]:
    """Return an action with what tells it from others, and nothing that goes without saying."""
    written = action.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    return {"do": action.do, **{key: one for key, one in written.items() if key != "do"}}


def _named_apart(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return checks whose names are all different."""
    seen: dict[str, int] = {}
    named: list[Check] = []
    for one in checks:
        seen[one.name] = seen.get(one.name, 0) + 1
        again = f"-{seen[one.name]}" if seen[one.name] > 1 else ""
        named.append(one.model_copy(update={"name": f"{one.name[:56]}{again}"}))
    return tuple(named)


def reworded(recording: Recording, words: Mapping[tuple[int, int], str]) -> Recording:
    """Return a recording some of whose actions say something else."""
    steps = tuple(
        step.model_copy(
            update={
                "actions": tuple(
                    _says(one, words.get((step.number, place)))
                    for place, one in enumerate(step.actions)
                )
            }
        )
        for step in recording.steps
    )
    return replace(recording, steps=steps)


def _says(one: DoneAction, text: str | None) -> DoneAction:
    if text is None or one.action is None:
        return one
    match one.action:
        case TypeInto():
            field = "text"
        case SelectIn():
            field = "option"
        case GotoPage():
            field = "page"
        case OnElement():
            field = "name"
        case _:
            return one
    return one.model_copy(update={"action": one.action.model_copy(update={field: text})})
