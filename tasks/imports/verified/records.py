"""A WebArena-Verified task, as `assets/dataset/webarena-verified.json` has it."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from evaluators.values.patterns import pattern_fault
from tasks.imports.formats import Written

Text = Annotated[str, Field(min_length=1)]


_WHOLE: Final = re.compile(r"\^(.*)\$", re.DOTALL)
_NOT_AHEAD: Final = re.compile(r"\(\?!((?:[^()]|\([^()]*\))*)\)(\.[*+])")
_ALL_AHEAD: Final = re.compile(r"\.\*((?:\(\?=(?:[^()]|\([^()]*\))*\))+)(.*)")
_AHEAD: Final = re.compile(r"\(\?=((?:[^()]|\([^()]*\))*)\)")
_NOT_AT_END: Final = re.compile(r"\.\*\(\?!([^()]*)\$\)\.\*")
_GLOB: Final = re.compile(r"(\^?)(\\?[\w-]+)")
_NONE_BUT: Final = re.compile(r"\^\(\?!((?:[\w-]+\$?\|?)+)\)\.[*+]\$")


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Expected(_Lenient):
    """What the agent must say.

    Attributes:
        retrieved_data: a list, whose items may be lists of alternatives; None where none is asked.
    """

    task_type: Literal["retrieve", "mutate", "navigate"]
    status: Text
    retrieved_data: JsonValue = None


class AnswerEvaluator(_Lenient):
    """The comparison of the agent's response."""

    evaluator: Literal["AgentResponseEvaluator"]
    ordered: bool = False
    results_schema: dict[str, JsonValue]
    expected: Expected


class EventSpec(_Lenient):
    """A request that must have been sent."""

    url: Text | tuple[Text, ...]
    headers: dict[str, JsonValue] | None = None
    query_params: dict[str, JsonValue] | None = None
    post_data: dict[str, JsonValue] | None = None
    response_content: dict[str, JsonValue] | None = None
    response_status: int = 200
    http_method: str = "GET"
    response_cookies: dict[str, JsonValue] | None = None


class NetworkEvaluator(_Lenient):
    """The comparison of one request.

    Attributes:
        last_event_only: only the last request of its URL and method is looked at.
        ignored_query_params, ignored_query_params_patterns: what a URL may have besides.
    """

    evaluator: Literal["NetworkEventEvaluator"]
    expected: EventSpec
    last_event_only: bool = True
    ignored_query_params: tuple[str, ...] = ()
    ignored_query_params_patterns: tuple[str, ...] = ()
    decode_base64_query: bool = False
    query_params_schema: dict[str, JsonValue] | None = None
    post_data_schema: dict[str, JsonValue] | None = None
    should_not_exist: bool = False


Evaluator = Annotated[AnswerEvaluator | NetworkEvaluator, Field(discriminator="evaluator")]


class VerifiedRecord(_Lenient):
    """One task."""

    sites: tuple[Text, ...] = Field(min_length=1)
    task_id: int = Field(ge=0)
    intent_template_id: int
    start_urls: tuple[Text, ...] = Field(min_length=1)
    intent: Text
    revision: int = Field(ge=1)
    evaluators: tuple[Evaluator, ...] = Field(alias="eval", min_length=1)


class UnsaidPatternError(ValueError):
    """A pattern says what none of Arena's does."""


def is_pattern(value: object) -> bool:
    """Whether the published code takes a value for a regular expression."""
    return isinstance(value, str) and _WHOLE.fullmatch(value) is not None


def inner(pattern: str) -> str:
    """Return what stands between `^` and `$`."""
    return pattern[1:-1]


def pattern_match(pattern: str, *, case: bool = False) -> Written:
    """Return the match by what stands between `^` and `$`; no less is asked for.

    Look-ahead is said by several patterns (`value`) and by `unless`, where it stands at the start.
    """
    unless: str | None = None
    wanted = [pattern]
    if not_ahead := _NOT_AHEAD.fullmatch(pattern):
        ends = not_ahead[1].endswith("$")
        unless = not_ahead[1].removesuffix("$") if ends else f"{not_ahead[1]}.*"
        wanted = [not_ahead[2]]
    elif not_at_end := _NOT_AT_END.fullmatch(pattern):
        # The published one is met by every text; what it was meant to refuse is refused here.
        wanted, unless = [".*"], f".*{not_at_end[1]}"
    elif all_ahead := _ALL_AHEAD.fullmatch(pattern):
        parts = [*_AHEAD.findall(all_ahead[1]), all_ahead[2]]
        wanted = [
            f".*{one.removeprefix('.*')}" + ("" if one == parts[-1] else ".*") for one in parts
        ]
    for one in [*wanted, *([] if unless is None else [unless])]:
        fault = pattern_fault(one)
        if fault is not None:
            raise UnsaidPatternError(fault)
    match: Written = {"how": "regex", "value": wanted[0] if len(wanted) == 1 else wanted}
    return {**match, **({"unless": unless} if unless else {}), **({"case": True} if case else {})}


def allowed_names(patterns: tuple[str, ...]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return names of parameters that may stand in a query, and those that may not.

    Args:
        patterns: of what the published code ignores, looked for anywhere in a name.

    Returns:
        Names with `*` for any letters, None for all; and names that are excepted from all.
    """
    allowed: list[str] = []
    for one in patterns:
        if one == ".*":
            return None, ()
        if none_but := _NONE_BUT.fullmatch(one):
            return None, tuple(name.removesuffix("$") for name in none_but[1].split("|"))
        glob = _GLOB.fullmatch(one)
        if glob is None:
            raise UnsaidPatternError(f"ignores parameters by {one!r}")
        name = glob[2].removeprefix("\\")
        allowed.append(f"{name}*" if glob[1] else f"*{name}*")
    return tuple(allowed), ()
