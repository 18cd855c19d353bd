"""Agents' processes that go wrong: what each gets, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.runs.played_episode import ANSWER
from support.worlds.fake_world import FakeWorld, attempt_at, browsing_task

from arena_core.errors import ModelError
from evaluators.evidence import Ended, UnscoredReason
from evaluators.scores import score
from evaluators.verdicts import OutcomeKind
from orchestrator.agents.model_exchange import Spent
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import Meter, PlayedAttempt
from orchestrator.episode.external.command import AgentCommand
from orchestrator.episode.external.process import AgentProcess, BoundedLog
from orchestrator.episode.external.runner import AGENT_LOG, ExternalRunner
from orchestrator.runs.run_budget import RunBudget
from orchestrator.runs.spec import SpendingLimits

RIGHT = 'print(\'{"answer": "1891"}\')'


class NoBrowser:
    """A browser whose debugging port nobody opens."""

    port = 1

    async def socket_inside(self) -> socket.socket:
        return socket.socket()

    async def dial(self, port: int | None = None) -> socket.socket:
        raise NotImplementedError


class Counted:
    """Counts an attempt into the budget of its run, as the ledger's meter does."""

    def __init__(self, budget: RunBudget) -> None:
        self._budget = budget

    @property
    def exhausted(self) -> str | None:
        return self._budget.exhausted

    def add(self, spent: Spent) -> None:
        self._budget.add(spent)


class Played:
    """One episode that a program played, and what came of it."""

    def __init__(self, attempt: PlayedAttempt, episode: Episode, seconds: float) -> None:
        self.evidence = attempt.evidence()
        self.log = attempt.files.get(AGENT_LOG, b"").decode()
        self.interrupted = attempt.interrupted
        self.outcome = score(episode.task.checks, self.evidence).outcome.kind
        self.because = self.evidence.ended_because or ""
        self.seconds = seconds


async def play(
    program: str,
    *,
    seconds: float = 30.0,
    idle_s: float = 600.0,
    world: FakeWorld | None = None,
    meter: Meter | None = None,
    meanwhile: Callable[[asyncio.Event], Any] | None = None,
) -> Played:
    """Play an episode with a Python program as the agent."""
    world = world or FakeWorld(is_shared=True)
    task = browsing_task(checks=[ANSWER])
    episode = Episode(attempt_at(task), world.environment())
    browser: Any = NoBrowser()
    interrupted = asyncio.Event()
    runner = ExternalRunner(
        command=AgentCommand(
            words=(sys.executable, "-c", textwrap.dedent(program)), seconds=seconds
        ),
        browser=browser,
        interrupted=interrupted,
        idle_s=idle_s,
        meter=meter,
    )
    if meanwhile is not None:
        asyncio.get_running_loop().call_later(0.5, meanwhile, interrupted)
    began = time.monotonic()
    attempt = await runner.play(episode)
    return Played(attempt, episode, time.monotonic() - began)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_a_program_that_ends_well_is_scored_by_its_last_line() -> None:
    found = await play(f"print('thinking'); {RIGHT}; print()")
    assert found.evidence.answer == "1891"
    assert found.evidence.ended is Ended.STOPPED
    assert found.outcome is OutcomeKind.SUCCESS
    assert found.log.startswith("thinking\n")


async def test_a_program_that_says_nothing_ended_without_an_answer() -> None:
    found = await play("pass")
    assert (found.evidence.ended, found.evidence.answer) == (Ended.STOPPED, None)
    assert found.outcome is OutcomeKind.FAILURE


@pytest.mark.parametrize(
    "how", ['"answer": "1891"', '"status": "gave_up"', '"status": "infeasible"']
)
async def test_what_a_program_says_that_it_spent_stands_in_the_evidence(how: str) -> None:
    line = f'{{{how}, "usage": {{"input_tokens": 30, "output_tokens": 4, "usd": 0.02}}}}'
    found = await play(f"print('{line}')")
    assert (found.evidence.input_tokens, found.evidence.output_tokens) == (30, 4)
    assert found.evidence.usd == 0.02


async def test_a_program_that_exits_with_an_error_is_a_failure_with_its_last_words() -> None:
    found = await play(f"import sys; {RIGHT}; sys.exit('the model is away')")
    assert found.evidence.ended is Ended.AGENT_CRASHED
    assert found.because.startswith("the agent exited with 1; it never connected to the browser")
    assert found.because.endswith("the model is away")
    assert found.outcome is OutcomeKind.FAILURE
    assert "the model is away" in found.log


async def test_the_reason_of_a_crash_is_the_line_that_names_the_error() -> None:
    found = await play(
        "raise RuntimeError('the model is away\\nand its stack\\n#17 0x7f <unknown>')"
    )
    assert found.because.endswith(": RuntimeError: the model is away")


async def test_a_program_that_is_killed_is_a_failure() -> None:
    found = await play("import os; os.kill(os.getpid(), 9)")
    assert found.evidence.ended is Ended.AGENT_CRASHED
    assert "SIGKILL" in found.because
    assert found.outcome is OutcomeKind.FAILURE


@ONE_QUICK
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"status": "won"}', "won"),
        ('{"answer": "1891"', "no JSON"),
        ("{'answer': '1891'}", "no JSON"),
        ('{"anwser": "1891"}', "anwser"),
        ("The answer is 1891.", "The answer is 1891."),
    ],
)
async def test_a_last_line_that_makes_no_sense_is_a_failure_that_says_so(
    line: str, said: str
) -> None:
    found = await play(f"print({line!r})")
    assert found.evidence.ended is Ended.AGENT_CRASHED
    assert found.outcome is OutcomeKind.FAILURE
    assert said in found.because
    assert "last line" in found.because
    assert "\n" not in found.because


USAGE = '"usage": {"input_tokens": 30, "output_tokens": 4, "usd": 0.02}'
SPENDS = f'print(\'{{"answer": "1891", {USAGE}}}\')'


async def test_what_a_program_spends_counts_against_the_budget_of_its_run() -> None:
    budget = RunBudget(limits=SpendingLimits(max_usd=0.03))

    first, second, third = [await play(SPENDS, meter=Counted(budget)) for _ in range(3)]

    assert first.outcome is second.outcome is OutcomeKind.SUCCESS
    assert third.evidence.fault is not None
    assert third.evidence.fault.reason is UnscoredReason.BUDGET
    assert "$0.0400 of $0.03" in third.evidence.fault.message
    assert third.log == ""


async def test_a_budget_that_a_programs_report_cannot_be_held_against_ends_the_run() -> None:
    budget = RunBudget(limits=SpendingLimits(max_usd=0.03))

    with pytest.raises(ModelError, match="--max-usd cannot be held"):
        await play(SPENDS.replace("0.02", "null"), meter=Counted(budget))


async def test_a_program_that_reports_nothing_has_spent_nothing_known() -> None:
    budget = RunBudget(limits=SpendingLimits(max_usd=0.03))

    assert (await play(RIGHT, meter=Counted(budget))).outcome is OutcomeKind.SUCCESS
    assert budget.spent == Spent()


async def test_a_program_that_hangs_is_ended_at_its_limit() -> None:
    found = await play("import time; time.sleep(600)", seconds=0.7)
    assert found.evidence.ended is Ended.DEADLINE
    assert found.because.startswith("the agent took more than 0.7 s")
    assert "never connected" in found.because
    assert found.outcome is OutcomeKind.FAILURE
    assert found.seconds < 10


async def test_a_program_that_does_nothing_in_the_browser_for_too_long_is_ended() -> None:
    found = await play("import time; time.sleep(600)", idle_s=0.7)
    assert found.evidence.ended is Ended.DEADLINE
    assert found.because.startswith("the agent did nothing for 0.7 s")


@SLOW
async def test_a_program_that_ignores_its_end_is_killed() -> None:
    program = """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("armed", flush=True)
        time.sleep(600)
    """
    found = await play(program, seconds=1.0)
    assert found.evidence.ended is Ended.DEADLINE
    assert found.seconds < 10


@SLOW
async def test_a_flood_is_kept_within_bounds_and_does_not_hide_the_answer() -> None:
    program = f"""
        import sys
        print("first words")
        for _ in range(2000):
            sys.stdout.write("x" * 10000 + chr(10))
        {RIGHT}
    """
    found = await play(program)
    assert found.evidence.answer == "1891"
    assert found.outcome is OutcomeKind.SUCCESS
    assert len(found.log) < 700_000
    assert found.log.startswith("first words\n")
    assert "bytes left out]" in found.log


async def test_what_a_program_forks_ends_with_it_wherever_it_went(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    program = f"""
        import os, subprocess, sys, time
        child = "import time; time.sleep(600)"
        group = subprocess.Popen([sys.executable, "-c", child])
        away = subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
        open({str(file)!r}, "w").write(f"{{group.pid}} {{away.pid}}")
        {RIGHT}
    """
    found = await play(program)
    assert found.outcome is OutcomeKind.SUCCESS, (found.log, found.because)
    pids = [int(one) for one in file.read_text(encoding="utf-8").split()]
    assert len(pids) == 2
    assert not [pid for pid in pids if is_alive(pid)]


async def test_an_interrupted_run_leaves_the_episode_open_and_no_process() -> None:
    found = await play("import time; time.sleep(600)", meanwhile=lambda event: event.set())
    assert found.interrupted
    assert found.evidence.ended is None
    assert found.seconds < 10


async def test_a_world_that_breaks_meanwhile_is_no_fault_of_the_agents() -> None:
    world = FakeWorld(is_shared=True)
    world.gone = "the container of wiki is gone"
    found = await play(RIGHT, world=world)
    assert found.evidence.fault is not None
    assert found.evidence.fault.reason is UnscoredReason.INFRA
    assert found.outcome is OutcomeKind.UNSCORED


async def test_secrets_of_the_environment_do_not_reach_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_API_KEY", "topsecretvalue")
    found = await play("import os; print(os.environ['MY_API_KEY'])")
    assert "topsecretvalue" not in found.log
    assert "[redacted]" in found.log


async def test_a_program_that_cannot_be_started_is_a_failure_that_says_so() -> None:
    with pytest.raises(Exception, match="cannot be started"):
        async with AgentProcess.running(["/nonexistent/agent"], dict(os.environ), "mark"):
            pass


def test_a_bounded_log_keeps_both_ends() -> None:
    log = BoundedLog(head=10, tail=10)
    for letter in b"abcdefghijklmnopqrstuvwxyz":
        log.add(bytes([letter]) * 5)
    text = log.text()
    assert text.startswith("aaaaabbbbb")
    assert text.endswith("zzzzz")
    assert "left out" in text
    assert len(text) < 60
