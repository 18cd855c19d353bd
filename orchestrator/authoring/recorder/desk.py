"""What the page shows and takes: a recording, its checks, and their task; with its routes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena_core.errors import TaskError
from arena_core.names import counted
from evaluators.changes import read_change, said
from evaluators.checks import Check
from orchestrator.authoring.recorder import proposals, reading, task_text
from orchestrator.authoring.recorder.capture import PersonCapture
from orchestrator.authoring.recorder.proposals import Proposal
from orchestrator.authoring.recorder.recording import (
    HEAD_FILE,
    DoneAction,
    RecordedStep,
    Recording,
    picture_name,
)
from orchestrator.authoring.recorder.task_text import Parameter, TaskDraft
from orchestrator.authoring.recorder.trying import Bench, Tried, asked_by
from orchestrator.local_pages.serving import serve_page
from sites.faults import mistakes
from sites.registry import SiteRegistry
from tasks.lint.linter import lint_suite
from tasks.reference import GotoPage, OnElement, ReferenceAction, SelectIn, TypeInto
from tasks.schema import Suite
from tasks.sources import with_files

_MOST_ROWS: Final = 12
_MOST_BODY: Final = 200_000
_A_CHECK: Final = "{name: a, when: end, locate: {by: answer}, match: {how: exact, value: a}}"
_Words = Annotated[str, Field(max_length=20_000)]
_Place = Annotated[str, Field(pattern=r"^\d{1,4}-\d{1,3}$")]


class DraftSaid(BaseModel):
    """What the page says of the task; every text is bounded.

    Attributes:
        chosen: keys of proposals.
        shows_file: the task is shown as a file.
        left_out: actions, as `STEP-PLACE`; `reworded` what is written in their place.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(max_length=61)]
    intent: _Words
    answer: _Words = ""
    template: Annotated[str, Field(max_length=61)] = ""
    own: _Words = ""
    shows_file: bool = False
    chosen: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=500)] = ()
    left_out: Annotated[tuple[_Place, ...], Field(max_length=2000)] = ()
    reworded: Annotated[dict[_Place, _Words], Field(max_length=2000)] = Field(default_factory=dict)
    parameters: Annotated[tuple[Parameter, ...], Field(max_length=10)] = ()


class MergeSaid(BaseModel):
    """A step becomes one with the step before it, or its own again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: Annotated[int, Field(ge=0, le=9999)]
    merged: bool


@dataclass(slots=True)
class Desk:
    """A recording on the desk, while it grows and afterwards.

    Attributes:
        current: the recording as it stands.
        out: the file that the task is saved in.
        capture: who follows the person; None for a recording that was opened again.
        siblings: recordings of other tasks like it.
        on_saved: called when the task was saved.
    """

    current: Callable[[], Recording]
    registry: SiteRegistry
    out: Path
    capture: PersonCapture | None = None
    siblings: Sequence[Recording] = ()
    on_saved: Callable[[], None] = lambda: None
    is_over: bool = False
    _looked: dict[str, Any] = field(default_factory=dict)
    _merged: set[int] = field(default_factory=set)

    def prepare(self) -> None:
        """Load what reads checks, for which the first answer would wait."""
        own_check(_A_CHECK)

    @property
    def is_running(self) -> bool:
        return self.capture is not None and not self.capture.stopped.is_set()

    def stop(self) -> None:
        if self.capture is not None:
            self.capture.stopped.set()

    @property
    def recording(self) -> Recording:
        """The recording with the steps that were made one."""
        return reading.joined(self.current(), self._merged)

    def merge(self, said_: MergeSaid) -> None:
        """Make a step one with the step before it, or its own again."""
        numbers = [step.number for step in self.current().steps]
        if said_.step not in numbers[2:]:
            raise TaskError(f"step {said_.step}: there is no step before it to merge it with")
        (self._merged.add if said_.merged else self._merged.discard)(said_.step)

    def recording_shown(self) -> dict[str, Any]:
        """Return the filmstrip as JSON."""
        recording = self.recording
        before: dict[str, frozenset[str]] = {
            site: frozenset(texts) for site, texts in recording.head.idle.items()
        }
        steps = []
        for step, after in zip_longest(recording.steps, recording.steps[1:]):
            most = step.number + len(self._merged) if after is None else after.number - 1
            inner = sorted(self._merged & {*range(step.number + 1, most + 1)})
            steps.append({**_step_shown(step, before), "merged": inner})
            before |= {site: frozenset(texts) for site, texts in step.changes.items()}
        return {
            "name": recording.head.name,
            "is_running": self.is_running,
            "is_over": self.is_over,
            "state": f"{self._merged} {len(self.current().steps)} {recording.end is not None}",
            "status": self._status(recording),
            "steps": steps,
        }

    def picture(self, name: str) -> bytes | None:
        recording = self.current()
        if name not in {picture_name(step.number) for step in recording.steps}:
            return None
        path = recording.folder / name
        return path.read_bytes() if path.is_file() else None

    async def key_nodes(self, number: int) -> list[dict[str, Any]]:
        """Return what a step may be known by, each tried at once."""
        recording = self.recording
        step = next((one for one in recording.steps if one.number == number), None)
        if step is None or number == 0:
            return []
        return await self._tried(proposals.of_step(step, recording.head.start), None)

    async def drafted(self, draft: DraftSaid) -> dict[str, Any]:
        """Return what the task is so far: the checks at its end, what is missing, its file."""
        ends = proposals.of_end(self.recording, draft.answer or None)
        own, faults = own_check(draft.own)
        made, whole = self._made(draft, own)
        missing = [*faults, *task_text.missing_in(whole, made)]
        text = ""
        try:
            missing += self._linted(whole, made)
            if draft.shows_file:  # the most of the work, with many steps
                text = task_text.suite_of(whole, made, made.id)
        except TaskError as error:
            missing.append(error.message)
        return {
            "ends": await self._tried(ends, draft.answer or None),
            "own": [] if own is None else [(await self._try(own, draft.answer or None)).reason],
            "missing": list(dict.fromkeys(missing)),
            "yaml": text,
        }

    async def save(self, draft: DraftSaid) -> dict[str, Any]:
        """Write the task."""
        if missing := (await self.drafted(draft))["missing"]:
            raise TaskError(f"nothing was saved: {missing[0]}")
        made, whole = self._made(draft, own_check(draft.own)[0])
        task_text.save(whole, made, self.out)
        self.on_saved()
        return {"path": str(self.out), "next": f"arena tasks lint {self.out} --prove"}

    async def likely(self, answer: str | None) -> dict[str, str]:
        """Return the labels of the checks that fit best and hold only at the end, by their keys."""
        recording = self.recording
        nodes = [proposals.of_step(one, recording.head.start) for one in recording.steps[1:]]
        found = [*chain(*nodes), *proposals.of_end(recording, answer)]
        likely = [one for one in found if one.likely]
        return {
            one.key: one.label for one in likely if (await self._try(one.check, answer)).is_good
        }

    def _status(self, recording: Recording) -> str:
        done = counted(sum(len(step.actions) for step in recording.steps), "action")
        if self.is_running:
            return f"Recording: {done} so far. Do the task in the other window."
        if recording.end is None and self.capture is not None:
            return f"{done}. Reading what was changed…"
        notes = recording.end.notes if recording.end else ()
        return " ".join([f"{done}.", *notes])

    def _made(self, said_: DraftSaid, own: Check | None) -> tuple[TaskDraft, Recording]:
        """Return the draft, and the recording with the words that were written into it."""
        recording = self.recording
        asked = {key.partition("-")[0] for key in said_.chosen}
        known = {
            one.key: one.check
            for step in recording.steps[1:]
            if str(step.number) in asked
            for one in proposals.of_step(step, recording.head.start)
        }
        ends = proposals.of_end(recording, said_.answer or None)
        known |= {one.key: one.check for one in ends}
        checks = [known[key] for key in dict.fromkeys(said_.chosen) if key in known]
        draft = TaskDraft(
            id=said_.id,
            intent=said_.intent,
            checks=(*checks, *([own] if own else [])),
            answer=said_.answer or None,
            left_out=frozenset(map(_place, said_.left_out)),
            template=said_.template or None,
            parameters=said_.parameters,
        )
        words = {_place(key): text for key, text in said_.reworded.items()}
        return draft, task_text.reworded(recording, words)

    def _linted(self, recording: Recording, draft: TaskDraft) -> list[str]:
        beside = recording.folder / HEAD_FILE
        tasks = [with_files(one, beside) for one in task_text.tasks_of(recording, draft)]
        suite = Suite.model_validate(
            {"suite": draft.id, "version": 1, "title": draft.id, "tasks": tasks}
        )
        found = [one.message for one in lint_suite(suite, self.registry) if one.is_error]
        bench = self._bench(draft.answer)
        for row, task in enumerate(suite.tasks[1:], start=1):
            if all(bench.attempt(one).is_met for one in task.checks if one.decides):
                values = ", ".join(one.values[row] for one in draft.parameters)
                found.append(f"what was done passes the task of “{values}” too: no check differs")
        return found

    async def _tried(self, found: Sequence[Proposal], answer: str | None) -> list[dict[str, Any]]:
        shown = []
        for one in found:
            tried = await self._try(one.check, answer)
            shown.append(
                {
                    "key": one.key,
                    "label": one.label,
                    "likely": one.likely,
                    "is_end": one.step is None,
                    "trial": str(tried.trial),
                    "said": tried.reason,
                }
            )
        return shown

    async def _try(self, check: Check, answer: str | None) -> Tried:
        """Try a check; the running sites are asked once, when the person has stopped."""
        bench = self._bench(answer)
        if bench.needs_look(check) and self.capture is not None and self.capture.may_look:
            located = await self.capture.look(check)
            if located is not None:
                self._looked[asked_by(check)] = located
        return bench.attempt(check)

    def _bench(self, answer: str | None) -> Bench:
        return Bench(
            recording=self.recording, answer=answer, siblings=self.siblings, looked=self._looked
        )


def own_check(text: str) -> tuple[Check | None, list[str]]:
    """Read a check that somebody wrote, and say what is wrong with it; nothing for no text."""
    if not text.strip():
        return None, []
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return None, [f"your check is no YAML: {str(error).partition(chr(10))[0]}"]
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    try:
        return Check.model_validate(found), []
    except (ValidationError, RecursionError) as error:
        if isinstance(error, RecursionError):
            return None, ["your check is nested too deep"]
        return None, [f"your check: {mistakes(error, found)[0]}"]


def _place(key: str) -> tuple[int, int]:
    step, _, place = key.partition("-")
    return int(step), int(place)


def _step_shown(step: RecordedStep, before: dict[str, frozenset[str]]) -> dict[str, Any]:
    evidence = step.evidence
    new = [
        f"{site}: {said(change)}"
        for site, texts in step.changes.items()
        for text in texts
        if text not in before.get(site, frozenset()) and (change := read_change(text)) is not None
    ]
    more = [f"and {len(new) - _MOST_ROWS} more"] if len(new) > _MOST_ROWS else []
    return {
        "number": step.number,
        "picture": evidence.screenshot,
        "url": evidence.url,
        "logical": evidence.logical,
        "title": evidence.title,
        "heading": step.heading,
        "actions": [_action_shown(place, one) for place, one in enumerate(step.actions)],
        "rows": [*new[:_MOST_ROWS], *more],
    }


def _action_shown(place: int, one: DoneAction) -> dict[str, Any]:
    name = "" if one.element is None else one.element.name or one.element.path
    return {
        "place": place,
        "said": reading.said(one.action) if one.action is not None else name or "a page",
        "words": None if one.action is None else words_of(one.action),
        "others": one.others,
        "problem": one.why_not,
    }


def words_of(action: ReferenceAction) -> str | None:
    """Return the words of an action that may be others; None where there are none."""
    match action:
        case TypeInto(text=str() as text):
            return text
        case SelectIn(option=str() as option):
            return option
        case GotoPage(page=str() as page):
            return page
        case OnElement(name=str() as name):
            return name
        case _:
            return None


def serve_desk(desk: Desk, port: int = 0) -> AbstractAsyncContextManager[str]:
    """Serve the page of a desk, as `serve_page` does."""

    async def recording(_: web.Request) -> web.Response:
        return web.json_response(desk.recording_shown())

    async def step(request: web.Request) -> web.Response:
        number = int(request.match_info["number"])
        return web.json_response({"checks": await desk.key_nodes(number)})

    async def picture(request: web.Request) -> web.Response:
        found = desk.picture(request.match_info["name"])
        if found is None:
            raise web.HTTPNotFound(text="there is no such picture")
        return web.Response(body=found, content_type="image/webp")

    async def merge(request: web.Request) -> web.Response:
        desk.merge(MergeSaid.model_validate_json(await request.read()))
        return web.json_response({})

    async def draft(request: web.Request) -> web.Response:
        return web.json_response(await desk.drafted(await _said(request)))

    async def stop(_: web.Request) -> web.Response:
        desk.stop()
        return web.json_response({})

    async def save(request: web.Request) -> web.Response:
        return web.json_response(await desk.save(await _said(request)))

    routes = (
        web.get("/api/recording", recording),
        web.get(r"/api/steps/{number:\d{1,4}}", step),
        web.get(r"/pictures/{name:step-\d{3}\.webp}", picture),
        web.post("/api/merge", merge),
        web.post("/api/draft", draft),
        web.post("/api/stop", stop),
        web.post("/api/save", save),
    )
    return serve_page("orchestrator.authoring.recorder", routes, port=port, most_bytes=_MOST_BODY)


async def _said(request: web.Request) -> DraftSaid:
    return DraftSaid.model_validate_json(await request.read())
