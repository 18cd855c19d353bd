"""What became of an episode, as every adapter says it: `unscored` never becomes a zero."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import assert_never

from pydantic import BaseModel, ConfigDict

from evaluators.evidence import Ended, Evidence, UnscoredReason
from evaluators.fields import When
from evaluators.scores import Score
from evaluators.verdicts import CheckStatus, OutcomeKind, Verdict

_CUT_SHORT = frozenset({Ended.STEP_LIMIT, Ended.DEADLINE})


class FinishStatus(StrEnum):
    """How an agent says that it is done.

    `infeasible`: the task cannot be done; `not_found`, `permission_denied` and the others say more
    nearly why. `gave_up`: the agent could not do it.
    """

    DONE = "done"
    INFEASIBLE = "infeasible"
    NOT_FOUND = "not_found"
    PERMISSION_DENIED = "permission_denied"
    DATA_VALIDATION_ERROR = "data_validation_error"
    UNKNOWN_ERROR = "unknown_error"
    NEEDS_INPUT = "needs_input"
    GAVE_UP = "gave_up"


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class CheckResult(_Reply):
    """Whether a check is met; None where it could not be looked at.

    What it asked for and what it found stands in the evidence alone: a client that plays the task
    again could give it as its answer.
    """

    id: str
    kind: When
    met: bool | None
    step: int | None = None


class KeyNodes(_Reply):
    """How many key nodes are met, of those that apply."""

    met: int
    of: int


class ResetReceipt(_Reply):
    """How a replica was made golden for this episode, and whether that is proven."""

    site: str
    strategy: str
    seconds: float
    proven: bool


class EpisodeResult(_Reply):
    """What an episode is worth.

    Attributes:
        reason: why it is unscored; None for the others.
        because: one sentence. Of a failure it says no more than which checks are not met.
        reward: 1.0 for a success, 0.0 for a failure, None for what is unscored.
        ended: how it came to its end; None where it broke off.
        truncated: a limit of steps or time ended it, and not the agent.
        steps: how many were used up, actions that could not be read among them.
        folder: its evidence; None where none is written.
    """

    outcome: OutcomeKind
    reason: UnscoredReason | None
    because: str
    reward: float | None
    ended: Ended | None
    truncated: bool
    steps: int
    key_nodes: KeyNodes
    checks: tuple[CheckResult, ...]
    receipts: tuple[ResetReceipt, ...]
    folder: str | None = None

    @classmethod
    def of(
        cls,
        score: Score,
        evidence: Evidence,
        folder: Path | None,
        *,
        misread: int = 0,
        because: str = "",
    ) -> EpisodeResult:
        """Say what a score and its evidence come to.

        Args:
            score: of the episode.
            evidence: what it was scored from.
            folder: where the evidence is.
            misread: how many actions could not be read: each used up a step as well.
            because: in place of the score's own sentence, where the adapter knows better why the
                episode is unscored.
        """
        is_unscored = score.outcome.kind is OutcomeKind.UNSCORED
        return cls(
            outcome=score.outcome.kind,
            reason=score.outcome.reason,
            because=because if because and is_unscored else _because(score),
            reward=reward_of(score.outcome.kind),
            ended=evidence.ended,
            truncated=evidence.ended in _CUT_SHORT,
            steps=score.steps + misread,
            key_nodes=KeyNodes(met=score.key_nodes_met, of=score.key_nodes),
            checks=tuple(_check(one) for one in score.verdicts),
            receipts=tuple(
                ResetReceipt(
                    site=one.site, strategy=one.strategy, seconds=one.seconds, proven=one.proven
                )
                for one in evidence.receipts
            ),
            folder=None if folder is None else str(folder),
        )


class EpisodeUnscored(Exception):  # noqa: N818  the name that adapters share
    """An episode could not be scored: no reward stands for that.

    Attributes:
        result: what is known of it.
    """

    def __init__(self, result: EpisodeResult) -> None:
        reason = f"unscored: {result.reason}" if result.reason else "unscored"
        super().__init__(f"{reason}: {result.because}")
        self.result = result


def reward_of(kind: OutcomeKind) -> float | None:
    """Return 1 for a success, 0 for a failure, and nothing for what could not be scored."""
    match kind:
        case OutcomeKind.SUCCESS:
            return 1.0
        case OutcomeKind.FAILURE:
            return 0.0
        case OutcomeKind.UNSCORED:
            return None
        case _:
            assert_never(kind)


def _because(score: Score) -> str:
    if score.outcome.kind is not OutcomeKind.FAILURE:
        return score.because
    deciding = [one for one in score.verdicts if one.decides]
    unmet = [one.check for one in deciding if one.status is CheckStatus.UNMET]
    return f"{len(unmet)} of {len(deciding)} checks not met: {', '.join(unmet)}"


def _check(verdict: Verdict) -> CheckResult:
    is_known = verdict.status is not CheckStatus.UNKNOWN
    return CheckResult(
        id=verdict.check,
        kind=verdict.when,
        met=verdict.status is CheckStatus.MET if is_known else None,
        step=verdict.step,
    )
