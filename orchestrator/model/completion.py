"""What a model said, as agents get it."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.model.messages import ToolCall
from orchestrator.model_exchange import ModelExchange, TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model said.

    Attributes:
        text: the content, or the refusal; '' where there was neither.
        thinking: what the endpoint sent apart from the content as the model's thinking.
        tool_calls: the functions that it called, arguments as they came.
        model: the name that the endpoint gave itself, often with a date; None where it gave none.
        is_cut: the reply ended at a length limit.
        usage: tokens as reported; None where the endpoint does not count.
        usd: what it cost; None where usage or price is unknown.
        exchange: what was asked and came back, for `Decision.exchanges`.
    """

    text: str
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    model: str | None = None
    is_cut: bool = False
    usage: TokenUsage | None = None
    usd: float | None = None
    exchange: ModelExchange = field(default_factory=ModelExchange, compare=False, repr=False)

    @property
    def input_tokens(self) -> int | None:
        """Of the prompt, as reported."""
        return self.usage.input_tokens if self.usage else None

    @property
    def output_tokens(self) -> int | None:
        """Of the reply and its thinking, as reported."""
        return self.usage.output_tokens if self.usage else None
