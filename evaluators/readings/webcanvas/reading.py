"""The readings `webcanvas`, as v0.0.3 computes it, and `webcanvas-paper`, as its paper says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluators.evidence import Ended, Evidence
from evaluators.judgements import JudgeQuestion
from evaluators.original import OriginalTask
from evaluators.readings.base import ReadingScore
from evaluators.readings.upstream import (
    NotInEvidenceError,
    PublishedCrashError,
    Worth,
    as_published,
    reading_score,
)
from evaluators.readings.webcanvas.nodes import matched, semantic_questions
from evaluators.readings.webcanvas.turns import turns

_SIGNALS: Final = frozenset({Ended.STOPPED, Ended.INFEASIBLE})


@dataclass(frozen=True, slots=True)
class _Progress:
    nodes: tuple[float, ...]
    steps: int

    @property
    def score(self) -> float:
        return sum(self.nodes)

    @property
    def is_finished(self) -> bool:
        return self.score == len(self.nodes)


class WebCanvasReading:
    """Scores episodes of Mind2Web-Live tasks by their key nodes.

    Whether an acted element is a key node's stands in the evidence (`ActedElement.fits`), where a
    check of the task names the node's selector.
    """

    formats = frozenset({"mind2web-live"})

    def __init__(self, name: str, *, of_paper: bool) -> None:
        self.name = name
        self._of_paper = of_paper

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return what a model would be asked at every turn, each question once."""
        found: dict[str, JudgeQuestion] = {}
        try:
            with as_published():
                for turn in turns(evidence, original.bases, after=self._of_paper):
                    for node in _nodes(original):
                        for one in semantic_questions(node, turn):
                            found[one.key] = one
        except (PublishedCrashError, NotInEvidenceError):
            pass  # the score says so
        return tuple(found.values())

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ReadingScore:
        """Score one episode: 1 where every key node was met, else 0; `metrics` has the rest."""
        return reading_score(evidence, lambda: self._worth(original, evidence, judged))

    def aggregate(self, scores: Sequence[ReadingScore]) -> Mapping[str, float | None]:
        """Return the figures of `result.json`, or those of the paper."""
        rows = [one.metrics for one in scores if one.value is not None]
        if not rows:
            return {}
        return _of_the_paper(rows) if self._of_paper else _of_the_code(rows)

    def _worth(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> Worth:
        with as_published():
            nodes = _nodes(original)
            found = self._progress(nodes, original, evidence, judged)
        missing = [number for number, one in enumerate(found.nodes) if one != 1]
        because = (
            f"key nodes {missing} of {len(nodes)} were not met, counted from 0"
            if missing
            else f"all {len(nodes)} key nodes were met after {found.steps} steps"
        )
        return Worth(float(found.is_finished), because, _metrics(found, evidence))

    def _progress(
        self,
        nodes: Sequence[Mapping[str, Any]],
        original: OriginalTask,
        evidence: Evidence,
        judged: Mapping[str, str],
    ) -> _Progress:
        scores, steps = [0.0] * len(nodes), 0
        for turn in turns(evidence, original.bases, after=self._of_paper):
            steps += 1
            for number, node in enumerate(nodes):
                if scores[number] != 1:  # what is met is never lost
                    scores[number] = max(scores[number], matched(node, turn, judged))
            if not self._of_paper and sum(scores) == len(nodes):
                break  # the harness stops the agent there
        return _Progress(tuple(scores), steps)


def _nodes(original: OriginalTask) -> list[Mapping[str, Any]]:
    evaluation: Any = original.record["evaluation"]
    return list(evaluation)


def _metrics(found: _Progress, evidence: Evidence) -> Mapping[str, float]:
    score, total = found.score, len(found.nodes)
    rate = score / total if total else 0.0
    signalled = evidence.ended in _SIGNALS
    if found.is_finished:
        alignment = 1.0 if signalled else 0.95
    else:
        alignment = rate if signalled else 0.8 * rate
    return {
        "step_score": score,
        "key_nodes": float(total),
        "step_score_rate": rate,
        "steps": float(found.steps),
        "efficiency_score": found.steps / score if score else 0.0,
        "human_alignment": alignment,
    }


def _of_the_code(rows: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    n, total = len(rows), sum(one["key_nodes"] for one in rows)
    return {
        "task_counts": float(n),
        "average_step_score_rate": sum(one["step_score_rate"] for one in rows) / n,
        "key_node_completion_rate": sum(one["step_score"] for one in rows) / total,
        "task_success_rate": _share(rows, 0.0),
        "task_near_success_rate": _share(rows, 1.0),
        # A task with no key node met counts as 0 here, which is the best there is.
        "average_efficiency_score": sum(one["efficiency_score"] for one in rows) / n,
    }


def _of_the_paper(rows: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    n, total = len(rows), sum(one["key_nodes"] for one in rows)
    met = sum(one["step_score"] for one in rows)
    success = _share(rows, 0.0)
    return {
        "completion_rate_macro": sum(one["step_score_rate"] for one in rows) / n,
        "completion_rate_micro": met / total,
        "task_success_rate": success,
        "task_success_rate_1": success + _share(rows, 1.0),
        "efficiency": sum(one["steps"] for one in rows) / met if met else None,
        "human_alignment": sum(one["human_alignment"] for one in rows) / n,
    }


def _share(rows: Sequence[Mapping[str, float]], left: float) -> float:
    return sum(one["key_nodes"] - one["step_score"] == left for one in rows) / len(rows)


WEBCANVAS_READING: Final = WebCanvasReading("webcanvas", of_paper=False)
WEBCANVAS_PAPER_READING: Final = WebCanvasReading("webcanvas-paper", of_paper=True)
