"""WebArena-Verified's tasks become typed answers, and requests that must have been sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.runs.make_evidence import make_evidence, make_step
from support.tasks.published_tasks import verified_task

from arena_core.actions import Stop
from arena_core.errors import TaskError
from evaluators.network import RequestRecord
from evaluators.responses import response_of
from evaluators.scores import score
from sites.registry import SiteRegistry, load_registry
from tasks.imports.site_map import Installed
from tasks.imports.suite_file import import_suite
from tasks.lint.linter import lint_suite
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
        ({"type": "number", "format": "currency"}, [36.39], [36.39], ["€36.39"]),
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


def test_a_pattern_of_paths_on_a_site_with_routes_is_not_translated(
    write: Write, tmp_path: Path
) -> None:
    chosen = tmp_path / "map.yaml"
    chosen.write_text("sites:\n  reddit: shop\n")
    installed = Installed.of(load_registry([]).sites.values())
    for url, is_said in (
        ("__REDDIT__/catalogue/kettle_16/", True),
        ("^__REDDIT__/catalogue/.*_16$", False),
        ("^.*/catalogue/kettle_16$", False),
    ):
        record = verified_task({"type": "null"}, None, network({"url": url}), kind="mutate")
        files = [write([record])]
        [task] = import_suite("webarena-verified", files, chosen, installed=installed).tasks
        assert task.original is not None
        if is_said:
            said = task.checks[-1].model_dump(mode="json")
            assert said["locate"]["url"] == "shop:/product/16/kettle"
        else:
            assert "'shop' has routes" in task.original.untranslated[0]


def network(spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"evaluator": "NetworkEventEvaluator", "expected": spec, **more}


def played(write: Write, event: dict[str, Any], *requests: RequestRecord, kind: str) -> str:
    record = verified_task({"type": "null"}, None, event, kind=kind)
    [task] = imported(write, record)
    assert task.original is not None
    assert task.original.untranslated == ()
    last = requests[-1].logical or ""
    return outcome(task, responds(kind=kind), *requests, left_on=last.partition("?")[0])


def form(body: str, path: str = "/f/7", **more: Any) -> RequestRecord:
    return sent(path, body, **{"status": 200, **more})


TYPED = {"type": "object", "properties": {"a": {"type": "string", "format": "date"}}}
LISTED = {"type": "object", "properties": {"a": {"type": "string", "format": "string_list"}}}


@pytest.mark.parametrize(
    ("posted", "schema", "right", "wrong"),
    [
        ({"a": "^.*dark.*mode.*$"}, {}, ["a=a+Dark+mode"], ["a=dark", "a=.*"]),
        ({"a": "^(?!main$).+$"}, {}, ["a=topic"], ["a=main", "b=1"]),
        ({"a": "^.*(?!delete$).*$"}, {}, ["a=put"], ["a=delete"]),
        ({"a": "^.*(?=.*red)(?=.*hat).* added.*$"}, {}, ["a=hat+red+added"], ["a=red+added"]),
        ({"a": None, "b": "1"}, {}, ["b=1"], ["a=2&b=1", "a=&b=1"]),
        ({"a": ["x", "y"]}, {}, ["a=x", "a=y"], ["a=z"]),
        ({"a": "2/1/2023"}, TYPED, ["a=2023-02-01", "a=02/01/2023"], ["a=2023-01-02"]),
        ({"a": "5,43,2"}, LISTED, ["a=2,5,43", "a=43,2,5"], ["a=2,5", "a=2,5,43,7", "a=2,5,5"]),
        ({"$.^a|b$": "x"}, {}, ["a=x", "b=x"], ["c=x"]),
        ({"$.^a_\\d+\\[t\\]$": "x"}, {}, ["a_12[t]=x"], ["b_12[t]=x"]),
    ],
)
def test_bodies_are_compared_as_they_are_published(
    posted: dict[str, Any], schema: object, right: list[str], wrong: list[str], write: Write
) -> None:
    spec = {"url": "__REDDIT__/f/7", "http_method": "POST", "post_data": posted}
    event = network(spec, post_data_schema=schema)
    for body in right:
        assert played(write, event, form(body), kind="mutate") == "success", body
    for body in wrong:
        assert played(write, event, form(body), kind="mutate") == "failure", body


@pytest.mark.parametrize(
    ("url", "right", "wrong"),
    [
        (r"^__REDDIT__/f/\d+$", "/f/12", "/f/x"),
        ("^__REDDIT__/submit/?.*$", "/submit/books", "/sub"),
        ("^.*/route/v1/.*/7;8.*$", "/a/route/v1/car/7;8", "/route/v2/car/7;8"),
        (["__REDDIT__/a", "^__REDDIT__/b.*$"], "/bc", "/ab"),
        (["__REDDIT__/a", "__REDDIT__/a?x=1"], "/a?x=1", "/a?x=2"),
    ],
)
def test_a_url_may_be_a_pattern(url: object, right: str, wrong: str, write: Write) -> None:
    event = network({"url": url})
    assert played(write, event, sent(right), kind="navigate") == "success"
    assert played(write, event, sent(wrong), kind="navigate") == "failure"


def test_no_other_parameters_than_those_that_are_published_as_ignored(write: Write) -> None:
    event = network({"url": "__REDDIT__/s?q=a"}, ignored_query_params_patterns=["^page", "sort"])
    for query, is_right in (
        ("q=a&page=2&x_sort=1", True),
        ("q=a&color=red", False),
        ("q=b", False),
    ):
        found = played(write, event, sent(f"/s?{query}"), kind="navigate")
        assert (found == "success") is is_right, query
    excepted = network(
        {"url": "__REDDIT__/s?q=a"}, ignored_query_params_patterns=["^(?!q$|dir$).+$"]
    )
    for query, is_right in (("q=a&color=red", True), ("q=a&dir=up", False)):
        found = played(write, excepted, sent(f"/s?{query}"), kind="navigate")
        assert (found == "success") is is_right, query


def test_the_last_request_decides_unless_the_record_says_otherwise(write: Write) -> None:
    spec = {"url": "__REDDIT__/f/7", "http_method": "POST", "post_data": {"a": "1"}}
    right, wrong = form("a=1"), form("a=2")
    assert played(write, network(spec), right, wrong, kind="mutate") == "failure"
    any_event = network(spec, last_event_only=False)
    assert played(write, any_event, right, wrong, kind="mutate") == "success"


def test_what_must_not_be_sent_must_not_be_sent_whatever_it_says(write: Write) -> None:
    never = network({"url": "__REDDIT__/f/7", "http_method": "POST"}, should_not_exist=True)
    wanted = network({"url": "__REDDIT__/g", "http_method": "POST"})
    [task] = imported(write, verified_task({"type": "null"}, None, never, wanted, kind="mutate"))
    done, right = responds(kind="mutate"), form("a=1", path="/g")
    assert outcome(task, done, right) == "success"
    assert outcome(task, done, right, form("a=1", status=500)) == "failure"
    [nothing] = imported(write, verified_task({"type": "null"}, None, never, kind="mutate"))
    assert nothing.original is not None
    assert nothing.original.untranslated  # an agent that does nothing would be right


def test_the_page_that_a_request_came_from_is_compared_as_a_url(write: Write) -> None:
    spec = {
        "url": "__REDDIT__/f/7",
        "http_method": "POST",
        "headers": {"referer": "__REDDIT__/list/?state=open&by=a"},
    }
    for page, is_right in (("list?by=a&state=open", True), ("list?by=a", False), ("", False)):
        headers = {"referer": f"http://{FORUM}.arena.test/{page}"}
        request = form("", method="POST", request_headers=headers)
        found = played(write, network(spec), request, kind="mutate")
        assert (found == "success") is is_right, page


def items(schema: object) -> dict[str, Any]:
    return {"type": "array", "items": schema}


def fields(**types: object) -> dict[str, Any]:
    return {"type": "object", "properties": types}


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "gold", "right", "wrong"),
    [
        (
            fields(z=TEXT, a={"type": "number"}),
            [{"z": "x", "a": 2}, {"z": "y", "a": 3}],
            [{"a": 3, "z": "y"}, {"z": "x", "a": 2}],
            [{"z": "x", "a": 3}, {"z": "y", "a": 2}],
        ),
        (fields(a=TEXT, b=TEXT), [{"a": "x", "b": None}], [{"a": "x"}], [{"a": "x", "b": "y"}]),
        (fields(a=TEXT), [{"a": "x"}], [{"a": "x"}], [{"a": "x", "b": "y"}]),
        (
            fields(names=items(TEXT), low={"type": "number", "format": "currency"}),
            [{"names": ["a b", "c d"], "low": 5.5}],
            {"names": ["c d", "a b"], "low": "$5.50"},
            {"names": ["c d"], "low": 5.5},
        ),
        (
            {"format": "coordinates"},
            [{"latitude": "40.44424", "longitude": "-79.93973"}],
            [{"longitude": "-79.93973", "latitude": "40.44424"}],
            [{"longitude": "40.44424", "latitude": "-79.93973"}],
        ),
        (
            {"type": "string", "format": "url"},
            ["git@__SSH_HOST__:ada/tool.git"],
            ["git@forge.test:ada/tool.git"],
            ["git@forge.test:eve/ada/tool.git"],
        ),
        (TEXT, [r"^24\s*in(?:ch)?$"], ["24 inch"], [r"^24\s*in(?:ch)?$"]),
        (fields(a=fields(b=TEXT)), [{"a": {"b": "x"}}], [{"a": {"b": "X"}}], [{"a": "x"}]),
    ],
)
def test_data_is_compared_by_its_form(
    schema: object, gold: object, right: object, wrong: object, write: Write
) -> None:
    [task] = imported(write, verified_task(items(schema), gold))
    assert task.original is not None
    assert task.original.untranslated == ()
    assert outcome(task, responds(right)) == "success"
    assert outcome(task, responds(wrong)) == "failure"
    blind: object
    for blind in (None, [], "N/A", [None], [{}], "^.*$", [["x", "y", "z"]]):
        assert outcome(task, responds(blind)) == "failure", blind


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"url": "^http://.*/x$"}, "eval[1].expected.url: is a pattern of URLs on none"),
        ({"url": "__REDDIT__/f", "response_status": -1}, "eval[1].expected.response_status"),
        ({"url": "__REDDIT__/f", "post_data": {"a": "^(?<!x)y$"}}, "eval[1].expected.post_data.a"),
        ({"url": "__REDDIT__/f", "headers": {"a": None}}, "eval[1].expected.headers.a"),
    ],
)
def test_what_no_check_says_is_listed(spec: dict[str, Any], field: str, write: Write) -> None:
    [task] = imported(write, verified_task({"type": "null"}, None, network(spec), kind="mutate"))
    assert task.original is not None
    assert any(line.startswith(field) for line in task.original.untranslated)
    assert task.original.revision == "2"


def test_a_task_that_asks_for_its_start_page_is_no_success(write: Write) -> None:
    event = network({"url": "__REDDIT__/"})
    [task] = imported(write, verified_task({"type": "null"}, None, event, kind="navigate"))
    assert task.original is not None
    [line] = task.original.untranslated
    assert line == "eval: asks for no more than the page that the task starts on"
    assert outcome(task, responds(kind="navigate"), sent("/")) == "unscored: check_error"


def test_a_task_without_a_response_is_refused(write: Write) -> None:
    record = verified_task({"type": "null"}, None)
    record["eval"] = [{"evaluator": "NetworkEventEvaluator", "expected": {"url": "__REDDIT__/"}}]
    with pytest.raises(TaskError, match=r"\[0\]\.eval: holds no AgentResponseEvaluator"):
        imported(write, record)


def test_its_suite_lints(write: Write, webarena_registry: SiteRegistry) -> None:
    event = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__REDDIT__/f/books?a=1"}}
    path = write([verified_task({"type": "null"}, None, event, kind="navigate")])
    suite = Suite.model_validate(import_suite("webarena-verified", [path]).document)
    assert [str(one) for one in lint_suite(suite, webarena_registry) if one.is_error] == []
