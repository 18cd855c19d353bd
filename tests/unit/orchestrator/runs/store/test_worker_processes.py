"""Functions over many items in processes of their own: order, errors, logs, and how they end."""

from __future__ import annotations

import importlib
import logging
import operator
import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW

from arena_core.errors import StoreError, WorkerProcessError
from orchestrator.runs.store.worker_processes import WorkerProcesses

_END_S = 20


def workers(work: Callable[[Any], Any], processes: int = 2) -> WorkerProcesses[Any, Any]:
    return WorkerProcesses(work, "episode {}".format, processes=processes, hint="use one")


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def ends(process: int) -> bool:
    """Wait until a process is gone that need not be a child of this one."""
    try:
        watched = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], _END_S)[0])
    finally:
        os.close(watched)


@SLOW
def test_results_come_in_the_order_of_the_items() -> None:
    items = list(range(1000))
    assert list(workers(partial(operator.mul, 3)).results(items)) == [3 * item for item in items]


@SLOW
def test_several_processes_work_and_none_is_left() -> None:
    # A process that leads a group of its own is named by it.
    found = set(workers(os.getpgid).results([0] * 200))
    assert len(found) == 2
    assert os.getpid() not in found
    assert not any(map(is_running, found))


@SLOW
def test_whoever_looks_no_further_leaves_no_process() -> None:
    results = workers(os.getpgid).results([0] * 200)
    first = next(results)
    assert is_running(first)
    results.close()
    assert not is_running(first)


@SLOW
def test_what_is_raised_is_raised_when_it_is_due() -> None:
    results = workers(int).results(["1", "2", "three", "4"])
    assert [next(results), next(results)] == [1, 2]
    with pytest.raises(ValueError, match=r"invalid literal for int.*'three'") as raised:
        next(results)
    assert "in a worker process" in raised.value.__notes__[0]


@SLOW
def test_an_error_of_arenas_arrives_as_it_was() -> None:
    with pytest.raises(StoreError) as raised:
        list(workers(_refused).results([1]))
    assert (raised.value.message, raised.value.hint) == ("1 cannot be read", "mend it")


@SLOW
def test_a_result_that_cannot_be_sent_is_an_error() -> None:
    with pytest.raises(Exception, match="pickle"):
        list(workers(memoryview).results([b"a"]))


@SLOW
@pytest.mark.parametrize(("code", "said"), [(7, "exit code 7"), (-9, "signal SIGKILL")])
def test_a_process_that_dies_is_an_error_that_names_the_item(code: int, said: str) -> None:
    results = workers(_ended, processes=1).results([0, 0, code, 0])
    assert [next(results), next(results)] == [0, 0]
    with pytest.raises(WorkerProcessError) as died:
        next(results)
    assert died.value.message == f"the process that worked on episode {code} died ({said})"
    assert died.value.hint == "use one"


@SLOW
def test_what_cannot_be_loaded_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "gone_since.py"
    source.write_text("def work(item):\n    return item\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    work = importlib.import_module("gone_since").work
    source.unlink()
    with pytest.raises(ModuleNotFoundError, match="gone_since"):
        list(workers(work).results([0]))


@SLOW
def test_what_is_logged_there_is_logged_here_in_order(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "scores"):
        assert list(workers(_logged).results(range(6))) == list(range(6))
    assert [(one.name, one.getMessage()) for one in caplog.records] == [
        ("scores", f"item {item}") for item in range(6)
    ]


def test_a_program_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    program = tmp_path / "program.py"  # it has no guard against being imported again
    program.write_text(
        textwrap.dedent("""\
        import os
        from orchestrator.runs.store.worker_processes import WorkerProcesses
        results = WorkerProcesses(os.getpgid, str, processes=2).results([0] * 200)
        print(*{next(results) for _ in range(100)}, flush=True)
        input()
        """)
    )
    started = subprocess.Popen(
        [sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with started:
        assert started.stdout is not None
        found = [int(word) for word in started.stdout.readline().split()]
        assert found
        started.send_signal(signal.SIGKILL)
    assert all(map(ends, found))


def _refused(item: int) -> None:
    message = f"{item} cannot be read"
    raise StoreError(message, hint="mend it")


def _ended(code: int) -> int:
    if code < 0:
        os.kill(os.getpid(), -code)
    elif code:
        os._exit(code)
    return code


def _logged(item: int) -> int:
    logging.getLogger("scores").warning("item %d", item)
    logging.getLogger("scores").info("no one asked for this")
    return item
