"""Runs of imported tasks made by hand: what a pack for the task's publisher is written from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena_core.actions import Action, Click, Goto, Stop, Type
from arena_core.worlds import World
from evaluators.evidence import ActedElement, ElementEvent, Ended, Evidence, StepEvidence
from evaluators.scorers.base import OriginalTask
from evaluators.scores import score
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.lock import hash_suite
from orchestrator.runs.store.run_folder import RunFolder
from support.runs.made_run import picture
from support.runs.tiny_run import make_lock
from tasks.schema import Suite, Task

SITE = "http://wiki.arena.test"


def published(
    format_name: str,
    record: Mapping[str, Any],
    task_id: str,
    bases: Mapping[str, str] | None = None,
) -> OriginalTask:
    """Return a task as its publisher wrote it."""
    return OriginalTask(
        format=format_name,
        id=task_id,
        file_sha256="0" * 64,
        record=dict(record),
        bases=dict(bases or {}),
    )


def task(name: str, original: OriginalTask | None = None) -> Task:
    """Return a task that an answer decides."""
    made = Task.model_validate(
        {
            "id": name,
            "family": "information",
            "intent": "Tell when the kettle was invented.",
            "sites": ["wiki"],
            "start": ["wiki:/"],
            "worlds": ["offline", "online"],
            "checks": [
                {
                    "name": "answer",
                    "when": "end",
                    "locate": {"by": "answer"},
                    "match": {"how": "number", "value": 1891},
                }
            ],
        }
    )
    return made.model_copy(update={"original": original})


def step(index: int, action: Action | None, path: str = "/", **more: Any) -> StepEvidence:
    """Return a step with a screenshot, unless it is the end."""
    given = {
        "url": f"{SITE}{path}",
        "logical": f"wiki:{path}",
        "title": f"Page {path}",
        "screenshot": None if isinstance(action, Stop) else f"step-{index:03d}.png",
        **more,
    }
    return StepEvidence(index=index, action=action, **given)


def acted(event: ElementEvent, name: str, value: str | None = None) -> ActedElement:
    """Return what the page watcher saw."""
    return ActedElement(
        event=event,
        path=f"#{name}",
        tag="input",
        role="textbox",
        name=name,
        text="",
        value=value,
        logical="wiki:/",
    )


def evidence(name: str, answer: str | None = "1891", **more: Any) -> Evidence:
    """Return an episode that looks a kettle up in three steps, and answers."""
    search = acted(ElementEvent.INPUT, "search", "kettle")
    steps = (
        step(0, None),
        step(1, Type(element=4, text="kettle", submit=True), "/search", acted=(search,)),
        step(2, Click(element=7), "/wiki/Kettle", thought="that is it"),
        step(3, Goto(url=f"{SITE}/wiki/A"), "/wiki/A", error="the page cannot be opened"),
        step(4, Stop(answer=answer), "/wiki/A", thought="it says so"),
    )
    given = {
        "suite": "published",
        "task": name,
        "world": World.OFFLINE,
        "agent": "chat",
        "repeat": 0,
        "attempt": 1,
        "started_at": "2026-11-21T00:00:00.000+00:00",
        "seconds": 2.5,
        "answer": answer,
        "ended": Ended.STOPPED,
        "steps": steps,
        **more,
    }
    return Evidence(**given)


def run(
    path: Path, tasks: Sequence[Task], episodes: Iterable[Evidence], *, agent: str = "chat"
) -> RunFolder:
    """Write a run of these episodes, with the pictures that their steps name."""
    played = tuple(episodes)
    suite = Suite(suite="published", version=1, title="Published tasks", tasks=tuple(tasks))
    began = make_lock()
    lock = began.model_copy(
        update={
            "run": path.name,
            "suite": suite.suite,
            "suite_hash": hash_suite(suite),
            "tasks": tuple(one.id for one in suite.tasks),
            "worlds": tuple(dict.fromkeys(one.world for one in played)),
            "repeats": 1 + max(one.repeat for one in played),
            "agent": began.agent.model_copy(update={"name": agent, "kind": agent}),
        }
    )
    folder = RunFolder.create(path, lock, suite)
    known = {one.id: one for one in suite.tasks}
    with folder.writing() as ledger:
        for one in played:
            key = EpisodeKey(one.task, one.world, one.repeat)
            number = ledger.start(key)
            shots = {
                found.screenshot: picture(64 + found.index, 36)
                for found in one.steps
                if found.screenshot is not None
            }
            folder.save_evidence(key.folder(number), one, shots)
            outcome = score(known[one.task].checks, one, ()).outcome
            ledger.end(key, number, AttemptState.FINISHED, str(outcome))
    return folder
