"""What kind of refusal an endpoint's error status is: whose matter, and whether to ask again."""

from __future__ import annotations

import json
import re
from enum import StrEnum


class Refusal(StrEnum):
    """What a status that is not one of success means for a run.

    `passing`: a later request may be served. `permanent`: none will, until a person mends key, URL
    or model. `prompt`: the endpoint does not take this request; others it may. `filtered`: it does
    not take this text. `context`: the prompt is longer than the model's context window.
    """

    PASSING = "passing"
    PERMANENT = "permanent"
    PROMPT = "prompt"
    FILTERED = "filtered"
    CONTEXT = "context"


_PASSING = frozenset({408, 409, 425, 429})
_OF_THE_REQUEST = frozenset({400, 413, 422})
_SERVER_ERROR = 500

_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
# Where there is no code: the words of vLLM, llama.cpp, TGI, Mistral, Anthropic, Gemini.
_CONTEXT_WORDS = re.compile(
    r"context (length|size|window)|prompt is too long|reduce the length of the"
    r"|must have less than \d+ tokens|token count .{0,80}exceeds|too many input tokens",
    re.IGNORECASE | re.DOTALL,
)
_WORDS_READ = 4_000


def kind_of(status: int, body: str) -> Refusal:
    """Return what a refusal means, by its status and what the body says.

    Codes of the body count before the status: servers differ in statuses more than in codes.
    """
    codes = _codes(body)
    if codes & _CONTEXT_CODES:
        return Refusal.CONTEXT
    if codes & _QUOTA_CODES:
        return Refusal.PERMANENT
    if codes & _FILTER_CODES:
        return Refusal.FILTERED
    if status in _OF_THE_REQUEST:
        is_too_long = _CONTEXT_WORDS.search(body[:_WORDS_READ]) is not None
        return Refusal.CONTEXT if is_too_long else Refusal.PROMPT
    if status in _PASSING or status >= _SERVER_ERROR:
        return Refusal.PASSING
    return Refusal.PERMANENT


def _codes(body: str) -> frozenset[str]:
    """Return the error's `code` and `type`, wherever the server puts them."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return frozenset()
    if not isinstance(document, dict):
        return frozenset()
    error = document.get("error")
    places = [document, error] if isinstance(error, dict) else [document]
    found = [place.get(name) for place in places for name in ("code", "type")]
    return frozenset(code for code in found if isinstance(code, str))
