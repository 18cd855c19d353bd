"""One episode, driven by an external client; every adapter is built on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from arena_core.actions import Action, AnswerStatus
from arena_core.errors import AgentError, UnknownNameError, UsageError
from arena_core.names import offered
from evaluators.evidence import Evidence
from evaluators.responses import ending
from evaluators.scores import Score
from orchestrator.agents.action_spaces.arena_json import ArenaJson
from orchestrator.agents.action_spaces.browsergym import BrowserGymCalls
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.choice import make_agent
from orchestrator.agents.interface import Assignment
from orchestrator.api.open_episode import OpenEpisode
from orchestrator.browser.observation import Observation
from orchestrator.episode.checkpoint import Checkpoint
from orchestrator.serve.results import EpisodeResult, FinishStatus

MOST_CHECKPOINTS: Final = 100
ORACLE: Final = "oracle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped:
    """What one action of a client led to.

    Attributes:
        observation: what is seen now; `last_error` says why the action could not be done.
        result: what the episode is worth; None while it goes on.
    """

    observation: Observation
    result: EpisodeResult | None


class EpisodeSession:
    """Plays an episode for a client: `begin`, then `step` until there is a `result`, or `finish`.

    An episode that has come to its end is scored and closed in the same call, so that its slot is
    free whether or not the client comes back. One call at a time; `abandon` may come at any moment.

    Attributes:
        result: what the episode is worth, once it is over.
        marks: its checkpoints, by name.
    """

    def __init__(self, episode: OpenEpisode, *, folder: Path | None = None) -> None:
        self._observation: Observation | None = None
        self.result: EpisodeResult | None = None
        self._episode = episode
        self._folder = folder
        self._start_urls: tuple[str, ...] = ()
        self._call: str | None = None
        self._unread = 0
        self._why_abandoned = ""
        self._concluding = asyncio.Lock()
        self.marks: dict[str, Checkpoint] = {}

    @property
    def call(self) -> str | None:
        """What is being done for the client right now."""
        return self._call

    @property
    def seen(self) -> Observation:
        if self._observation is None:
            raise UsageError(f"the episode of '{self._episode.task.id}' has not begun")
        return self._observation

    @property
    def assignment(self) -> Assignment:
        """What an agent may know of its task, once the episode has begun."""
        return self._episode.assignment

    @property
    def is_over_cdp(self) -> bool:
        """Whether a client of CDP plays it, and no action is done for anybody else."""
        return self._episode.endpoint is not None

    @property
    def idle_s(self) -> float:
        """How long ago a client of CDP last acted; infinite where no such client plays."""
        if self.is_over_cdp and not self._episode.is_over:
            return self._episode.idle_s
        return inf

    def endpoint(self) -> dict[str, str]:
        return {"cdp_url": self._episode.cdp_url, "proxy_url": self._episode.proxy_url}

    @property
    def storage_state(self) -> Path:
        return self._episode.storage_state

    async def ended_by_itself(self) -> EpisodeResult:
        """Wait until a limit or the world ends what a client of CDP plays, and score it then."""
        await self._episode.wait_until_over()
        return await self._concluded()

    @property
    def start_urls(self) -> tuple[str, ...]:
        return self._start_urls

    def evidence(self) -> Evidence:
        return self._episode.evidence()

    async def begin(self) -> EpisodeResult | None:
        """Reset the episode; what is seen first is its `observation`.

        Returns:
            None where it can be played. Where the world broke, or is not as the task requires, why
            the episode is unscored: it is over and closed then.
        """
        with self._alone("reset"):
            try:
                self._observation = await self._episode.reset()
                self._start_urls = tuple(tab.url for tab in self._observation.tabs)
            except BaseException:
                await self._episode.close()
                raise
            return await self._concluded() if self._episode.is_over else None

    async def step(self, action: Action, *, thought: str | None = None) -> Stepped:
        """Do one action; the one that ends the episode has its result."""
        with self._alone("step"):
            self._require_own_browser()
            done = await self._episode.step(action, thought=thought)
            self._observation = done.observation
            self._count_steps()
            return await self._stepped()

    async def play(self, actions: Sequence[Action], *, thought: str | None = None) -> Stepped:
        """Do the actions that one text stands for, a step each, until one cannot be done."""
        done: Stepped | None = None
        for action in actions:
            done = await self.step(action, thought=thought)
            if done.result is not None or done.observation.last_error is not None:
                break
        if done is None:
            raise UsageError("there is no action to be done")
        return done

    async def misread(self, why: str) -> Stepped:
        """Take note of an action that cannot be read: nothing is done, and a step is used up."""
        with self._alone("step"):
            self._require_own_browser()
            if self._episode.is_over:
                message = f"the episode of '{self._episode.task.id}' is over"
                raise UsageError(message, hint="open another one")
            self._observation = replace(self.seen, last_error=why)
            self._unread += 1
            self._count_steps()
            return await self._stepped()

    async def checkpoint(self, name: str) -> Checkpoint:
        """Take all of the episode as it is now, and keep it under a name."""
        with self._alone("checkpoint"):
            if name not in self.marks and len(self.marks) >= MOST_CHECKPOINTS:
                message = f"the episode has {MOST_CHECKPOINTS} checkpoints already"
                raise UsageError(message, hint="take one under a name that it has, in its place")
            self.marks[name] = await self._episode.checkpoint(name)
            return self.marks[name]

    async def restore(self, name: str) -> Stepped:
        """Go back to a checkpoint; an episode that cannot be proven to be there is over."""
        with self._alone("restore"):
            self._observation = await self._episode.restore(self.mark(name))
            return await self._stepped()

    async def fork(self, count: int, name: str) -> tuple[EpisodeSession, ...]:
        """Return sessions of episodes that go on from a checkpoint; they know it as well."""
        with self._alone("fork"):
            branches = await self._episode.fork(count, at=self.mark(name))
        sessions = tuple(EpisodeSession(branch) for branch in branches)
        for session, branch in zip(sessions, branches, strict=True):
            session._observation, session._start_urls = branch.observation, self._start_urls  # noqa: SLF001
            session._unread = self._unread  # noqa: SLF001
            session.marks.update(self.marks)
            if branch.is_over:
                await session._concluded()  # noqa: SLF001
        return sessions

    def mark(self, name: str) -> Checkpoint:
        """Return a checkpoint. Raises UnknownNameError where there is none of that name."""
        if name not in self.marks:
            raise UnknownNameError(f"no checkpoint '{name}'; {offered(name, self.marks)}")
        return self.marks[name]

    async def finish(
        self,
        answer: str | None = None,
        status: FinishStatus = FinishStatus.DONE,
        reason: str = "",
        usage: Mapping[str, object] | None = None,
        data: JsonValue = None,
        *,
        confidence: float | None = None,
    ) -> EpisodeResult:
        """End the episode for the agent and score it; later calls return the same."""
        if self.result is not None:
            return self.result
        if (answer is not None or data is not None) and status is not FinishStatus.DONE:
            message = f"an answer has no effect beside the status '{status}'"
            raise UsageError(message, hint="omit the answer, or finish with 'done'")
        if confidence is not None and status is FinishStatus.GAVE_UP:
            message = "a confidence has no effect beside the status 'gave_up'"
            raise UsageError(message, hint="omit it: who gave up did not do the task")
        with self._alone("finish"):
            if usage is not None:
                self._episode.spend(usage)
            if self.is_over_cdp:
                because = reason or None
                return await self._concluded(
                    lambda: self._episode.finish(
                        answer, status=status, because=because, data=data, confidence=confidence
                    )
                )
            if not self._episode.is_over:
                await self._end(answer, data, status, reason, confidence)
            return await self._concluded()

    async def play_reference(self) -> EpisodeResult:
        """Let the oracle play the task to its end: it is scored as any agent's, and it may fail."""
        reference = self._episode._playing().reference  # noqa: SLF001  no face of the API shows it
        oracle = make_agent(ORACLE)(self.assignment, reference)
        while self.result is None:
            try:
                decided = await oracle.decide(self.seen)
            except AgentError as error:
                return await self.finish(None, FinishStatus.GAVE_UP, str(error))
            await self.step(decided.action, thought=decided.thought)
        return self.result

    async def abandon(self, why: str) -> EpisodeResult:
        """Take the episode back and cut short what is under way; it counts for nothing."""
        if self.result is None:
            self._why_abandoned = why
            await self._episode.close()
        return await self._concluded()

    async def _end(
        self,
        answer: str | None,
        data: JsonValue,
        status: FinishStatus,
        reason: str,
        confidence: float | None,
    ) -> None:
        match status:
            case FinishStatus.GAVE_UP:
                self._episode.end(reason or "the agent gave up")
            case status:
                action = ending(AnswerStatus(status), answer, data, reason, confidence)
                await self._episode.step(action)

    def _count_steps(self) -> None:
        """End the episode where actions that could not be read have used up its last steps."""
        used, limit = self.seen.step + self._unread, self.assignment.step_limit
        if self._unread and used >= limit and not self._episode.is_over:
            because = f"{limit} steps were used up, {self._unread} of them unreadable"
            self._episode.end(because, ended="step_limit")

    async def _stepped(self) -> Stepped:
        result = await self._concluded() if self._episode.is_over else None
        return Stepped(observation=self.seen, result=result)

    async def _concluded(
        self, scored: Callable[[], Awaitable[Score]] | None = None
    ) -> EpisodeResult:
        """Score the episode and give its slot back, once."""
        async with self._concluding:
            if self.result is None:
                try:
                    score = await (scored or self._episode.score)()
                finally:
                    await self._episode.close()
                self.result = EpisodeResult.of(
                    score,
                    self.evidence(),
                    self._folder,
                    misread=self._unread,
                    because=self._why_abandoned,
                )
            return self.result

    def _require_own_browser(self) -> None:
        """Refuse an action while a CDP client drives the browser: two would disturb each other."""
        if self.is_over_cdp:
            message = f"the episode of '{self._episode.task.id}' is played over CDP"
            raise UsageError(message, hint="act by cdp_url; `finish` ends and scores the episode")

    @contextmanager
    def _alone(self, call: str) -> Iterator[None]:
        """Refuse a call while another is under way."""
        if self._call is not None:
            message = f"{call} was asked for while a {self._call} of the same episode is under way"
            raise UsageError(message, hint="wait for one answer before the next request")
        self._call = call
        try:
            yield
        finally:
            self._call = None


@dataclass(frozen=True, slots=True)
class TextActions:
    """Reads calls of BrowserGym (`click('12')`), and Arena's JSON where a text begins with `{`."""

    _json: ArenaJson = field(default_factory=partial(ArenaJson, with_confidence=True))
    _calls: BrowserGymCalls = field(default_factory=BrowserGymCalls)

    def script(self, said: str, observation: Observation) -> tuple[Action, ...] | Misread:
        if not said.lstrip().startswith("{"):
            return self._calls.script(said, observation)
        action = self._json.parse(said, observation)
        return action if isinstance(action, Misread) else (action,)
