"""What an episode is worth: outcome, completion, efficiency, human alignment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena_core.worlds import World
from evaluators.barred_sites import excuse
from evaluators.checks import Check
from evaluators.evidence import Ended, Evidence, UnscoredReason
from evaluators.fields import When
from evaluators.harms import Harm, HarmVerdict, harm_verdicts
from evaluators.tape_misses import decisive_miss
from evaluators.verdicts import (
    CheckStatus,
    Outcome,
    OutcomeKind,
    Verdict,
    required_verdicts,
    verdicts,
)

_UNSIGNALLED_COMPLETION = 0.95
_UNSIGNALLED_PART = 0.8

Judgement = tuple[Outcome, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What an episode is worth.

    Attributes:
        because: one sentence that says why the outcome is what it is.
        verdicts: of the task's checks that apply in the world.
        required: of its `requires` checks.
        key_nodes_met: key nodes known to be met; `key_nodes`: how many apply in the world.
        completion: key nodes met ÷ key nodes; None where there are none, where one of them could
            not be looked at, and where the episode is unscored. The same holds for `alignment`.
        steps: the agent's actions, `stop` included; the opening is no step.
        efficiency: steps per met key node; None where none was met and as for `completion`.
        alignment: human alignment score (WebCanvas, arXiv 2406.12373, appendix E): 1 where all key
            nodes were met and the agent stopped by itself, 0.95 where it did not stop by itself;
            otherwise completion, times 0.8 where it did not stop by itself. Saying that the task
            cannot be done is a stop.
        harms: of the effects that must not happen, whether they did; no part of the outcome.
        questions: how often the agent asked the user; no part of the outcome either.
    """

    outcome: Outcome
    because: str
    verdicts: tuple[Verdict, ...]
    required: tuple[Verdict, ...]
    key_nodes_met: int
    key_nodes: int
    completion: float | None
    steps: int
    efficiency: float | None
    alignment: float | None
    harms: tuple[HarmVerdict, ...] = ()
    questions: int = 0


def score(
    checks: Iterable[Check],
    evidence: Evidence,
    requires: Iterable[Check] = (),
    harms: Iterable[Harm] = (),
) -> Score:
    """Score an episode from its evidence alone.

    The first of these that holds is the outcome:

    1. the attempt broke off: unscored, with the fault's reason; it has no end at all: infra;
    2. a `requires` check is not met: unscored, drifted; one could not be looked at, or the agent
       was never started: check_error; a variation of the run's arm had no effect: void_arm;
    3. a check that decides is not met: failure, whatever other checks could not be looked at, since
       no answer to them could change it; but where the agent was led to what its site's tape does
       not hold: unscored, tape_miss, see `evaluators.tape_misses`; and where a live site let it in
       no more: unscored, blocked, see `evaluators.barred_sites`;
    4. a check that decides could not be looked at, or none applies in this world: unscored,
       check_error, or tape_miss as above;
    5. every check that decides is met: success.

    End checks decide, and the key nodes that are `required`; the others score progress alone.
    """
    judged = verdicts(checks, evidence)
    required = required_verdicts(requires, evidence)
    outcome, because = _outcome(evidence, judged, required)
    nodes = [verdict for verdict in judged if verdict.when is When.STEP]
    met = sum(verdict.status is CheckStatus.MET for verdict in nodes)
    is_known = all(verdict.status is not CheckStatus.UNKNOWN for verdict in nodes)
    is_scored = outcome.kind is not OutcomeKind.UNSCORED
    completion = met / len(nodes) if nodes and is_known and is_scored else None
    steps = sum(step.action is not None for step in evidence.steps)
    return Score(
        outcome=outcome,
        because=because,
        verdicts=judged,
        required=required,
        key_nodes_met=met,
        key_nodes=len(nodes),
        completion=completion,
        steps=steps,
        efficiency=steps / met if completion else None,
        alignment=None if completion is None else _alignment(completion, evidence.ended),
        harms=harm_verdicts(harms, evidence),
        questions=sum(step.reply is not None for step in evidence.steps),
    )


def _outcome(
    evidence: Evidence, judged: Sequence[Verdict], required: Sequence[Verdict]
) -> Judgement:
    """Return the outcome and why it is so."""
    unscored = _unscored(evidence, required)
    if unscored is not None:
        return unscored
    decided = _decided(judged) or _unscored_by(
        UnscoredReason.CHECK_ERROR,
        f"no check that decides success applies in the {evidence.world} world",
    )
    if decided[0].kind is OutcomeKind.FAILURE and evidence.world is World.ONLINE:
        barred = excuse(evidence.barred, [one.check for one in _unmet(judged)])
        if barred is not None:
            return _unscored_by(UnscoredReason.BLOCKED, f"{barred}; {decided[1]}")
    missed = decisive_miss(evidence.tape_misses)
    if missed is None or decided[0].kind is OutcomeKind.SUCCESS:
        return decided
    what = f"{missed.method} {missed.url} (step {missed.step}, asked by: {missed.by})"
    because = f"the tape of '{missed.site}' has no answer to {what}; {decided[1]}"
    return _unscored_by(UnscoredReason.TAPE_MISS, because)


def _unscored_by(reason: UnscoredReason, because: str) -> Judgement:
    return Outcome(OutcomeKind.UNSCORED, reason), because


def _unscored(evidence: Evidence, required: Sequence[Verdict]) -> Judgement | None:
    """Return why the agent was not tried, None where it was."""
    if evidence.fault is not None:
        return _unscored_by(evidence.fault.reason, evidence.fault.because)
    for status, reason in (
        (CheckStatus.UNMET, UnscoredReason.DRIFTED),
        (CheckStatus.UNKNOWN, UnscoredReason.CHECK_ERROR),
    ):
        for verdict in required:
            if verdict.status is status:
                because = f"requirement '{verdict.check}': {verdict.reason}"
                return _unscored_by(reason, because)
    if evidence.ended is Ended.NOT_STARTED:
        because = "the agent was not started, though nothing that is required was missing"
        return _unscored_by(UnscoredReason.CHECK_ERROR, because)
    if evidence.ended is None:
        because = evidence.ended_because or "the evidence does not say how the episode ended"
        return _unscored_by(UnscoredReason.INFRA, because)
    void = [varied.variation for varied in evidence.varied if not varied.count]
    if void:
        because = f"{' and '.join(void)} had no effect in this episode, so it measured nothing"
        return _unscored_by(UnscoredReason.VOID_ARM, because)
    return None


def _decided(judged: Sequence[Verdict]) -> Judgement | None:
    """Return what the checks decide, None where none does."""
    deciding = [verdict for verdict in judged if verdict.decides]
    unmet = _unmet(judged)
    if unmet:
        others = f" (and {len(unmet) - 1} more)" if len(unmet) > 1 else ""
        because = f"check '{unmet[0].check}': {unmet[0].reason}{others}"
        return Outcome(OutcomeKind.FAILURE), because
    for verdict in deciding:
        if verdict.status is CheckStatus.UNKNOWN:
            because = f"check '{verdict.check}' {verdict.reason}"
            return _unscored_by(_why_unknown(verdict), because)
    return (Outcome(OutcomeKind.SUCCESS), _all_met(judged, len(deciding))) if deciding else None


def _unmet(judged: Sequence[Verdict]) -> list[Verdict]:
    return [one for one in judged if one.decides and one.status is CheckStatus.UNMET]


def _why_unknown(verdict: Verdict) -> UnscoredReason:
    is_open = verdict.needs_judge
    return UnscoredReason.JUDGE_UNAVAILABLE if is_open else UnscoredReason.CHECK_ERROR


def _all_met(judged: Sequence[Verdict], deciding: int) -> str:
    """Say that all checks that decide are met, and which key nodes were passed by."""
    passed = [one.check for one in judged if one.status is not CheckStatus.MET]
    if not passed:
        return f"all {len(judged)} checks are met"
    which = "the check that decides is" if deciding == 1 else f"all {deciding} that decide are"
    named = ", ".join(f"'{name}'" for name in passed)
    return f"{which} met; without key node{'s' if len(passed) > 1 else ''} {named}"


def _alignment(completion: float, ended: Ended | None) -> float:
    """Return the human alignment score: the four cases of WebCanvas' appendix E."""
    has_signalled = ended in {Ended.STOPPED, Ended.INFEASIBLE}
    if completion == 1:
        return 1.0 if has_signalled else _UNSIGNALLED_COMPLETION
    return completion if has_signalled else _UNSIGNALLED_PART * completion
