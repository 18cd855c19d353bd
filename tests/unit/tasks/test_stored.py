"""Run folders of earlier versions hold fields by their former names."""

from __future__ import annotations

import json
from typing import Any

from tasks.loader import load_suite
from tasks.schema import Suite
from tasks.sources import in_todays_names


def _as_it_was(suite: Suite) -> dict[str, Any]:
    """The suite as a run folder held it before fields were renamed."""
    document = suite.model_dump(mode="json")
    for task in document["tasks"]:
        task["parts"] = task.pop("expected_divergence")
        for check in (*task["checks"], *task["requires"]):
            if check["match"]["how"] == "include":
                check["match"]["parts"] = check["match"].pop("substring")
    return document


def test_a_stored_suite_of_an_earlier_version_is_read_as_what_it_was() -> None:
    suite = load_suite("demo")
    assert any(task.expected_divergence for task in suite.tasks)
    stored = _as_it_was(suite)
    assert '"parts"' in json.dumps(stored)
    assert Suite.model_validate_json(json.dumps(in_todays_names(stored))) == suite


def test_a_stored_suite_of_today_stays_as_it_is() -> None:
    suite = load_suite("demo")
    stored = suite.model_dump(mode="json")
    assert in_todays_names(stored) == stored


def test_what_is_no_suite_is_left_for_the_reader_to_refuse() -> None:
    for document in ({}, {"tasks": 3}, {"tasks": [3, {"checks": "x"}]}):
        assert in_todays_names(document) == document
