from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator.runner import worker
from orchestrator.runner.worker import Worker
from orchestrator.store.trials import Trial


async def test_only_an_attempt_that_is_repeated_waits_for_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []

    async def stillness() -> None:
        done.append("still")

    async def attempt(_self: Worker, part: Any, _task: object) -> None:
        done.append(f"attempt {part.attempt}")

    async def play(_trial: object, _task: object, perform: Any) -> None:
        await perform(1)
        await perform(2)

    monkeypatch.setattr(worker, "await_stillness", stillness)
    monkeypatch.setattr(worker, "Part", SimpleNamespace)
    monkeypatch.setattr(Worker, "_attempt", attempt)
    request = SimpleNamespace(
        tasks=[SimpleNamespace(id="a-task")],
        suite=SimpleNamespace(suite="a-suite"),
        agent=None,
        screenshots=None,
        witness=None,
    )
    lane = cast("Any", SimpleNamespace(request=request, bookkeeper=SimpleNamespace(play=play)))
    trial = cast("Trial", SimpleNamespace(task="a-task", repeat=1))

    await Worker(lane=lane, browsers=cast("Any", None), live=None).play(trial)

    assert done == ["attempt 1", "still", "attempt 2"]
