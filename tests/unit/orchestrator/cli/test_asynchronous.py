"""How a command ends before its time: what it started is taken down, and one error says why."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from arena_core.errors import AgentCrashedError, InterruptedRunError
from orchestrator.cli.asynchronous import run, two_interrupts

STOPPED = InterruptedRunError("stopped at once")


class Work:
    """A command that sends itself signals, and notes whether it was let clean up."""

    def __init__(self, *signals: signal.Signals, can_be_asked: bool = True) -> None:
        self._signals = signals
        self._can_be_asked = can_be_asked
        self.asked = 0
        self.cleaned = False

    async def play(self) -> str:
        try:
            for one in self._signals:
                os.kill(os.getpid(), one)
                await asyncio.sleep(0)
            await asyncio.wait_for(asyncio.Event().wait(), 0.5)
        except TimeoutError:
            return "played to its end"
        finally:
            await asyncio.sleep(0)  # a removal that takes its time
            self.cleaned = True
        return "never"

    async def play_politely(self) -> str:
        with two_interrupts(self._ask, lambda: STOPPED):
            return await self.play()

    def _ask(self) -> bool:
        if self._can_be_asked:
            self.asked += 1
        return self._can_be_asked


def test_a_task_from_outside_that_exits_with_0_ends_no_command_as_done() -> None:
    async def leaves() -> None:
        sys.exit(0)

    async def plays() -> None:
        await asyncio.create_task(leaves())

    with pytest.raises(AgentCrashedError, match=r"exit code 0"):
        run(plays())


@pytest.mark.parametrize(
    ("ends_by", "said"), [(signal.SIGTERM, "ended by TERM"), (signal.SIGINT, "interrupted")]
)
def test_a_signal_ends_a_command_after_it_has_cleaned_up(
    ends_by: signal.Signals, said: str
) -> None:
    work = Work(ends_by)
    with pytest.raises(InterruptedRunError) as ended:
        run(work.play())
    assert ended.value.message == said
    assert work.cleaned


def test_a_second_term_does_not_disturb_the_cleaning_up() -> None:
    work = Work(signal.SIGTERM, signal.SIGTERM)
    with pytest.raises(InterruptedRunError):
        run(work.play())
    assert work.cleaned


def test_the_first_interrupt_asks_the_second_stops_at_once() -> None:
    asked = Work(signal.SIGINT)
    assert run(asked.play_politely()) == "played to its end"
    stopped = Work(signal.SIGINT, signal.SIGINT)
    with pytest.raises(InterruptedRunError) as ended:
        run(stopped.play_politely())
    assert ended.value.message == STOPPED.message
    assert (asked.asked, stopped.asked) == (1, 1)
    assert stopped.cleaned


def test_the_first_interrupt_stops_what_has_not_begun_to_play() -> None:
    early = Work(signal.SIGINT, can_be_asked=False)
    with pytest.raises(InterruptedRunError):
        run(early.play_politely())
    assert early.cleaned
    assert early.asked == 0


def test_term_ends_a_run_at_once_however_politely_it_may_be_asked() -> None:
    work = Work(signal.SIGTERM)
    with pytest.raises(InterruptedRunError) as ended:
        run(work.play_politely())
    assert ended.value.message == "ended by TERM"
    assert work.cleaned
    assert work.asked == 0


def test_a_signal_after_a_command_has_its_default_again() -> None:
    async def nothing() -> None:
        return None

    run(nothing())
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_result_is_not_written_out_for_nothing() -> None:
    """asyncio.run does so: a tenth of the time of linting a large suite."""

    written = []

    class Large:
        def __repr__(self) -> str:
            written.append(self)
            return "much"

    async def work() -> Large:
        await asyncio.sleep(0)
        return Large()

    assert isinstance(run(work()), Large)
    assert written == []
