"""Everything that can go wrong between Arena and a model, as errors that a person can act on."""

from __future__ import annotations

from pydantic import ValidationError

from arena_core.errors import ContextExceededError, ModelError
from orchestrator.model.options import KEY_VARIABLE, ModelOptions

_EXCERPT = 200
_UNAUTHORISED = frozenset({401, 403})
_NO_CREDIT = 402
_NOT_FOUND = 404
_TOO_MANY = 429
_SERVER_ERROR = 500


def asked_outside_of_a_replay(options: ModelOptions) -> ModelError:
    """Say that nothing may be asked, as a run's replies were to answer."""
    message = f"{_where(options)} is asked outside of a run, and --replay asks no model"
    return ModelError(message, hint="leave --replay away", is_permanent=True)


def stalled(options: ModelOptions) -> ModelError:
    """Say that the last attempt stayed without an answer."""
    message = f"{_where(options)} did not answer within {options.attempt_s:g} s{_attempts(options)}"
    return ModelError(message, hint="is the endpoint overloaded, or still loading the model?")


def out_of_time(options: ModelOptions, last: str | None = None) -> ModelError:
    """Say that the attempts together took too long, and what came of the last."""
    message = f"{_where(options)} gave no reply within {options.deadline_s:g} s, retries included"
    if last:
        message += f"; the last attempt: {excerpt(last, options)}"
    return ModelError(message, hint="is the endpoint overloaded, or still loading the model?")


def must_wait(options: ModelOptions, status: int, body: str, wait_s: float) -> ModelError:
    """Say that the endpoint asks for a longer pause than the deadline leaves."""
    message = (
        f"{_where(options)} answered {status} and asks to wait {wait_s:g} s, longer than the"
        f" {options.deadline_s:g} s for one reply leave: {excerpt(body, options)}"
    )
    return ModelError(message, hint="give it a longer --model-deadline, or ask less often")


def takes_no_images(options: ModelOptions, status: int, body: str) -> ModelError:
    """Say that the model cannot see."""
    shown = excerpt(body, options)
    message = f"{_where(options)} takes no images: it answered {status}: {shown}"
    hint = "choose a --model that takes images, or an agent that shows it none"
    return ModelError(message, hint=hint, is_permanent=True)


def unreachable(options: ModelOptions, cause: BaseException) -> ModelError:
    """Say that the connection failed or broke; evidence is the innermost cause."""
    innermost = cause
    while innermost.__cause__ is not None:
        innermost = innermost.__cause__
    evidence = excerpt(str(innermost) or type(innermost).__name__, options)
    message = f"{_where(options)} cannot be reached{_attempts(options)}: {evidence}"
    return ModelError(message, hint="is the endpoint running, and is --model-url right?")


def refused(options: ModelOptions, status: int, body: str, *, is_permanent: bool) -> ModelError:
    """Say with which status the endpoint refused, and what it said."""
    retried = _attempts(options) if status == _TOO_MANY or status >= _SERVER_ERROR else ""
    message = f"{_where(options)} answered {status}{retried}: {excerpt(body, options)}"
    hint = _next_step(options, status, body, is_permanent=is_permanent)
    return ModelError(message, hint=hint, is_permanent=is_permanent)


def again(refusal: ModelError) -> ModelError:
    """Return a permanent refusal for another question, which is not asked any more."""
    return ModelError(refusal.message, hint=refusal.hint, is_permanent=True)


def context_exceeded(options: ModelOptions, status: int, body: str) -> ContextExceededError:
    """Say that a prompt does not fit the model's context window, in the endpoint's words."""
    shown = excerpt(body, options)
    message = f"the context window of {_where(options)} is exhausted: it answered {status}: {shown}"
    return ContextExceededError(message, hint="serve the model with a larger context window")


def never_fits(cause: ContextExceededError) -> ModelError:
    """Say that not even a prompt without a page fits."""
    message = f"{cause.message} (to the shortest prompt, which shows no page)"
    hint = "serve the model with a larger context window, or take another model"
    return ModelError(message, hint=hint, is_permanent=True)


def no_content(options: ModelOptions, replies: int) -> ModelError:
    """Say that the model's replies held nothing that could be read as one."""
    message = f"{_where(options)} sent {replies} replies without content or tool call"
    hint = "where the endpoint parts thinking from content, does its parser fit the model?"
    return ModelError(message, hint=hint)


def garbage(options: ModelOptions, body: str, cause: ValidationError) -> ModelError:
    """Say that the answer is no chat completion."""
    fault = cause.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in fault["loc"]) or "body"
    shown = excerpt(body, options)
    reason = excerpt(fault["msg"], options)
    message = f"{_where(options)} sent no chat completion ({field}: {reason}): {shown}"
    return ModelError(message, hint="does --model-url end where the API starts, often in /v1?")


def too_long(options: ModelOptions, most_bytes: int) -> ModelError:
    """Say that the answer was broken off, since it is longer than any reply."""
    message = f"{_where(options)} sent an answer of more than {most_bytes // 2**20} MiB: broken off"
    hint = "no reply is that long: see the endpoint's own log, and whether --model-url is an API's"
    return ModelError(message, hint=hint)


def no_choices(options: ModelOptions) -> ModelError:
    """Say that the answer holds no reply."""
    message = f"{_where(options)} sent a completion without choices"
    return ModelError(message, hint="see the endpoint's own log")


def filtered(options: ModelOptions) -> ModelError:
    """Say that the endpoint withheld the reply."""
    message = f"{_where(options)} withheld its reply: content filter"
    return ModelError(message, hint="the page or the task set off the endpoint's filter")


def other(options: ModelOptions, cause: BaseException) -> ModelError:
    """Say what else the client library found wrong."""
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


def _attempts(options: ModelOptions) -> str:
    return f" in {options.retries + 1} attempts" if options.retries else ""


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
        return "the account's quota or credit is used up, says the endpoint"
    if status == _TOO_MANY:
        return "wait until the endpoint's limit allows more"
    if status >= _SERVER_ERROR:
        return "see the endpoint's own log"
    insisted = [one.flag for one in sorted(options.insisted) if one in body]
    left_away = f", or leave {' and '.join(insisted)} away" if insisted else ""
    return f"check --model and what the endpoint accepts{left_away}"
