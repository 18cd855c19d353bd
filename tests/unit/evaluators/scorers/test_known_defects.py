"""Known defects of published rulers: by the compatible scorer as there, and not in the strict one.

Each row is one answer or page, what the published code makes of it, and what is right.
`test_known_defects.py` beside this folder holds more of the strict side.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from quick_cases import ONE_QUICK
from support.runs.make_evidence import ANSWER, key_node, make_check, make_evidence, make_step
from support.tasks.make_original import make_original, played, webarena_task
from support.tasks.published_tasks import network_event, verified_task

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.checks import match
from evaluators.evidence import Ended, Evidence
from evaluators.network import RequestRecord
from evaluators.scorers.verified.scorer import VERIFIED_SCORER
from evaluators.scorers.webarena.scorer import WEBARENA_SCORER
from evaluators.scorers.webcanvas import WEBCANVAS_SCORER
from evaluators.scores import score
from evaluators.verdicts import CheckStatus, verdicts
from tasks.imports.suite_file import import_suite

PAGE = RequestRecord(index=0, step=0, method="GET", url="http://shop.arena.test/", status=200)


def strictly(answer: str, **match_: Any) -> bool:
    check = make_check(ANSWER, match_.pop("value", None), how="answer", **match_)
    return match(check, [answer], World.OFFLINE).met


def in_webarena(answer: str, reference: dict[str, Any]) -> bool:
    task = webarena_task("string_match", answers=reference)
    return WEBARENA_SCORER.score(task, played(answer), {}).value == 1.0


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
    return VERIFIED_SCORER.score(task, evidence, {}).value == 1.0


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


@ONE_QUICK
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
    assert WEBARENA_SCORER.score(task, evidence, {}).value == 1.0
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
    found = WEBCANVAS_SCORER.score(task, _two_pages("https://shop.test/stores"), {})
    assert found.value == 0.0
    assert _visited("shop:/stores", "shop:/stores")


FORUM = "http://webarena-reddit.arena.test"


def _both(record: dict[str, Any], evidence: Evidence, folder: Path) -> tuple[float | None, str]:
    """Return what a task of webarena-verified's gives an episode there, and strictly here."""
    published = folder / "set.json"
    published.write_text(json.dumps([record]))
    [task] = import_suite("webarena-verified", [published]).tasks
    assert task.original is not None
    there = VERIFIED_SCORER.score(task.original, evidence, {})
    return there.value, str(score(task.checks, evidence).outcome)


def _sent(path: str, body: object = None) -> RequestRecord:
    """Make a visit of a page, or a JSON document that was sent."""
    kind = {"accept": "text/html"} if body is None else {"content-type": "application/json"}
    return RequestRecord(
        index=0 if body is None else 1,
        step=0 if body is None else 1,
        method="GET" if body is None else "POST",
        url=f"{FORUM}{path}",
        logical=f"webarena-reddit:{path}",
        site="webarena-reddit",
        status=200 if body is None else 201,
        request_headers=kind,
        request_body=None if body is None else json.dumps(body),
    )


def _stopped(*requests: RequestRecord, path: str = "/") -> Evidence:
    page = f"webarena-reddit:{path}"
    steps = (make_step(0, page), make_step(1, page, action=Stop()))
    return make_evidence(*steps, ended=Ended.STOPPED).model_copy(update={"network": requests})


def test_webarena_verifieds_start_page_is_reached_by_doing_nothing(tmp_path: Path) -> None:
    """As of 356, 757, 758 and 761 to 767: what is asked for is the page that the task starts on."""
    nothing, idle = {"type": "null"}, _stopped(_sent("/"))
    start = verified_task(nothing, None, network_event("__REDDIT__/"), kind="navigate")
    assert _both(start, idle, tmp_path) == (1.0, "unscored: check_error")
    books = verified_task(nothing, None, network_event("__REDDIT__/f/books"), kind="navigate")
    assert _both(books, idle, tmp_path) == (0.0, "failure")
    there = _stopped(_sent("/"), _sent("/f/books"), path="/f/books")
    assert _both(books, there, tmp_path) == (1.0, "success")


@pytest.mark.parametrize(
    ("link", "there", "strict"),
    [
        (f"{FORUM}/f/books", 0.0, "success"),  # as of 562 to 565: what every right agent writes
        (f"{FORUM}/f/films", 0.0, "failure"),
        ("__REDDIT__/f/books", 1.0, "failure"),
    ],
)
def test_webarena_verifieds_placeholder_in_a_document_is_the_url_that_it_stands_for(
    link: str, there: float, strict: str, tmp_path: Path
) -> None:
    document = network_event(
        "__REDDIT__/api/notes",
        http_method="POST",
        post_data={"$.text": "# Notes\n\n- [Books](__REDDIT__/f/books)"},
        response_status=201,
    )
    document["post_data_schema"] = {
        "type": "object",
        "properties": {"$.text": {"type": "string", "format": "markdown"}},
    }
    record = verified_task({"type": "null"}, None, document, kind="mutate")
    sent = _sent("/api/notes", {"text": f"# Notes\n\n- [Books]({link})"})
    assert _both(record, _stopped(_sent("/"), sent), tmp_path) == (there, strict)


def test_webarena_verifieds_gold_of_another_project_fails_every_agent(
    tmp_path: Path,
) -> None:
    """As of 566: the gold makes one project and asks for a document in another. Nobody passes."""
    made = network_event("__REDDIT__/api/projects", http_method="POST", response_status=201)
    written = network_event("__REDDIT__/api/rope-with", http_method="POST", response_status=201)
    record = verified_task({"type": "null"}, None, made, written, kind="mutate")
    right = (_sent("/api/projects", {"name": "rope"}), _sent("/api/rope", {"text": "Rope"}))
    assert _both(record, _stopped(_sent("/"), *right), tmp_path) == (0.0, "failure")
