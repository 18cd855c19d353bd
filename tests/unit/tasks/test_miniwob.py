from __future__ import annotations

from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW

from arena_core.errors import TaskError, UnknownNameError
from sites.registry import load_registry
from tasks.lint.linter import lint_suite
from tasks.loader import load_source, load_suite
from tasks.miniwob import read_seeds
from tasks.schema import Suite

MINE = """\
suite: mine
version: 1
title: Two pages
wob:
  - {pages: [click-test, click-test-2], seeds: [3, 4], steps: 7}
  - {pages: [email-inbox-nl-turk], seeds: [9], mode: test}
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(MINE, encoding="utf-8")
    return path


def test_pages_and_seeds_make_a_task_each(mine: Path) -> None:
    tasks = {task.id: task for task in load_suite(str(mine)).tasks}
    assert [*tasks] == [
        "click-test-s3",
        "click-test-s4",
        "click-test-2-s3",
        "click-test-2-s4",
        "email-inbox-nl-turk-s9",
    ]
    assert tasks["click-test-2-s4"].start == ("miniwob:/miniwob/click-test-2.html",)
    assert tasks["click-test-s3"].limits.steps == 7
    episode = tasks["email-inbox-nl-turk-s9"].miniwob
    assert episode is not None
    assert (episode.page, episode.seed, episode.mode) == ("email-inbox-nl-turk", 9, "test")


def test_other_seeds_follow_the_name_of_a_suite(mine: Path) -> None:
    ids = [task.id for task in load_suite(f"{mine}@4711").tasks]
    assert ids == ["click-test-s4711", "click-test-2-s4711", "email-inbox-nl-turk-s4711"]
    assert len(load_suite("miniwob-56@1-3").tasks) == 56 * 3


def test_a_mistake_is_reported_with_the_line_of_its_pages(mine: Path) -> None:
    mine.write_text(MINE.replace("seeds: [9]", "seeds: [nine]"), encoding="utf-8")
    with pytest.raises(TaskError, match=r"mine\.yaml:6: wob\.1\.seeds\.0"):
        load_suite(str(mine))


@pytest.mark.parametrize(
    ("text", "seeds"), [("7", (7,)), ("1-3", (1, 2, 3)), ("5,1-2,5", (5, 1, 2))]
)
def test_seeds_are_numbers_and_ranges(text: str, seeds: tuple[int, ...]) -> None:
    assert read_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "x", "3-1", "1,", "2147483648", "-4"])
def test_what_names_no_seeds_is_refused(text: str) -> None:
    with pytest.raises(UnknownNameError, match="after @ come seeds"):
        load_suite(f"miniwob@{text}")


@SLOW
def test_the_shipped_suites_have_no_mistakes_and_the_56_are_among_the_130() -> None:
    registry = load_registry()
    pages: dict[str, set[str]] = {}
    for name, count in (("miniwob", 130), ("miniwob-56", 56)):
        source = load_source(name)
        assert lint_suite(source.suite, registry, source) == ()
        pages[name] = {task.miniwob.page for task in source.suite.tasks if task.miniwob}
        assert len(pages[name]) == count
        assert len(source.suite.tasks) == count * 5
    assert pages["miniwob-56"] < pages["miniwob"]


@ONE_QUICK
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": ["miniwob:/miniwob/click-link.html"]}, "starts on"),
        ({"sites": ["miniwob", "wiki"]}, "has the one site"),
        ({"worlds": ["offline", "online"]}, "runs offline"),
        ({"wob": None}, "needs an episode"),
        ({"reference": [{"do": "wob", "page": "click-link"}, {"do": "stop"}]}, "the task's page"),
    ],
)
def test_a_task_that_does_not_fit_its_page_is_a_finding(
    changes: dict[str, object], message: str
) -> None:
    written = load_suite("miniwob@1").model_dump(mode="json")
    task = next(one for one in written["tasks"] if one["id"] == "click-test-s1")
    suite = Suite.model_validate({**written, "tasks": [{**task, **changes}]})
    assert any(message in found.message for found in lint_suite(suite, load_registry()))
