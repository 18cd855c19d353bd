"""One episode as a run of its own: its terms, and the run folder that keeps its evidence."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import Field

from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.evidence import Evidence
from evaluators.scores import score
from orchestrator.agents.interface import Agent, AgentClass, AgentLock, Assignment, Reference
from orchestrator.browser.observation import AXTREE
from orchestrator.runs.lock_writer import make_lock
from orchestrator.runs.request import RunRequest
from orchestrator.runs.spec import RunSettings, Seconds, Steps
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.recovery import broke_off, is_whole
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.secrets import without_secrets
from orchestrator.sandbox.engine.engine import Engine
from sites.fields import Strict
from sites.registry import SiteRegistry
from tasks.schema import Suite, Task

OUTSIDE: Final = "outside"
SEEDS: Final = 2**31
Pixels = Annotated[int, Field(ge=100, le=4096)]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldChoice:
    """Which world an episode is played in, and how.

    Attributes:
        settings: of a run of this one episode.
        headless: no browser window is shown.
    """

    settings: RunSettings
    headless: bool = True

    @property
    def world(self) -> World:
        """The one world of these settings."""
        return self.settings.worlds[0]


class EpisodeTerms(Strict):
    """What an episode has in place of what its task says; None leaves that as it is.

    The task as it is played, with these terms in it, is what its evidence is kept with.

    Attributes:
        seed: a MiniWoB++ page draws its problem from it. Every other task is the same whatever the
            seed: it is written down and nothing else.
        viewport: width and height in CSS pixels.
        state: the name of a saved state that the episode begins in, for the sites that it holds.
    """

    seed: int | None = Field(default=None, ge=0, lt=SEEDS)
    max_steps: Steps | None = None
    max_seconds: Seconds | None = None
    viewport: tuple[Pixels, Pixels] | None = None
    state: str | None = Field(default=None, min_length=1)

    def applied_to(self, task: Task) -> Task:
        """Return a task as it is played on these terms."""
        changed: dict[str, Any] = {}
        limits: dict[str, float] = {}
        if self.max_steps is not None:
            limits["steps"] = self.max_steps
        if self.max_seconds is not None:
            limits["seconds"] = self.max_seconds
        if limits:
            changed["limits"] = task.limits.model_copy(update=limits)
        if self.seed is not None and task.miniwob is not None:
            changed["miniwob"] = task.miniwob.model_copy(update={"seed": self.seed})
        return task.model_copy(update=changed) if changed else task

    @property
    def options(self) -> dict[str, str | int | float | bool | None]:
        """What was asked for, by name, as a run's lock keeps it."""
        asked = self.model_dump(exclude_none=True)
        if self.viewport is not None:
            asked["viewport"] = f"{self.viewport[0]}x{self.viewport[1]}"
        return asked


def with_task(suite: Suite, played: Task) -> Suite:
    """Return a suite that has a task as it is played."""
    tasks = tuple(played if one.id == played.id else one for one in suite.tasks)
    return suite.model_copy(update={"tasks": tasks})


@dataclass(frozen=True, slots=True)
class OutsideAgent:
    """An agent that drives an episode from outside: Arena knows its name and makes none."""

    name: str
    observations: frozenset[str] = frozenset({AXTREE})

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:  # noqa: ARG002
        """Refuse."""
        message = f"the agent {self.name} drove its episode from outside: Arena cannot make it"
        raise UsageError(message, hint="play it again from the program that did")

    async def close(self) -> None:
        """Close nothing."""


@dataclass(frozen=True, slots=True)
class EpisodeFolder:
    """A run folder with one episode, entered before it starts and saved when it is over."""

    folder: RunFolder
    key: EpisodeKey
    number: int
    _began: float = field(default_factory=time.monotonic)

    @classmethod
    async def create(
        cls,
        path: Path,
        suite: Suite,
        task: Task,
        choice: WorldChoice,
        *,
        agent: str,
        options: Mapping[str, str | int | float | bool | None],
        registry: SiteRegistry,
        engine: Engine,
    ) -> Self:
        """Make the folder, and write down what is played and with what."""
        request = RunRequest(
            suite=suite,
            tasks=(task,),
            agent=OutsideAgent(agent),
            agent_lock=AgentLock(
                name=agent,
                kind=OUTSIDE,
                options=dict(options),
                agent_class=AgentClass.CONTESTANT,
            ),
            settings=choice.settings,
            headless=choice.headless,
        )
        folder = RunFolder.create(path, await make_lock(request, registry, engine), suite)
        key = EpisodeKey(task.id, choice.world)
        with folder.writing() as ledger:
            return cls(folder, key, ledger.start(key))

    def save(self, task: Task, evidence: Evidence, files: Mapping[str, bytes]) -> None:
        """Write the evidence, and what became of the episode.

        One that its driver left in the middle counts for nothing, as in a run that was interrupted.
        """
        evidence = without_secrets(evidence)
        digest = self.folder.save_evidence(self.key.folder(self.number), evidence, files)
        counts = is_whole(evidence) or broke_off(evidence)
        outcome = str(score(task.checks, evidence, task.requires).outcome) if counts else None
        state = AttemptState.FINISHED if counts else AttemptState.ABANDONED
        with self.folder.writing() as ledger:
            ledger.end(self.key, self.number, state, outcome, digest, began=self._began)
