"""What a request of the hub started has landed when it is answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pytest

queue = import_module("hub.queue")

Start = Callable[..., Any]


def answered(app: Callable[..., Iterable[bytes]], tasks: Any, method: str = "POST") -> list[str]:
    """Ask the application behind the queue once; return what was seen, in order."""
    seen: list[str] = []
    environ = {"REQUEST_METHOD": method, "PATH_INFO": "/do_fork/inkwell"}
    parts = queue.Landing(app, tasks)(environ, lambda status, _headers: seen.append(status))
    return [*seen, *(part.decode() for part in parts)]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_task_runs_after_its_request_let_go_and_before_the_answer(method: str) -> None:
    tasks, events = queue.TaskQueue(), list[str]()

    def app(_environ: object, start: Start) -> Iterable[bytes]:
        tasks.later(lambda: events.append("landed"))
        events.append("let go")
        start("302 FOUND", [])
        return [b"there"]

    assert answered(app, tasks, method) == ["302 FOUND", "there"]
    assert events == ["let go", "landed"]


def test_what_a_task_starts_in_turn_lands_too() -> None:
    tasks, landed = queue.TaskQueue(), list[str]()

    def first() -> None:
        tasks.later(lambda: landed.append("second"))
        landed.append("first")

    tasks.later(first)
    tasks.finish()
    assert landed == ["first", "second"]
    assert tasks.is_empty


def test_whoever_asks_for_a_task_finds_where_it_leads_as_often_as_they_ask() -> None:
    tasks = queue.TaskQueue()
    task = tasks.later(lambda: {"endpoint": "ui_ns.view_repo", "repo": "inkwell"})
    assert not tasks.answer(task.id).ready()
    tasks.finish()
    for _ in range(2):
        told = tasks.answer(task.id).get(timeout=0, propagate=False)
        assert told.pop("endpoint") == "ui_ns.view_repo"  # as Pagure takes it out


def test_a_task_that_fails_says_so_and_stops_none_behind_it() -> None:
    tasks, landed = queue.TaskQueue(), list[str]()

    def refused() -> None:
        raise ValueError("Merge conflicts!")

    failed = tasks.later(refused)
    tasks.later(lambda: landed.append("next"))
    tasks.finish()
    assert landed == ["next"]
    assert failed.failed()
    assert str(failed.get(propagate=False)) == "Merge conflicts!"
    with pytest.raises(ValueError, match="Merge conflicts"):
        failed.get()


def test_a_task_that_nobody_knows_any_more_leads_to_the_front_page() -> None:
    answer = queue.TaskQueue().answer("of-before-the-rewind")
    assert answer.ready()
    assert answer.get() == {"endpoint": "ui_ns.index"}


def test_a_request_waits_for_its_task_although_another_thread_runs_it() -> None:
    tasks, running, go_on = queue.TaskQueue(), threading.Event(), threading.Event()
    landed: list[str] = []

    def slow() -> None:
        running.set()
        assert go_on.wait(10)
        landed.append("slow")

    tasks.later(slow)
    other = threading.Thread(target=tasks.finish)
    other.start()
    assert running.wait(10)
    threading.Timer(0.05, go_on.set).start()
    tasks.finish()
    assert landed == ["slow"]
    other.join()


def test_two_writes_never_run_at_once_and_reads_do() -> None:
    together = threading.Barrier(2)

    def app(environ: dict[str, str], start: Start) -> Iterable[bytes]:
        try:
            together.wait(5 if environ["REQUEST_METHOD"] == "GET" else 0.2)
        except threading.BrokenBarrierError:
            together.reset()
            start("200 alone", [])
        else:
            start("200 together", [])
        return []

    landing = queue.Landing(app, queue.TaskQueue())

    def ask(method: str) -> str:
        seen: list[str] = []
        environ = {"REQUEST_METHOD": method, "PATH_INFO": "/"}
        landing(environ, lambda status, _headers: seen.append(status))
        return seen[0]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, ["POST", "POST"])) == ["200 alone"] * 2
        assert list(pool.map(ask, ["GET", "GET"])) == ["200 together"] * 2
