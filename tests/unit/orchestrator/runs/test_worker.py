from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator.agents.choice import make_agent
from orchestrator.authoring.proof.prover import ProofAgents
from orchestrator.runs import worker
from orchestrator.runs.jobs import Job, PlayedRun
from orchestrator.runs.run_budget import RunBudget
from orchestrator.runs.spec import RunSettings
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.worker import Worker
from tasks.loader import load_suite


@pytest.mark.parametrize(
    ("isolated", "between"),
    [(False, ["still"]), (True, [])],
    ids=["in the machine's network", "in a network of its own"],
)
async def test_only_a_repeated_attempt_in_the_machines_network_waits_until_that_stands_still(
    monkeypatch: pytest.MonkeyPatch, *, isolated: bool, between: list[str]
) -> None:
    done: list[str] = []

    async def stillness() -> None:
        done.append("still")

    async def attempt(_self: Worker, _job: object, spec: Any, _meter: object) -> None:
        done.append(f"attempt {spec.attempt}")

    async def play(_episode: object, _task: object, perform: Any, _spree: object) -> None:
        await perform(1)
        await perform(2)

    monkeypatch.setattr(worker, "await_stillness", stillness)
    monkeypatch.setattr(worker, "AttemptSpec", SimpleNamespace)
    monkeypatch.setattr(Worker, "_attempt", attempt)
    asked = SimpleNamespace(
        tasks=[SimpleNamespace(id="a-task")],
        suite=SimpleNamespace(suite="a-suite"),
        agent=SimpleNamespace(name="an agent", observations=frozenset()),
        settings=RunSettings(),
        proof_hook=None,
    )
    request = cast("Any", asked)
    attempt_runner = cast("Any", SimpleNamespace(play=play, budget=RunBudget(), ledger=None))
    key = cast("EpisodeKey", SimpleNamespace(task="a-task", repeat=1))

    environments = cast("Any", SimpleNamespace(isolated=isolated))

    worker_of_one = Worker(
        interrupted=asyncio.Event(),
        environments=environments,
    )
    run = PlayedRun(name="a-run", request=request, attempt_runner=attempt_runner)
    await worker_of_one.play(Job(run, key))

    assert done == ["attempt 1", *between, "attempt 2"]


@pytest.mark.parametrize(
    ("page", "forms"), [("click-test", {"axtree"}), ("count-sides", {"axtree", "screenshot"})]
)
def test_a_task_is_seen_in_the_forms_that_its_reference_is_played_by(
    page: str, forms: set[str]
) -> None:
    task = next(task for task in load_suite("miniwob@1").tasks if task.id == f"{page}-s1")
    for maker in (make_agent("oracle"), ProofAgents(make_agent("oracle"))):
        assert worker.forms_of(maker, task) == forms
    assert worker.forms_of(make_agent("idle"), task) == set()
