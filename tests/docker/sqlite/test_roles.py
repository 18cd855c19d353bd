"""Two roles of one site in one episode: each in a browser context of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.agents.arena_process import arena

from sites.registry import SiteRegistry

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=1)]

OWN_SITES = Path(__file__).parents[2] / "own_sites"


def test_the_keeper_sees_and_settles_what_the_member_wrote(
    ledger: SiteRegistry, tmp_path: Path
) -> None:
    suite = OWN_SITES / "ledger" / "tasks.yaml"
    words = ("--suite", suite, "--agent", "oracle", "--json", "--out", "run")
    played = arena("eval", *words, cwd=tmp_path, env={"ARENA_SITES": str(OWN_SITES)})
    assert played.code == 0, played.err
    assert played.document["totals"]["offline"]["success"] == 1.0
    [file] = (tmp_path / "run").rglob("evidence.json")
    steps = json.loads(file.read_text(encoding="utf-8"))["steps"]
    keeper = "ledger: keeper"
    assert [step.get("login") for step in steps] == [None, None, None, None, *[keeper] * 4]
