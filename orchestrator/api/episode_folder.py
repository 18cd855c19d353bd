"""The evidence of one episode as a run folder of its own, so that all that reads runs reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from arena_core.errors import UsageError
from evaluators.evidence import Evidence
from evaluators.scores import score
from orchestrator.agent_interface import Agent, AgentClass, Assignment, Reference
from orchestrator.api.episode_worlds import WorldChoice
from orchestrator.engine.engine import Engine
from orchestrator.observation import AXTREE
from orchestrator.runner.lock_writer import make_lock
from orchestrator.runner.request import RunRequest
from orchestrator.store.ledger import AttemptState
from orchestrator.store.lock import AgentLock
from orchestrator.store.recovery import broke_off, is_whole
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.trials import Trial
from sites.atlas import Atlas
from tasks.schema import Suite, Task

OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class OutsideAgent:
    """An agent that drives an episode from outside: Arena knows its name and makes none."""

    name: str
    observations: frozenset[str] = frozenset({AXTREE})

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:  # noqa: ARG002
        """Refuse.

        Raises:
            UsageError: always.
        """
        message = f"the agent {self.name} drove its episode from outside: Arena cannot make it"
        raise UsageError(message, hint="play it again from the program that did")

    async def close(self) -> None:
        """Close nothing."""


@dataclass(frozen=True, slots=True)
class EpisodeFolder:
    """A run folder with one episode, entered before it starts and saved when it is over."""

    folder: RunFolder
    trial: Trial
    number: int

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
        atlas: Atlas,
        engine: Engine,
    ) -> Self:
        """Make the folder, and write down what is played and with what.

        Raises:
            StoreError: it exists already, or cannot be written.
            ImageError: an image that the episode needs is missing.
            BrowserMissingError: there is no Chromium.
        """
        request = RunRequest(
            suite=suite,
            tasks=(task,),
            worlds=(choice.world,),
            agent=OutsideAgent(agent),
            agent_lock=AgentLock(
                name=agent,
                kind=OUTSIDE,
                options=dict(options),
                agent_class=AgentClass.CONTESTANT,
            ),
            attempts=1,
            staged=choice.staged,
            resolves=choice.resolves,
            headless=choice.headless,
        )
        folder = RunFolder.create(path, await make_lock(request, atlas, engine), suite)
        trial = Trial(task.id, choice.world)
        with folder.writing() as ledger:
            return cls(folder, trial, ledger.start(trial))

    def save(self, task: Task, evidence: Evidence, files: Mapping[str, bytes]) -> None:
        """Write the evidence, and what became of the episode.

        One that its driver left in the middle counts for nothing, as in a run that was interrupted.

        Raises:
            StoreError: the folder cannot be written.
        """
        self.folder.save_evidence(self.trial.folder(self.number), evidence, files)
        counts = is_whole(evidence) or broke_off(evidence)
        outcome = str(score(task.checks, evidence, task.requires).outcome) if counts else None
        state = AttemptState.FINISHED if counts else AttemptState.ABANDONED
        with self.folder.writing() as ledger:
            ledger.end(self.trial, self.number, state, outcome)
