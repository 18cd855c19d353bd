"""webarena-verified 1.2.3 as it was seen to score when it was run: one row a fact.

`test_verified_differential.py` holds the scorer against the package itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.tasks.make_original import make_original, played

from evaluators.evidence import Ended
from evaluators.network import RequestRecord
from evaluators.scorers.base import ScorerResult, ScorerStatus
from evaluators.scorers.verified.patterns import value_at
from evaluators.scorers.verified.scorer import VERIFIED_SCORER

SHOP = "http://shop.arena.test"
PAGE = RequestRecord(
    index=0,
    step=0,
    method="GET",
    url=f"{SHOP}/",
    status=200,
    request_headers={"accept": "text/html"},
)


def post(body: str = "a=1", *, index: int = 1, **more: Any) -> RequestRecord:
    given = {
        "index": index,
        "step": 1,
        "method": "POST",
        "url": f"{SHOP}/cart",
        "status": 302,
        "request_headers": {"content-type": "application/x-www-form-urlencoded"},
        "request_body": body,
        **more,
    }
    return RequestRecord.model_validate(given)


def task(
    kind: str = "retrieve",
    data: object = None,
    *requests: dict[str, Any],
    of: dict[str, Any] | None = None,
    **more: object,
) -> dict[str, Any]:
    """Make a task that retrieves data of a type, or asks for requests."""
    schema = {"type": "array", "items": of or {"type": "string"}} if data else {"type": "null"}
    expected = {"task_type": kind, "status": "SUCCESS", "retrieved_data": data}
    response = {"evaluator": "AgentResponseEvaluator", "results_schema": schema, **more}
    network = [{"evaluator": "NetworkEventEvaluator", **one} for one in requests]
    return {
        "task_id": 1,
        "sites": ["shopping"],
        "eval": [{**response, "expected": expected}, *network],
    }


def scored(
    record: dict[str, Any], answer: object, network: Sequence[RequestRecord] | None = (PAGE,)
) -> ScorerResult:
    said = answer if isinstance(answer, str) else json.dumps(answer)
    evidence = played(said).model_copy(
        update={"network": None if network is None else tuple(network)}
    )
    return VERIFIED_SCORER.score(make_original(record, "webarena-verified"), evidence, {})


def answered(data: object, *, kind: str = "RETRIEVE", status: object = "SUCCESS") -> dict[str, Any]:
    return {"task_type": kind, "status": status, "retrieved_data": data}


def typed(name: str) -> dict[str, Any]:
    return {"type": "string", "format": name}


@ONE_QUICK
@pytest.mark.parametrize(
    ("fact", "of", "expected", "said", "value"),
    [
        ("case, marks", None, ["Quest™ Band"], ["quest band"], 1),
        ("hyphens in words", None, ["Buffalo-Niagara"], ["Buffalo Niagara"], 1),
        ("not in numbers", None, ["123-4567"], ["123 4567"], 0),
        ("punctuation around it", None, ["It"], ['"It."'], 1),
        ("a bare value for a list of one", None, ["it"], "it", 1),
        ("one too many", None, ["it"], ["it", "that"], 0),
        ("one missing", None, ["it", "that"], ["it"], 0),
        ("any order", None, ["it", "that"], ["that", "it"], 1),
        ("a pattern of the agent's", None, ["it"], ["^.*$"], 1),
        ("a list of guesses is alternatives", None, ["it"], [["this", "it"]], 1),
        ("greedy, not bipartite", None, [["a", "b"], "a"], ["a", "b"], 0),
        ("greedy, the other way round", None, [["a", "b"], "a"], ["b", "a"], 1),
        ("a number", {"type": "number"}, [1234], ["1,234"], 1),
        ("in words", {"type": "number"}, [2], ["two"], 1),
        ("per cent", {"type": "number"}, [12], ["12%"], 0),
        ("decimal comma", {"type": "number"}, [1.2345], ["1.234,5"], 1),
        ("any number is true", {"type": "boolean"}, [True], [7], 1),
        ("yes and no, both", {"type": "boolean"}, [True], [["yes", "no"]], 1),
        ("money within 0.1", typed("currency"), [0.05], ["0.14"], 1),
        ("thousands are decimals", typed("currency"), [1.234], ["$1,234"], 1),
        ("so 1234 is missed", typed("currency"), [1234], ["$1,234"], 0),
        ("brackets are no minus", typed("currency"), [50], ["($50)"], 1),
        ("the first of amounts alone", typed("currency"), [[10, 20]], [20], 0),
        ("a clock", typed("duration"), ["95 s"], ["1:35"], 1),
        ("within three minutes", typed("duration"), ["10 min"], ["13 min"], 1),
        ("no unit", typed("duration"), ["90 min"], ["90"], 0),
        ("5k", typed("distance"), ["5 km"], ["5k"], 1),
        ("pint multiplies", typed("distance"), ["200 m"], ["1 200 m"], 1),
        ("similar names", typed("location-name"), ["Terminal A"], ["Terminal B"], 1),
        ("similar streets", typed("location-name"), ["123 Main Street"], ["124 Main Street"], 1),
        ("month first", typed("date"), ["2024-03-04"], ["03/04/2024"], 1),
        ("unless there is no such month", typed("date"), ["2024-04-13"], ["13/04/2024"], 1),
        ("a month", typed("month"), ["January"], ["jan"], 1),
        ("coordinates", typed("coordinates"), [[40.7, -74.0]], [{"lat": 40.7, "lng": -74.0}], 1),
        ("with letters they raise", typed("coordinates"), [[40.7, -74.0]], ["40.7N, 74W"], 0),
        ("a URL's last slash", typed("url"), [f"{SHOP}/a/"], [f"{SHOP}/A"], 1),
        ("repeated parameters", typed("url"), [f"{SHOP}/?t=1&t=2"], [f"{SHOP}/?t=1&t=3"], 1),
    ],
)
def test_retrieved_data(
    fact: str, of: dict[str, Any] | None, expected: object, said: object, value: float
) -> None:
    assert scored(task(data=expected, of=of), answered(said)).value == value, fact


@pytest.mark.parametrize(
    ("fact", "answer", "value"),
    [
        ("as asked", answered(["it"]), 1),
        ("in a fence", f"Here:\n```json\n{json.dumps(answered(['it']))}\n```", 1),
        (
            "the old name",
            {"performed_operation": "retrieve", "status": "success", "retrieved_data": "it"},
            1,
        ),
        ("another status", answered(["it"], status="NOT_FOUND_ERROR"), 0),
        ("another type of task", answered(["it"], kind="MUTATE"), 0),
        ("plain text", "it", 0),
        ("nothing", "", 0),
        ("a status is missing", {"task_type": "RETRIEVE", "retrieved_data": ["it"]}, 0),
    ],
)
def test_the_response_has_a_form(fact: str, answer: object, value: float) -> None:
    assert scored(task(data=["it"]), answer).value == value, fact


CART = {"url": "__SHOPPING__/cart", "http_method": "POST", "response_status": 302}


@pytest.mark.parametrize(
    ("fact", "config", "network", "value"),
    [
        ("sent", {"expected": CART}, [PAGE, post()], 1),
        ("not sent", {"expected": CART}, [PAGE], 0),
        ("refused by the site all the same", {"expected": CART}, [PAGE, post(status=302)], 1),
        ("another status", {"expected": CART}, [PAGE, post(status=200)], 0),
        ("the case of a path", {"expected": CART}, [post(url=f"{SHOP}/CART")], 1),
        ("further fields", {"expected": {**CART, "post_data": {"a": "1"}}}, [post("a=1&b=2")], 1),
        ("another value", {"expected": {**CART, "post_data": {"a": "1"}}}, [post("a=2")], 0),
        (
            "the last of several alone",
            {"expected": {**CART, "post_data": {"a": "1"}}},
            [post("a=1"), post("a=2", index=2)],
            0,
        ),
        (
            "any of several where it says so",
            {"expected": {**CART, "post_data": {"a": "1"}}, "last_event_only": False},
            [post("a=1"), post("a=2", index=2)],
            1,
        ),
        ("must not be sent", {"expected": CART, "should_not_exist": True}, [PAGE], 1),
        ("was sent", {"expected": CART, "should_not_exist": True}, [post()], 0),
        (
            "JSON by path",
            {"expected": {**CART, "post_data": {"$.note.text": "hi"}}},
            [
                post(
                    '{"note": {"text": "Hi"}}',
                    request_headers={"content-type": "application/json"},
                )
            ],
            1,
        ),
        (
            "by a pattern of names",
            {"expected": {**CART, "post_data": {"$.^note.*$": "hi"}}},
            [post("note7=hi")],
            1,
        ),
        (
            "a cookie of the answer",
            {"expected": {**CART, "response_cookies": {"m": "^.*added.*$"}}},
            [post(response_headers={"set-cookie": "m=was%20added; path=/"})],
            1,
        ),
        (
            "a file of source code is no request",
            {"expected": {"url": "__SHOPPING__/app.js"}},
            [PAGE.model_copy(update={"url": f"{SHOP}/app.js"})],
            0,
        ),
    ],
)
def test_requests(
    fact: str, config: dict[str, Any], network: Sequence[RequestRecord], value: float
) -> None:
    found = scored(task("mutate", None, config), answered(None, kind="MUTATE"), network)
    assert found.value == value, fact


def test_of_navigations_only_the_last_is_looked_at() -> None:
    two = [{"expected": {"url": f"__SHOPPING__/{name}"}} for name in "ab"]
    pages = [PAGE.model_copy(update={"url": f"{SHOP}/{name}"}) for name in "ab"]
    said = answered(None, kind="NAVIGATE")
    assert scored(task("navigate", None, two[1]), said, pages).value == 1.0
    assert scored(task("navigate", None, *two), said, pages).value == 0.0  # as of task 429


@pytest.mark.parametrize(
    ("fact", "record", "answer", "says"),
    [
        ("no status", task(data=["it"]), answered(["it"], status=None), "AttributeError"),
        (
            "a list of one expected (699, 700, 811)",
            task("mutate", None, {"expected": {**CART, "post_data": {"a": [1]}}}),
            answered(None, kind="MUTATE"),
            "Alternatives require 2+ items",
        ),
    ],
)
def test_where_an_evaluator_raises_the_scorer_says_crash(
    fact: str, record: dict[str, Any], answer: object, says: str
) -> None:
    found = scored(record, answer, [PAGE, post()])
    assert (found.status, found.value) == (ScorerStatus.CRASH, None), fact
    assert says in found.because


def test_no_request_at_all_is_an_error_even_for_a_right_answer() -> None:
    found = scored(task(data=["it"]), answered(["it"]), [])
    assert found.status is ScorerStatus.CRASH
    assert "Trace content list is empty" in found.because


def test_a_response_without_data_cannot_pass_where_the_task_leaves_it_out() -> None:
    record = task("retrieve")
    del record["eval"][0]["expected"]["retrieved_data"]  # as of task 319
    assert scored(record, answered(None)).value == 0.0


@SLOW
def test_an_agents_pattern_that_never_ends_is_a_crash_within_seconds() -> None:
    found = scored(task(data=["a" * 28 + "!"]), answered(["^(a+)+$"]))
    assert found.status is ScorerStatus.CRASH or found.value == 0.0
    slow = scored(task(data=["a" * 40 + "!"]), answered(["^(a|a)*$"]))
    assert slow.status is ScorerStatus.CRASH
    assert "does not come back" in slow.because


def test_requests_that_were_not_recorded_are_no_score() -> None:
    found = scored(task(data=["it"]), answered(["it"]), None)
    assert found.status is ScorerStatus.UNSCORED


def test_a_body_that_was_not_kept_is_no_score() -> None:
    lost = post(request_body=None, request_bytes=7_000_000)
    config = {"expected": {**CART, "post_data": {"a": "1"}}}
    found = scored(task("mutate", None, config), answered(None, kind="MUTATE"), [PAGE, lost])
    assert found.status is ScorerStatus.UNSCORED
    assert "was not kept" in found.because


def test_an_infeasible_end_is_the_status_of_what_is_not_allowed() -> None:
    record = task("mutate")
    record["eval"][0]["expected"]["status"] = "ACTION_NOT_ALLOWED_ERROR"
    evidence = played(ended=Ended.INFEASIBLE).model_copy(update={"network": (PAGE,)})
    original = make_original(record, "webarena-verified")
    assert VERIFIED_SCORER.score(original, evidence, {}).value == 1.0


def test_who_stops_without_a_word_says_that_it_is_done() -> None:
    for record, value in ((task("mutate"), 1.0), (task(data=["it"]), 0.0)):
        evidence = played().model_copy(update={"network": (PAGE,)})
        original = make_original(record, "webarena-verified")
        assert VERIFIED_SCORER.score(original, evidence, {}).value == value
        cut_off = evidence.model_copy(update={"ended": Ended.STEP_LIMIT})
        assert VERIFIED_SCORER.score(original, cut_off, {}).value == 0.0


def test_the_reason_of_a_difference_holds_values_as_they_are_compared() -> None:
    found = scored(task(data=["it"]), "")
    assert "expected {'task_type': 'retrieve', 'status': 'success'" in found.because
    wrong = {"task_type": "NAVIGATE", "status": "UNKNOWN_ERROR", "retrieved_data": ["it"]}
    # The first of several differences: in the order of the response, in every process.
    assert "agent_response.task_type" in scored(task(data=["it"]), wrong).because


def test_a_run_is_the_published_summary_and_errors_count() -> None:
    right, wrong = (scored(task(data=["it"]), answered([one])) for one in ("it", "no"))
    error = scored(task(data=["it"]), answered(["it"]), [])
    unknown = scored(task(data=["it"]), answered(["it"]), None)
    assert VERIFIED_SCORER.aggregate([right, wrong, error, unknown]) == {
        "success_rate": pytest.approx(1 / 3),
        "total": 3.0,
        "success_count": 1.0,
        "failure_count": 1.0,
        "error_count": 1.0,
    }


@pytest.mark.parametrize(
    ("body", "path", "found"),
    [
        ({"a": [{"b": 1}]}, "$.a[0].b", 1),
        ({"a": '[{"b": 1}]'}, "$.a[0].b", 1),
        ({"a": [{"b": 1}]}, "$.a[1].b", None),
        ({"a": None}, "$.a", None),
        ({"a": "text"}, "$.a[0]", "t"),
        ([], "$.a", None),
    ],
)
def test_a_path_finds_what_the_pinned_library_finds(body: Any, path: str, found: object) -> None:
    assert value_at(body, path) == found


def test_a_place_in_an_object_raises_as_in_the_pinned_library() -> None:
    """Later versions of it find nothing there: the published code is pinned to what raises."""
    with pytest.raises(KeyError):
        value_at({"a": {"0": {"b": 1}}}, "$.a[0].b")
