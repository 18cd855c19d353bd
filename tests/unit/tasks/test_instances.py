"""Drawn tasks written out: each check expects what its site was found to hold, or it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from quick_cases import SLOW

from arena_core.errors import TaskError, UsageError
from evaluators.matchers.number import NumberMatcher
from tasks.imports.suite_file import write_suite
from tasks.instances import MARK, instances_text, open_suite
from tasks.loader import load_suite, suite_names

MATCH: dict[str, Any] = {"how": "number", "value": "{computed}", "tolerance": 0.01}


def written(folder: Path, match: dict[str, Any] | None = None, **changes: Any) -> str:
    check = {
        "name": "total",
        "when": "end",
        "computed": {"site": "shop", "sql": "SELECT 1", "pattern": "([0-9.]+)"},
        "locate": {"by": "answer"},
        "match": match or MATCH,
    }
    task = {
        "family": "information",
        "intent": "What does customer {customer} owe?",
        "sites": ["shop"],
        "start": ["shop:/"],
        "worlds": ["offline"],
        "limits": {"steps": 9, "seconds": 60},
        "checks": [check],
        **changes,
    }
    template = {
        "id": "owes",
        "draw": {"customer": {"integer": [1, 99]}},
        "instances": 2,
        "task": task,
    }
    path = folder / "drawn.yaml"
    path.write_text(
        yaml.safe_dump({"suite": "drawn", "version": 1, "title": "D", "templates": [template]})
    )
    return str(path)


def found(*values: str) -> dict[tuple[str, str], tuple[str, ...]]:
    return {("owes-s7-1", "total"): values, ("owes-s7-2", "total"): values}


def test_a_suite_that_must_be_asked_first_is_not_played_before(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"drawn.yaml:\d+: templates.0: .*arena tasks instantiate"):
        load_suite(written(tmp_path))


def test_what_was_found_is_what_the_check_expects(tmp_path: Path) -> None:
    unfilled = open_suite(written(tmp_path), 7)
    assert [task.id for task in unfilled.asked] == ["owes-s7-1", "owes-s7-2"]
    filled = unfilled.filled(
        {("owes-s7-1", "total"): ("12.50 €",), ("owes-s7-2", "total"): ("3 €",)}
    )
    matchers = [task.checks[0].match for task in filled.tasks]
    assert matchers == [
        NumberMatcher(value=12.5, tolerance=0.01),
        NumberMatcher(value=3.0, tolerance=0.01),
    ]
    out = tmp_path / "drawn-s7.yaml"
    write_suite(instances_text(filled, "drawn-s7", "drawn.yaml --seed 7"), out, MARK)
    again = load_suite(str(out))
    assert again.tasks == filled.tasks
    assert again.suite == "drawn-s7"


def test_a_reference_answers_with_what_was_found(tmp_path: Path) -> None:
    reference = [{"do": "stop", "answer": "They owe {computed} €."}]
    paths = [
        {"name": "slowly", "reference": [{"do": "back"}, {"do": "stop", "answer": "{computed}"}]}
    ]
    unfilled = open_suite(written(tmp_path, reference=reference, other_paths=paths), 7)
    filled = unfilled.filled(found("12.50 EUR"))
    out = tmp_path / "drawn-s7.yaml"
    write_suite(instances_text(filled, "drawn-s7", "drawn.yaml --seed 7"), out, MARK)
    (task, _) = load_suite(str(out)).tasks
    ways = (task.reference or (), task.other_paths[0].reference)
    answers = [way[-1].model_dump()["answer"] for way in ways]
    assert answers == ["They owe 12.50 €.", "12.50"]
    assert task.checks[0].match == NumberMatcher(value=12.5, tolerance=0.01)


def test_wordings_say_what_was_found(tmp_path: Path) -> None:
    wordings: dict[str, Any] = {"says": ["It is {computed}."], "says_not": ["Not {computed}", "1"]}
    unfilled = open_suite(written(tmp_path, **wordings), 7)
    (task, _) = unfilled.filled(found("12.50 EUR")).tasks
    assert (task.says, task.says_not) == (("It is 12.50.",), ("Not 12.50", "1"))


def test_a_reference_answers_with_nothing_that_no_check_or_two_compute(tmp_path: Path) -> None:
    reference = [{"do": "stop", "answer": "{computed}"}]
    fixed = {"how": "number", "value": 3}
    with pytest.raises(TaskError, match="needs one check with that `value`, and it has 0"):
        open_suite(written(tmp_path, fixed, reference=reference), 7)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ((), "nothing was found"),
        (("none",), "nothing was found"),
        (("1", "2"), r"cannot expect what was found, \['1', '2'\]"),
        (("1.2.3",), "cannot expect what was found, '1.2.3'"),
    ],
)
def test_what_is_no_single_value_makes_no_task(
    tmp_path: Path, values: tuple[str, ...], says: str
) -> None:
    with pytest.raises(TaskError, match=f"'owes-s7-1', check 'total'.*{says}"):
        open_suite(written(tmp_path), 7).filled(found(*values))


def test_a_value_that_the_matcher_would_not_meet_itself_makes_no_task(tmp_path: Path) -> None:
    suite = Path(written(tmp_path, {"how": "regex", "value": "{computed}"}))
    suite.write_text(suite.read_text().replace("([0-9.]+)", "(.+)"))
    with pytest.raises(TaskError, match="'owes-s7-1', check 'total': computed is another value"):
        open_suite(str(suite), 7).filled(found("4+4"))


@pytest.mark.parametrize(
    "changes",
    [
        {"intent": "Is it {computed}? {customer}"},
        {"start": ["shop:/{computed}"]},
        {"reference": [{"do": "click", "role": "link", "name": "{computed}"}]},
    ],
)
def test_computed_stands_nowhere_but_as_the_value_of_its_check(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(TaskError, match="stands only as the `value` of a check"):
        open_suite(written(tmp_path, **changes), 7)


def test_a_file_that_was_not_drawn_is_kept(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("suite: mine\n")
    with pytest.raises(UsageError, match="does not begin with '# Drawn by"):
        write_suite(f"{MARK} x\n", mine, MARK)
    assert mine.read_text() == "suite: mine\n"


@SLOW
@pytest.mark.parametrize("name", [name for name in suite_names() if "miniwob" not in name])
def test_every_shipped_task_is_the_same_when_it_was_written_out(name: str, tmp_path: Path) -> None:
    suite = load_suite(name)
    path = tmp_path / "written.yaml"
    write_suite(instances_text(suite, "written", name), path, MARK)
    assert load_suite(str(path)).tasks == suite.tasks


def test_a_drawn_task_keeps_the_files_that_it_uploads_and_sets_up(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "receipt.pdf").write_bytes(b"%PDF")
    steps = [{"file": {"path": "/srv/shop/state/media/{customer}.pdf", "from": "receipt.pdf"}}]
    suite = written(tmp_path, files=["receipt.pdf"], given={"shop": steps})
    filled = open_suite(suite, 7).filled(found("12.50 EUR"))
    out = tmp_path / "elsewhere" / "drawn-s7.yaml"
    write_suite(instances_text(filled, "drawn-s7", "x"), out, MARK)
    assert load_suite(str(out)).tasks == filled.tasks
