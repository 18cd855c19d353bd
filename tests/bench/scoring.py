"""How long it takes to score an episode again from its evidence, 800 KB of it."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.figures import Figure, Series, at_most

from arena_core.actions import Click
from arena_core.worlds import World
from evaluators.evidence import (
    ActedElement,
    ElementEvent,
    Ended,
    Evidence,
    Located,
    StepEvidence,
    Timings,
    UrlVisit,
)
from evaluators.scores import score
from orchestrator.runs.store.run_folder import RunFolder
from tasks.loader import load_source

_BYTES: Final = 800_000
_ROUNDS: Final = 50
_GOAL_MS: Final = 10
_TASK: Final = "shop-order-chess-set"


def scoring_figures() -> list[Figure]:
    """Read and score evidence of that size, against the checks of a task that has key nodes."""
    suite = load_source("demo").suite
    [task] = [task for task in suite.tasks if task.id == _TASK]
    text = long_evidence(_BYTES).model_dump_json().encode()
    both, alone = [], []
    with TemporaryDirectory(prefix="arena-bench-") as made:
        folder = RunFolder(Path(made))
        folder.evidence_folder(_TASK).mkdir(parents=True)
        (folder.evidence_folder(_TASK) / "evidence.json").write_bytes(text)
        for _ in range(_ROUNDS):
            began = time.perf_counter()
            evidence = folder.evidence(_TASK)
            read = time.perf_counter()
            score(task.checks, evidence, task.requires)
            ended = time.perf_counter()
            both.append((ended - began) * 1000)
            alone.append((ended - read) * 1000)
    what = f"scoring an episode of {len(text) / 1000:.0f} KB"
    return [
        at_most(f"{what}, ms (reference: its goal)", Series(alone), _GOAL_MS),
        at_most(f"{what}, read from the run's folder", Series(both), _GOAL_MS),
    ]


def long_evidence(least: int) -> Evidence:
    """Return evidence as long episodes leave it, of at least so many bytes.

    There are many visits and events in each step.
    """
    steps: list[StepEvidence] = []
    while True:
        steps += (_step(len(steps) + more) for more in range(10))
        evidence = _of(steps)
        if len(evidence.model_dump_json()) >= least:
            return evidence


def _of(steps: list[StepEvidence]) -> Evidence:
    return Evidence(
        suite="demo",
        task=_TASK,
        world=World.OFFLINE,
        agent="bench",
        repeat=0,
        attempt=1,
        started_at="2026-10-01T09:00:00+00:00",
        seconds=1.0,
        answer="12.50",
        ended=Ended.STOPPED,
        steps=tuple(steps),
    )


def _step(index: int) -> StepEvidence:
    url = f"http://shop.arena.test/catalogue/item_{index}/?page={index}"
    logical = f"shop:/catalogue/item_{index}/?page={index}"
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
    return StepEvidence(
        index=index,
        action=None if index == 0 else Click(element=index),
        url=url,
        logical=logical,
        title=f"Item {index}",
        visits=(UrlVisit(tab=0, url=url, logical=logical),) * 3,
        acted=(acted,) * 4,
        located=(Located(check="in the basket", values=("Chess set", "12.50")),),
        timings=Timings(act_ms=10.0),
        thought="The item is on this page, so it goes into the basket next.",
    )
