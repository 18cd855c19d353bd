"""What a run's log holds, from when to when, and what of it reaches stderr."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW

from arena_core.errors import StoreError
from arena_core.logs import log_context, log_level, run_log, stream_log

LOG = logging.getLogger("orchestrator.a_module")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_says_when_what_and_about_what(tmp_path: Path) -> None:
    path = tmp_path / "arena.log"
    with run_log(path), log_context(run="r1", world="offline"):
        with log_context(episode="kettle-r0", attempt=2, site="shop", slot=0):
            LOG.info("lease after %.1f s", 0.5, extra={"waited": 0.5})
        LOG.warning("ended")
    first, second = lines(path)
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "info",
        "logger": "orchestrator.a_module",
        "message": "lease after 0.5 s",
        "run": "r1",
        "world": "offline",
        "episode": "kettle-r0",
        "attempt": 2,
        "site": "shop",
        "slot": 0,
        "waited": 0.5,
    }
    assert {"run": "r1", "world": "offline"}.items() <= second.items()
    assert "episode" not in second


async def test_tasks_and_threads_that_a_block_starts_keep_its_fields(tmp_path: Path) -> None:
    path = tmp_path / "arena.log"

    async def attempt(name: str) -> None:
        with log_context(episode=name):
            await asyncio.sleep(0)
            await asyncio.to_thread(LOG.info, "from a thread")

    with run_log(path):
        async with asyncio.TaskGroup() as group:
            for name in ("one", "two"):
                group.create_task(attempt(name))
    assert sorted(line["episode"] for line in lines(path)) == ["one", "two"]


def test_an_exception_has_its_place_and_its_traceback(tmp_path: Path) -> None:
    path = tmp_path / "arena.log"
    with run_log(path):
        try:
            json.loads("{")
        except ValueError:
            LOG.exception("broke off")
    [line] = lines(path)
    assert line["error"].startswith("json.decoder.JSONDecodeError: Expecting property name")
    assert "Traceback (most recent call last)" in line["traceback"]
    assert "test_log_writing.py" in line["traceback"]


def test_a_second_run_appends_and_nothing_is_written_outside_the_block(tmp_path: Path) -> None:
    path = tmp_path / "arena.log"
    for number in (1, 2):
        LOG.error("before")
        with run_log(path):
            LOG.info("run %s", number)
        LOG.error("after")
    assert [line["message"] for line in lines(path)] == ["run 1", "run 2"]
    assert LOG.parent is not None
    assert not logging.getLogger("orchestrator").handlers
    assert logging.getLogger("orchestrator").level == logging.NOTSET


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (logging.DEBUG, ["debug", "info", "error"]),
        (logging.INFO, ["info", "error"]),
        (logging.ERROR, ["error"]),
    ],
)
def test_the_level_decides_what_is_kept(tmp_path: Path, level: int, expected: list[str]) -> None:
    path = tmp_path / "arena.log"
    with log_level(level), run_log(path):
        LOG.debug("a call")
        LOG.info("a lease")
        LOG.error("a bug")
    assert [line["level"] for line in lines(path)] == expected


def test_conversations_with_a_model_are_never_logged_whole(tmp_path: Path) -> None:
    path = tmp_path / "arena.log"
    with log_level(logging.DEBUG), run_log(path):
        logging.getLogger("openai._base_client").debug("Request options: %s", {"messages": "all"})
        logging.getLogger("openai._base_client").info("Retrying request in 0.5 seconds")
    assert [line["message"] for line in lines(path)] == ["Retrying request in 0.5 seconds"]


def test_stderr_gets_text_from_its_level_on(capsys: pytest.CaptureFixture[str]) -> None:
    with log_level(logging.DEBUG), stream_log(logging.INFO), log_context(site="shop"):
        LOG.debug("not this")
        LOG.info("healthy", extra={"seconds": 1.5})
    said = capsys.readouterr().err
    assert said.endswith("info    orchestrator.a_module: healthy  [seconds=1.5 site=shop]\n")
    assert "not this" not in said


def test_a_log_that_cannot_be_opened_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the log cannot be written"), run_log(tmp_path / "no/x"):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_reported_once_and_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with run_log(Path("/dev/full")):
        for _ in range(3):
            LOG.info("a line")
    assert capsys.readouterr().err.count("cannot be written") == 1


def test_a_kill_loses_no_line_that_was_logged(tmp_path: Path) -> None:
    path = tmp_path / "arena.log"
    program = (
        "import logging, os, sys; from pathlib import Path;"
        "from arena_core.logs import run_log\n"
        "with run_log(Path(sys.argv[1])):\n"
        "    logging.getLogger('orchestrator.x').info('last words'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, path], check=False, timeout=60)
    assert [line["message"] for line in lines(path)] == ["last words"]


@SLOW
def test_importing_arena_configures_no_logging() -> None:
    program = (
        "import logging, pkgutil, importlib, orchestrator\n"
        "for one in pkgutil.walk_packages(orchestrator.__path__, 'orchestrator.'):\n"
        "    of = ('_', 'serve.browsergym.', 'serve.nemo_', 'serve.openenv_', 'serve.verifiers_')\n"
        "    if not one.name.removeprefix('orchestrator.').startswith(of):\n"
        "        importlib.import_module(one.name)\n"
        "ours = [n for n in logging.root.manager.loggerDict if n.startswith('orchestrator')]\n"
        "assert not any(logging.getLogger(n).handlers for n in ['', *ours])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], check=False, timeout=120, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
