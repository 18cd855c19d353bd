"""A WebArena-Verified task, as `assets/dataset/webarena-verified.json` has it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Text = Annotated[str, Field(min_length=1)]


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
