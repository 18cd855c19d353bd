"""AutoWebBench's recorded steps become tasks that are played without a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.runs.make_evidence import make_evidence
from support.tasks.reference_data import AUTOWEBBENCH, reference_half

from arena_core.errors import TaskError
from evaluators.scores import score
from evaluators.verdicts import OutcomeKind
from sites.registry import load_registry
from tasks.imports.suite_file import import_suite
from tasks.lint.linter import lint_suite
from tasks.schema import Suite, Task

Write = Callable[..., Path]


def step(target: str, task: str = "Sign up for Google .") -> dict[str, Any]:
    return {"source": f"< <a[SD]| Google> >\n\n#Task: {task}\n\nYou should …", "target": target}


def imported(write: Write, *steps: dict[str, Any]) -> tuple[Task, ...]:
    return import_suite("autowebbench", [write(list(steps))]).tasks


def test_each_step_is_a_task_that_knows_its_prompt_and_its_trace(write: Write) -> None:
    tasks = imported(
        write, step("click('SD')"), step("finish()"), step("finish()", "Read the news")
    )
    assert [task.id for task in tasks] == ["autowebbench-0", "autowebbench-1", "autowebbench-2"]
    assert tasks[0].prompt == step("")["source"]
    assert (tasks[0].sites, tasks[0].start) == ((), ())
    originals = [task.original for task in tasks]
    assert [one.template for one in originals if one] == ["1", "1", "2"]


def test_files_of_several_splits_share_no_id(write: Write) -> None:
    files = [write([step("finish()")], f"{name}.json") for name in ("ind", "ood")]
    found = import_suite("autowebbench", files)
    assert [task.id for task in found.tasks] == ["autowebbench-1-0", "autowebbench-2-0"]


def test_a_step_that_asks_the_user_is_a_step_like_any_other(write: Write) -> None:
    [task] = imported(write, step("user_input('Please login.')"))
    right = make_evidence(answer="user_input('Please login.')  # only the user can")
    wrong = make_evidence(answer="click('SD')")
    assert score(task.checks, right).outcome.kind is OutcomeKind.SUCCESS
    assert score(task.checks, wrong).outcome.kind is OutcomeKind.FAILURE


def test_what_is_no_recorded_step_is_refused(write: Write) -> None:
    with pytest.raises(TaskError, match=r"\[0\]\.target: is required"):
        imported(write, {"source": "x"})


def test_a_gold_that_is_no_command_is_listed(write: Write) -> None:
    [task] = imported(write, step("cilck('SD')"))
    assert task.original is not None
    assert task.original.untranslated == ("target: is no command: there is no command cilck",)


@SLOW
def test_the_published_half_is_met_by_its_own_gold_and_lints() -> None:
    found = import_suite("autowebbench", [reference_half(AUTOWEBBENCH)])
    assert len(found.tasks) == 175
    suite = Suite.model_validate(found.document)
    assert [str(one) for one in lint_suite(suite, load_registry([])) if one.is_error] == []
    for task in found.tasks:
        assert task.original is not None
        gold = str(task.original.record["target"])
        assert score(task.checks, make_evidence(answer=gold)).outcome.kind is OutcomeKind.SUCCESS
