"""The value of a step: how often rollouts that go on from it succeed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from arena_core.names import counted
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.stats.rates import Rate, rate_of
from orchestrator.analysis.wording import interval, percent
from orchestrator.runs.store.rescoring import ScoredEpisode


@dataclass(frozen=True, slots=True, kw_only=True)
class StepValue:
    """What the rollouts of one checkpoint achieved.

    Attributes:
        root: the episode whose steps they share; `step`: the last of these.
        states: of the sites that hold state, as they were proven: `SITE=DIGEST`.
        told: their agents were told what was done before. A run tells all of its agents or none;
            one whose branch failed was not told yet.
        rate: of success over the scored rollouts. They are independent tries from one state, so
            its interval is about that state alone, and never about the task.
        right, unscored: how many succeeded, and how many have no score.
    """

    task: str
    root: str
    step: int
    states: str
    told: bool
    rate: Rate
    right: int
    unscored: int

    def document(self) -> dict[str, str | int | float | None]:
        """Return it as a JSON document: a row of the table `values`."""
        within = self.rate.interval
        return {
            "task": self.task,
            "root": self.root,
            "step": self.step,
            "states": self.states,
            "told": self.told,
            "value": self.rate.value,
            "low": None if within is None else within.low,
            "high": None if within is None else within.high,
            "scored": self.rate.count,
            "succeeded": self.right,
            "unscored": self.unscored,
        }

    def __str__(self) -> str:
        told = " (told what was done)" if self.told else ""
        found = f"{self.root} after step {self.step}{told}: {percent(self.rate)} of"
        found += f" {counted(self.rate.count, 'scored rollout')}"
        within = f" ({interval(self.rate.interval)})" if self.rate.interval else ""
        return f"{found}{within}{f', {self.unscored} unscored' if self.unscored else ''}"


def step_values(episodes: Iterable[ScoredEpisode]) -> tuple[StepValue, ...]:
    """Return the value of each step that rollouts of one run go on from, in their order.

    A root that was proven to be in several states has a value for each. A rollout that never came
    back has no state: it counts, as unscored, beside the others of its root.
    """
    roots: defaultdict[tuple[str, str, int], defaultdict[str | None, list[OutcomeKind]]]
    roots = defaultdict(lambda: defaultdict(list))
    told: set[tuple[str, str, int]] = set()
    for one in episodes:
        branch = one.outline.branch
        if branch is not None:
            proven = ",".join(f"{site}={state}" for site, state in sorted(branch.states.items()))
            states = proven if branch.pages else None
            root = one.task.id, branch.root, branch.step
            roots[root][states].append(one.score.outcome.kind)
            if branch.told:
                told.add(root)
    values: list[StepValue] = []
    for root, by_states in roots.items():
        lost = by_states.pop(None, [])
        if len(by_states) == 1:
            next(iter(by_states.values())).extend(lost)
        elif lost:
            by_states[""].extend(lost)
        for states, kinds in by_states.items():
            scored = [kind for kind in kinds if kind is not OutcomeKind.UNSCORED]
            right = scored.count(OutcomeKind.SUCCESS)
            shares = [float(kind is OutcomeKind.SUCCESS) for kind in scored]
            values.append(
                StepValue(
                    task=root[0],
                    root=root[1],
                    step=root[2],
                    states=states or "",
                    told=root in told,
                    rate=rate_of(shares),
                    right=right,
                    unscored=len(kinds) - len(scored),
                )
            )
    return tuple(values)
