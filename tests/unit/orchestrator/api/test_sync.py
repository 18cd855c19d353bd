"""What is asynchronous, from a thread that has no event loop or is inside another one."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from textwrap import dedent

import pytest
from quick_cases import SLOW

from arena_core.errors import UsageError
from orchestrator.api.loop_thread import LoopThread


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    found = LoopThread()
    yield found
    found.close()


async def answer() -> int:
    await asyncio.sleep(0)
    return 42


async def fail() -> None:
    message = "no such thing"
    raise UsageError(message)


def test_a_call_returns_what_the_coroutine_returns_and_raises_what_it_raises(
    loop: LoopThread,
) -> None:
    assert loop.run(answer()) == 42
    with pytest.raises(UsageError, match="no such thing"):
        loop.run(fail())


async def test_it_works_inside_a_running_loop(loop: LoopThread) -> None:
    assert loop.run(answer()) == 42


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt this process, as it does at a terminal and not in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_before_the_work_has_begun_keeps_it_from_beginning(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[bool] = []
    really = loop._portal.start_task_soon

    async def work() -> None:
        began.append(True)

    def interrupted(*_: object) -> None:
        monkeypatch.setattr(loop._portal, "start_task_soon", really)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop._portal, "start_task_soon", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop.run(work())
    assert loop.run(answer()) == 42
    assert began == []


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_cancels_the_call_and_waits_until_it_has_cleaned_up(loop: LoopThread) -> None:
    began, cleaned = threading.Event(), threading.Event()

    async def work() -> None:
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)
            cleaned.set()

    def press() -> None:
        assert began.wait(5)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        loop.run(work())
    assert cleaned.is_set()
    pressing.join()
    assert loop.run(answer()) == 42


def test_a_callback_inside_the_loop_is_refused_instead_of_waiting_for_itself(
    loop: LoopThread,
) -> None:
    async def call_back() -> None:
        loop.run(answer())

    with pytest.raises(UsageError, match="event callback"):
        loop.run(call_back())


def test_items_are_yielded_as_they_come_and_the_iterator_is_closed(loop: LoopThread) -> None:
    closed: list[str] = []

    async def count() -> AsyncGenerator[int, None]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("closed")

    assert list(loop.iterate(count())) == [1, 2]
    begun = loop.iterate(count())
    assert next(begun) == 1
    begun.close()
    assert closed == ["closed", "closed"]


def test_the_thread_ends_with_it() -> None:
    before = set(threading.enumerate())
    loop = LoopThread()
    assert set(threading.enumerate()) - before
    loop.close()
    loop.close()
    assert set(threading.enumerate()) <= before


@SLOW
def test_what_was_not_closed_is_closed_when_python_ends() -> None:
    script = """
        import asyncio
        from contextlib import asynccontextmanager
        from arena_core.held import Held
        from orchestrator.api.loop_thread import LoopThread

        @asynccontextmanager
        async def room():
            yield
            print("left", flush=True)

        kept = LoopThread().run(Held.enter(room()))
        thread = LoopThread()
        held = thread.run(Held.enter(room()))
        import atexit
        atexit.register(lambda: thread.run(held.leave()))
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "left\n"
    assert done.stderr == ""
