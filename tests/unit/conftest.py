"""The command line within the test's own process: quick enough to try every mistake."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from arena_process import Ended

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
