"""Everything that can go wrong between Arena and a model, as errors that a person can act on."""

from __future__ import annotations

import json
import re
from enum import StrEnum

from pydantic import ValidationError

from arena_core.errors import ContextExceededError, ModelError
from orchestrator.agents.model.options import KEY_VARIABLE, ModelOptions

_EXCERPT = 200
_UNAUTHORISED = frozenset({401, 403})
_NO_CREDIT = 402
_NOT_FOUND = 404
_TOO_MANY = 429
_SERVER_ERROR = 500


def asked_outside_of_a_replay(options: ModelOptions) -> ModelError:
    message = f"{_where(options)} is asked outside of a run, and --replay asks no model"
    return ModelError(message, hint="leave out --replay", is_permanent=True)


def stalled(options: ModelOptions, attempts: int) -> ModelError:
    waited = f"{options.attempt_s:g} s{_in_attempts(attempts)}"
    message = f"{_where(options)} did not answer within {waited}"
    return ModelError(message, hint="is the endpoint overloaded, or still loading the model?")


def out_of_time(options: ModelOptions, last: str | None = None) -> ModelError:
    message = f"{_where(options)} gave no reply within {options.deadline_s:g} s, retries included"
    if last:
        message += f"; the last attempt: {excerpt(last, options)}"
    return ModelError(message, hint="is the endpoint overloaded, or still loading the model?")


def must_wait(
    options: ModelOptions, status: int, body: str, *, wait_s: float, left_s: float
) -> ModelError:
    message = (
        f"{_where(options)} answered {status} and asks to wait {wait_s:g} s, and only"
        f" {max(0.0, left_s):.1f} s of the {options.deadline_s:g} s for one reply are left:"
        f" {excerpt(body, options)}"
    )
    return ModelError(message, hint="give it a longer --model-deadline, or ask less often")


def takes_no_images(options: ModelOptions, status: int, body: str) -> ModelError:
    shown = excerpt(body, options)
    message = f"{_where(options)} takes no images: it answered {status}: {shown}"
    hint = "choose a --model that takes images, or an agent that shows it none"
    return ModelError(message, hint=hint, is_permanent=True)


def unreachable(options: ModelOptions, cause: BaseException, attempts: int) -> ModelError:
    innermost = cause
    while innermost.__cause__ is not None:
        innermost = innermost.__cause__
    evidence = excerpt(str(innermost) or type(innermost).__name__, options)
    message = f"{_where(options)} cannot be reached{_in_attempts(attempts)}: {evidence}"
    return ModelError(message, hint="is the endpoint running, and is --model-url right?")


def refused(
    options: ModelOptions, status: int, body: str, *, is_permanent: bool, attempts: int
) -> ModelError:
    shown = excerpt(body, options)
    message = f"{_where(options)} answered {status}{_in_attempts(attempts)}: {shown}"
    hint = _next_step(options, status, body, is_permanent=is_permanent)
    return ModelError(message, hint=hint, is_permanent=is_permanent)


def again(refusal: ModelError) -> ModelError:
    """Return a permanent refusal for another question, which is not asked any more."""
    return ModelError(refusal.message, hint=refusal.hint, is_permanent=True)


def context_exceeded(options: ModelOptions, status: int, body: str) -> ContextExceededError:
    shown = excerpt(body, options)
    message = f"the context window of {_where(options)} is exhausted: it answered {status}: {shown}"
    return ContextExceededError(message, hint="serve the model with a larger context window")


def never_fits(cause: ContextExceededError) -> ModelError:
    message = f"{cause.message} (to the shortest prompt, which shows no page)"
    hint = "serve the model with a larger context window, or choose another model"
    return ModelError(message, hint=hint, is_permanent=True)


def no_content(options: ModelOptions, replies: int) -> ModelError:
    message = f"{_where(options)} sent {replies} replies without content or tool call"
    hint = "if the endpoint separates thinking from content, does its parser fit the model?"
    return ModelError(message, hint=hint)


def garbage(options: ModelOptions, body: str, cause: ValidationError) -> ModelError:
    fault = cause.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in fault["loc"]) or "body"
    shown = excerpt(body, options)
    reason = excerpt(fault["msg"], options)
    message = f"{_where(options)} sent no chat completion ({field}: {reason}): {shown}"
    return ModelError(message, hint="does --model-url end where the API starts, often in /v1?")


def too_long(options: ModelOptions, most_bytes: int) -> ModelError:
    message = f"{_where(options)} sent an answer of more than {most_bytes // 2**20} MiB: broken off"
    hint = "no reply is that long: see the endpoint's own log, and whether --model-url is an API's"
    return ModelError(message, hint=hint)


def no_choices(options: ModelOptions) -> ModelError:
    message = f"{_where(options)} sent a completion without choices"
    return ModelError(message, hint="see the endpoint's own log")


def filtered(options: ModelOptions) -> ModelError:
    message = f"{_where(options)} withheld its reply: content filter"
    return ModelError(message, hint="the page or the task set off the endpoint's filter")


def other(options: ModelOptions, cause: BaseException) -> ModelError:
    message = f"{_where(options)} could not be asked: {excerpt(str(cause), options)}"
    return ModelError(message, hint="check --model, --model-url and the key")


def excerpt(text: str, options: ModelOptions) -> str:
    """Return the start of foreign text on one line, without the key should it be quoted there."""
    if options.key is not None:
        text = text.replace(options.key.get_secret_value(), "***")
    line = " ".join(text.split()) or "(nothing)"
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"


def _where(options: ModelOptions) -> str:
    return f"model {options.name!r} at {options.url}"


def _in_attempts(made: int) -> str:
    return f" in {made} attempts" if made > 1 else ""


def _next_step(options: ModelOptions, status: int, body: str, *, is_permanent: bool) -> str:
    if status in _UNAUTHORISED:
        return (
            f"the endpoint does not accept the key in {KEY_VARIABLE}"
            if options.key
            else f"the endpoint asks for a key: set {KEY_VARIABLE}"
        )
    if status == _NOT_FOUND:
        return "does it serve this model, and does --model-url end where the API starts (/v1)?"
    if status == _NO_CREDIT or (status == _TOO_MANY and is_permanent):
        return "the endpoint says that the account's quota or credit is used up"
    if status == _TOO_MANY:
        return "wait until the endpoint's limit allows more"
    if status >= _SERVER_ERROR:
        return "see the endpoint's own log"
    insisted = [one.flag for one in sorted(options.insisted) if one in body]
    left_out = f", or leave out {' and '.join(insisted)}" if insisted else ""
    return f"check --model and what the endpoint accepts{left_out}"


class Refusal(StrEnum):
    """What a status that is not one of success means for a run.

    `passing`: a later request may be served. `permanent`: none will, until someone fixes key, URL
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
    `has_images` says that the request held images, to a model that never took one before.
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
