"""What an arm calls controls: how a suite says it, and which tables are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from arena_core.errors import TaskError
from tasks.loader import load_suite
from tasks.schema import Suite, Task


def task(name: str = "plain", **more: object) -> dict[str, Any]:
    locate, match = {"by": "answer"}, {"how": "exact", "value": "done"}
    return {
        "id": name,
        "family": "content",
        "intent": "Say what the note says.",
        "sites": ["tools"],
        "start": ["tools:/notes"],
        "checks": [{"name": "said", "when": "end", "locate": locate, "match": match}],
        **more,
    }


def read(folder: Path, *tasks: object, **head: object) -> tuple[Task, ...]:
    path = folder / "mine.yaml"
    document = {"suite": "mine", "version": 1, "title": "Mine", **head, "tasks": list(tasks)}
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return load_suite(str(path)).tasks


def test_the_tables_of_a_suite_are_those_of_its_tasks_and_a_task_has_the_last_word(
    tmp_path: Path,
) -> None:
    first, plain = read(
        tmp_path,
        task(
            "first", labels={"short": {"Buy": "Get", "Pay": "Settle"}, "own": {"Log in": "Enter"}}
        ),
        task(),
        labels={"short": {"Buy": "Purchase", "Help": "Aid"}},
    )
    assert first.labels == {
        "short": {"Buy": "Get", "Help": "Aid", "Pay": "Settle"},
        "own": {"Log in": "Enter"},
    }
    assert plain.labels == {"short": {"Buy": "Purchase", "Help": "Aid"}}
    suite = Suite(suite="mine", version=1, title="Mine", tasks=(first, plain))
    assert Suite.model_validate_json(suite.model_dump_json()) == suite


def test_a_task_without_tables_is_stored_as_before(tmp_path: Path) -> None:
    [plain] = read(tmp_path, task())
    assert "labels" not in plain.model_dump()


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "needs labels"),
        ({"Buy": ""}, "needs labels and new names that are not empty"),
        ({"Buy": "Get", " buy": "Take"}, "'buy' is renamed twice"),
        ({"Buy": "Get", "Take": "get"}, "'get' is the new name of two labels"),
        ({"Buy": "Sell", "Sell": "Buy"}, "is a new name, and a label that is renamed"),
        ({"Buy": ["Get"]}, "labels.bad.Buy"),
    ],
)
def test_a_table_that_does_not_lead_back_to_one_name_is_refused(
    tmp_path: Path, table: object, says: str
) -> None:
    with pytest.raises(TaskError) as caught:
        read(tmp_path, task(labels={"bad": table}))
    assert says in caught.value.message
