"""A run of many episodes as they are: ten steps, what the agent saw at each, and a picture."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena_core.actions import Click, Stop
from arena_core.worlds import World
from evaluators.evidence import (
    ActedElement,
    ElementEvent,
    Ended,
    Evidence,
    Receipt,
    StepEvidence,
    Timings,
    UrlVisit,
)
from evaluators.scores import score
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE, StepLines
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.run_folder import RunFolder
from support.runs import made_run

_STEPS: Final = 10
_TASKS: Final = 100
_SAWN: Final = "[12] link 'Lantern Kettle' clickable, 39.99\n" * 100


def make_many(path: Path, count: int) -> RunFolder:
    """Write a run of `count` episodes: a hundred tasks in both worlds, as often as it takes."""
    tasks = [made_run._task(f"task-{number:03d}", "What is it?" * 3) for number in range(_TASKS)]
    suite = type(made_run.SUITE).model_validate(
        {"suite": "many", "version": 1, "title": "Many", "tasks": tasks}
    )
    repeats = count // (_TASKS * len(World))
    lock = made_run._lock(suite).model_copy(
        update={"tasks": tuple(task.id for task in suite.tasks), "repeats": repeats}
    )
    folder = RunFolder.create(path, lock, suite)
    observations = StepLines(())
    for number in range(_STEPS):
        observations.add({"step": number, "parts": {"axtree": {"text": f"{number}\n{_SAWN}"}}})
    files = {OBSERVATIONS_FILE: observations.packed(), "step-000.png": made_run.picture()}
    rows = []
    for number, key in enumerate(_episodes(repeats)):
        evidence = _evidence(key, is_right=number % 3 != 0, minute=number // 60)
        folder.save_evidence(key.folder(1), evidence, files)
        outcome = score(suite.tasks[0].checks, evidence).outcome
        rows.append((key.task, key.world, key.repeat, str(outcome), evidence.started_at))
    with folder.writing():
        pass  # it makes the ledger
    with sqlite3.connect(folder.ledger_path) as ledger:
        ledger.executemany(
            "INSERT INTO attempt (task, world, repeat, attempt, state, outcome, started_at)"
            " VALUES (?, ?, ?, 1, 'finished', ?, ?)",
            rows,
        )
    ledger.close()
    return folder


def _episodes(repeats: int) -> Iterator[EpisodeKey]:
    for repeat in range(repeats):
        for number in range(_TASKS):
            for world in World:
                yield EpisodeKey(f"task-{number:03d}", world, repeat)


def _evidence(key: EpisodeKey, *, is_right: bool, minute: int) -> Evidence:
    receipt = Receipt(
        site="shop", strategy="rewind", seconds=0.2, before="b", after="g", golden="g"
    )
    return Evidence(
        suite="many",
        task=key.task,
        world=key.world,
        agent="many",
        repeat=key.repeat,
        attempt=1,
        started_at=f"2026-11-21T{minute // 60:02d}:{minute % 60:02d}:00.000+00:00",
        seconds=12.5,
        answer="it is £39.99" if is_right else f"it is £{minute}.01, I believe",
        ended=Ended.STOPPED,
        steps=tuple(_step(number) for number in range(_STEPS)),
        receipts=(receipt,),
        input_tokens=5000 + minute,
        output_tokens=300,
        usd=0.012,
    )


def _step(index: int) -> StepEvidence:
    url = f"http://shop.arena.test/product/{index + 7}"
    logical = f"shop:/product/{index + 7}"
    acted = ActedElement(
        event=ElementEvent.CLICK,
        path=f"html > body > div.page > ul > li:nth-of-type({index}) > form > button",
        tag="button",
        role="button",
        name="Add to basket",
        text="Add to basket",
        value=None,
        logical=logical,
    )
    action = None if index == 0 else Click(element=index)
    return StepEvidence(
        index=index,
        action=Stop(answer="39.99") if index == _STEPS - 1 else action,
        url=url,
        logical=logical,
        title=f"Item {index}",
        visits=(UrlVisit(tab=0, url=url, logical=logical),),
        acted=(acted, acted),
        requests=11,
        timings=Timings(decide_ms=900.0, act_ms=30.0, settle_ms=250.0, observe_ms=90.0),
        thought="The item is on this page, so it goes into the basket next." * 3,
        screenshot="step-000.png",
    )
