"""The result of one check, and the outcome of an episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from evaluators.checks import Check, match
from evaluators.evidence import Evidence, Located, UnscoredReason
from evaluators.fields import When
from evaluators.judgements import JudgeQuestion, replies_of
from evaluators.locators.base import not_recorded, recorded
from evaluators.matchers.base import JudgedMatcher, Matched

_KEPT_VALUES = 20


class CheckStatus(StrEnum):
    """Whether a check is met; `unknown` where it could not be looked at."""

    MET = "met"
    UNMET = "unmet"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of one check, with its reason.

    Attributes:
        step: the first step that met a key node; None otherwise.
        found: what the locator found, each value once, the first 20.
        expected: what was asked for, as text.
        decides: whether there is no success without it: an end check, a key node that is required.
        needs_judge: it is unknown because no judge has said it.
    """

    check: str
    when: When
    status: CheckStatus
    reason: str
    step: int | None = None
    found: tuple[str, ...] = ()
    expected: str = ""
    decides: bool = True
    needs_judge: bool = False


class OutcomeKind(StrEnum):
    """The three outcomes an episode can have."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Success, failure, or unscored with its reason. An exception never becomes a zero."""

    kind: OutcomeKind
    reason: UnscoredReason | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.reason else str(self.kind)


def verdicts(checks: Iterable[Check], evidence: Evidence) -> tuple[Verdict, ...]:
    """Judge every check that applies in the evidence's world, in the order given.

    A key node is met at the first step from 1 on whose values match; the opening of the start pages
    (step 0) is not the agent's doing and meets none. A key node that no step met, but that some
    step could not look at, is unknown. A check with alternatives is met by the first of them that
    is, and unmet where none is; one that could not be looked at leaves it open.
    """
    return tuple(
        _of_check(check, partial(_judged, evidence=evidence))
        for check in checks
        if evidence.world in check.worlds
    )


def _judged(way: Check, evidence: Evidence) -> Verdict:
    if way.when is When.STEP:
        return _key_node(way, evidence)
    located = way.locate.at_end(way.name, evidence)
    return _of_values(way, located, evidence)


def _of_check(check: Check, judge: Callable[[Check], Verdict]) -> Verdict:
    """Judge a check by all its ways."""
    judged = [judge(way) for way in check.ways]
    one = _deciding(judged)
    reason = one.reason
    if one.status is CheckStatus.UNMET:
        reason = "; nor by another way: ".join(dict.fromkeys(each.reason for each in judged))
    return replace(one, check=check.name, decides=check.decides, reason=reason)


def _deciding(judged: Sequence[Verdict]) -> Verdict:
    """Return the verdict that stands for those on all ways: of those met, the earliest."""
    met = [one for one in judged if one.status is CheckStatus.MET]
    if met:
        return min(met, key=lambda one: one.step or 0)
    unknown = [one for one in judged if one.status is CheckStatus.UNKNOWN]
    return (unknown or judged)[0]


def required_verdicts(requires: Iterable[Check], evidence: Evidence) -> tuple[Verdict, ...]:
    """Judge a task's `requires` checks by what was found before the agent started."""
    return tuple(
        _of_check(check, lambda way: _of_values(way, _before(way, evidence), evidence))
        for check in requires
        if evidence.world in check.worlds
    )


def _before(check: Check, evidence: Evidence) -> Located:
    """Return what a `requires` check found before the agent started."""
    return recorded(check.name, evidence.required) or not_recorded(check.name, "the start")


def _of_values(check: Check, located: Located, evidence: Evidence) -> Verdict:
    """Judge what was found at one moment."""
    matched = match(check, located.values, evidence.world, replies_of(evidence.judgements))
    if located.error is not None:
        return _unknown(check, located, matched.expected)
    if matched.is_undecided:
        return _undecided(check, matched)
    reason = matched.reason
    if not located.values and not matched.met:
        reason = f"{check.locate.absence()}, wanted {matched.expected}"
    return Verdict(
        check=check.name,
        when=check.when,
        status=CheckStatus.MET if matched.met else CheckStatus.UNMET,
        reason=reason,
        found=_kept(located.values),
        expected=matched.expected,
    )


def _key_node(check: Check, evidence: Evidence) -> Verdict:
    looked = [
        (step.index, check.locate.at_step(check.name, step))
        for step in evidence.steps
        if step.index > 0
    ]
    seen = [value for _, located in looked if located.error is None for value in located.values]
    overall = match(check, seen, evidence.world)
    open_ones: list[Matched] = []
    if overall.met or not check.match.one_is_enough:
        replies = replies_of(evidence.judgements)
        for step, located in looked:
            if located.error is not None:
                continue
            matched = match(check, located.values, evidence.world, replies)
            if matched.met:
                return Verdict(
                    check=check.name,
                    when=check.when,
                    status=CheckStatus.MET,
                    reason=f"{matched.reason} at step {step}",
                    step=step,
                    found=_kept(located.values),
                    expected=matched.expected,
                )
            if matched.is_undecided:
                open_ones.append(matched)
    blind = next((located for _, located in looked if located.error is not None), None)
    if blind is not None:
        return _unknown(check, blind, overall.expected)
    if open_ones:
        return _undecided(check, open_ones[0])
    return Verdict(
        check=check.name,
        when=check.when,
        status=CheckStatus.UNMET,
        reason=check.locate.never_met(seen, overall.expected),
        found=_kept(seen),
        expected=overall.expected,
    )


def _unknown(check: Check, located: Located, expected: str) -> Verdict:
    return Verdict(
        check=check.name,
        when=check.when,
        status=CheckStatus.UNKNOWN,
        reason=f"could not be looked at: {located.error}",
        expected=expected,
    )


def _undecided(check: Check, matched: Matched) -> Verdict:
    return Verdict(
        check=check.name,
        when=check.when,
        status=CheckStatus.UNKNOWN,
        reason=f"is not judged: {matched.reason}",
        expected=matched.expected,
        needs_judge=True,
    )


def _kept(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))[:_KEPT_VALUES]


def judge_questions(checks: Iterable[Check], evidence: Evidence) -> Iterator[JudgeQuestion]:
    """Yield the questions that the checks of an episode leave to judges, answered or not."""
    for check in checks:
        if evidence.world not in check.worlds:
            continue
        for way in check.ways:
            if isinstance(way.match, JudgedMatcher):
                for values in _moments(way, evidence):
                    yield from way.match.questions(values, evidence.world)


def _moments(check: Check, evidence: Evidence) -> Iterator[Sequence[str]]:
    """Yield what the check's locator found at the end, or at each step of a key node."""
    if check.when is When.END:
        yield check.locate.at_end(check.name, evidence).values
        return
    for step in evidence.steps:
        if step.index > 0:
            yield check.locate.at_step(check.name, step).values
