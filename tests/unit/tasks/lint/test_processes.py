"""Work on the tasks of a suite in several processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection

import pytest

from tasks.lint.processes import in_processes

NAMES = [f"task-{number}" for number in range(420)]


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(threading, "active_count", lambda: 1)


def told(names: Collection[str]) -> tuple[int, list[str]]:
    return os.getpid(), list(names)


def test_each_task_is_worked_on_once_in_as_many_processes_as_cores() -> None:
    found = in_processes(NAMES, told)
    assert sorted(name for _, names in found for name in names) == sorted(NAMES)
    assert len({process for process, _ in found}) == 2


def test_few_tasks_and_threads_stay_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_processes(NAMES[:150], told) == [(os.getpid(), NAMES[:150])]
    assert in_processes([], told) == [(os.getpid(), [])]
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert in_processes(NAMES, told) == [(os.getpid(), NAMES)]


def test_the_part_of_a_process_that_dies_is_done_here() -> None:
    mine = os.getpid()

    def dies(names: Collection[str]) -> list[str]:
        if os.getpid() != mine:
            os._exit(9)
        return list(names)

    found = in_processes(NAMES, dies)
    assert sorted(name for names in found for name in names) == sorted(NAMES)
    assert os.getpid() == mine


def test_an_error_of_the_work_is_raised_here() -> None:
    def fails(names: Collection[str]) -> None:
        if "task-1" in names:
            raise ValueError("task-1 cannot be read")

    with pytest.raises(ValueError, match="task-1 cannot be read"):
        in_processes(NAMES, fails)
