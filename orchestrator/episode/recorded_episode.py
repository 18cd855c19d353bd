"""Episodes of recorded steps: a prompt, a reply, and no browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NoReturn, cast

from arena_core.actions import Action, Stop
from arena_core.worlds import World
from evaluators.evidence import Ended, Receipt, StepEvidence, Timings
from orchestrator.agents.interface import Assignment
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.episode import Episode
from orchestrator.episode.steps import DecisionRecord, StepResult
from orchestrator.sandbox.reset.state import TakenState
from sites.registry import SiteRegistry
from sites.upstreams import Upstreams

if TYPE_CHECKING:
    from orchestrator.episode.environment import Accounts, Database, EpisodeBrowser, SiteApi

_STEP: Final = 1


@dataclass(frozen=True, slots=True)
class _EmptyLease:
    """The lease of an episode without replicas."""

    receipts: tuple[Receipt, ...] = ()
    began: Mapping[str, TakenState | None] = field(default_factory=dict)

    async def take_states(self) -> Mapping[str, TakenState]:
        return {}

    def wrote(self, site: str) -> NoReturn:
        raise AssertionError(site)

    async def lost(self) -> None:
        """Lose nothing: there is no container."""


def environment_without_sites(registry: SiteRegistry, world: World) -> EpisodeEnvironment:
    return EpisodeEnvironment(
        registry=registry,
        upstreams=Upstreams(world, {}),
        replicas={},
        lease=_EmptyLease(),
        # Nobody asks these: a recorded episode overrides whatever would.
        browser=cast("EpisodeBrowser", None),
        accounts=cast("Accounts", None),
        database=cast("Database", None),
        api=cast("SiteApi", None),
    )


class RecordedEpisode(Episode):
    """One recorded step: the agent is assigned its prompt, and ends the episode with its reply.

    What is scored is the reply, `Stop.answer`. Any other action ends the episode too, as giving up:
    there is no page to act on.
    """

    def __init__(self, spec: AttemptSpec, registry: SiteRegistry, world: World) -> None:
        super().__init__(spec, environment_without_sites(registry, world))

    @property
    def assignment(self) -> Assignment:
        """What the agent is shown: the whole recorded prompt in place of an intent."""
        return replace(super().assignment, intent=self.task.prompt or self.task.intent)

    async def step(self, action: Action, decided: DecisionRecord | None = None) -> StepResult:
        """Take the reply; the episode is over then."""
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
