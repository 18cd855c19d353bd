"""WebArena-Verified's tasks become typed answers, and requests that must have been sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from make_evidence import make_evidence, make_step
from published_tasks import verified_task

from arena_core.actions import Stop
from arena_core.errors import TaskError
from evaluators.network import RequestRecord
from evaluators.responses import response_of
from evaluators.scores import score
from sites.atlas import Atlas
from tasks.imports.importing import import_suite
from tasks.lint import lint_suite
from tasks.schema import Suite, Task

Write = Callable[..., Path]
FORUM = "webarena-reddit"


def imported(write: Write, *records: dict[str, Any]) -> tuple[Task, ...]:
    return import_suite("webarena-verified", [write(list(records))]).tasks


def outcome(
    task: Task, answer: object, *requests: RequestRecord, left_on: str = f"{FORUM}:/"
) -> str:
    said = answer if isinstance(answer, str) else json.dumps(answer)
    evidence = make_evidence(make_step(0), make_step(1, left_on), answer=said).model_copy(
        update={"network": requests, "response": response_of(Stop(answer=said))}
    )
    return str(score(task.checks, evidence).outcome)


def responds(data: object = None, status: str = "SUCCESS", kind: str = "retrieve") -> object:
    return {"task_type": kind, "status": status, "retrieved_data": data, "error_details": None}


def sent(path: str, body: str = "", **fields: Any) -> RequestRecord:
    headers = {"content-type": "application/x-www-form-urlencoded"} if body else {}
    return RequestRecord.model_validate(
        {
            "index": 0,
            "step": 1,
            "method": "POST" if body else "GET",
            "url": f"http://{FORUM}.arena.test{path}",
            "logical": f"{FORUM}:{path}",
            "site": FORUM,
            "status": 302 if body else 200,
            "request_headers": headers,
            "request_body": body or None,
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("items", "gold", "right", "wrong"),
    [
        ({"type": "string"}, ["Lumaflex Band"], ["lumaflex band"], ["Lumaflex Bands"]),
        ({"type": "number"}, [2], [2], [3]),
        ({"type": "number", "format": "currency"}, [36.39], ["$36.39"], [36.4]),
        ({"type": "string", "format": "duration"}, ["7 min"], ["00:07:00"], ["8 min"]),
        ({"type": "string"}, ["a", "b"], ["b", "a"], ["a", "b", "c"]),
        (
            {"type": "object", "properties": {"mode": {"type": "string"}, "n": {"type": "number"}}},
            [{"mode": "driving", "n": 13}, {"mode": "walking", "n": 105}],
            [{"mode": "walking", "n": 105}, {"mode": "driving", "n": 13}],
            [{"mode": "walking", "n": 13}, {"mode": "driving", "n": 105}],
        ),
    ],
)
def test_data_is_compared_by_its_type(
    items: object, gold: object, right: object, wrong: object, write: Write
) -> None:
    [task] = imported(write, verified_task({"type": "array", "items": items}, gold))
    assert outcome(task, responds(right)) == "success"
    assert outcome(task, responds(wrong)) == "failure"
    assert outcome(task, responds(right, "NOT_FOUND_ERROR")) == "failure"


def test_a_pattern_in_the_answer_is_no_pattern(write: Write) -> None:
    [task] = imported(write, verified_task({"type": "array", "items": {"type": "string"}}, ["a"]))
    assert outcome(task, responds(["^.*$"])) == "failure"


def test_a_request_must_have_been_sent_with_its_fields(write: Write) -> None:
    event = {
        "evaluator": "NetworkEventEvaluator",
        "expected": {
            "url": ["__REDDIT__/submit", "__REDDIT__/submit/books"],
            "http_method": "POST",
            "post_data": {"title": "what to read"},
            "response_status": 302,
        },
    }
    [task] = imported(write, verified_task({"type": "null"}, None, event, kind="mutate"))
    done = responds(kind="mutate")
    assert task.family.value == "content"
    assert outcome(task, done, sent("/submit/books", "title=what+to+read")) == "success"
    assert outcome(task, done, sent("/submit/books", "title=nothing")) == "failure"
    assert outcome(task, done, sent("/submit", "title=what+to+read", status=200)) == "failure"
    assert outcome(task, done) == "failure"


def test_a_navigation_ends_where_it_leads(write: Write) -> None:
    event = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__REDDIT__/f/books"}}
    [task] = imported(write, verified_task({"type": "null"}, None, event, kind="navigate"))
    there = sent("/f/books")
    done = responds(kind="navigate")
    assert outcome(task, done, there, left_on=f"{FORUM}:/f/books") == "success"
    assert outcome(task, done, there, left_on=f"{FORUM}:/f/films") == "failure"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"url": "^.*/f/books$"}, "eval[1].expected.url: is a regular expression"),
        ({"url": "__REDDIT__/f", "post_data": {"a": "^x$"}}, "eval[1].expected.post_data.a"),
        ({"url": "__REDDIT__/f", "post_data": {"a": None}}, "eval[1].expected.post_data.a"),
    ],
)
def test_what_no_check_says_is_listed(spec: dict[str, Any], field: str, write: Write) -> None:
    event = {"evaluator": "NetworkEventEvaluator", "expected": spec}
    [task] = imported(write, verified_task({"type": "null"}, None, event, kind="mutate"))
    assert task.original is not None
    assert any(line.startswith(field) for line in task.original.untranslated)
    assert task.original.revision == "2"


def test_a_task_without_a_response_is_refused(write: Write) -> None:
    record = verified_task({"type": "null"}, None)
    record["eval"] = [{"evaluator": "NetworkEventEvaluator", "expected": {"url": "__REDDIT__/"}}]
    with pytest.raises(TaskError, match=r"\[0\]\.eval: holds no AgentResponseEvaluator"):
        imported(write, record)


def test_its_suite_lints(write: Write, webarena_atlas: Atlas) -> None:
    event = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__REDDIT__/f/books?a=1"}}
    path = write([verified_task({"type": "null"}, None, event, kind="navigate")])
    suite = Suite.model_validate(import_suite("webarena-verified", [path]).document)
    assert [str(one) for one in lint_suite(suite, webarena_atlas) if one.is_error] == []
