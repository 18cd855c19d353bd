"""The scorer `verified`: a task is solved where each of its evaluators says so."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from arena_core.actions import AnswerStatus
from evaluators.evidence import Ended, Evidence
from evaluators.scorers.base import (
    NotInEvidenceError,
    OriginalTask,
    PublishedCrashError,
    ScorerResult,
    ScorerStatus,
    UnjudgedScorer,
    Worth,
    scorer_result,
)
from evaluators.scorers.verified.requests import Event, RequestCheck, events_of
from evaluators.scorers.verified.schemas import Comparison, Maker
from evaluators.scorers.verified.typed import String
from evaluators.scorers.verified.urls import SiteUrls

_FENCE: Final = re.compile(r"```(?:json)?\s*\n?(.*?)\n?```", re.DOTALL)
_DATA: Final = "retrieved_data"
_FIELDS: Final = ("task_type", "status", _DATA, "error_details")


_RESPONSE: Final = "AgentResponseEvaluator"
_STATUSES: Final = {
    AnswerStatus.DONE: "SUCCESS",
    AnswerStatus.INFEASIBLE: "ACTION_NOT_ALLOWED_ERROR",
    AnswerStatus.NOT_FOUND: "NOT_FOUND_ERROR",
    AnswerStatus.PERMISSION_DENIED: "PERMISSION_DENIED_ERROR",
    AnswerStatus.DATA_VALIDATION_ERROR: "DATA_VALIDATION_ERROR",
    AnswerStatus.UNKNOWN_ERROR: "UNKNOWN_ERROR",
    AnswerStatus.NEEDS_INPUT: "UNKNOWN_ERROR",
}


def task_type(record: Mapping[str, Any]) -> str:
    """Return what kind of task a record is: RETRIEVE, MUTATE or NAVIGATE."""
    for one in record["eval"]:
        if one["evaluator"] == "AgentResponseEvaluator":
            return _type_of(one["expected"])
    raise ValueError("No AgentResponseEval found in eval")


def response_differences(
    config: Mapping[str, Any], sites: SiteUrls, answer: str, *, retrieves: bool
) -> list[str]:
    """Return how an answer differs from what is expected of it."""
    said = config["expected"]
    expected = {
        "task_type": String(_type_of(said)),
        "status": String(said["status"].upper()),
        _DATA: _data(said.get(_DATA), config, Maker(sites, strict=True)),
    }
    actual = _actual(answer, config, Maker(sites, strict=False), retrieves=retrieves)
    unseen = Comparison(unseen=frozenset({_DATA}))
    found = unseen.differences(expected, actual, "agent_response")
    if not isinstance(actual, dict) or not retrieves or not actual:
        return found
    wanted, got = expected[_DATA], actual.get(_DATA)
    if wanted is None and got is None:
        return found
    if wanted is None or got is None:
        return [*found, f"{_DATA}: expected {_shown(wanted)}, got {_shown(got)}"]
    ordered = Comparison(ordered=bool(config.get("ordered")))
    return [*found, *ordered.differences(tuple(wanted), tuple(got), _DATA)]


def _type_of(said: Mapping[str, Any]) -> str:
    return str(said.get("task_type", said.get("performed_operation"))).upper()


def _actual(answer: str, config: Mapping[str, Any], maker: Maker, *, retrieves: bool) -> Any:
    value = _parsed(answer)
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    expected = config["expected"]
    for name in _FIELDS:
        if name not in expected and not (name == "task_type" and "performed_operation" in expected):
            continue
        key = name
        if name == "task_type" and name not in value and "performed_operation" in value:
            key = "performed_operation"
        if key not in value:
            if key == _DATA:
                found[key] = None
            continue
        if key == _DATA:
            found[name] = (_data(value[key], config, maker) if retrieves else None) or None
        else:
            text = value[key].strip()
            found[name] = String(text) if text else None
    return found


def _parsed(answer: str) -> Any:
    """Return the JSON in a fence or of the whole text; the text where it is none."""
    fenced = _FENCE.search(answer)
    value: Any = fenced[1].strip() if fenced else answer.strip()
    with suppress(json.JSONDecodeError):
        value = json.loads(value)
    return value or None


def _data(raw: Any, config: Mapping[str, Any], maker: Maker) -> Any:
    if not raw and not isinstance(raw, (int, float)):
        return None
    values = tuple(raw) if isinstance(raw, (list, tuple)) else (raw,)
    return maker.results(values, config["results_schema"])


def _shown(data: Any) -> str:
    return "nothing" if data is None else str([str(one) for one in data])


class VerifiedScorer(UnjudgedScorer):
    """Scores episodes of webarena-verified's tasks by answer and requests.

    An evaluator that raises makes the task an error there, with a score of 0: the scorer says
    `crash`, and counts it as the published summary does.
    """

    name = "verified"
    formats = frozenset({"webarena-verified"})

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ScorerResult:
        """Score one episode: 0 or 1."""
        del judged
        return scorer_result(evidence, lambda: _worth(original, evidence))

    def aggregate(self, scores: Sequence[ScorerResult]) -> Mapping[str, float | None]:
        """Return the published summary: tasks that raise count as errors, and not as successes."""
        counted = [one for one in scores if one.status is not ScorerStatus.UNSCORED]
        success = sum(one.value == 1.0 for one in counted)
        errors = sum(one.status is ScorerStatus.CRASH for one in counted)
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
        raise PublishedCrashError(f"ValueError: {empty}") from empty


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


VERIFIED_SCORER: Final = VerifiedScorer()
