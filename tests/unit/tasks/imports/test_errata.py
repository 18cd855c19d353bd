"""Golds that are known to be wrong are corrected on import, and the published record stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.runs.make_evidence import make_evidence, make_step
from support.tasks.reference_data import WEBARENA, reference_half

from arena_core.errors import UnknownNameError
from evaluators.scorers.webarena.scorer import WEBARENA_SCORER
from evaluators.scores import score
from evaluators.verdicts import OutcomeKind
from tasks.imports.errata import Erratum, errata_of
from tasks.imports.suite_file import ImportedSuite, import_suite

RATING = "What is the rating of the cable? Please round to the nearest whole number"


def webarena(task: int, **evaluation: Any) -> dict[str, Any]:
    return {
        "sites": ["shopping"],
        "task_id": task,
        "storage_state": None,
        "start_url": "__SHOPPING__",
        "intent": RATING,
        "eval": {"eval_types": ["string_match"], "reference_url": "", **evaluation},
    }


def imported(folder: Path, *records: dict[str, Any], errata: bool = True) -> ImportedSuite:
    path = folder / "test.raw.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return import_suite("webarena", [path], errata=errata)


def answers(*wanted: str) -> dict[str, Any]:
    return {"reference_answers": {"must_include": list(wanted)}}


def test_the_strict_check_asks_for_the_corrected_gold_and_the_record_stays(tmp_path: Path) -> None:
    record = webarena(386, **answers("65 |OR| 3"))
    [task] = imported(tmp_path, record).tasks
    [plain] = imported(tmp_path, record, errata=False).tasks
    [right] = imported(tmp_path, webarena(386, **answers("3")), errata=False).tasks
    assert task.checks == right.checks != plain.checks
    assert task.original is not None
    assert task.original.record == record
    assert "'65 |OR| 3' is '3'" in task.original.errata[0]
    assert plain.original is not None
    assert plain.original.errata == ()


def test_another_edition_without_the_mistake_stays_as_it_is(tmp_path: Path) -> None:
    [task] = imported(tmp_path, webarena(386, **answers("3 stars"))).tasks
    assert task.original is not None
    assert task.original.errata == ()


def test_the_mistake_of_one_task_is_none_of_another(tmp_path: Path) -> None:
    [task] = imported(tmp_path, webarena(387, **answers("65 |OR| 3"))).tasks
    assert task.original is not None
    assert task.original.errata == ()


def test_a_gold_that_is_corrected_already_is_not_corrected_twice(tmp_path: Path) -> None:
    page = {
        "url": "__SHOPPING__/f/Karaoke/edit",
        "locator": "document.querySelector('#forum_description').value",
        "required_contents": {"must_include": ["Place"]},
    }
    record = webarena(584, program_html=[page]) | {"sites": ["shopping"]}
    record["eval"]["eval_types"] = ["program_html"]
    [task] = imported(tmp_path, record).tasks
    assert task.original is not None
    assert task.original.errata == ()


def test_errata_that_are_asked_for_of_a_set_without_any_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="no errata of 'webharbor' are known; there are"):
        errata_of("webharbor")


RIGHT = {386: "3", 76: "Princeton University, Yale University, Harvard University"}


@pytest.mark.parametrize("task", RIGHT)
def test_a_right_answer_fails_by_the_published_gold_and_passes_by_the_corrected(task: int) -> None:
    half = reference_half(WEBARENA)
    [found] = [
        one
        for one in import_suite("webarena", [half], errata=True).tasks
        if one.original is not None and one.original.id == str(task)
    ]
    right = make_evidence(make_step(0), make_step(1), answer=RIGHT[task])
    assert found.original is not None
    assert WEBARENA_SCORER.score(found.original, right, {}).value == 0.0
    assert score(found.checks, right).outcome.kind is OutcomeKind.SUCCESS


@pytest.mark.parametrize("one", errata_of("webarena")["webarena"], ids=lambda one: one.task)
def test_what_is_said_to_be_published_is(one: Erratum) -> None:
    records = {
        str(record["task_id"]): record
        for record in json.loads(reference_half(WEBARENA).read_text(encoding="utf-8"))
    }
    if one.task not in records:
        pytest.skip("not in this half of the set")
    found: Any = records[one.task]
    for name in (one.field or "eval").split("."):
        found = found[name]
    assert one.published is None or one.published in json.dumps(found)
