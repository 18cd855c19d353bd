"""Plays one attempt: open, require, act step by step, locate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from arena_core.actions import Stop
from arena_core.bugs import is_bug
from arena_core.cookie import Cookie
from arena_core.errors import (
    AgentCrashedError,
    AgentError,
    BrowserError,
    ContextExceededError,
    EngineError,
    GatewayError,
    InputError,
    LoginError,
    ModelError,
    SiteError,
)
from arena_core.task_group import task_group
from evaluators.evidence import (
    Ended,
    RequestNote,
    StepEvidence,
    Timings,
    UnscoredReason,
)
from evaluators.match import match
from orchestrator.browser.context import DEFAULT_VIEWPORT, SessionOptions
from orchestrator.browser.journal import Activity
from orchestrator.browser.session import Session
from orchestrator.episode.block_detection import detect_block
from orchestrator.episode.deciding import decide, make_episode_agent
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.exchanges import host_of, may_have_written, refuse_broken
from orchestrator.episode.locating import Locators
from orchestrator.episode.logins import dropped_login, login_fault, login_name
from orchestrator.episode.proof_hook import EpisodeSnapshot, moved_between, side_context
from orchestrator.episode.recorder import Recorder
from orchestrator.episode.routing import policy_for, read_only_origins
from orchestrator.episode.wob import VIEWPORT as WOB_VIEWPORT
from orchestrator.episode.wob import WobEpisode, start_wob
from orchestrator.gateway import Exchange, Gateway
from orchestrator.observation import Assignment, Decision, Observation, Reference
from tasks.schema import Task

SETTLE_DEADLINE_S = 10.0
DECIDE_DEADLINE_S = 600.0

Result = TypeVar("Result")


async def perform(recorder: Recorder) -> None:
    """Play one attempt into its record; a fault of the world or a bug is recorded, never raised."""
    spec, environment = recorder.spec, recorder.environment
    try:
        await _play(spec, environment, recorder)
    except LoginError as error:
        fault = login_fault(environment, error)
        recorder.fault(fault.reason, fault.message)
    except InputError as error:
        # The task does not fit its sites, and only playing it showed that.
        recorder.fault(UnscoredReason.CHECK_ERROR, error.message)
    except ModelError as error:
        if error.is_permanent:
            raise
        recorder.fault(UnscoredReason.INFRA, error.message)
    except (SiteError, EngineError, GatewayError, BrowserError) as error:
        recorder.fault(UnscoredReason.INFRA, error.message)
    except Exception as error:
        if not is_bug(error):
            raise
        recorder.bug(error)


async def _play(spec: AttemptSpec, environment: EpisodeEnvironment, recorder: Recorder) -> None:
    task = spec.task
    policy = policy_for(task, environment)
    async with Gateway.open(policy, bind=await environment.browser.listen()) as gateway:
        try:
            options = SessionOptions(
                proxy_url=gateway.url,
                cookies=await _log_in(task, environment),
                apart=await _log_in_apart(task, environment),
                live_origins=read_only_origins(task, environment),
                logical=environment.atlas.logical,
                viewport=WOB_VIEWPORT if task.wob else DEFAULT_VIEWPORT,
                shows_unnamed=task.wob is not None,
            )
            async with environment.browser.session(options) as session:
                await _Performance(recorder, gateway, session, options).play()
        finally:
            recorder.wrote = frozenset(
                site for site in task.sites if may_have_written(gateway.journal, site)
            )


async def _log_in(task: Task, environment: EpisodeEnvironment) -> tuple[Cookie, ...]:
    """Return the cookies of the first role of each site."""
    jars = [await environment.accounts.cookies(site, task.roles_of(site)[0]) for site in task.roles]
    return tuple(cookie for jar in jars for cookie in jar)


async def _log_in_apart(
    task: Task, environment: EpisodeEnvironment
) -> dict[str, tuple[Cookie, ...]]:
    """Return the cookies of every further role, each for a context of its own."""
    return {
        login_name(task, site, role): await environment.accounts.cookies(site, role)
        for site, role in task.further_roles
    }


class _Performance:
    """One attempt, its gateway and its browser session."""

    def __init__(
        self, recorder: Recorder, gateway: Gateway, session: Session, options: SessionOptions
    ) -> None:
        self._spec = recorder.spec
        self._task = recorder.spec.task
        self._environment = recorder.environment
        self._recorder = recorder
        self._journal = gateway.journal
        self._session = session
        self._options = options
        self._locators = Locators(self._environment, session, self._task)
        self._checks = self._task.checks_in(self._environment.world)
        self._wob: WobEpisode | None = None

    async def play(self) -> None:
        """Play from the start pages to the end checks."""
        if not await self._requirements_hold():
            self._end(Ended.NOT_STARTED, "the world is not as the task requires")
            return
        observation = await self._open()
        wall = detect_block(self._environment, self._session.answers())
        if wall is not None:
            self._recorder.fault(wall.reason, wall.message)
            return
        deadline = asyncio.timeout(self._task.limits.seconds)
        try:
            async with deadline:
                await self._act(observation, deadline)
        except TimeoutError:
            if not deadline.expired():
                raise
            self._end(Ended.DEADLINE, f"{self._task.limits.seconds:g} s were over")
        if not self._recorder.interrupted:
            self._recorder.located = await self._locators.at_end(self._checks)
            self._recorder.wob = self._wob.record if self._wob else None
            dropped = await dropped_login(
                self._task, self._environment, self._journal, self._session
            )
            if dropped is not None:
                self._recorder.fault(UnscoredReason.INFRA, dropped)

    async def _requirements_hold(self) -> bool:
        """Look whether the world still is as the task needs it, before the agent starts."""
        world = self._environment.world
        required = [check for check in self._task.requires if world in check.worlds]
        self._recorder.required = await self._locators.at_end(required)
        values = {one.check: one for one in self._recorder.required}
        return all(
            values[check.name].error is None and match(check, values[check.name].values, world).met
            for check in required
        )

    async def _open(self) -> Observation:
        urls = [self._environment.upstreams.url(page) for page in self._task.start_pages]
        logins = [
            "" if isinstance(one, str) else login_name(self._task, one.site, one.role)
            for one in self._task.start
        ]
        mark = self._journal.mark()
        _, act_ms = await _timed(self._session.open(urls, logins))
        if self._task.wob is not None:
            self._wob = self._locators.wob = await start_wob(self._session, self._task.wob)
            self._recorder.wob = self._wob.record
        return await self._close_step(0, None, None, mark, Timings(act_ms=act_ms))

    async def _act(self, observation: Observation, deadline: asyncio.Timeout) -> None:
        """Let the agent act until it stops or its limit is reached."""
        reference = Reference(self._task.reference, self._url_of)
        try:
            agent = make_episode_agent(self._spec.agent, self._assignment(), reference)
        except AgentCrashedError as crash:
            self._end(Ended.AGENT_CRASHED, crash.message)
            return
        for index in range(1, self._task.limits.steps + 1):
            try:
                decision, decide_ms = await _timed(_uncounted(decide(agent, observation), deadline))
            except AgentCrashedError as crash:
                self._end(Ended.AGENT_CRASHED, crash.message)
                return
            except (AgentError, ContextExceededError) as error:
                self._end(Ended.AGENT_GAVE_UP, error.message)
                return
            self._count_tokens(decision)
            await _uncounted(self._call_proof_hook(index), deadline)
            if isinstance(decision.action, Stop):
                await self._stop(index, decision, decide_ms)
                return
            observation = await self._step(index, decision, decide_ms)
            if await self._page_is_over():
                return
            if self._environment.interrupted.is_set():
                self._recorder.interrupted = True
                return
        self._end(Ended.STEP_LIMIT, f"{self._task.limits.steps} steps were used up")

    async def _call_proof_hook(self, step: int) -> None:
        """Let the witness look, if there is one, before an action is done."""
        proof_hook, world = self._spec.proof_hook, self._environment.world
        wanted = proof_hook.wants(self._task, world, step) if proof_hook else None
        if proof_hook is None or wanted is None:
            return
        before = await self._environment.database.marks()
        mark = self._journal.mark()
        async with side_context(self._environment.browser, self._options, self._session) as beside:
            locators = self._locators.through(beside)
            located = await locators.at_end(self._checks)
            asked = await locators.at_end(wanted)
        refuse_broken(self._journal.since(mark))
        moved = moved_between(before, await self._environment.database.marks())
        snapshot = EpisodeSnapshot(step=step, located=located, asked=asked, moved=moved)
        proof_hook.saw(self._task, world, snapshot)

    async def _page_is_over(self) -> bool:
        """Look whether the step ended the episode of a MiniWoB++ page; no step counts after it."""
        if self._wob is None:
            return False
        await self._wob.look()
        if self._wob.is_over:
            left = self._wob.record.was_left
            self._end(Ended.PAGE_LEFT if left else Ended.PAGE_ENDED, self._wob.why())
        return self._wob.is_over

    async def _step(self, index: int, decision: Decision, decide_ms: float) -> Observation:
        mark = self._journal.mark()
        error, act_ms = await _timed(self._session.act(decision.action))
        timings = Timings(decide_ms=decide_ms, act_ms=act_ms)
        return await self._close_step(index, decision, error, mark, timings)

    async def _stop(self, index: int, decision: Decision, decide_ms: float) -> None:
        if isinstance(decision.action, Stop):
            self._recorder.answer = decision.action.answer
        self._end(Ended.STOPPED, None)
        self._recorder.steps.append(
            StepEvidence(
                index=index,
                action=decision.action,
                url=self._session.url,
                logical=self._environment.atlas.logical(self._session.url),
                title=await self._session.title(),
                thought=decision.thought,
                timings=Timings(decide_ms=decide_ms),
                login=self._session.login or None,
            )
        )

    async def _close_step(
        self,
        index: int,
        decision: Decision | None,
        error: str | None,
        mark: int,
        timings: Timings,
    ) -> Observation:
        """Wait until the page is settled, then write down what the step changed."""
        settled, settle_ms = await _timed(self._session.settle(SETTLE_DEADLINE_S))
        async with task_group() as group:
            seen = group.create_task(_timed(self._session.observe(index, error)))
            located = group.create_task(_timed(self._locators.at_step(self._checks)))
            image = group.create_task(self._screenshot(index))
        observation, observe_ms = seen.result()
        found, locate_ms = located.result()
        activity = self._session.drain()
        exchanges = self._journal.since(mark)
        refuse_broken(exchanges)
        self._recorder.steps.append(
            StepEvidence(
                index=index,
                action=decision.action if decision else None,
                error=error,
                url=observation.url,
                logical=self._environment.atlas.logical(observation.url),
                title=observation.title,
                visits=activity.visits,
                acted=activity.acted,
                requests=len(exchanges),
                notes=self._notes(activity, exchanges),
                located=found,
                timings=timings.model_copy(
                    update={
                        "settle_ms": settle_ms,
                        "observe_ms": observe_ms,
                        "locate_ms": locate_ms,
                    }
                ),
                settled=settled,
                thought=decision.thought if decision else None,
                screenshot=image.result(),
                login=self._session.login or None,
            )
        )
        return observation

    async def _screenshot(self, index: int) -> str | None:
        if not self._spec.screenshots:
            return None
        return self._recorder.keep_screenshot(index, await self._session.screenshot())

    def _notes(
        self, activity: Activity, exchanges: tuple[Exchange, ...]
    ) -> tuple[RequestNote, ...]:
        """Return the requests worth telling: refused ones, and those that may have written.

        What Chromium asks for on its own behalf is refused as well, and is nobody's doing.
        """
        told = tuple(
            RequestNote(
                method=one.method,
                url=one.url,
                site=one.site,
                may_write=one.may_write,
                refused=one.refused,
            )
            for one in exchanges
            if one.may_write or (one.refused and self._session.asked_of(host_of(one.url)))
        )
        return told + activity.refused

    def _assignment(self) -> Assignment:
        upstreams = self._environment.upstreams
        return Assignment(
            task=self._task.id,
            intent=self._wob.record.utterance if self._wob else self._task.intent,
            world=self._environment.world,
            sites={
                upstream.site.title: upstreams.url(f"{name}:/")
                for name, upstream in upstreams.by_site.items()
            },
            step_limit=self._task.limits.steps,
            repeat=self._spec.repeat,
        )

    def _url_of(self, page: str) -> str:
        return self._environment.upstreams.url(page)

    def _count_tokens(self, decision: Decision) -> None:
        self._recorder.input_tokens += decision.input_tokens
        self._recorder.output_tokens += decision.output_tokens

    def _end(self, ended: Ended, because: str | None) -> None:
        self._recorder.ended = ended
        self._recorder.ended_because = because


async def _uncounted(work: Awaitable[Result], deadline: asyncio.Timeout) -> Result:
    """Await a decision outside the task's time limit: a slow model is no failure of the agent's.

    Every agent bounds its decisions itself, and a model that stalls raises ModelError.
    """
    clock = asyncio.get_running_loop().time
    due = deadline.when()
    began = clock()
    deadline.reschedule(began + DECIDE_DEADLINE_S)
    result = await work
    if due is not None:
        deadline.reschedule(due + clock() - began)
    return result


async def _timed(work: Awaitable[Result]) -> tuple[Result, float]:
    """Await and return the result with the milliseconds it took."""
    began = time.monotonic()
    result = await work
    return result, round((time.monotonic() - began) * 1000, 1)
