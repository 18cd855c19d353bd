"""What playing a suite must show, judged on trials made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from make_evidence import ANSWER, key_node, make_check, make_evidence, make_step, stop_step

from evaluators.evidence import Evidence, Fault, UnscoredReason
from evaluators.scores import score
from orchestrator.linting.proof import _idle_fails, _oracle_passes
from orchestrator.store.rescoring import ScoredTrial
from orchestrator.store.trials import Trial
from sites.worlds import World
from tasks.schema import Task

CHECKS = (
    key_node("shop:/sale", name="sale"),
    make_check(ANSWER, "42", name="price"),
)
PARTS_AT_PRICE = {"outcome": "failure", "at": "price", "why": "the price has changed"}
PARTS_AT_SALE = {"outcome": "failure", "at": "sale", "why": "the route was renamed"}
DRIFTS = {"outcome": "unscored: drifted", "why": "the product is gone"}


def played(
    evidence: Evidence, parts: dict[str, Any] | None = None, checks: Sequence[object] = CHECKS
) -> ScoredTrial:
    task = Task.model_validate(
        {
            "id": "task",
            "family": "information",
            "intent": "What does it cost?",
            "sites": ["shop"],
            "start": ["shop:/"],
            "checks": list(checks),
            "reference": [{"do": "stop", "answer": "42"}],
            "parts": parts,
        }
    )
    return ScoredTrial(
        trial=Trial("task", evidence.world),
        task=task,
        evidence=evidence,
        score=score(task.checks, evidence, task.requires),
        was="",
        folder="",
    )


def went(answer: str, world: World, *, there: str = "shop:/sale") -> Evidence:
    return make_evidence(
        make_step(0), make_step(1, there), stop_step(2), answer=answer, world=world
    )


def broke(reason: UnscoredReason, world: World) -> Evidence:
    return make_evidence(fault=Fault(reason=reason, message="it broke"), world=world, ended=None)


ON, OFF = World.ONLINE, World.OFFLINE


def test_a_reference_that_succeeds_in_both_worlds_is_proven() -> None:
    assert _oracle_passes(played(went("42", OFF))) is None
    assert _oracle_passes(played(went("42", ON))) is None


def test_a_reference_that_fails_is_a_finding_that_says_why() -> None:
    found = _oracle_passes(played(went("43", OFF)))
    assert found is not None
    assert "price" in found


def test_a_reference_that_breaks_off_proves_nothing() -> None:
    found = _oracle_passes(played(broke(UnscoredReason.INFRA, OFF)))
    assert found is not None
    assert "infra" in found


def test_worlds_part_as_said() -> None:
    assert _oracle_passes(played(went("43", ON), PARTS_AT_PRICE)) is None
    assert _oracle_passes(played(broke(UnscoredReason.DRIFTED, ON), DRIFTS)) is None


def test_a_parting_that_does_not_happen_is_a_finding() -> None:
    assert _oracle_passes(played(went("42", ON), PARTS_AT_PRICE)) is not None
    assert _oracle_passes(played(went("42", ON), DRIFTS)) is not None


def test_a_parting_at_another_check_is_a_finding() -> None:
    found = _oracle_passes(played(went("43", ON, there="shop:/other"), PARTS_AT_PRICE))
    assert found is not None
    assert "sale" in found
    assert _oracle_passes(played(went("42", ON, there="shop:/other"), PARTS_AT_SALE)) is None


def test_a_parting_excuses_nothing_offline() -> None:
    assert _oracle_passes(played(went("43", OFF), PARTS_AT_PRICE)) is not None


def test_doing_nothing_must_fail() -> None:
    nothing = make_evidence(make_step(0, "shop:/"), stop_step(1))
    assert _idle_fails(played(nothing)) is None


def test_a_task_that_nothing_solves_is_a_finding() -> None:
    trivial = (make_check({"by": "url"}, "shop:/", name="home"),)
    nothing = make_evidence(make_step(0, "shop:/"), make_step(1, at="shop:/"))
    found = _idle_fails(played(nothing, checks=trivial))
    assert found is not None
    assert "success" in found


def test_idle_that_meets_a_key_node_is_a_finding() -> None:
    given_away = make_evidence(make_step(0), make_step(1, "shop:/sale"))
    found = _idle_fails(played(given_away))
    assert found is not None
    assert "key node" in found


def test_idle_may_find_the_world_drifted_where_that_is_said() -> None:
    gone = broke(UnscoredReason.DRIFTED, ON)
    assert _idle_fails(played(gone, DRIFTS)) is None
    assert _idle_fails(played(gone)) is not None
