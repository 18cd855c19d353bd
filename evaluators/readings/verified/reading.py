"""The reading `verified`: a task is solved where each of its evaluators says so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena_core.actions import AnswerStatus
from evaluators.evidence import Ended, Evidence
from evaluators.judgements import JudgeQuestion
from evaluators.original import OriginalTask
from evaluators.readings.base import ReadingScore, ReadingStatus
from evaluators.readings.upstream import (
    NotInEvidenceError,
    PublishedCrashError,
    Worth,
    reading_score,
)
from evaluators.readings.verified.events import Event, events_of
from evaluators.readings.verified.requests import RequestCheck
from evaluators.readings.verified.response import response_differences, task_type
from evaluators.readings.verified.site_urls import SiteUrls

_RESPONSE: Final = "AgentResponseEvaluator"
_STATUSES: Final = {
    AnswerStatus.DONE: "SUCCESS",
    AnswerStatus.INFEASIBLE: "ACTION_NOT_ALLOWED_ERROR",
    AnswerStatus.NOT_FOUND: "NOT_FOUND_ERROR",
    AnswerStatus.PERMISSION_DENIED: "PERMISSION_DENIED_ERROR",
    AnswerStatus.DATA_VALIDATION_ERROR: "DATA_VALIDATION_ERROR",
    AnswerStatus.UNKNOWN_ERROR: "UNKNOWN_ERROR",
}


class VerifiedReading:
    """Scores episodes of webarena-verified's tasks by answer and requests.

    An evaluator that raises makes the task an error there, with a score of 0: the reading says
    `crash`, and counts it as the published summary does.
    """

    name = "verified"
    formats = frozenset({"webarena-verified"})

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return nothing: no model judges."""
        del original, evidence
        return ()

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ReadingScore:
        """Score one episode: 0 or 1."""
        del judged
        return reading_score(evidence, lambda: _worth(original, evidence))

    def aggregate(self, scores: Sequence[ReadingScore]) -> Mapping[str, float | None]:
        """Return the published summary: tasks that raise count as errors, and not as successes."""
        counted = [one for one in scores if one.status is not ReadingStatus.UNSCORED]
        success = sum(one.value == 1.0 for one in counted)
        errors = sum(one.status is ReadingStatus.CRASH for one in counted)
        return {
            "success_rate": success / len(counted) if counted else None,
            "total": float(len(counted)),
            "success_count": float(success),
            "failure_count": float(len(counted) - success - errors),
            "error_count": float(errors),
        }


def _worth(original: OriginalTask, evidence: Evidence) -> Worth:
    record: Mapping[str, Any] = original.record
    sites = _sites(original)
    events = _events(evidence)
    kind = task_type(record)
    answer = agent_response(record, evidence)
    metrics: dict[str, float] = {}
    because, crashed = "every evaluator is satisfied", ""
    for number, config in enumerate(record["eval"]):
        try:
            if config["evaluator"] == _RESPONSE:
                found = response_differences(config, sites, answer, retrieves=kind == "RETRIEVE")
            else:
                navigates = kind == "NAVIGATE"
                found = RequestCheck(config, sites, navigates=navigates).differences(events)
        except (NotInEvidenceError, PublishedCrashError):
            raise
        except Exception as raised:  # noqa: BLE001  the published code takes any for an error
            crashed = crashed or f"{type(raised).__name__}: {raised}"
            continue
        metrics[f"{number} {config['evaluator']}"] = float(not found)
        if found and because == "every evaluator is satisfied":
            because = f"{config['evaluator']} {number}: {found[0]}"
    if crashed:
        raise PublishedCrashError(crashed)
    return Worth(float(all(metrics.values())), because, metrics)


def _events(evidence: Evidence) -> Sequence[Event]:
    try:
        return events_of(evidence)
    except ValueError as empty:
        message = f"ValueError: {empty}"
        raise PublishedCrashError(message) from empty


def _sites(original: OriginalTask) -> SiteUrls:
    named: Any = original.record["sites"]
    sites = SiteUrls([str(one).strip("_").lower() for one in named], original.bases)
    missing = [one for one in sites.sites if sites.placeholder(one) not in original.bases]
    if missing:
        message = f"the task does not say where {', '.join(missing)} is (original.bases)"
        raise NotInEvidenceError(message)
    return sites


def agent_response(record: Mapping[str, Any], evidence: Evidence) -> str:
    """Return what the agent would have written into `agent_response.json`.

    A text stands as it is. An ending by status and data has no type of task: the right one is put
    in, and one that says that the task is infeasible, the status of what is not allowed. Who stops
    without a word says that it is done, here as in the strict score.

    Args:
        record: the published task.
        evidence: of an episode of it.

    Raises:
        ValueError: it is no task of webarena-verified's.
    """
    kind = task_type(record)
    said, response = evidence.answer or "", evidence.response
    if response is not None and '"status"' not in said:
        status, data = _STATUSES[response.status], response.data
        return json.dumps({"task_type": kind, "status": status, "retrieved_data": data})
    if evidence.ended is Ended.INFEASIBLE and not said:
        return json.dumps({"task_type": kind, "status": _STATUSES[AnswerStatus.INFEASIBLE]})
    if evidence.ended is Ended.STOPPED and evidence.answer is None:
        return json.dumps({"task_type": kind, "status": _STATUSES[AnswerStatus.DONE]})
    return said


VERIFIED_READING: Final = VerifiedReading()
