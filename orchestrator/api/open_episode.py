"""One episode that a program plays step by step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Self

from arena_core.errors import UsageError

if TYPE_CHECKING:
    from arena_core.actions import Action
    from arena_core.worlds import World
    from evaluators.evidence import Evidence
    from evaluators.scores import Score
    from orchestrator.api.episode_folder import EpisodeFolder
    from orchestrator.api.held import Held
    from orchestrator.episode.environment import EpisodeEnvironment
    from orchestrator.episode.episode import Episode
    from orchestrator.episode.steps import StepResult
    from orchestrator.observation import Assignment, Observation
    from tasks.schema import Task


class Begun:
    """What an episode has from its reset on: its environment, itself, and its folder."""

    def __init__(
        self, held: Held[EpisodeEnvironment], episode: Episode, folder: EpisodeFolder | None
    ) -> None:
        self.held = held
        self.episode = episode
        self.folder = folder


class OpenEpisode:
    """One attempt at one task: `reset`, then `step` until `is_over`, then `evaluate`.

    `Arena.episode` makes it. Golden replicas and a browser are leased at `reset`, and given back at
    `close`, which the end of its `async with` block calls. It is played once; open another one to
    play the task again.

    Attributes:
        task: what is played.
        world: where.
    """

    def __init__(
        self,
        task: Task,
        world: World,
        begin: Callable[[], Awaitable[Begun]],
        on_close: Callable[[OpenEpisode], None],
    ) -> None:
        self.task = task
        self.world = world
        self._begin = begin
        self._on_close = on_close
        self._begun: Begun | None = None
        self._was_reset = False
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def reset(self) -> Observation:
        """Lease golden replicas, log the roles in, open the start pages; return what is seen first.

        Where the world breaks or is not as the task requires, the episode is over at once and
        unscored; the observation is empty but for `last_error`.

        Raises:
            UsageError: it was reset before, or is closed.
            TaskError: the task has mistakes; nothing is played.
            ImageError: an image is not built.
            LeaseError: no replicas were ready in time.
            StoreError: the folder for its evidence exists already, or cannot be written.
            ArenaError: a replica could not be made ready, or no browser starts.
        """
        if self._was_reset or self._is_closed:
            known = "was reset before" if self._was_reset else "is closed"
            message = f"the episode of '{self.task.id}' {known}: an episode is played once"
            raise UsageError(message, hint="open another one: arena.episode(...)")
        self._was_reset = True
        self._begun = await self._begin()
        if self.is_over:  # only `close` can have ended what is not reset yet
            await self.close()
            message = f"the episode of '{self.task.id}' was closed while it was being reset"
            raise UsageError(message, hint="await reset() before close()")
        return await self._begun.episode.reset()

    async def step(self, action: Action, *, thought: str | None = None) -> StepResult:
        """Do one action; return the next observation, and whether and how the episode is over.

        Time counts against the task's limit only while an action is done, never between calls.

        Args:
            action: of `orchestrator.actions`; `Stop` ends the episode, with an answer where the
                task asks for one.
            thought: why, for the evidence.

        Raises:
            UsageError: the episode is not reset yet, is over, or another call is under way.
        """
        from orchestrator.episode.steps import DecisionRecord

        return await self._playing().step(action, DecisionRecord(thought=thought))

    async def evaluate(self) -> Score:
        """Look what the end checks find, and score; later calls return the same.

        Returns:
            `outcome`, why (`because`), and the verdict of each check with its reason.

        Raises:
            UsageError: the episode is not over: send `Stop()` first.
        """
        return await self._playing().evaluate()

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
        was_over = begun.episode.is_over
        try:
            await begun.episode.close()
        finally:
            await begun.held.leave(broke_off=not was_over)
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
