"""Inspect plays Arena's suites: its own runner, mock model, log and scoring."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.agents.foreign_clients import ROOT
from support.agents.inspect_beside import Environment

pytestmark = [pytest.mark.docker, pytest.mark.browser]

PINNED = "inspect-ai==0.3.285"
BELLS, SAMOVAR = "wiki-bells-of-bruges", "wiki-samovar"
LATEST_ORDER = "shop-latest-order-total"
SOLVED = {"mean": 1.0, "stderr": 0.0}
FAILED = {"mean": 0.0, "stderr": 0.0}


@pytest.fixture(scope="module")
def own_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment into which the wheel and Inspect alone are installed."""
    if given := os.environ.get("ARENA_INSPECT_PYTHON"):
        return Path(given)
    folder = tmp_path_factory.mktemp("inspect")
    subprocess.check_call([sys.executable, "-m", "venv", folder / "venv"])
    python = folder / "venv" / "bin" / "python"
    subprocess.check_call(
        [python, "-m", "pip", "install", "--quiet", PINNED, f"{ROOT}[inspect]"], cwd=folder
    )
    return python


@pytest.fixture
def installed(own_python: Path, tmp_path: Path) -> Environment:
    return Environment(own_python, tmp_path)


def test_the_reference_passes(tmp_path: Path) -> None:
    played = Environment(Path(sys.executable), tmp_path).play("oracle", BELLS)
    assert played["metrics"] == SOLVED
    found = played["samples"][BELLS]
    assert found["metadata"]["checks"][1] == {
        "id": "bells",
        "kind": "end",
        "met": True,
        "step": None,
    }
    assert (Path(found["metadata"]["folder"]) / "lock.json").is_file()


@pytest.mark.slow(minutes=2)
def test_idling_fails_and_no_gold_is_in_the_log(installed: Environment) -> None:
    played = installed.play("idle", BELLS, SAMOVAR)
    assert played["metrics"] == FAILED
    inspect = installed.python.with_name("inspect")
    dumped = installed.run(inspect, "log", "dump", "--resolve-attachments", "full", played["log"])
    [bells] = [one for one in json.loads(dumped)["samples"] if one["id"] == BELLS]
    assert bells["target"] == ""
    assert bells["metadata"].keys() == {"task", "world", "sites"}
    checks = bells["store"]["arena"]["checks"]
    assert {field for one in checks for field in one} == {"id", "kind", "met", "step"}
    assert re.search(r"carillon of [(\d]", dumped) is None  # the gold, and how it is computed


@pytest.mark.slow(minutes=2)
def test_inspects_computer_opens_a_page_and_the_last_words_are_the_answer(
    installed: Environment,
) -> None:
    played = installed.play("computer", BELLS)
    assert played["metrics"] == SOLVED
    assert played["samples"][BELLS]["metadata"]["steps"] == 3  # scroll, navigate, the answer


@pytest.mark.slow(minutes=3)
def test_a_site_that_is_killed_is_no_score_and_scoring_again_says_the_same(
    installed: Environment,
) -> None:
    played = installed.play("kills-the-shop", LATEST_ORDER, BELLS)
    lost, solved = played["samples"][LATEST_ORDER], played["samples"][BELLS]
    assert (math.isnan(lost["value"]), lost["reason"]) == (True, "infra")
    assert solved["value"] == 1.0
    assert (played["unscored"], played["metrics"]) == (1, SOLVED)

    inspect = installed.python.with_name("inspect")
    again = installed.folder / "again.eval"
    installed.run(
        *(inspect, "score", played["log"], "--scorer", "orchestrator/verdict"),
        *("--action", "overwrite", "--output-file", again, "--display", "none"),
    )
    first, second = (
        json.loads(installed.run(inspect, "log", "dump", one)) for one in (played["log"], again)
    )
    assert _scores(first) == _scores(second)
    assert second["results"]["scores"][0]["unscored_samples"] == 1
    assert second["results"]["scores"][0]["metrics"]["mean"]["value"] == 1.0


@pytest.mark.slow(minutes=2)
def test_a_sample_that_is_killed_frees_the_only_slot(installed: Environment) -> None:
    played = installed.play("is-killed", BELLS, SAMOVAR)
    assert "Cancelled" in played["samples"][BELLS]["error"]
    assert played["samples"][SAMOVAR]["value"] == 1.0
    assert played["metrics"] == SOLVED


def _scores(log: dict[str, Any]) -> dict[str, str]:
    return {one["id"]: json.dumps(one["scores"], sort_keys=True) for one in log["samples"]}
