"""A secret of the environment that an agent answers with stands in nothing that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence

from arena_core.actions import AnswerStatus, Stop, Type
from arena_core.worlds import World
from evaluators.evidence import (
    AgentResponse,
    Evidence,
    StepEvidence,
)
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.secrets import without_secrets

SECRET = 'hunter2"ä\\2'


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("SHORT_KEY", "1891")  # part of ordinary words
    monkeypatch.setenv("WORD_TOKEN", "offline")  # Arena's own


def step(index: int, action: Type | Stop, thought: str | None = None) -> StepEvidence:
    return StepEvidence(
        index=index,
        action=action,
        url="http://wiki.arena.test/",
        logical=None,
        title="",
        thought=thought,
        error=f"no {SECRET}",
    )


def evidence(answer: str) -> Evidence:
    return tiny_evidence(
        answer=answer,
        response=AgentResponse(
            status=AnswerStatus.DONE, data={SECRET: [answer, 1891]}, reason=answer
        ),
        ended_because=f"crashed: {answer}",
        steps=(
            step(1, Type(element=1, text=SECRET), f"I type {SECRET}"),
            step(2, Stop(answer=answer)),
        ),
    )


def test_no_text_of_evidence_holds_one(tmp_path: Path) -> None:
    clean = without_secrets(evidence(f"it is {SECRET} of 1891"))
    assert (clean.answer, clean.world) == ("it is [redacted] of 1891", World.OFFLINE)
    run = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    run.save_evidence("a", clean, {})
    written = (run.evidence_folder("a") / "evidence.json").read_text()
    assert "hunter2" not in written
    assert run.evidence("a") == clean.model_copy(update={"run": "r1"})
    assert clean.response is not None
    assert clean.response.data == {"[redacted]": ["it is [redacted] of 1891", 1891]}


def test_evidence_without_one_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD_TOKEN", "")
    plain = evidence("1891").model_copy(update={"steps": (), "response": None})
    assert without_secrets(plain) is plain
