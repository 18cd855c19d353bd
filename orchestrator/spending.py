"""What models cost: tokens and money of an episode or a run, and what of it nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena_core.errors import AgentError
from orchestrator.model_exchange import ModelExchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was spent on models; sums up by `+`.

    Attributes:
        replies: how many replies or reports it is the sum of.
        input_tokens, output_tokens: as counted; those of `uncounted` replies are not in them.
        priced_usd: the cost of the replies whose cost is known.
        uncounted, unpriced: of how many replies the tokens, or the cost, are unknown.
    """

    replies: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    priced_usd: float = 0.0
    uncounted: int = 0
    unpriced: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            replies=self.replies + other.replies,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            priced_usd=self.priced_usd + other.priced_usd,
            uncounted=self.uncounted + other.uncounted,
            unpriced=self.unpriced + other.unpriced,
        )

    @property
    def tokens(self) -> int:
        """Of prompts and replies together."""
        return self.input_tokens + self.output_tokens

    @property
    def usd(self) -> float | None:
        """The cost; None where no model was asked, or that of one reply is unknown."""
        return None if self.unpriced or not self.replies else self.priced_usd

    @classmethod
    def of_exchange(cls, exchange: ModelExchange) -> Self:
        """Return what one exchange took; one that failed without any count took nothing known."""
        usage = exchange.usage
        if usage is None and exchange.error is not None:
            return cls()
        return cls(
            replies=1,
            input_tokens=usage.input_tokens if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
            priced_usd=exchange.usd or 0.0,
            uncounted=usage is None,
            unpriced=exchange.usd is None,
        )

    @classmethod
    def reported(cls, input_tokens: int, output_tokens: int, usd: float | None) -> Self:
        """Return what an agent reports of itself; nothing where it reports nothing."""
        if not (input_tokens or output_tokens) and usd is None:
            return cls()
        return cls(
            replies=1,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            priced_usd=usd or 0.0,
            unpriced=usd is None,
        )


def total(spent: Iterable[Spent]) -> Spent:
    """Return the sum."""
    found = Spent()
    for one in spent:
        found += one
    return found


def spent_on(
    exchanges: Iterable[ModelExchange], input_tokens: int, output_tokens: int, usd: float | None
) -> Spent:
    """Return what a decision took.

    Args:
        exchanges: that led to it.
        input_tokens: as the agent reports them, and so the next two. What it reports beyond its
            exchanges it spent by a client of its own; that it reports less takes nothing away.
        output_tokens: as reported.
        usd: as reported.
    """
    known = total(map(Spent.of_exchange, exchanges))
    if not known.replies:
        return Spent.reported(input_tokens, output_tokens, usd)
    beyond = (input_tokens - known.input_tokens, output_tokens - known.output_tokens)
    if max(beyond) <= 0:
        return known
    rest = None if usd is None or known.usd is None else max(0.0, usd - known.usd)
    return known + Spent.reported(max(0, beyond[0]), max(0, beyond[1]), rest)


class Usage(BaseModel):
    """What an outside agent says that it spent; null is unknown, what is missing is nothing."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    input_tokens: int | None = Field(default=0, ge=0)
    output_tokens: int | None = Field(default=0, ge=0)
    usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)


def reported_usage(value: object) -> Spent:
    """Return what an outside agent says that it spent.

    Args:
        value: `{"input_tokens": 812, "output_tokens": 40, "usd": 0.0024}`, each of which may be
            missing; None says nothing. Tokens that are null were spent, and nobody knows how many.

    Raises:
        AgentError: it is no such object.
    """
    if value is None:
        return Spent()
    try:
        usage = Usage.model_validate(value)
    except ValidationError as cause:
        first = cause.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "usage"
        message = f"the usage that the agent reports is none: {field}: {first['msg']}"
        hint = 'it looks like {"input_tokens": 812, "output_tokens": 40, "usd": 0.0024}'
        raise AgentError(message, hint=hint) from None
    counts = (usage.input_tokens, usage.output_tokens)
    if None in counts:
        return Spent(
            replies=1,
            input_tokens=counts[0] or 0,
            output_tokens=counts[1] or 0,
            priced_usd=usage.usd or 0.0,
            uncounted=1,
            unpriced=usage.usd is None,
        )
    return Spent.reported(usage.input_tokens or 0, usage.output_tokens or 0, usage.usd)


def is_cost(value: object) -> bool:
    """Whether a value is a cost that can be added up: None, or a number from 0."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value is None
    return isfinite(value) and value >= 0
