"""Arena's public Python API; what is not named here may change without notice.

    from orchestrator import Arena

    async with Arena() as arena, arena.episode("demo/shop-latest-order-total") as episode:
        observation = await episode.reset()
        while not episode.is_over:
            observation = (await episode.step(my_agent(observation))).observation
        print((await episode.evaluate()).outcome)

Importing this package is cheap: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from orchestrator.names import claim_names

claim_names()

if TYPE_CHECKING:
    from arena_core import actions, errors
    from arena_core.errors import ArenaError
    from arena_core.worlds import World
    from evaluators.evidence import Evidence
    from evaluators.scores import Score
    from evaluators.verdicts import Outcome, OutcomeKind, Verdict
    from orchestrator.agent_interface import Agent, AgentClass, AgentMaker, Assignment, Decision
    from orchestrator.agents.spec import AgentFactory, Agents, AgentSpec
    from orchestrator.api.arena import Arena
    from orchestrator.api.events import (
        ArenaEvent,
        RunBegan,
        SitesStarting,
        StudyBegan,
        WarningNote,
    )
    from orchestrator.api.exporting import Exported
    from orchestrator.api.open_episode import OpenEpisode
    from orchestrator.api.resetting import ResetOutcome, SiteReset
    from orchestrator.api.starting import RunningSite
    from orchestrator.api.suites import LintReport
    from orchestrator.api.sync import SyncArena, SyncEpisode
    from orchestrator.episode.steps import StepResult
    from orchestrator.observation import Observation
    from orchestrator.report.run_report import RunReport
    from orchestrator.report.seams import LeftOut, Written
    from orchestrator.runner.events import AttemptBroke, ProgressNote, TrialEnded
    from orchestrator.store.reading_scores import RunReading
    from orchestrator.store.rescoring import ScoredTrial

__all__ = [
    "Agent",
    "AgentClass",
    "AgentFactory",
    "AgentMaker",
    "AgentSpec",
    "Agents",
    "Arena",
    "ArenaError",
    "ArenaEvent",
    "Assignment",
    "AttemptBroke",
    "Decision",
    "Evidence",
    "Exported",
    "LeftOut",
    "LintReport",
    "Observation",
    "OpenEpisode",
    "Outcome",
    "OutcomeKind",
    "ProgressNote",
    "ResetOutcome",
    "RunBegan",
    "RunReading",
    "RunReport",
    "RunningSite",
    "Score",
    "ScoredTrial",
    "SiteReset",
    "SitesStarting",
    "StepResult",
    "StudyBegan",
    "SyncArena",
    "SyncEpisode",
    "TrialEnded",
    "Verdict",
    "WarningNote",
    "World",
    "Written",
    "actions",
    "errors",
]

_MODULES: Final = {
    "evaluators.evidence": ("Evidence",),
    "evaluators.scores": ("Score",),
    "evaluators.verdicts": ("Outcome", "OutcomeKind", "Verdict"),
    "orchestrator.agent_interface": ("Agent", "AgentClass", "AgentMaker", "Assignment", "Decision"),
    "orchestrator.agents.spec": ("AgentFactory", "AgentSpec", "Agents"),
    "orchestrator.api.arena": ("Arena",),
    "orchestrator.api.events": (
        "ArenaEvent",
        "RunBegan",
        "SitesStarting",
        "StudyBegan",
        "WarningNote",
    ),
    "orchestrator.api.exporting": ("Exported",),
    "orchestrator.api.open_episode": ("OpenEpisode",),
    "orchestrator.api.resetting": ("ResetOutcome", "SiteReset"),
    "orchestrator.api.starting": ("RunningSite",),
    "orchestrator.api.suites": ("LintReport",),
    "orchestrator.api.sync": ("SyncArena", "SyncEpisode"),
    "orchestrator.episode.steps": ("StepResult",),
    "orchestrator.observation": ("Observation",),
    "orchestrator.report.run_report": ("RunReport",),
    "orchestrator.report.seams": ("LeftOut", "Written"),
    "orchestrator.runner.events": ("AttemptBroke", "ProgressNote", "TrialEnded"),
    "orchestrator.store.reading_scores": ("RunReading",),
    "orchestrator.store.rescoring": ("ScoredTrial",),
    "arena_core.errors": ("ArenaError",),
    "arena_core.worlds": ("World",),
}
_PUBLIC: Final = {name: module for module, names in _MODULES.items() for name in names}
_WHOLE: Final = {"actions": "arena_core.actions", "errors": "arena_core.errors"}


if not TYPE_CHECKING:  # a type checker is to find a wrong name

    def __getattr__(name: str) -> object:
        """Load a public name when it is first used."""
        if name in _WHOLE:
            return import_module(_WHOLE[name])
        if name not in _PUBLIC:
            message = f"module 'orchestrator' has no attribute '{name}'"
            raise AttributeError(message, name=name, obj=None)
        return getattr(import_module(_PUBLIC[name]), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
