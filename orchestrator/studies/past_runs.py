"""Runs that were played, as far as a plan can be reckoned from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.store.ledger import FinishedEpisode
from orchestrator.store.lock import AgentLock, RunLock
from orchestrator.store.run_folder import RunFolder

_UNTOLD: Final = frozenset({"seed"})  # it changes neither how long an episode takes nor its price


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """A run that was played: a pilot, or any earlier one.

    Attributes:
        templates: by task, its template, or the task's id.
    """

    path: str
    lock: RunLock
    episodes: tuple[FinishedEpisode, ...]
    templates: Mapping[str, str]

    @classmethod
    def read(cls, folder: RunFolder) -> PastRun:
        """Read a run's lock and ledger.

        Raises:
            StoreError: it cannot be read.
        """
        with folder.reading() as ledger:
            episodes = ledger.finished_episodes()
        templates = {task.id: task.template or task.id for task in folder.suite().tasks}
        return cls(
            path=str(folder.path), lock=folder.lock(), episodes=episodes, templates=templates
        )


def is_same_agent(one: AgentLock, other: AgentLock) -> bool:
    """Whether two agents are of the same kind and options, whatever their seeds."""
    return one.kind == other.kind and _counting(one) == _counting(other)


def _counting(agent: AgentLock) -> dict[str, object]:
    return {name: value for name, value in agent.options.items() if name not in _UNTOLD}
