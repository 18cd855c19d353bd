"""What looking itself may do: nothing; and where an application writes when it is read, proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.engine.engine import Engine
from orchestrator.episode import proof_hook
from orchestrator.proof.prover import Prover
from orchestrator.runner.events import ProgressNote, RunEvent, TrialEnded
from sites.atlas import load_atlas
from tasks.loader import load_source
from tasks.select import Selection, select_tasks

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=1)]

SUITE = Path(__file__).with_name("broken.yaml")


async def told() -> list[RunEvent]:
    """Prove one sound task, and return what was told."""
    events: list[RunEvent] = []
    source = load_source(str(SUITE))
    async with await Engine.connect() as engine:
        prover = Prover(atlas=load_atlas(), engine=engine, on_event=events.append)
        tasks = select_tasks(source.suite, Selection(ids=("sound",)))
        findings = await prover.prove(source, tasks)
    assert findings == ()
    return events


def ended(events: list[RunEvent]) -> list[str]:
    return [
        f"{one.trial.world} {one.score.outcome}" for one in events if isinstance(one, TrialEnded)
    ]


async def test_a_reference_is_looked_at_once_and_played_once_more_after_a_detour() -> None:
    assert ended(await told()) == ["offline success"] * 2


async def test_where_looking_left_traces_the_reference_is_played_again_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moved = {"wiki": "Handler_write moved by 1"}
    monkeypatch.setattr(proof_hook, "moved_between", lambda *_: moved)
    events = await told()
    assert ended(events) == ["offline success"] * 3  # seen, unseen, and after a detour
    [note] = [one.text for one in events if isinstance(one, ProgressNote) and "traces" in one.text]
    assert note == "looking left traces (wiki: Handler_write moved by 1): sound unseen"
