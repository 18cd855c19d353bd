"""What reading a suite keeps no other client waiting for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from support.tasks.small_suites import bells, write_suite
from support.worlds.worldless_service import Serving

from orchestrator import Arena
from tasks import loader, sources
from tasks.lint import linter

_LONGEST_S = 20.0  # then a loop that is blocked is free again, and the test fails


@pytest.fixture
def may_go_on() -> Event:
    return Event()


def held(work: Callable[..., Any], may_go_on: Event) -> Callable[..., Any]:
    """Return what does some work, but not before it may."""

    def waits_first(*given: Any, **named: Any) -> Any:
        may_go_on.wait(_LONGEST_S)
        return work(*given, **named)

    return waits_first


async def test_a_suite_that_takes_long_to_read_delays_no_other_client(
    serving: Serving, may_go_on: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(slots=2) as service:
        name = await service.begun()
        monkeypatch.setattr(loader, "read_source", held(sources.read_source, may_go_on))
        beginning = asyncio.create_task(service.create())
        await service.until_free(0)
        ended = (await service.finish(name, answer="47")).json()
        assert (ended["outcome"], beginning.done()) == ("success", False)
        may_go_on.set()
        assert (await beginning).status_code == 201


async def test_neither_does_looking_for_a_tasks_mistakes(
    tmp_path: Path, may_go_on: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = str(write_suite(tmp_path, bells("one")))
    [task] = loader.load_suite(suite).tasks
    for module, work in ((loader, "read_source"), (linter, "lint_suite")):
        may_go_on.clear()
        with monkeypatch.context() as patched:
            patched.setattr(module, work, held(getattr(module, work), may_go_on))
            looking = asyncio.create_task(Arena()._episodes._linted_suite(suite, task))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await asyncio.shield(looking)
            may_go_on.set()
            assert task in (await looking).tasks
