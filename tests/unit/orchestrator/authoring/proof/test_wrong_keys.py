"""Wrong keys fail where all else was done right, judged on plays made by hand."""

from __future__ import annotations

from typing import Any

import pytest
from support.runs.make_evidence import make_evidence, make_step, stop_step

from arena_core.worlds import World
from evaluators.evidence import Located
from evaluators.lint import Severity, TaskFault
from evaluators.scores import score
from orchestrator.authoring.proof.attacks import attacks_fail
from orchestrator.authoring.proof.rules import Played, ProofRecorder, judged
from orchestrator.episode.snapshot import EpisodeSnapshot
from tasks.schema import Task

NUMBER = {"how": "answer", "type": "number", "value": 42}
ANSWER = {"by": "answer"}
DB = {"by": "db", "site": "shop", "sql": "SELECT total"}


def make_task(match: dict[str, Any], locate: dict[str, Any] = ANSWER, said: str = "42") -> Task:
    check = {
        "name": "total",
        "when": "end",
        "locate": locate,
        "match": match,
        "computed": {"site": "shop", "sql": "SELECT 42"},
        "wrong_keys": [{"name": "cancelled-counted", "site": "shop", "sql": "SELECT 47"}],
    }
    return Task.model_validate(
        {
            "id": "task",
            "family": "information",
            "intent": "What is the total?",
            "sites": ["shop"],
            "start": ["shop:/"],
            "checks": [check],
            "worlds": ["offline"],
            "reference": [{"do": "press", "keys": "Tab"}, {"do": "stop", "answer": said}],
        }
    )


def told(
    task: Task, wrong: tuple[str, ...], error: str | None = None, total: str = "42"
) -> list[TaskFault]:
    """Return what a proof says where so much was found for the wrong key."""
    steps = (make_step(0, at="shop:/"), make_step(1, "shop:/sale"), stop_step(2))
    here = task.checks[0].locate.by == "db"
    located = [Located(check="total", values=(total,))] if here else []
    evidence = make_evidence(*steps, answer=total, located=located)
    wanted = ProofRecorder().wants(task, World.OFFLINE, 1) or ()
    assert [one.name for one in wanted][:2] == ["total", "total~cancelled-counted"]
    asked = (
        Located(check="total", values=("42",)),
        Located(check="total~cancelled-counted", values=wrong, error=error),
    )
    before = (Located(check="total", values=("0",)),) if here else ()
    untouched = EpisodeSnapshot(step=1, located=before, asked=asked, moved={})
    played = Played(
        task=task,
        world=World.OFFLINE,
        evidence=evidence,
        score=score(task.checks, evidence),
        untouched=untouched,
        before_last=None,
    )
    return [*judged(played, ()), *attacks_fail(played)]


def test_a_wrong_key_that_fails_is_proven() -> None:
    assert told(make_task(NUMBER), ("47",)) == []


def test_a_wrong_key_that_is_the_key_fails_the_proof_by_name() -> None:
    [fault] = told(make_task(NUMBER), ("42.00",))
    assert fault.at == ("checks", 0, "wrong_keys", 0)
    assert fault.severity is Severity.ERROR
    assert "wrong key 'cancelled-counted' is the key in another spelling" in fault.message


def test_a_wrong_key_that_cannot_be_asked_fails_the_proof() -> None:
    [fault] = told(make_task(NUMBER), (), error="no such column")
    assert fault.at == ("checks", 0, "wrong_keys", 0)
    assert "cannot be computed: no such column" in fault.message


def test_a_wrong_key_that_the_check_takes_in_the_references_own_words_passes() -> None:
    loose = {"how": "regex", "value": "42|it is 4."}
    [fault] = told(make_task(loose, said="it is 42"), ("47",), total="it is 42")
    assert fault.message == "wrong key 'cancelled-counted' passes: 47"


@pytest.mark.parametrize(("match", "count"), [("42", 0), ("4[27]", 1)])
def test_a_wrong_key_that_is_written_where_the_check_looks_is_judged_there(
    match: str, count: int
) -> None:
    task = make_task({"how": "regex", "value": match}, DB)
    assert len(told(task, ("47",))) == count
