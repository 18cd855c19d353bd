"""Steps of an agent that acts in the browser by itself: read off its commands, not asked for.

A step begins with a command that acts. It is written down when the page has settled, or when the
next one begins: the agent is made to wait for a page only where a script of its own did something
that the page does not bear out yet.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from arena_core.actions import Write
from arena_core.cookie import Cookie
from arena_core.errors import BrowserError
from arena_core.foreign import cut
from evaluators.evidence import Ended, RequestNote, StepEvidence, Timings
from orchestrator.browser.cdp_proxy.agent_commands import Act, Attempt, Part
from orchestrator.episode.episode import Episode
from orchestrator.episode.steps import SETTLE_DEADLINE_S, timed
from orchestrator.episode.traffic import refuse_broken, refuse_broken_page

OVER: Final = "the episode is over"
_MOST_TEXT: Final = 100_000  # characters of what one step writes
_GOES_ON_S: Final = 1.0  # within it another letter belongs to the same text
_PROOF_S: Final = 2.0  # how long the next command waits for what a script's event leads to
_SCRIPT_S: Final = 0.5  # within it an event is a script's that has ended


@dataclass(slots=True, kw_only=True)
class _OpenStep:
    """A step under way: what the agent does, and where the gateway's journal stood before it."""

    index: int
    mark: int
    began: float
    idle_ms: float
    act: Act
    text: str


class ExternalSteps:
    """Writes the steps of an agent that drives the episode's browser over CDP.

    It fills `EpisodeObserver`: the proxy says what the agent does.

    Args:
        episode: reset already, its browser shared.
        settle_s: how long a page may take to settle.

    Attributes:
        over: set when no further step can be done.
    """

    def __init__(self, episode: Episode, *, settle_s: float = SETTLE_DEADLINE_S) -> None:
        player, session = episode.shared_browser()
        self.over = asyncio.Event()
        self._player = player
        self._session = session
        self._look = episode.look_at_page
        self._break_off = episode.break_off_by
        self._settle_s = settle_s
        self._limits = player.record.spec.task.limits
        self._turn = asyncio.Lock()
        self._step: _OpenStep | None = None
        self._writing: asyncio.Task[None] | None = None
        self._under_way = 0
        self._scripts = 0
        self._script_ended = 0.0
        self._spent_s = 0.0
        self._last = time.monotonic()
        self._attempts: list[RequestNote] = []
        self._is_finishing = False
        self._is_driven = False
        session.listen_to(self._noticed, self._is_scripting, self._page_broke)

    @property
    def gateway_url(self) -> str:
        """Where the episode's gateway listens, in the browser's network."""
        return self._player.resources.options.proxy_url or ""

    @property
    def has_read_only_origins(self) -> bool:
        """Whether sites are visited live that may only be read."""
        return bool(self._player.resources.options.live_origins)

    @property
    def start_urls(self) -> tuple[str, ...]:
        record = self._player.record
        return tuple(map(record.environment.upstreams.url, record.spec.task.start_pages))

    async def cookies(self) -> tuple[Cookie, ...]:
        return await self._session.cookies()

    @property
    def idle_s(self) -> float:
        """How long ago the last command that acts was sent or answered."""
        return 0.0 if self._under_way else time.monotonic() - self._last

    @property
    def why_over(self) -> str:
        """Why no command is taken any more, in words for the agent."""
        record = self._player.record
        if record.ended in {Ended.STEP_LIMIT, Ended.DEADLINE}:
            return f"limit reached: {record.ended_because}; {OVER}"
        return OVER

    async def acts(self, act: Act) -> str | None:
        """Begin a step with a command, or go on with one; why it is refused, None where it is not.

        A command that continues a step of its kind belongs to one that is under way.
        """
        async with self._turn:
            if act.part is Part.JOINS and self._is_over:
                return self.why_over
            await self._hold()
            if act.part is not Part.JOINS and not await self._begins(act):
                return self.why_over
            self._under_way += 1
            return None

    async def _begins(self, act: Act) -> bool:
        """Begin a step, or continue the one under way; False where the episode is over."""
        step = self._step
        if self._is_over:
            return False
        if step is not None and act.part is Part.CONTINUES and step.act.kind == act.kind:
            step.text = cut(step.text + act.text, _MOST_TEXT)
            return True
        if step is not None:
            await self._guarded_write(step, waits=False)
        if self._has_run_out():
            return False
        self._open(act)
        if act.target:
            self._session.attend(act.target)
        return True

    def acted(self) -> None:
        self._under_way -= 1
        self._last = time.monotonic()
        if self._under_way == 0:
            self._wait_to_write()

    def scripts(self, *, is_over: bool) -> None:
        """Note that a script of the agent's begins or ended."""
        self._scripts += -1 if is_over else 1
        self._script_ended = self._last = time.monotonic()

    def connected(self) -> None:
        """Note that a client has connected: it answers for the pages from now on."""
        self._is_driven = True

    def refused(self, attempt: Attempt) -> None:
        """Note an attempt that was refused; it stands with the step under way, or the next."""
        method, what, why = attempt.method, attempt.what, attempt.why
        self._attempts.append(
            RequestNote(method=method, url=what, site=None, may_write=False, refused=why)
        )

    def changes_cookies(self) -> None:
        """Note that the agent answers for its logins from now on."""
        self._player.record.changed_cookies = True

    def makes_answers(self) -> None:
        """Note that the agent may answer requests in place of sites from now on."""
        self._session.distrust_answers()

    async def finish(self) -> None:
        """Wait until the page has settled after the last step, and write that down; safe to repeat.

        A browser that is gone by then broke the episode off, also where no step is under way: who
        is scored next may ask it nothing.
        """
        async with self._turn:
            if self._is_finishing:
                return
            self._is_finishing = True
            await self._hold()
            if self._step is None and self._attempts:
                self._open(Act(part=Part.BEGINS, kind="attempt"))
            if self._player.record.fault is not None:
                return
            if self._step is not None:
                await self._guarded_write(self._step, waits=True)
                return
            try:
                await self._session.title()
            except Exception as error:  # noqa: BLE001  the same
                self._broke(error)

    async def close(self) -> None:
        """End what is under way; nothing more is noticed."""
        self._is_finishing = True
        await self._hold()

    @property
    def _is_over(self) -> bool:
        return self._is_finishing or self._player.record.is_over

    def _has_run_out(self) -> bool:
        """Whether the task's limits are used up; ends the episode then."""
        record, limits = self._player.record, self._limits
        if len(record.steps) > limits.steps:
            self._end(Ended.STEP_LIMIT, f"{limits.steps} steps were used up")
        elif self._spent_s > limits.seconds:
            self._end(Ended.DEADLINE, f"{limits.seconds:g} s were over")
        return record.is_over

    def _end(self, ended: Ended, because: str) -> None:
        self._player.record.end(ended, because)
        self.over.set()

    def _page_broke(self, why: str) -> None:
        """End the episode where the agent's page crashed by itself or hangs.

        At the end, when no command is taken any more, the page merely shows nothing.
        """
        if not self._is_driven:
            self._broke(BrowserError(f"{why}, before anybody was connected to it"))
        elif not self._is_over:
            self._end(Ended.AGENT_CRASHED, f"{why}, which the agent drives by itself")

    def _open(self, act: Act) -> None:
        now = time.monotonic()
        self._step = _OpenStep(
            index=len(self._player.record.steps),
            mark=self._player.resources.journal.mark(),
            began=now,
            idle_ms=round((now - self._last) * 1000, 1),
            act=act,
            text=act.text,
        )

    def _noticed(self) -> None:
        """Open a step of its own for what no command explains, such as a click by script."""
        if self._step is not None or self._is_over:
            return
        if len(self._player.record.steps) > self._limits.steps:
            if self._is_scripting():
                self._has_run_out()
            return  # what comes late of the last step, and stands with what is written next
        self._open(Act(part=Part.BEGINS, kind="script"))
        if self._under_way == 0:
            self._wait_to_write()

    def _is_scripting(self) -> bool:
        return self._scripts > 0 or time.monotonic() - self._script_ended < _SCRIPT_S

    def _wait_to_write(self) -> None:
        if self._step is not None and self._writing is None:
            self._writing = asyncio.create_task(self._settled(self._step))

    async def _hold(self) -> None:
        """Stop waiting for the page: the agent goes on."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.cancel()
            # Awaiting the task itself could not tell its end from this call's being cut short.
            await asyncio.wait([writing])
            if not writing.cancelled():
                writing.result()

    async def _settled(self, step: _OpenStep) -> None:
        """Write a step down when the page has settled and nothing goes on with it."""
        try:
            await self._session.settle(self._settle_s)
        except Exception as error:  # noqa: BLE001  a fault of the world, or a bug: the outcome
            self._broke(error)
            return
        if step.act.part is Part.CONTINUES:
            await asyncio.sleep(_GOES_ON_S)
        await self._guarded_write(step, waits=True)
        self._writing = None

    async def _guarded_write(self, step: _OpenStep, *, waits: bool) -> None:
        try:
            await self._write(step, waits=waits)
        except Exception as error:  # noqa: BLE001  the same
            self._broke(error)

    def _broke(self, error: Exception) -> None:
        self._step = None
        if not self._break_off(error):
            raise error
        self.over.set()

    async def _write(self, step: _OpenStep, *, waits: bool) -> None:
        """Write down what a step changed."""
        player, session = self._player, self._session
        settled, settle_ms = await timed(session.settle(self._settle_s)) if waits else (False, 0.0)
        if not await session.bear_out() and not waits:
            # What a script did may show a moment later; the next command would leave it unproved.
            settled, settle_ms = await timed(session.settle(_PROOF_S))
            await session.bear_out()
        found, locate_ms = await timed(player.locators.at_step(player.looks))
        picture = await player.screenshot(step.index) if waits else None
        url, title, login = session.url, await session.title(), session.login
        status = session.status
        activity = session.drain()
        exchanges = player.resources.journal.since(step.mark)
        is_led = any(one.trusted for one in activity.acted)
        player.record.note_misses(step.index, player.resources.journal, is_led=is_led)
        refuse_broken(exchanges)
        if self.has_read_only_origins:  # elsewhere the agent may break requests off itself
            refuse_broken_page(player.resources.live)
        attempts, self._attempts = tuple(self._attempts), []
        spent_s = time.monotonic() - step.began
        player.record.steps.append(
            StepEvidence(
                index=step.index,
                action=Write(text=step.text) if step.text else step.act.action,
                url=url,
                logical=player.record.environment.registry.logical(url),
                title=title,
                visits=activity.visits,
                acted=activity.acted,
                requests=len(exchanges),
                notes=player.notes(activity, exchanges) + attempts,
                located=found,
                timings=Timings(
                    decide_ms=step.idle_ms,
                    act_ms=round(spent_s * 1000 - settle_ms - locate_ms, 1),
                    settle_ms=settle_ms,
                    locate_ms=locate_ms,
                ),
                settled=settled,
                screenshot=picture,
                login=login or None,
                status=status,
                is_forged=session.is_forged,
            )
        )
        player.record.break_off_at_limit()
        self._spent_s += spent_s
        self._step = None
        if not player.record.is_over:
            await self._look()
        if player.record.is_over:
            self.over.set()
