"""One episode that a program plays step by step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, Self, cast

from arena_core.errors import UsageError
from arena_core.task_group import task_group

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from arena_core.actions import Action
    from arena_core.worlds import World
    from evaluators.evidence import Evidence, TriedWay
    from evaluators.scores import Score
    from orchestrator.agents.interface import Assignment
    from orchestrator.api.begun_episode import Begun
    from orchestrator.browser.observation import Observation
    from orchestrator.browser.process.external_browser import ExternalBrowser
    from orchestrator.episode.checkpoint import Checkpoint, PageWay
    from orchestrator.episode.episode import Episode
    from orchestrator.episode.external.episode import ExternalEpisode
    from orchestrator.episode.steps import StepResult
    from orchestrator.runs.single_episode import EpisodeFolder
    from tasks.schema import Task


class EpisodeMaker(Protocol):
    """Begins the episodes of one task."""

    async def begin(
        self,
        goes_on: tuple[Checkpoint, PageWay] | None = None,
        folder: EpisodeFolder | None = None,
    ) -> Begun:
        """Lease what an episode needs, from its start or from a checkpoint.

        `folder` is its own from before it went back; else it gets one if it is to have one.
        """

    def foresee(self, mark: Checkpoint, way: PageWay) -> None:
        """Learn where the next episode begins, before the replicas of this one are given back."""

    def require_fits(self, mark: Checkpoint) -> None:
        """Raise UsageError where the task, as it is played, cannot go on from a checkpoint."""

    def more(self, count: int) -> tuple[OpenEpisode, ...]:
        """Return so many more episodes that are not begun; UsageError where there is no room."""


class OpenEpisode:
    """One attempt at one task: `reset`, then `step` until `is_over`, then `score`.

    `Arena.episode` makes it. Golden replicas and a browser are leased at `reset`, and given back at
    `close`, which the end of its `async with` block calls. It is played once; open another one to
    play the task again. A harness may go back to a `checkpoint`, or `fork` from one.

    Attributes:
        task: what is played.
        world: where.
        endpoint: `cdp` where a client of CDP plays it, else None.
    """

    def __init__(
        self,
        task: Task,
        world: World,
        maker: EpisodeMaker,
        on_close: Callable[[OpenEpisode], None],
        *,
        endpoint: str | None = None,
        goes_on: Checkpoint | None = None,
    ) -> None:
        self.task = task
        self.world = world
        self.endpoint = endpoint
        self._maker = maker
        self._on_close = on_close
        self._goes_on = goes_on
        self._begun: Begun | None = None
        self._was_reset = False
        self._is_closed = False
        self._goes_back = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def reset(self) -> Observation:
        """Lease golden replicas, log the roles in, open the start pages; return what is seen first.

        Where the world breaks or is not as the task requires, the episode is over at once and
        unscored; the observation is empty but for `last_error`. An episode that was opened at a
        checkpoint begins there, as a branch of `fork`.

        Raises:
            UsageError: it was reset before, or is closed.
            TaskError: the task has mistakes; nothing is played.
            ImageError: an image is not built.
            StateError: the checkpoint is of another image.
            LeaseError: no replicas were ready in time.
            StoreError: the folder for its evidence exists already, or cannot be written.
            ArenaError: a replica could not be made ready, or no browser starts.
        """
        if self._was_reset or self._is_closed:
            known = "was reset before" if self._was_reset else "is closed"
            message = f"the episode of '{self.task.id}' {known}: an episode is played once"
            raise UsageError(message, hint="open another one: arena.episode(...)")
        self._was_reset = True
        if self._goes_on is not None:
            return await self._go_on(self._goes_on)
        begun = await self._begin()
        observation = await begun.episode.reset()
        environment = begun.held.value
        if environment.is_shared and not begun.episode.is_over:
            from arena_core.held import Held
            from orchestrator.episode.external.episode import open_external

            browser = cast("ExternalBrowser", environment.browser)
            begun.outside = await Held.enter(open_external(begun.episode, browser))
        return observation

    async def _begin(
        self,
        goes_on: tuple[Checkpoint, PageWay] | None = None,
        folder: EpisodeFolder | None = None,
    ) -> Begun:
        """Lease what the episode needs; UsageError where it was closed meanwhile."""
        self._begun = begun = await self._maker.begin(goes_on, folder)
        if self._is_closed:
            begun.folder = None if folder is not None else begun.folder  # saved by then
            await self.close()
            message = f"the episode of '{self.task.id}' was closed while it was being reset"
            raise UsageError(message, hint="await reset() before close()")
        return begun

    @property
    def cdp_url(self) -> str:
        """The address of the episode's Chromium, for a client of CDP; after `reset`.

        Raises:
            UsageError: the episode was not opened with `endpoint="cdp"`, or is not reset.
        """
        return self._open_external().cdp_url

    @property
    def proxy_url(self) -> str:
        """The gateway, for a browser of a program's own; what is done there counts for no key node.

        Raises:
            UsageError: as `cdp_url`.
        """
        return self._open_external().proxy_url

    @property
    def storage_state(self) -> Path:
        """The logins as a file of Playwright's storage state, for a browser of a program's own.

        Raises:
            UsageError: as `cdp_url`.
        """
        return self._open_external().folder / "storage_state.json"

    @property
    def idle_s(self) -> float:
        """How long ago a client of CDP last acted.

        Raises:
            UsageError: as `cdp_url`.
        """
        return self._open_external().idle_s

    async def wait_until_over(self) -> None:
        """Return when an episode that a client of CDP plays has ended by itself.

        A limit did that, or the world broke; `finish` scores it.

        Raises:
            UsageError: as `cdp_url`.
        """
        outside = self._open_external()
        ends = [asyncio.create_task(outside.over.wait()), asyncio.create_task(outside.lost())]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in ends:
                one.cancel()

    async def finish(
        self,
        answer: str | None = None,
        *,
        status: str = "done",
        because: str | None = None,
        data: JsonValue = None,
        confidence: float | None = None,
    ) -> Score:
        """End an episode that a client of CDP played: refuse its commands, settle, look, score.

        Args:
            answer: where the task asks for one.
            status: `done`, `gave_up`, `infeasible`, or a nearer word: `not_found`, ….
            because: a reason, for the evidence.
            data: the answer as JSON, in place of words.
            confidence: how likely the agent says that it did the task right, from 0 to 1.

        Raises:
            UsageError: the episode has no endpoint, is not reset, there is no such status, or the
                confidence is no number from 0 to 1.
        """
        from orchestrator.episode.external.episode import Finish, Status

        if status not in list(Status):
            raise UsageError(f"an episode does not finish as '{status}'", hint=", ".join(Status))
        outside = self._open_external()
        try:
            finish = Finish(
                answer=answer,
                data=data,
                status=Status(status),
                because=because,
                confidence=confidence,
            )
        except ValueError as cause:
            raise UsageError(str(cause)) from cause
        await outside.finish(finish)
        return await self.score()

    def _open_external(self) -> ExternalEpisode:
        self._playing()
        if self._begun is None or self._begun.outside is None:
            message = f"the episode of '{self.task.id}' has no endpoint"
            raise UsageError(message, hint="open it with endpoint='cdp', and await reset()")
        return self._begun.outside.value

    def spend(self, usage: Mapping[str, object]) -> None:
        """Write down what the agent spent on models, as it says itself; sums up.

        Args:
            usage: `{"input_tokens": 812, "output_tokens": 40, "usd": 0.0024}`, each of which may be
                missing or null.

        Raises:
            AgentError: it is no such mapping.
            UsageError: the episode is not reset yet.
        """
        from orchestrator.agents.model_exchange import reported_usage

        self._playing().spend(reported_usage(usage))

    async def step(self, action: Action, *, thought: str | None = None) -> StepResult:
        """Do one action; return the next observation, and whether and how the episode is over.

        Time counts against the task's limit only while an action is done, never between calls.

        Args:
            action: of `orchestrator.actions`; `Stop` ends the episode, with an answer where the
                task asks for one.
            thought: why, for the evidence.

        Raises:
            UsageError: it is no action, or the thought is no text; the episode is not reset yet, is
                over, or another call is under way.
        """
        from arena_core.actions import ACTIONS
        from orchestrator.episode.steps import DecisionRecord

        if not isinstance(action, ACTIONS):
            message = f"step() takes an action, and not {type(action).__name__}: {action!r:.80}"
            hint = "from orchestrator import actions; await episode.step(actions.Click(element=3))"
            raise UsageError(message, hint=hint)
        said: object = thought
        if not isinstance(said, str | None):
            raise UsageError(f"a step's thought is a text, and not {type(said).__name__}")
        return await self._playing().step(action, DecisionRecord(thought=thought))

    async def checkpoint(self, name: str) -> Checkpoint:
        """Take all of the episode as it is now, to `restore` it or `fork` from it later.

        That is the state of each replica, the tabs with their storage, fields and scroll, and the
        steps so far. The episode goes on, and neither its agent nor its pages notice.

        Args:
            name: for the evidence of what goes on from here.

        Raises:
            UsageError: the episode is not reset yet, is over, or has an endpoint.
            StateError: something cannot be taken, and the message names it: a dialog, a download,
                an open connection, a site that is written to, a live site.
        """
        return await self._playing().checkpoint(name)

    async def restore(self, mark: Checkpoint) -> Observation:
        """Go back to a checkpoint of this task; what was done since is undone and forgotten.

        Replicas are proven to be in its states, and the page to show the same. Where that cannot be
        proven the episode is over, and `unscored: fork`.

        Args:
            mark: where to; it may have been taken of another episode of the task.

        Returns:
            What is seen there.

        Raises:
            UsageError: the episode is not reset yet, is closed, or another call is under way; or
                the checkpoint is of another task, or of the task with other terms.
            StateError: the checkpoint is of another image.
            ArenaError: no replica could be brought there.
        """
        episode = self._playing()
        self._maker.require_fits(mark)
        begun = self._begun
        if self._is_closed or begun is None:
            raise UsageError(f"the episode of '{self.task.id}' is closed")
        with self._going_back(), episode.left():
            return await self._go_on(mark, begun.folder)

    @contextmanager
    def _going_back(self) -> Iterator[None]:
        """Refuse to go back while the episode does."""
        if self._goes_back:
            message = f"restore() was called while restore() of '{self.task.id}' is under way"
            raise UsageError(message, hint="await one call before the next")
        self._goes_back = True
        try:
            yield
        finally:
            self._goes_back = False

    async def fork(self, count: int, *, at: Checkpoint) -> tuple[OpenEpisode, ...]:
        """Return episodes that go on from a checkpoint, each with replicas and pages of its own.

        They need no `reset`: `observation` says what each sees. Close each, as any episode. One
        that could not be proven equal to the checkpoint is over, and `unscored: fork`.

        Args:
            count: how many.
            at: where they begin; this episode goes on as it is.

        Raises:
            UsageError: the checkpoint is of another task, or of the task with other terms, or there
                are not as many free slots: `Arena(workers=...)`.
            StateError: the checkpoint is of another image.
            ArenaError: no replica could be brought there.
        """
        self._maker.require_fits(at)
        branches = self._maker.more(count)
        try:
            async with task_group() as group:
                for branch in branches:
                    group.create_task(branch._go_on(at))  # noqa: SLF001  its own kind
        except BaseException:
            for branch in branches:
                await branch.close()
            raise
        return branches

    async def _go_on(self, mark: Checkpoint, folder: EpisodeFolder | None = None) -> Observation:
        """Begin at a checkpoint, by the cheapest way that is proven to lead there."""
        from evaluators.evidence import UnscoredReason

        self._was_reset = True
        tried: tuple[TriedWay, ...] = ()
        for way in mark.ways:
            if self._begun is not None:
                self._maker.foresee(mark, way)
                await self._begun.end()
            begun = await self._begin((mark, way), folder)
            folder = begun.folder
            begun.episode.tried = tried
            await begun.episode.reset()
            evidence = begun.episode.evidence()
            if evidence.fault is None or evidence.fault.reason is not UnscoredReason.FORK:
                break
            tried = evidence.branch.tried if evidence.branch else ()
        return self.observation

    async def score(self) -> Score:
        """Look what the end checks find, and score; later calls return the same.

        Returns:
            `outcome`, why (`because`), and the verdict of each check with its reason.

        Raises:
            UsageError: the episode is not over: send `Stop()` first.
        """
        episode = self._playing()
        outside = None if self._begun is None else self._begun.outside
        if outside is not None and episode.is_over and not self._is_closed:
            await outside.value.settle()  # it may have ended by itself, with its client still there
        return await episode.score()

    def end(self, because: str, *, ended: str = "agent_gave_up") -> None:
        """End an episode that is not over, for its agent's reason: it is scored as it stands.

        Args:
            because: one sentence for the evidence.
            ended: `agent_gave_up`, `agent_crashed`, `deadline` or `step_limit`; an agent that stops
                does that by `step(Stop())`.

        Raises:
            UsageError: the episode is not reset yet, is over, or does not end by that.
        """
        from evaluators.evidence import Ended

        known = {str(one): one for one in Ended}
        if ended not in known:
            message = f"an episode does not end as '{ended}'"
            raise UsageError(message, hint="agent_gave_up, agent_crashed, deadline or step_limit")
        self._playing().end(known[ended], because)

    async def close(self) -> None:
        """Give replicas and browser back, and write the evidence where asked for; safe to repeat.

        An episode that is closed before its end counts for nothing.

        Raises:
            StoreError: the evidence cannot be written.
        """
        self._is_closed = True
        self._on_close(self)
        begun = self._begun
        if begun is None:
            return
        await begun.end()
        folder, begun.folder = begun.folder, None
        if folder is not None:
            folder.save(self.task, begun.episode.evidence(), begun.episode.files)

    @property
    def is_over(self) -> bool:
        """Whether no further step can be done."""
        return self._is_closed or (self._begun is not None and self._begun.episode.is_over)

    @property
    def assignment(self) -> Assignment:
        """What an agent may know: intent, the sites' URLs, the limit of steps; after `reset`.

        Raises:
            UsageError: the episode is not reset yet.
        """
        return self._playing().assignment

    @property
    def observation(self) -> Observation:
        """What was seen last.

        Raises:
            UsageError: the episode is not reset yet.
        """
        return self._playing().observation

    def evidence(self) -> Evidence:
        """Return everything that was written down so far; final after `close`.

        Raises:
            UsageError: the episode is not reset yet.
        """
        return self._playing().evidence()

    def _playing(self) -> Episode:
        if self._begun is None:
            message = f"the episode of '{self.task.id}' is not reset yet"
            raise UsageError(message, hint="await episode.reset() first")
        return self._begun.episode
