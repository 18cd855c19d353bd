"""What looking itself may do: nothing; and where an application writes when it is read, proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.authoring.proof.prover import Prover
from orchestrator.episode import snapshot
from orchestrator.runs.events import EpisodeEnded, ProgressNote, RunEvent
from orchestrator.sandbox.engine.engine import Engine
from sites.registry import load_registry
from tasks.loader import Selection, load_source, select_tasks

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=1)]

SUITE = Path(__file__).with_name("broken.yaml")


async def told() -> list[RunEvent]:
    """Prove one sound task, and return what was told."""
    events: list[RunEvent] = []
    source = load_source(str(SUITE))
    async with await Engine.connect() as engine:
        prover = Prover(registry=load_registry(), engine=engine, on_event=events.append)
        tasks = select_tasks(source.suite, Selection(ids=("sound",)))
        findings = await prover.prove(source, tasks)
    assert findings == ()
    return events


def ended(events: list[RunEvent]) -> list[str]:
    return [
        f"{one.key.world} {one.score.outcome}" for one in events if isinstance(one, EpisodeEnded)
    ]


async def test_a_reference_is_looked_at_once_and_played_once_more_after_a_detour() -> None:
    assert ended(await told()) == ["offline success"] * 2


async def test_where_looking_left_traces_the_reference_is_played_again_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moved = {"wiki": "Handler_write moved by 1"}
    monkeypatch.setattr(snapshot, "moved_between", lambda *_: moved)
    events = await told()
    assert ended(events) == ["offline success"] * 3  # seen, unseen, and after a detour
    [note] = [one.text for one in events if isinstance(one, ProgressNote) and "traces" in one.text]
    assert note == "looking left traces (wiki: Handler_write moved by 1): sound unseen"
