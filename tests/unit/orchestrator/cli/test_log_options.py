"""How much is logged, and where to, as options and environment say."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

import pytest
from quick_cases import ONE_QUICK
from support.agents.arena_process import Ended
from typer.main import get_command

from arena_core.errors import StoreError, UsageError
from orchestrator.cli.entry import _PANELS, build_app
from orchestrator.cli.log_options import log_as_chosen

Call = Callable[..., Ended]
LOG = logging.getLogger("orchestrator.a_module")


def said(
    capsys: pytest.CaptureFixture[str],
    *,
    verbose: int = 0,
    level: str | None = None,
    env: Mapping[str, str] | None = None,
    has_run_folder: bool = False,
) -> list[str]:
    """Return which of three records reach stderr."""
    with log_as_chosen(verbose, level, env or {}, has_run_folder=has_run_folder):
        LOG.debug("a call")
        LOG.info("a lease")
        LOG.warning("a fallback")
    return [line.partition("a_module: ")[2] for line in capsys.readouterr().err.splitlines()]


EVERYTHING = ["a call", "a lease", "a fallback"]


@pytest.mark.parametrize(
    ("verbose", "level", "env", "expected"),
    [
        (0, None, {}, []),
        (0, None, {"ARENA_LOG": ""}, []),
        (1, None, {}, EVERYTHING[1:]),
        (2, None, {}, EVERYTHING),
        (0, "warning", {}, EVERYTHING[2:]),
        (0, None, {"ARENA_LOG": "DEBUG"}, EVERYTHING),
        (0, "warning", {"ARENA_LOG": "debug"}, EVERYTHING[2:]),
        (1, None, {"ARENA_LOG": "debug"}, EVERYTHING[1:]),
    ],
)
def test_commands_without_a_run_are_quiet_unless_asked(
    capsys: pytest.CaptureFixture[str],
    verbose: int,
    level: str | None,
    env: Mapping[str, str],
    expected: list[str],
) -> None:
    assert said(capsys, verbose=verbose, level=level, env=env) == expected


def test_a_run_logs_into_its_folder_and_to_stderr_only_with_v(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert said(capsys, level="debug", has_run_folder=True) == []
    assert said(capsys, verbose=2, has_run_folder=True) == EVERYTHING


def test_after_the_command_logging_is_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, verbose=2)
    ours = logging.getLogger("orchestrator")
    assert (ours.level, ours.handlers) == (logging.NOTSET, [])


@pytest.mark.parametrize(
    ("words", "env", "wrong"),
    [
        (["--log-level", "loud"], {}, "--log-level: there is no level 'loud'"),
        ([], {"ARENA_LOG": "loud"}, "ARENA_LOG: there is no level 'loud'"),
        (["-v", "--log-level", "info"], {}, "-v and --log-level both"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    env: Mapping[str, str],
    wrong: str,
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    ended = call("tasks", "list", *words)
    assert ended.code == UsageError.exit_code
    assert wrong in ended.err


def test_the_traceback_of_an_error_is_shown_to_who_asks_for_everything(call: Call) -> None:
    plain, all_of_it = call("score", "nowhere"), call("score", "nowhere", "-vv")
    assert plain.code == all_of_it.code == StoreError.exit_code
    assert "Traceback" not in plain.err
    assert "Traceback" in all_of_it.err
    assert plain.err.splitlines()[-2:] == all_of_it.err.splitlines()[-2:]


def _commands() -> list[tuple[str, ...]]:
    names = [name for names in _PANELS.values() for name in names]
    found: list[tuple[str, ...]] = []
    for name in names:
        command = get_command(build_app([name])).commands[name]  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found += [(name, one) for one in inner] if inner else [(name,)]
    return found


@ONE_QUICK
@pytest.mark.parametrize("words", _commands(), ids=" ".join)
def test_every_command_takes_them(call: Call, words: tuple[str, ...]) -> None:
    said = call(*words, "--help").out
    assert "--verbose" in said
    assert "--log-level" in said
