"""Known defects of published rulers: in the compatible reading as there, and not in the strict one.

Each row is one answer or page, what the published code makes of it, and what is right.
`test_known_defects.py` beside this folder holds more of the strict side.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from make_evidence import ANSWER, key_node, make_check, make_evidence, make_step
from make_original import make_original, played, webarena_task

from arena_core.worlds import World
from evaluators.checks import match
from evaluators.evidence import Evidence
from evaluators.network import RequestRecord
from evaluators.readings.verified.reading import VERIFIED_READING
from evaluators.readings.webarena.reading import WEBARENA_READING
from evaluators.readings.webcanvas.reading import WEBCANVAS_READING
from evaluators.verdicts import CheckStatus, verdicts

PAGE = RequestRecord(index=0, step=0, method="GET", url="http://shop.arena.test/", status=200)


def strictly(answer: str, **match_: Any) -> bool:
    check = make_check(ANSWER, match_.pop("value", None), how="answer", **match_)
    return match(check, [answer], World.OFFLINE).met


def in_webarena(answer: str, reference: dict[str, Any]) -> bool:
    task = webarena_task("string_match", answers=reference)
    return WEBARENA_READING.score(task, played(answer), {}).value == 1.0


def in_verified(data: object, expected: object, form: str) -> bool:
    items = {"type": form} if form in {"string", "number"} else {"type": "string", "format": form}
    response = {
        "evaluator": "AgentResponseEvaluator",
        "results_schema": {"type": "array", "items": items},
        "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": [expected]},
    }
    task = make_original({"sites": ["shopping"], "eval": [response]}, "webarena-verified")
    said = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": data}
    evidence = played(json.dumps(said)).model_copy(update={"network": (PAGE,)})
    return VERIFIED_READING.score(task, evidence, {}).value == 1.0


@pytest.mark.parametrize(
    ("defect", "answer", "reference", "strict", "is_right"),
    [
        (
            "a number in another",
            "2012",
            {"must_include": ["12"]},
            {"type": "number", "value": 12},
            False,
        ),
        (
            "a denied answer",
            "not 47",
            {"must_include": ["47"]},
            {"type": "number", "value": 47},
            False,
        ),
        (
            "a hedged answer",
            "47 or 48",
            {"must_include": ["47"]},
            {"type": "number", "value": 47},
            False,
        ),
        (
            "cents (issue 211)",
            "$0.00",
            {"must_include": ["0"]},
            {"type": "money", "value": 0},
            True,
        ),
        ("thousands", "1,234", {"exact_match": "1234"}, {"type": "number", "value": 1234}, True),
        (
            "a name in a list",
            "Ann, Bob, Cy",
            {"must_include": ["Bob"]},
            {"type": "name", "value": "Bob"},
            False,
        ),
    ],
)
def test_webarenas_answers(
    *, defect: str, answer: str, reference: dict[str, Any], strict: dict[str, Any], is_right: bool
) -> None:
    assert in_webarena(answer, reference) is not is_right, defect
    assert strictly(answer, **strict) is is_right, defect


@pytest.mark.parametrize(
    ("defect", "data", "expected", "form", "answer", "strict", "is_right"),
    [
        (
            "a pattern for an answer",
            ["^.*$"],
            "Bob",
            "string",
            "^.*$",
            {"type": "text", "value": "Bob"},
            False,
        ),
        (
            "every number at once",
            [list(range(50))],
            47,
            "number",
            "46 47 48",
            {"type": "number", "value": 47},
            False,
        ),
        (
            "money within 0.1",
            ["0.14"],
            0.05,
            "currency",
            "$0.14",
            {"type": "money", "value": 0.05},
            False,
        ),
        (
            "thousands as decimals",
            ["$1,234"],
            1234,
            "currency",
            "$1,234",
            {"type": "money", "value": 1234},
            True,
        ),
        (
            "another street number",
            ["124 Main Street"],
            "123 Main Street",
            "location-name",
            "124 Main Street",
            {"type": "name", "value": "123 Main Street"},
            False,
        ),
    ],
)
def test_webarena_verifieds_answers(
    *,
    defect: str,
    data: object,
    expected: object,
    form: str,
    answer: str,
    strict: dict[str, Any],
    is_right: bool,
) -> None:
    assert in_verified(data, expected, form) is not is_right, defect
    assert strictly(answer, **strict) is is_right, defect


def _visited(logical: str, value: str) -> bool:
    [verdict] = verdicts([key_node(value)], make_evidence(make_step(1, logical)))
    return verdict.status is CheckStatus.MET


def test_webarenas_longer_path_is_another_page_strictly() -> None:
    task = webarena_task("url_match", reference_url="__REDDIT__/f/book")
    evidence = played(url="http://forum.arena.test/f/bookshop")
    assert WEBARENA_READING.score(task, evidence, {}).value == 1.0
    assert not _visited("forum:/f/bookshop", "forum:/f/book")


def test_webarenas_step_limit_is_no_answer_strictly() -> None:
    assert in_webarena("Early stop: Reach max steps 30", {"must_include": ["30"]})
    assert not strictly("Early stop: Reach max steps 30", type="number", value=30)


def _two_pages(last: str) -> Evidence:
    opened = make_step(0, "shop:/").model_copy(update={"url": "about:blank"})
    moved = make_step(1, "shop:/stores").model_copy(update={"url": last})
    return make_evidence(opened, moved)


def test_webcanvas_never_sees_the_last_page_and_the_strict_check_does() -> None:
    content = {"key": "", "reference_answer": "/stores", "url": "https://shop.test/stores"}
    node = {"match_function_name": "url_included_match", "content": content}
    task = make_original({"evaluation": [node]}, "mind2web-live", {})
    found = WEBCANVAS_READING.score(task, _two_pages("https://shop.test/stores"), {})
    assert found.value == 0.0
    assert _visited("shop:/stores", "shop:/stores")
