"""Runs whose checks need a package that is not installed here."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest
from support.runs.tiny_run import SUITE, make_lock
from support.tasks.plugged import install

from arena_core.errors import StoreError
from arena_core.plugins import Group
from orchestrator.runs.store.lock import package_versions
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Suite


def test_a_run_scored_with_a_locator_that_is_missing_is_refused_in_one_line(tmp_path: Path) -> None:
    lock = make_lock()
    lock = lock.model_copy(update={"packages": {**lock.packages, "acme-feeds": "1.2"}})
    folder = RunFolder.create(tmp_path / "run", lock, SUITE)
    kept = folder.path / "suite.json"
    suite = json.loads(kept.read_text(encoding="utf-8"))
    suite["tasks"][0]["checks"][0]["locate"] = {"by": "feed", "site": "shop"}
    kept.write_text(json.dumps(suite), encoding="utf-8")
    with pytest.raises(StoreError) as caught:
        folder.suite()
    message = caught.value.message
    assert message.startswith(f"{kept}: ")
    assert "tasks.0.checks.0.locate" in message
    assert "not 'feed': install the package that adds such a locator" in message
    assert "`arena.locators`" in message
    assert "\n" not in message
    assert caught.value.hint == "the run was made with others: pip install acme-feeds==1.2"


MATCHER = """
from typing import Literal
from evaluators.matchers.base import Matched
from evaluators.matchers.base import Matcher

class Anything(Matcher):
    how: Literal["anything"] = "anything"

    def match(self, values, world, form=str):
        return Matched(met=True, reason="met", expected="anything")
"""


def test_the_lock_names_the_package_of_a_foreign_matcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    importlib.invalidate_caches()
    points = {Group.MATCHERS: {"anything": "acme_anything:Anything"}}
    install(tmp_path, "acme-anything", points, modules={"acme_anything": MATCHER}, version="3.1")
    document = SUITE.model_dump(mode="json")
    document["tasks"][0]["checks"][0]["match"] = {"how": "anything"}
    assert package_versions(Suite.model_validate(document))["acme-anything"] == "3.1"
    assert "acme-anything" not in package_versions(SUITE)
