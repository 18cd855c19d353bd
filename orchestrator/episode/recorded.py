"""Episodes of recorded steps: a prompt, a reply, and no browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NoReturn

from arena_core.actions import Action, Stop
from arena_core.worlds import World
from evaluators.changes import IgnoredChanges
from evaluators.evidence import Ended, Receipt, StepEvidence, Timings
from orchestrator.agent_interface import Assignment
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.episode import Episode
from orchestrator.episode.steps import DecisionRecord, StepResult
from sites.atlas import Atlas
from sites.upstreams import Upstreams

if TYPE_CHECKING:
    from orchestrator.browser.context import SessionOptions
    from orchestrator.episode.interfaces import EpisodeSession
    from orchestrator.reset.watch import Mark

_STEP: Final = 1


@dataclass(frozen=True, slots=True)
class _Nothing:
    """The world of an episode that has none: no replica, no browser, no account."""

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """There is no replica that could be golden."""
        return ()

    def wrote(self, site: str) -> NoReturn:
        """No request is ever sent."""
        raise AssertionError(site)

    async def lost(self) -> None:
        """There is no container that could be gone."""

    async def marks(self) -> Mapping[str, Mark]:
        """There is no state that could move."""
        return {}

    async def listen(self) -> NoReturn:
        """There is no browser."""
        raise AssertionError

    def session(self, options: SessionOptions) -> AbstractAsyncContextManager[EpisodeSession]:
        """There is no browser."""
        raise AssertionError(options)

    async def cookies(self, site: str, role: str) -> NoReturn:
        """There is no account."""
        raise AssertionError(site, role)

    async def is_logged_out(self, site: str, role: str, cookies: Sequence[object]) -> NoReturn:
        """There is no account."""
        raise AssertionError(site, role, cookies)

    async def query(self, site: str, sql: str) -> NoReturn:
        """There is no database."""
        raise AssertionError(site, sql)

    async def changes(self, site: str, ignored: IgnoredChanges) -> NoReturn:
        """There is no replica."""
        raise AssertionError(site, ignored)

    async def run(self, site: str, command: str, seconds: int) -> NoReturn:
        """There is no replica."""
        raise AssertionError(site, command, seconds)

    async def ask_api(self, site: str, role: str, path: str) -> NoReturn:
        """There is no site."""
        raise AssertionError(site, role, path)


def environment_without_sites(atlas: Atlas, world: World) -> EpisodeEnvironment:
    """Return the environment of an episode that visits nothing."""
    nothing = _Nothing()
    return EpisodeEnvironment(
        atlas=atlas,
        upstreams=Upstreams(world, {}),
        browser=nothing,
        replicas={},
        accounts=nothing,
        database=nothing,
        api=nothing,
        lease=nothing,
    )


class RecordedEpisode(Episode):
    """One recorded step: the agent is assigned its prompt, and ends the episode with its reply.

    What is scored is the reply, `Stop.answer`. Any other action ends the episode too, as giving up:
    there is no page to act on.
    """

    def __init__(self, spec: AttemptSpec, atlas: Atlas, world: World) -> None:
        super().__init__(spec, environment_without_sites(atlas, world))

    @property
    def assignment(self) -> Assignment:
        """What the agent is shown: the whole recorded prompt in place of an intent."""
        return replace(super().assignment, intent=self.task.prompt or self.task.intent)

    async def step(self, action: Action, decided: DecisionRecord | None = None) -> StepResult:
        """Take the reply; the episode is over then.

        Raises:
            UsageError: the episode is not reset yet, or is over.
        """
        with self._calls.alone("step"):
            self._refuse_unless_under_way()
            told = self._measured(decided or DecisionRecord())
            if isinstance(action, Stop):
                self._record.answer = action.answer
                self._record.end(Ended.STOPPED, None)
            else:
                message = f"a recorded step takes a reply, and the agent wanted to {action.kind}"
                self._record.end(Ended.AGENT_GAVE_UP, message)
            self._record.steps.append(
                StepEvidence(
                    index=_STEP,
                    action=action,
                    url="",
                    logical=None,
                    title="",
                    thought=told.thought,
                    timings=Timings(decide_ms=told.decide_ms or 0.0),
                )
            )
        return StepResult(
            observation=self._observation,
            ended=self._record.ended,
            because=self._because(),
            fault=None,
        )

    async def _open(self) -> None:
        nothing = StepEvidence(index=0, action=None, url="", logical=None, title="")
        self._record.steps.append(nothing)

    def _refuse_unless_under_way(self) -> None:
        """Raise what `step` raises where no step can be done."""
        if not self._was_reset or self._calls.is_closed or self._record.is_over:
            self._running()
