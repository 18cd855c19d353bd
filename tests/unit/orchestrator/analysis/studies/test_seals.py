"""Looks at an unfinished study are written down, counted and chained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena_core.errors import StoreError
from orchestrator.analysis.stats.sequential import Spending
from orchestrator.analysis.studies.questions import Stage
from orchestrator.analysis.studies.seals import (
    LOOKS_FILE,
    read_looks,
    record_look,
    stages_with_looks,
)

REGISTERED = "ab" * 32


def look(folder: Path, **ended: int) -> tuple[float, ...]:
    stages = {name: Stage(ended=number, planned=100) for name, number in ended.items()}
    looks = record_look(folder, REGISTERED, stages)
    assert looks == read_looks(folder, REGISTERED)
    return stages_with_looks(stages, looks, Spending.POCOCK)["q"].looks


def test_each_look_at_something_new_is_counted_and_the_last_is_none(tmp_path: Path) -> None:
    assert look(tmp_path, q=20) == (0.2,)
    assert look(tmp_path, q=20) == (0.2,)
    assert look(tmp_path, q=50) == (0.2, 0.5)
    assert look(tmp_path, q=100) == (0.2, 0.5)

    assert [one.ended for one in read_looks(tmp_path, REGISTERED)] == [{"q": 20}, {"q": 50}]


def test_a_question_that_is_done_has_no_look_more_for_another_that_is_not(tmp_path: Path) -> None:
    assert look(tmp_path, q=40, other=10) == (0.4,)
    assert look(tmp_path, q=100, other=60) == (0.4,)
    assert len(read_looks(tmp_path, REGISTERED)) == 2


def drop_the_first(lines: list[str]) -> list[str]:
    return lines[1:]


def less_was_seen(lines: list[str]) -> list[str]:
    return [json.dumps(json.loads(lines[0]) | {"ended": {"q": 2}}), *lines[1:]]


def torn(lines: list[str]) -> list[str]:
    return [lines[0], lines[1][:20]]


@pytest.mark.parametrize("change", [drop_the_first, less_was_seen, torn])
def test_looks_that_were_changed_are_refused(tmp_path: Path, change: object) -> None:
    look(tmp_path, q=20)
    look(tmp_path, q=40)
    path = tmp_path / LOOKS_FILE
    assert callable(change)
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")

    with pytest.raises(StoreError, match=r"looks\.jsonl: line [12]"):
        read_looks(tmp_path, REGISTERED)
    with pytest.raises(StoreError, match=r"looks\.jsonl: line [12]"):
        look(tmp_path, q=60)


def test_looks_of_another_study_are_refused(tmp_path: Path) -> None:
    look(tmp_path, q=20)
    with pytest.raises(StoreError, match="line 1 does not match"):
        read_looks(tmp_path, "cd" * 32)
