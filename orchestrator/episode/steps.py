"""One step: an action, what the page looks like after it, and what it changed."""

from __future__ import annotations

import time
from asyncio import Task, wait
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final, TypeVar

from arena_core.actions import Action, AskUser, Click, Infeasible, Stop
from arena_core.errors import BrowserError
from arena_core.task_group import task_group
from evaluators.checks import Look
from evaluators.evidence import (
    ConsentGiven,
    Ended,
    EpisodeFault,
    Located,
    RequestNote,
    StepEvidence,
    Timings,
    UnscoredReason,
)
from evaluators.user import UserReply, reply_to
from orchestrator.browser.observation import IN_VIEWPORT, SCREENSHOT, SOM, Node, Observation
from orchestrator.browser.observations.forms import ObservationForm
from orchestrator.browser.tabs.journal import Activity
from orchestrator.episode.environment import EpisodeEnvironment, EpisodeSession
from orchestrator.episode.locators import Locators
from orchestrator.episode.protocol import EpisodeProtocol
from orchestrator.episode.record import EpisodeRecord
from orchestrator.episode.resources import EpisodeResources
from orchestrator.episode.traffic import host_of, refuse_broken, refuse_broken_page
from orchestrator.gateway.journal import Exchange
from sites.manifest import ConsentClick
from sites.upstreams import LiveUpstream, StagedUpstream

SETTLE_DEADLINE_S: Final = 10.0


async def give_consent(session: EpisodeSession, record: EpisodeRecord) -> None:
    """Click what the manifests of live sites name, where the current page shows it.

    A page that asks nothing is left as it is. What cannot be clicked, or is still there
    afterwards, keeps the agent out: the episode is blocked. It is no step of the agent's: the
    evidence keeps it apart, and no check takes it for one.
    """
    given: list[ConsentGiven] = []
    registry = record.environment.registry
    for site, wanted in _asked(record.environment):
        await session.settle(SETTLE_DEADLINE_S)
        here, _, _ = (registry.logical(session.url) or "").partition(":")
        node = await _shown(session, wanted) if here in {"", site} else None
        if node is None:
            continue
        why = await session.act(Click(element=node.id))
        await session.settle(SETTLE_DEADLINE_S)
        if why is None and (session.status or 0) >= HTTPStatus.BAD_REQUEST:
            why = f"it leads to a page that answered {session.status}"
        if why is None and await _shown(session, wanted) is not None:
            why = "it is still there after the click"
        if why is not None:
            message = f"site '{site}': consent, {wanted.role} '{wanted.name}': {why}"
            record.break_off(EpisodeFault(reason=UnscoredReason.BLOCKED, message=message))
            break
        given.append(ConsentGiven(site=site, role=wanted.role, name=wanted.name))
    record.consent = tuple(given)


def _asked(environment: EpisodeEnvironment) -> Iterator[tuple[str, ConsentClick]]:
    for name, upstream in environment.upstreams.by_site.items():
        if isinstance(upstream, LiveUpstream | StagedUpstream):
            yield from ((name, one) for one in upstream.live.consent)


async def _shown(session: EpisodeSession, wanted: ConsentClick) -> Node | None:
    nodes = (await session.observe(0)).nodes
    fitting = (node for node in nodes if (node.role, node.name) == (wanted.role, wanted.name))
    return next(fitting, None)


_PICTURES: Final = frozenset({SCREENSHOT, SOM, f"{SCREENSHOT}{IN_VIEWPORT}", f"{SOM}{IN_VIEWPORT}"})

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRecord:
    """How an action was chosen, as far as the driver knows; the evidence keeps it.

    Attributes:
        thought: why, in the agent's words.
        decide_ms: how long it took to choose; None where nobody measured it.
        usd: what it cost; None where nobody knows.
    """

    thought: str | None = None
    decide_ms: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What a step led to.

    Attributes:
        observation: what the agent sees now; after a stop, or where the episode broke off, what it
            saw last. `last_error` says why the action could not be done.
        ended: how the episode came to its end; None while it goes on or where it broke off.
        because: why it is over, in one sentence; None while it goes on, and after a stop.
        fault: why it broke off: such an episode is unscored.
    """

    observation: Observation
    ended: Ended | None = None
    because: str | None = None
    fault: EpisodeFault | None = None

    @property
    def is_over(self) -> bool:
        """Whether no further step can follow."""
        return self.ended is not None or self.fault is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """An action that the page has taken, and where the gateway's journal stood before it."""

    index: int
    mark: int
    timings: Timings
    action: Action | None = None
    error: str | None = None
    thought: str | None = None
    reply: UserReply | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlayer:
    """Does actions in an open session and writes down what each of them changed.

    Attributes:
        looks: what is looked at: the checks of the world, and what else the task asks for.
        forms: what the agent asked to see, by name.
    """

    record: EpisodeRecord
    resources: EpisodeResources
    locators: Locators
    looks: Sequence[Look]
    forms: Mapping[str, ObservationForm]

    async def open(
        self, urls: Sequence[str], logins: Sequence[str], protocol: EpisodeProtocol
    ) -> Observation:
        mark = self.resources.journal.mark()
        with self.resources.arm.opening():
            try:
                _, act_ms = await timed(self.resources.session.open(urls, logins))
            except BrowserError:
                refuse_broken(self.resources.journal.since(mark))  # it knows which site, and why
                refuse_broken_page(self.resources.live, at_start=True)
                raise
            await give_consent(self.resources.session, self.record)
            await protocol.start(self.resources.session)
            return await self._observed(_Done(index=0, mark=mark, timings=Timings(act_ms=act_ms)))

    async def act(self, index: int, action: Action, decided: DecisionRecord) -> Observation:
        """Do any action but a stop, and return what the agent sees then."""
        mark = self.resources.journal.mark()
        error, act_ms = await timed(self.resources.session.act(action))
        done = _Done(
            index=index,
            mark=mark,
            timings=Timings(decide_ms=decided.decide_ms or 0.0, act_ms=act_ms),
            action=action,
            error=error,
            thought=decided.thought,
            reply=self._reply_to(action.question) if isinstance(action, AskUser) else None,
        )
        return await self._observed(done)

    def _reply_to(self, question: str) -> UserReply:
        asked = sum(step.reply is not None for step in self.record.steps)
        return reply_to(question, self.record.spec.task.user, asked)

    async def stop(self, index: int, action: Stop | Infeasible, decided: DecisionRecord) -> None:
        """Write down that the agent stopped; the pages stay as they are."""
        session = self.resources.session
        self.record.steps.append(
            StepEvidence(
                index=index,
                action=action,
                url=session.url,
                logical=self.record.environment.registry.logical(session.url),
                title=await session.title(),
                thought=decided.thought,
                timings=Timings(decide_ms=decided.decide_ms or 0.0),
                login=session.login or None,
                status=session.status,
                is_forged=session.is_forged,
            )
        )

    async def _observed(self, done: _Done) -> Observation:
        """Wait until the page is settled, then write down what the step changed."""
        session, journal = self.resources.session, self.resources.journal
        settled, settle_ms = await timed(session.settle(SETTLE_DEADLINE_S))
        async with task_group() as group:
            seen = group.create_task(timed(session.observe(done.index, done.error, self.forms)))
            image = group.create_task(self.screenshot(done.index))
            located = group.create_task(self._located(seen, image))
        observation, observe_ms = seen.result()
        if done.reply is not None:
            observation = replace(observation, reply=done.reply.text)
        shown = self.record.keep_seen(observation)
        found, locate_ms = located.result()
        activity = session.drain()
        exchanges = journal.since(done.mark)
        self.record.note_misses(done.index, journal)
        refuse_broken(exchanges)
        refuse_broken_page(self.resources.live)
        spent = {"settle_ms": settle_ms, "observe_ms": observe_ms, "locate_ms": locate_ms}
        self.record.steps.append(
            StepEvidence(
                index=done.index,
                action=done.action,
                error=done.error,
                url=observation.url,
                logical=self.record.environment.registry.logical(observation.url),
                title=observation.title,
                visits=activity.visits,
                # Before the first action nobody acts but Arena, which may give consent.
                acted=activity.acted if done.index else (),
                requests=len(exchanges),
                notes=self.notes(activity, exchanges),
                located=found,
                timings=done.timings.model_copy(update=spent),
                settled=settled,
                thought=done.thought,
                screenshot=image.result() or (shown if self.record.spec.screenshots else None),
                login=session.login or None,
                status=session.status,
                retry_after=session.retry_after,
                reply=done.reply,
            )
        )
        self.record.break_off_at_limit()
        return observation

    async def _located(self, *shown: Task[Any]) -> tuple[tuple[Located, ...], float]:
        """Look for key nodes, and say how long it took.

        What an arm does in the agent's page is taken back meanwhile: only after that is shown.
        """
        if self.resources.arm.page_scripts:
            await wait(shown)
        return await timed(self.locators.at_step(self.looks))

    async def screenshot(self, index: int) -> str | None:
        """Keep a picture of the page for a step, unless the agent sees one of the moment anyway."""
        if not self.record.spec.screenshots or not _PICTURES.isdisjoint(self.forms):
            return None
        image = await self.resources.session.screenshot()
        return self.record.keep_screenshot(index, image) if image is not None else None

    def notes(self, activity: Activity, exchanges: tuple[Exchange, ...]) -> tuple[RequestNote, ...]:
        """Return the requests worth noting: refused ones, and those that may have written.

        What Chromium asks for on its own behalf is refused as well, and is nobody's doing.
        """
        noted = tuple(
            RequestNote(
                method=one.method,
                url=one.url,
                site=one.site,
                may_write=one.may_write,
                refused=one.refused,
            )
            for one in exchanges
            if one.may_write or (one.refused and self.resources.session.asked_of(host_of(one.url)))
        )
        return noted + activity.refused


async def timed(work: Awaitable[Result]) -> tuple[Result, float]:
    began = time.monotonic()
    result = await work
    return result, round((time.monotonic() - began) * 1000, 1)
