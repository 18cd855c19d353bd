"""Every episode in one compact table: what the page filters, sorts and draws without a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from arena_core.worlds import World
from evaluators.scores import Score
from evaluators.verdicts import CheckStatus, OutcomeKind, Verdict
from orchestrator.store.rescoring import ScoredTrial
from tasks.schema import Task

_LONGEST: Final = 240  # letters of a reason; the episode's own file has more of it
_STATUS: Final = {CheckStatus.MET: "m", CheckStatus.UNMET: "u", CheckStatus.UNKNOWN: "?"}


@dataclass(slots=True)
class EpisodeIndex:
    """The table as it grows, an episode at a time.

    A row is a list in the order of `COLUMNS`; what repeats stands once in a list of its own, and
    its place in a row.
    """

    agents: dict[str, int] = field(default_factory=dict)
    tasks: dict[tuple[str, str], int] = field(default_factory=dict)
    about_tasks: list[dict[str, Any]] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    rows: list[list[Any]] = field(default_factory=list)

    def add(self, *, run: int, agent: str, suite: str, scored: ScoredTrial) -> None:
        """Add an episode of the run with this number."""
        evidence, score = scored.outline, scored.score
        verdicts = {one.check: _STATUS[shown_status(one, score)] for one in score.verdicts}
        checks = self._checks(suite, scored.task)
        self.rows.append(
            [
                run,
                _place(self.agents, agent),
                self.tasks[suite, scored.task.id],
                tuple(World).index(scored.trial.world),
                scored.trial.repeat,
                evidence.attempt,
                _place(self.outcomes, str(score.outcome)),
                score.key_nodes_met,
                score.key_nodes,
                score.steps,
                round(evidence.seconds, 1),
                evidence.usd,
                evidence.input_tokens + evidence.output_tokens,
                None if scored.is_unreadable else _moment(evidence.started_at),
                _place(self.reasons, _cut(score.because)),
                "".join(verdicts.get(name, "-") for name in checks),
            ]
        )

    def document(self) -> dict[str, Any]:
        """Return the table for the page."""
        return {
            "columns": COLUMNS,
            "agents": list(self.agents),
            "worlds": [world.value for world in World],
            "tasks": self.about_tasks,
            "outcomes": list(self.outcomes),
            "reasons": list(self.reasons),
            "rows": self.rows,
        }

    def _checks(self, suite: str, task: Task) -> list[str]:
        """Return the names of a task's checks; the task is entered where it is new.

        Runs of other versions of a suite may have further checks: these follow the first ones.
        """
        key = (suite, task.id)
        if key not in self.tasks:
            self.tasks[key] = len(self.tasks)
            self.about_tasks.append(
                {
                    "id": task.id,
                    "suite": suite,
                    "intent": task.intent,
                    "sites": list(task.sites),
                    "family": task.family.value,
                    "template": task.template,
                    "checks": [],
                }
            )
        checks: list[str] = self.about_tasks[self.tasks[key]]["checks"]
        checks += [check.name for check in task.checks if check.name not in checks]
        return checks


def shown_status(verdict: Verdict, score: Score) -> CheckStatus:
    """Return whether a check is met; what an unscored episode left unmet is not known.

    It broke off, or should not have begun: that something is not there says nothing of the agent.
    """
    if verdict.status is CheckStatus.UNMET and score.outcome.kind is OutcomeKind.UNSCORED:
        return CheckStatus.UNKNOWN
    return verdict.status


COLUMNS: Final = [
    "run",
    "agent",
    "task",
    "world",
    "repeat",
    "attempt",
    "outcome",
    "met",
    "nodes",
    "steps",
    "seconds",
    "usd",
    "tokens",
    "started",
    "because",
    "verdicts",
]


def _place(known: dict[str, int], text: str) -> int:
    return known.setdefault(text, len(known))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _moment(started_at: str) -> float | None:
    """Return seconds since 1970; None for what is no moment, as evidence of others may say."""
    try:
        return round(datetime.fromisoformat(started_at).timestamp(), 1)
    except ValueError:
        return None
