"""What kind of refusal an endpoint's error status is: whose matter, and whether to ask again."""

from __future__ import annotations

import json
import re
from enum import StrEnum


class Refusal(StrEnum):
    """What a status that is not one of success means for a run.

    `passing`: a later request may be served. `permanent`: none will, until a person mends key, URL
    or model. `prompt`: the endpoint does not take this request; others it may. `filtered`: it does
    not take this text. `context`: the prompt is longer than the model's context window. `images`:
    the model takes none.
    """

    PASSING = "passing"
    PERMANENT = "permanent"
    PROMPT = "prompt"
    FILTERED = "filtered"
    CONTEXT = "context"
    IMAGES = "images"


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
_CODES = {
    _CONTEXT_CODES: Refusal.CONTEXT,
    _QUOTA_CODES: Refusal.PERMANENT,
    _FILTER_CODES: Refusal.FILTERED,
}
_WORDS_READ = 4_000
# Those of a model without eyes: OpenAI, vLLM, llama.cpp, Ollama, DeepSeek, Mistral, OpenRouter.
_IMAGE = r"(?:image|vision|multi-?modal|mmproj)"
_TAKES_NONE = (
    r"(?:not? support|n.t support|unsupported|only supported|not enabled|not allowed|not accept"
    r"|at most 0|no endpoints? found|unknown variant)"
)
_IMAGE_WORDS = re.compile(
    rf"{_IMAGE}.{{0,120}}{_TAKES_NONE}|{_TAKES_NONE}.{{0,120}}{_IMAGE}"
    r"|not a multi-?modal|required for image input",
    re.IGNORECASE | re.DOTALL,
)
_OF_ONE_IMAGE = re.compile(r"format|corrupt|decode|dimension|too large", re.IGNORECASE)


def kind_of(status: int, body: str, *, has_images: bool = False) -> Refusal:
    """Return what a refusal means, by its status and what the body says.

    Codes of the body count before the status: servers differ in statuses more than in codes.

    Args:
        status: of HTTP.
        body: what came with it.
        has_images: the request held images, to a model that never took one before.
    """
    codes = _codes(body)
    for known, kind in _CODES.items():
        if codes & known:
            return kind
    if has_images and _is_of_images(body[:_WORDS_READ]):
        return Refusal.IMAGES
    if status in _OF_THE_REQUEST:
        is_too_long = _CONTEXT_WORDS.search(body[:_WORDS_READ]) is not None
        return Refusal.CONTEXT if is_too_long else Refusal.PROMPT
    if status in _PASSING or status >= _SERVER_ERROR:
        return Refusal.PASSING
    return Refusal.PERMANENT


def _is_of_images(text: str) -> bool:
    return _IMAGE_WORDS.search(text) is not None and _OF_ONE_IMAGE.search(text) is None


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
