"""The reading `webarena`: the product of its evaluators, in the record's order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence
from evaluators.judgements import JudgeQuestion
from evaluators.original import OriginalTask
from evaluators.readings.base import ReadingScore
from evaluators.readings.upstream import (
    NotInEvidenceError,
    PublishedCrashError,
    Worth,
    as_published,
    mean_of_scored,
    reading_score,
    replaced,
)
from evaluators.readings.webarena import contents, strings
from evaluators.readings.webarena.urls import url_match

_PLACEHOLDER: Final = re.compile(r"__[A-Z]+(?:_[A-Z]+)*__")
_EVALUATORS: Final = ("string_match", "url_match", "program_html")


class WebArenaReading:
    """Scores episodes of imported WebArena tasks as WebArena's own evaluators would.

    What the published evaluators look at stands in the evidence: the answer, the last URL, and what
    each `program_html` target selected (`original-html-N`).
    """

    name = "webarena"
    formats = frozenset({"webarena", "visualwebarena"})

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return what its model would be asked about the answer."""
        try:
            with as_published():
                record = _expanded(original, evidence)
                if "string_match" not in record["eval"]["eval_types"]:
                    return ()
                return tuple(strings.questions(record, _answer(evidence)))
        except (PublishedCrashError, NotInEvidenceError):
            return ()  # the score says so

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ReadingScore:
        """Score one episode: 0 or 1, `metrics` by evaluator."""
        return reading_score(evidence, lambda: _product(original, evidence, judged))

    def aggregate(self, scores: Sequence[ReadingScore]) -> Mapping[str, float | None]:
        """Return `average_score`: crashed and unscored episodes fall out of it, as there."""
        return {"average_score": mean_of_scored(scores)}


def _product(original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]) -> Worth:
    record = _expanded(original, evidence)
    score, because, metrics = 1.0, "no evaluator is named", dict[str, float]()
    missing: NotInEvidenceError | None = None
    has_moved = False
    with as_published():
        kinds = list(record["eval"]["eval_types"])
        for kind in kinds:
            if kind not in _EVALUATORS:
                message = f"eval_type {kind} is not supported"
                raise ValueError(message)
    for kind in kinds:
        try:
            with as_published():
                worth = _evaluated(kind, record, evidence, judged, has_moved=has_moved)
                has_moved = has_moved or (kind == "program_html" and contents.navigates(record))
        except NotInEvidenceError as cause:
            missing = missing or cause
            continue
        metrics[kind] = metrics.get(kind, 1.0) * worth.value
        if score:
            because = f"{kind}: {worth.because}"
        score *= worth.value
    if missing is not None and score:
        raise missing
    return Worth(score, because, metrics)


def _evaluated(
    kind: str,
    record: Mapping[str, Any],
    evidence: Evidence,
    judged: Mapping[str, str],
    *,
    has_moved: bool,
) -> Worth:
    match kind:
        case "string_match":
            return strings.string_match(record, _answer(evidence), judged)
        case "url_match":
            if has_moved:
                message = "url_match would see the page that program_html has left open"
                raise NotInEvidenceError(message)
            return url_match(record, _last_url(evidence))
        case _:
            return contents.program_html(record, evidence)


def _answer(evidence: Evidence) -> str:
    """Return what the published runner would take for the answer.

    An episode that Arena ended at its step limit has the answer that the runner makes up there; one
    that gives up as infeasible has the answer that its prompts ask for.
    """
    if evidence.ended is Ended.STEP_LIMIT:
        steps = sum(step.action is not None for step in evidence.steps)
        return f"Early stop: Reach max steps {steps}"
    if evidence.ended is Ended.INFEASIBLE and not evidence.answer:
        return "N/A"
    return evidence.answer or ""


def _last_url(evidence: Evidence) -> str:
    if not evidence.steps:
        message = "the evidence has no step, so no last URL"
        raise NotInEvidenceError(message)
    return evidence.steps[-1].url


def _expanded(original: OriginalTask, evidence: Evidence) -> dict[str, Any]:
    """Return the record with the URLs of the replicas in place of its placeholders."""
    record = replaced(original.record, original.bases)
    if not isinstance(record, dict):
        raise TypeError
    named = {*_PLACEHOLDER.findall(repr(record.get("eval")))} - {"__last_url__", "__page__"}
    if named:
        message = f"the task does not say what {', '.join(sorted(named))} is (original.bases)"
        raise NotInEvidenceError(message)
    if original.bases and evidence.world is not World.OFFLINE:
        message = "its URLs are those of replicas, and the episode was played on live sites"
        raise NotInEvidenceError(message)
    return record


WEBARENA_READING: Final = WebArenaReading()
