"""`miniwob-raw` and `miniwob-decayed`: a page's reward as published runners take it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluators.evidence import Evidence, MiniWobRecord
from evaluators.scorers.base import (
    NotInEvidenceError,
    OriginalTask,
    ScorerResult,
    UnjudgedScorer,
    Worth,
    mean_of_scored,
    scorer_result,
)


def _raw(record: MiniWobRecord) -> Worth:
    """Return 1 for any positive raw reward, partial ones too (BrowserGym, `validate`)."""
    if record.raw is None:
        return Worth(0.0, "the page gave no reward, which is taken for 0")
    return Worth(float(record.raw > 0), f"the raw reward is {record.raw:g}")


def _decayed(record: MiniWobRecord) -> Worth:
    """Return the reward after decay by time (miniwob-plusplus, `get_original_reward`)."""
    if record.reward is None:
        return Worth(0.0, "the page gave no reward, which is taken for 0")
    return Worth(record.reward, f"the reward after decay is {record.reward:g}")


@dataclass(frozen=True, slots=True)
class MiniWobScorer(UnjudgedScorer):
    """Scores an episode of a MiniWoB++ page by the reward that the page gave.

    A page that was left gives 0 in both, as BrowserGym has it. The decay is by the page's own clock
    and its limit of time, which Arena raises for agents that are slower than people: decayed
    rewards are nearer to 1 here than where that limit is the page's own.
    """

    name: str
    figure: str
    worth: Callable[[MiniWobRecord], Worth]
    formats: frozenset[str] = frozenset({"miniwob"})

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ScorerResult:
        del original, judged

        def compute() -> Worth:
            if evidence.miniwob is None:
                raise NotInEvidenceError("the evidence holds no reward of a page")
            if evidence.miniwob.was_left:
                return Worth(0.0, "the page was left, which ends the episode with 0")
            return self.worth(evidence.miniwob)

        return scorer_result(evidence, compute)

    def aggregate(self, scores: Sequence[ScorerResult]) -> Mapping[str, float | None]:
        return {self.figure: mean_of_scored(scores)}


MINIWOB_RAW_SCORER: Final = MiniWobScorer("miniwob-raw", "success_rate", _raw)
MINIWOB_DECAYED_SCORER: Final = MiniWobScorer("miniwob-decayed", "mean_reward", _decayed)
