"""How an agent ended: its status, data and reason, out of what it stopped with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from arena_core.actions import Action, AnswerStatus, Infeasible, Stop
from arena_core.foreign import ForeignError, read_json
from evaluators.evidence import AgentResponse, Ended, Evidence
from evaluators.values.text import as_text

# The words of webarena-verified's responses, as they stand behind its own names.
_UPSTREAM: Final[Mapping[str, AnswerStatus]] = {
    "success": AnswerStatus.DONE,
    "action_not_allowed_error": AnswerStatus.INFEASIBLE,
    "not_found_error": AnswerStatus.NOT_FOUND,
    "permission_denied_error": AnswerStatus.PERMISSION_DENIED,
    "data_validation_error": AnswerStatus.DATA_VALIDATION_ERROR,
    "unknown_error": AnswerStatus.UNKNOWN_ERROR,
}
_STATUSES: Final[Mapping[str, AnswerStatus]] = {
    **{one.value: one for one in AnswerStatus},
    **_UPSTREAM,
}
_DATA: Final = ("retrieved_data", "data", "answer")
_REASON: Final = ("error_details", "reason")
_FENCE: Final = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL | re.IGNORECASE)
_LONGEST: Final = 100_000
# WebArena's word for what cannot be done, with a reason or without.
_NOT_APPLICABLE: Final = re.compile(
    r"\s*[\"'*]*n/a[\"'*]*\s*[.!]?(?:\s*[-:;,.(]\s*(.*?))?\s*", re.DOTALL | re.IGNORECASE
)


def response_of(action: Action) -> AgentResponse | None:
    """Return the structured ending that an action is; None for a plain answer and other actions.

    An answer that is a JSON object with a `status` is read as one, webarena-verified's form too.
    """
    match action:
        case Infeasible():
            return AgentResponse(status=AnswerStatus.INFEASIBLE, reason=action.reason)
        case Stop():
            if (action.status, action.data, action.reason) == (None, None, None):
                return None if action.answer is None else _read(action.answer)
            status = action.status or AnswerStatus.DONE
            data = action.data if action.data is not None else action.answer
            return AgentResponse(status=status, data=data, reason=action.reason)
        case _:
            return None


def ending(
    status: AnswerStatus,
    answer: str | None,
    data: JsonValue,
    reason: str | None,
    confidence: float | None = None,
) -> Stop | Infeasible:
    """Return the action that ends an episode with a status."""
    match status:
        case AnswerStatus.DONE:
            return Stop(answer=answer, data=data, confidence=confidence)
        case AnswerStatus.INFEASIBLE:
            return Infeasible(reason=reason or "it gave no reason", confidence=confidence)
        case _:
            return Stop(
                status=status,
                answer=answer,
                data=data,
                reason=reason or None,
                confidence=confidence,
            )


def answer_of(action: Stop) -> str | None:
    """Return the text of an answer; data without words as text, JSON where it has parts."""
    if action.answer is not None or action.data is None:
        return action.answer
    return as_text(action.data)


def confidence_of(evidence: Evidence) -> float | None:
    """Return how sure the agent of an episode said it was when it ended; None where it did not."""
    last = evidence.steps[-1].action if evidence.steps else None
    return last.confidence if isinstance(last, Stop | Infeasible) else None


def ending_of(evidence: Evidence) -> AgentResponse | None:
    """Return how the agent of an episode ended; None where it did not end by itself.

    A plain answer is `done`, but WebArena's `N/A` is `infeasible` with what follows as the reason.
    """
    if evidence.response is not None:
        return evidence.response
    last = evidence.steps[-1].action if evidence.steps else None
    if isinstance(last, Infeasible):
        return response_of(last)
    if evidence.ended not in {Ended.STOPPED, None} or not isinstance(last, Stop):
        return None
    found = _NOT_APPLICABLE.fullmatch(evidence.answer) if evidence.answer else None
    if found is None or evidence.answer is None:
        return AgentResponse(data=evidence.answer)
    reason = found[1].rstrip(") ") if found[1] else None
    return AgentResponse(status=AnswerStatus.INFEASIBLE, reason=reason or None)


def _read(answer: str) -> AgentResponse | None:
    """Return the response that a text answer is as JSON; None for any other text."""
    fenced = _FENCE.fullmatch(answer[:_LONGEST])
    bare = (fenced[1] if fenced else answer).strip()
    if not bare.startswith("{") or len(bare) > _LONGEST:
        return None
    try:
        said = read_json(bare)
    except ForeignError:
        return None
    if not isinstance(said, dict) or not isinstance(said.get("status"), str):
        return None
    status = _STATUSES.get(str(said["status"]).strip().casefold())
    if status is None:
        return None
    data = next((said[name] for name in _DATA if said.get(name) is not None), None)
    reason = next((said[name] for name in _REASON if said.get(name) is not None), None)
    return AgentResponse(
        status=status, data=data, reason=None if reason is None else as_text(reason)
    )
