"""A task's own right and wrong wordings are judged by its own checks, without playing it."""

from __future__ import annotations

from typing import Any

import pytest

from sites.registry import load_registry
from tasks.lint.linter import lint_suite
from tasks.schema import Suite

TEXT = {
    "name": "says-who",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "answer", "type": "name", "value": "Ada Latham"},
}
REASON = {
    "name": "says-why",
    "when": "end",
    "locate": {"by": "answer", "part": "reason"},
    "match": {"how": "include", "value": ["not sold"]},
}
TASK = {
    "id": "who",
    "family": "information",
    "intent": "Who wrote the latest review of the kettle?",
    "sites": ["shop"],
    "start": ["shop:/"],
    "worlds": ["offline"],
    "checks": [TEXT],
    "reference": [{"do": "stop", "answer": "Ada Latham"}],
}
IMPOSSIBLE = {
    **TASK,
    "family": "unachievable",
    "why": "it is not sold",
    "checks": [REASON],
    "reference": [{"do": "infeasible", "reason": "It is not sold here."}],
}


def found(**fields: Any) -> list[str]:
    suite = Suite.model_validate(
        {"suite": "s", "version": 1, "title": "A suite", "tasks": [{**TASK, **fields}]}
    )
    findings = lint_suite(suite, load_registry())
    return [f"{one.where}: {one.message}" for one in findings if "says" in one.where]


def test_wordings_that_the_checks_tell_apart_are_no_finding() -> None:
    assert not found(says=["It was Ada Latham.", "Latham, Ada"], says_not=["Not Ada Latham", ""])


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"says": ["Ada Latham", "Ada Lathom"]}, "tasks.0.says.1"),
        ({"says_not": ["Ada Lathom", "It was Ada Latham."]}, "tasks.0.says_not.1"),
    ],
)
def test_a_wording_that_is_judged_otherwise_is_found_where_it_stands(
    fields: dict[str, Any], where: str
) -> None:
    [finding] = found(**fields)
    assert finding.startswith(where)


def test_of_what_cannot_be_done_reasons_are_judged() -> None:
    assert not found(**IMPOSSIBLE, says=["The shop has it not sold."], says_not=["It is sold out."])
    [finding] = found(**IMPOSSIBLE, says=["It is sold out."])
    assert "says-why" in finding


def test_wordings_without_a_check_that_reads_them_are_found() -> None:
    visit = {**TEXT, "locate": {"by": "url"}, "match": {"how": "exact", "value": "shop:/"}}
    assert "no check reads the answer" in found(checks=[visit], says=["Ada Latham"])[0]
