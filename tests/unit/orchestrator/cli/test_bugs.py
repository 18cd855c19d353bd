"""A bug that ends a command: a traceback to report, one line, an exit code of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.agents.arena_process import Ended

from orchestrator.cli import entry

Call = Callable[..., Ended]


@pytest.mark.parametrize("bug", [KeyError("x"), ConnectionResetError(104, "reset by peer")])
def test_a_bug_is_reported_with_its_traceback_and_ends_with_99(
    call: Call, monkeypatch: pytest.MonkeyPatch, bug: Exception
) -> None:
    def broken(_: object) -> None:
        raise bug

    monkeypatch.setattr(entry, "build_app", broken)
    ended = call("status")
    assert ended.code == 99
    assert "Traceback (most recent call last)" in ended.err
    assert f"arena: a bug of Arena's: {type(bug).__name__}: {bug}" in ended.err
    assert "at orchestrator/cli/entry.py:" in ended.err


def test_help_ends_with_the_exit_codes(call: Call) -> None:
    said = " ".join(call("--help").out.split())
    assert "99 a bug of Arena's; 130 interrupted." in said
