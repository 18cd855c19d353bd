"""Work in a second process: the result is the same wherever it is done."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from tasks.lint.second_process import begun


@pytest.fixture
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes of tests are told what to do by a thread each."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)


@pytest.mark.usefixtures("_one_thread")
def test_work_is_done_in_another_process() -> None:
    assert begun(os.getpid)() != os.getpid()


def test_with_several_threads_it_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert begun(os.getpid)() == os.getpid()


@pytest.mark.usefixtures("_one_thread")
def test_what_a_process_that_dies_was_to_do_is_done_here() -> None:
    mine = os.getpid()

    def dies() -> int:
        if os.getpid() != mine:
            os._exit(9)
        return os.getpid()

    assert begun(dies)() == mine


@pytest.mark.usefixtures("_one_thread")
def test_an_error_of_the_work_is_raised_here(capfd: pytest.CaptureFixture[str]) -> None:
    def fails() -> None:
        raise ValueError("task-1 cannot be read")

    with pytest.raises(ValueError, match="task-1 cannot be read"):
        begun(fails)()
    assert capfd.readouterr().err == ""


def test_the_command_line_lints_in_two_processes() -> None:
    """No thread may have begun by then: it would all be done here, and nobody would notice."""
    told = """
import os, sys, tasks.lint.second_process as second
begin, mine = second.begun, os.getpid()
def telling(work):
    os.write(1, str(os.getpid() != mine).encode())
    return work()
second.begun = lambda work: begin(lambda: telling(work))
sys.argv = ["arena", "tasks", "lint", "smoke"]
from orchestrator.cli.entry import main
main()
"""
    ended = subprocess.run(
        [sys.executable, "-c", told], capture_output=True, text=True, check=False
    )
    assert ended.stdout.startswith("True"), ended
