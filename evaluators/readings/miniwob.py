"""`miniwob-raw` and `miniwob-decayed`: a page's reward as published runners take it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluators.evidence import Evidence, WobRecord
from evaluators.judgements import JudgeQuestion
from evaluators.original import OriginalTask
from evaluators.readings.base import ReadingScore
from evaluators.readings.upstream import NotInEvidenceError, Worth, mean_of_scored, reading_score


def _raw(record: WobRecord) -> Worth:
    """Return 1 for any positive raw reward, partial ones too (BrowserGym, `validate`)."""
    if record.raw is None:
        return Worth(0.0, "the page gave no reward, which is taken for 0")
    return Worth(float(record.raw > 0), f"the raw reward is {record.raw:g}")


def _decayed(record: WobRecord) -> Worth:
    """Return the reward after decay by time (miniwob-plusplus, `get_original_reward`)."""
    if record.reward is None:
        return Worth(0.0, "the page gave no reward, which is taken for 0")
    return Worth(record.reward, f"the reward after decay is {record.reward:g}")


@dataclass(frozen=True, slots=True)
class MiniWobReading:
    """Scores an episode of a MiniWoB++ page by the reward that the page gave.

    A page that was left gives 0 in both, as BrowserGym has it. The decay is by the page's own clock
    and its limit of time, which Arena raises for agents that are slower than people: decayed
    rewards are nearer to 1 here than where that limit is the page's own.
    """

    name: str
    figure: str
    worth: Callable[[WobRecord], Worth]
    formats: frozenset[str] = frozenset({"miniwob"})

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return nothing: no model judges."""
        del original, evidence
        return ()

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ReadingScore:
        """Score one episode."""
        del original, judged

        def compute() -> Worth:
            if evidence.wob is None:
                message = "the evidence holds no reward of a page"
                raise NotInEvidenceError(message)
            if evidence.wob.was_left:
                return Worth(0.0, "the page was left, which ends the episode with 0")
            return self.worth(evidence.wob)

        return reading_score(evidence, compute)

    def aggregate(self, scores: Sequence[ReadingScore]) -> Mapping[str, float | None]:
        """Return the mean over the scored episodes."""
        return {self.figure: mean_of_scored(scores)}


MINIWOB_RAW_READING: Final = MiniWobReading("miniwob-raw", "success_rate", _raw)
MINIWOB_DECAYED_READING: Final = MiniWobReading("miniwob-decayed", "mean_reward", _decayed)
