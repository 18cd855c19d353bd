"""The command line within the test's own process, and reports that take no time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.agents.arena_process import Ended
from support.studies.plain_reports import plain_reports

from orchestrator.analysis.stats.power import (
    detectable_difference,
    power,
    repeats_needed,
    showable_margin,
    tasks_needed,
)
from orchestrator.cli.entry import main

Call = Callable[..., Ended]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """Call a command in a folder of its own, where no engine answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")
    monkeypatch.setenv("COLUMNS", "200")

    def called(*words: str | Path) -> Ended:
        monkeypatch.setattr(sys, "argv", ["arena", *map(str, words)])
        code: object = 0
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code or 0
        written = capsys.readouterr()
        assert isinstance(code, int)
        return Ended(code, written.out, written.err)

    return called


@pytest.fixture
def _few_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate few studies for each power: how it is used is tried, not how exact it is."""
    for function in (power, detectable_difference, showable_margin, tasks_needed, repeats_needed):
        defaults = function.__kwdefaults__ or {}
        monkeypatch.setitem(defaults, "simulations", 60)


@pytest.fixture(scope="module")
def plain() -> Iterator[None]:
    """Leave out of reports what takes long, in each test of a module that uses it."""
    with plain_reports():
        yield
