"""How hard templates turn out to be, and which are spent: some agent solves them every time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluators.verdicts import OutcomeKind
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.analysis.stats.difficulty import FittedDifficulty, fitted_difficulties
from orchestrator.runs.store.rescoring import ScoredEpisode

ENOUGH: Final = 5
_AGENTS: Final = frozenset({AgentClass.CONTESTANT, AgentClass.GUIDED, AgentClass.BASELINE})


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRecord:
    """What one agent made of a template: of all its instances and repeats together.

    Attributes:
        template: its id; of a task of its own, the task's.
        scored: how many of its episodes have a score; unscored ones say nothing of it.
        difficulty: of the template, fitted to the records of all agents; None where there are
            fewer than five templates.
    """

    template: str
    agent: str
    solved: int
    scored: int
    difficulty: FittedDifficulty | None = None

    @property
    def is_spent(self) -> bool:
        """Whether the agent solved five of five, or all of more."""
        return self.solved == self.scored >= ENOUGH


def template_records(
    runs: Iterable[tuple[AgentLock, Sequence[ScoredEpisode]]],
) -> tuple[TemplateRecord, ...]:
    """Return what agents made of templates, by name; reference agents and people are left out."""
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for agent, episodes in runs:
        for one in episodes if agent.agent_class in _AGENTS else ():
            kind = one.score.outcome.kind
            if kind is not OutcomeKind.UNSCORED:
                of = one.task.template or one.task.id
                found[of, agent.name].append(kind is OutcomeKind.SUCCESS)
    fitted = _fitted(found)
    return tuple(
        TemplateRecord(
            template=template,
            agent=agent,
            solved=sum(ends),
            scored=len(ends),
            difficulty=fitted.get(template),
        )
        for (template, agent), ends in sorted(found.items())
    )


def _fitted(found: Mapping[tuple[str, str], Sequence[bool]]) -> Mapping[str, FittedDifficulty]:
    templates, agents = (list(dict.fromkeys(key[at] for key in found)) for at in (0, 1))
    ends = [[found.get((template, agent), ()) for agent in agents] for template in templates]
    fitted = fitted_difficulties(
        [[sum(one) for one in row] for row in ends], [[len(one) for one in row] for row in ends]
    )
    return dict(zip(templates, fitted, strict=bool(fitted)))
