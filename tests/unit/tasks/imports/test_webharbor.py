"""WebHarbor's rows become tasks of both worlds: the mirror, and the site that it mirrors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.runs.make_evidence import make_evidence, make_step
from support.sites.stand_in_sites import write_sites

from arena_core.actions import Stop
from arena_core.errors import TaskError
from arena_core.worlds import World
from evaluators.scores import score
from sites.registry import load_registry
from tasks.imports.site_map import Installed
from tasks.imports.suite_file import import_suite
from tasks.lint.linter import lint_suite
from tasks.schema import Suite

Write = Callable[..., Path]
ORIGIN = "https://www.weather.test"


def row(**fields: Any) -> dict[str, Any]:
    return {
        "web_name": "Weather Test",
        "id": "Weather Test--3",
        "ques": "How warm is it in Phoenix?",
        "web": "http://localhost:40028/today?unit=f",
        "upstream_url": f"{ORIGIN}/",
        "verifier_path": "sites/weather_test/verify/verify_3.py",
        "judge_rubric": "FACT CHECKPOINTS: the page of Phoenix was opened.",
        **fields,
    }


def test_a_row_is_one_task_of_both_worlds(write: Write) -> None:
    found = import_suite("webharbor", [write([row()])])
    [task] = found.tasks
    assert task.id == "webharbor-weather-test-3"
    assert set(task.worlds) == set(World)
    assert [str(one) for one in task.start] == ["weather-test:/today?unit=f"]
    assert found.new_sites == {"weather-test": ORIGIN}
    assert task.original is not None
    assert task.original.record == row()
    assert task.original.bases == {"http://localhost:40028": "http://weather-test.arena.test"}


def test_an_installed_site_with_that_live_origin_is_the_rows(write: Write) -> None:
    installed = Installed({"sky": "http://sky.arena.test"}, {"www.weather.test": "sky"})
    found = import_suite("webharbor", [write([row()])], installed=installed)
    assert found.tasks[0].sites == ("sky",)
    assert found.new_sites == {}


@pytest.mark.parametrize(
    ("fields", "reasons"),
    [
        ({}, ["verifier_path", "judge_rubric"]),
        ({"verifier_path": None, "judge_rubric": None}, ["ques"]),
    ],
)
def test_what_is_graded_elsewhere_is_no_success_here(
    fields: dict[str, Any], reasons: list[str], write: Write
) -> None:
    [task] = import_suite("webharbor", [write([row(**fields)])]).tasks
    assert task.original is not None
    assert [line.partition(":")[0] for line in task.original.untranslated] == reasons
    last = make_step(1).model_copy(update={"action": Stop(answer="104 °F")})
    played = make_evidence(make_step(0), last, answer="104 °F")
    assert str(score(task.checks, played).outcome) == "unscored: check_error"
    assert str(score(task.checks, make_evidence(make_step(0))).outcome) == "failure"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"upstream_url": "weather"}, r"\[0\]\.upstream_url: 'weather' has no host"),
        ({"ques": ""}, r"\[0\]\.ques"),
        ({"web": 5}, r"\[0\]\.web"),
    ],
)
def test_a_row_that_is_none_is_refused_in_one_line(
    fields: dict[str, Any], told: str, write: Write
) -> None:
    with pytest.raises(TaskError, match=told) as caught:
        import_suite("webharbor", [write([row(**fields)])])
    assert "\n" not in str(caught.value)


def test_its_suite_lints(write: Write, tmp_path: Path) -> None:
    found = import_suite("webharbor", [write([row()])])
    folder = write_sites(tmp_path / "sites", {"weather-test": ()}, live=found.new_sites)
    findings = lint_suite(Suite.model_validate(found.document), load_registry([folder]))
    assert [str(one) for one in findings if one.is_error] == []
