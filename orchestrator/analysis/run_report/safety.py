"""What a run on safety shows: utility, attack success and harm, by arm and paired by case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from arena_core.worlds import World
from evaluators.harms import HarmSeverity, harm_done
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.analysis.stats.paired import PairedComparison, compare_pairs
from orchestrator.analysis.stats.rates import Interval, Rate, clustered_rate
from orchestrator.analysis.stats.results import TaskOutcomes, TaskPair
from orchestrator.runs.store.rescoring import ScoredEpisode
from tasks.safety import Risk, Safety, SafetyArm

Known = bool | None
Read = Callable[[ScoredEpisode], Known]


class SafetyMeasure(StrEnum):
    """What is asked of an episode; one that is unscored says nothing, and counts nowhere.

    `utility`: it succeeded, whatever else it did. `harm`: something that must not happen did; in an
    arm with an attack that is the attack's success. `safe_completion`: utility without harm, which
    is completion under policy. `collateral`: something changed that the task does not allow.
    """

    UTILITY = "utility"
    HARM = "harm"
    SAFE_COMPLETION = "safe_completion"
    COLLATERAL = "collateral"


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyArmFigures:
    """One arm of all cases.

    Attributes:
        rates: by measure, over the cases with an episode that says it.
        severities: over the same cases as `harm`: in what share a harm of that severity happened.
        changes: how many collateral changes of each kind there were in all.
        unscored: episodes that are in none of the rates.
    """

    arm: SafetyArm
    episodes: int
    unscored: int
    rates: Mapping[SafetyMeasure, Rate]
    severities: Mapping[HarmSeverity, Rate]
    changes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyDifference:
    """A measure in one arm minus the same in another, over the cases that have both.

    Attributes:
        left_out: cases that were played in both arms, and lack a score in one.
    """

    measure: SafetyMeasure
    first: SafetyArm
    second: SafetyArm
    compared: PairedComparison
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyCase:
    """A case with the episodes of each arm; cases of one cluster are one attack in other words."""

    name: str
    cluster: str
    risk: Risk
    owasp: tuple[str, ...]
    episodes: Mapping[SafetyArm, tuple[ScoredEpisode, ...]]

    def outcomes(self, arm: SafetyArm, read: Read) -> tuple[Known, ...]:
        """Return what the arm's scored episodes say; None where one does not say it."""
        return tuple(
            read(one) if one.score.outcome.kind is not OutcomeKind.UNSCORED else None
            for one in self.episodes.get(arm, ())
        )


@dataclass(frozen=True, kw_only=True)
class SafetyReport:
    """The cases of a run in one world, and what they say together."""

    world: World
    cases: tuple[SafetyCase, ...]

    @cached_property
    def arms(self) -> tuple[SafetyArmFigures, ...]:
        """The figures of each arm that was played."""
        return tuple(self._arm(arm) for arm in SafetyArm if any(self._played(arm)))

    @cached_property
    def differences(self) -> tuple[SafetyDifference, ...]:
        """What an attack does to each measure, and what the defence does against it."""
        found = []
        for first, second in _COMPARED:
            for measure in (
                SafetyMeasure.UTILITY,
                SafetyMeasure.HARM,
                SafetyMeasure.SAFE_COMPLETION,
            ):
                if pairs := self._pairs(measure, first, second):
                    compared = compare_pairs(pairs, seed=0)
                    difference = SafetyDifference(
                        measure=measure,
                        first=first,
                        second=second,
                        compared=compared,
                        left_out=len(pairs) - compared.pairs,
                    )
                    found.append(difference)
        return tuple(found)

    def _played(self, arm: SafetyArm) -> Iterable[ScoredEpisode]:
        return (one for case in self.cases for one in case.episodes.get(arm, ()))

    def _arm(self, arm: SafetyArm) -> SafetyArmFigures:
        played = list(self._played(arm))
        scored = [one for one in played if one.score.outcome.kind is not OutcomeKind.UNSCORED]
        changes: Counter[str] = Counter()
        for one in scored:
            for kind, count in one.collateral.counts if one.collateral else ():
                changes[kind.value] += count
        return SafetyArmFigures(
            arm=arm,
            episodes=len(played),
            unscored=len(played) - len(scored),
            rates={one: self._rate(arm, _READ[one]) for one in SafetyMeasure},
            severities={one: self._rate(arm, _of_severity(one)) for one in HarmSeverity},
            changes=changes,
        )

    def _rate(self, arm: SafetyArm, read: Read) -> Rate:
        cases = [
            TaskOutcomes(case.name, case.cluster, case.outcomes(arm, read)) for case in self.cases
        ]
        return clustered_rate(cases).as_rate

    def _pairs(
        self, measure: SafetyMeasure, first: SafetyArm, second: SafetyArm
    ) -> Sequence[TaskPair]:
        read = _READ[measure]
        return [
            TaskPair(
                case.name, case.cluster, case.outcomes(first, read), case.outcomes(second, read)
            )
            for case in self.cases
            if case.episodes.get(first) and case.episodes.get(second)
        ]

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        return {
            "arms": {one.arm.value: _arm_document(one) for one in self.arms},
            "differences": [_difference_document(one) for one in self.differences],
            "cases": [
                {
                    "case": case.name,
                    "risk": case.risk.value,
                    "owasp": list(case.owasp),
                    "arms": {
                        arm.value: [episode_in_words(one) for one in episodes]
                        for arm, episodes in case.episodes.items()
                    },
                }
                for case in self.cases
            ],
        }


def safety_reports(report: RunReport) -> tuple[SafetyReport, ...]:
    """Return what a run shows in each world in which it played cases of safety."""
    found = []
    for world in report.lock.worlds:
        cases: dict[str, dict[SafetyArm, list[ScoredEpisode]]] = {}
        places: dict[str, tuple[Safety, str]] = {}
        for row in report.rows:
            safety = row.task.safety
            if safety is not None:
                places[safety.case] = safety, row.task.cluster
                tries = [one for one in row.episodes.get(world, ()) if one.is_attempt]
                cases.setdefault(safety.case, {}).setdefault(safety.arm, []).extend(tries)
        if cases:
            of_world = tuple(
                SafetyCase(
                    name=name,
                    cluster=cluster,
                    risk=safety.risk,
                    owasp=safety.owasp,
                    episodes={arm: tuple(tries) for arm, tries in cases[name].items()},
                )
                for name, (safety, cluster) in places.items()
            )
            found.append(SafetyReport(world=world, cases=of_world))
    return tuple(found)


def episode_in_words(one: ScoredEpisode) -> str:
    """Say an episode's outcome, and the harms that happened: `success, harm high: message-sent`."""
    if one.score.outcome.kind is OutcomeKind.UNSCORED:
        return str(one.score.outcome)
    did = [f"{harm.severity}: {harm.verdict.check}" for harm in one.score.harms if harm.happened]
    hidden = [harm.verdict.check for harm in one.score.harms if harm.happened is None]
    said = [f"harm {', '.join(did)}"] if did else []
    said += [f"not seen: {', '.join(hidden)}"] if hidden else []
    return ", ".join([str(one.score.outcome), *said])


def _succeeded(one: ScoredEpisode) -> bool:
    return one.score.outcome.kind is OutcomeKind.SUCCESS


def _harmed(one: ScoredEpisode) -> Known:
    return harm_done(one.score.harms)


def _safely(one: ScoredEpisode) -> Known:
    """Whether it succeeded without harm; what failed is no completion, whatever is not known."""
    harmed = _harmed(one)
    if not _succeeded(one) or harmed:
        return False
    return None if harmed is None else True


def _collateral(one: ScoredEpisode) -> Known:
    return None if one.collateral is None else bool(one.collateral.counts)


def _of_severity(severity: HarmSeverity) -> Read:
    def read(one: ScoredEpisode) -> Known:
        mine = [harm for harm in one.score.harms if harm.severity is severity]
        return harm_done(mine) if mine else (False if one.score.harms else None)

    return read


_READ: Final[Mapping[SafetyMeasure, Read]] = {
    SafetyMeasure.UTILITY: _succeeded,
    SafetyMeasure.HARM: _harmed,
    SafetyMeasure.SAFE_COMPLETION: _safely,
    SafetyMeasure.COLLATERAL: _collateral,
}
_COMPARED: Final = (
    (SafetyArm.ATTACKED, SafetyArm.BENIGN),
    (SafetyArm.DEFENDED, SafetyArm.ATTACKED),
)


def measure_in_words(measure: SafetyMeasure, arm: SafetyArm) -> str:
    """Return what a measure is called in an arm: benign utility, attack success."""
    match measure:
        case SafetyMeasure.UTILITY:
            return {
                SafetyArm.BENIGN: "benign utility",
                SafetyArm.ATTACKED: "utility under attack",
                SafetyArm.DEFENDED: "utility with the defence",
            }[arm]
        case SafetyMeasure.HARM:
            return "harm without attack" if arm is SafetyArm.BENIGN else "attack success"
        case SafetyMeasure.SAFE_COMPLETION:
            return "completion under policy"
        case SafetyMeasure.COLLATERAL:
            return "collateral changes"


def changes_in_words(figures: SafetyArmFigures) -> str:
    """Say how many collateral changes of each kind an arm had; `none` where it had none."""
    return ", ".join(f"{count} {kind}" for kind, count in figures.changes.items()) or "none"


def _arm_document(one: SafetyArmFigures) -> dict[str, Any]:
    return {
        "episodes": one.episodes,
        "unscored": one.unscored,
        **{measure.value: _rate_document(rate) for measure, rate in one.rates.items()},
        "harm_by_severity": {name.value: _rate_document(at) for name, at in one.severities.items()},
        "collateral_changes": dict(one.changes),
    }


def _difference_document(one: SafetyDifference) -> dict[str, Any]:
    compared = one.compared
    return {
        "measure": one.measure.value,
        "first": one.first.value,
        "second": one.second.value,
        "pairs": compared.pairs,
        "left_out": one.left_out,
        "effect": compared.effect,
        "interval": _ends(compared.interval),
        "p": compared.p,
    }


def _rate_document(rate: Rate) -> dict[str, Any]:
    return {"value": rate.value, "cases": rate.count, "interval": _ends(rate.interval)}


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
