"""What was asked of a model, what came back, and what that cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Final, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from arena_core.errors import AgentError

# What no attempt can have spent: sums of it still fit into a run's ledger.
MOST_TOKENS: Final = 10**12
TokenCount = Annotated[int, Field(ge=0, le=MOST_TOKENS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of one reply, as its endpoint counted them.

    Attributes:
        input_tokens: of the prompt, pictures and cached parts included.
        output_tokens: of the reply, its thinking included.
        cached_tokens, image_tokens: those of the prompt that came from a cache, or were pictures;
            None where the endpoint does not say.
        reasoning_tokens: those of the reply that were thinking; None where it does not say.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    image_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExchange:
    """One question to a model, with all its retries, and what came of it.

    Attributes:
        request: the body as it was meant, in OpenAI's chat-completions form, without keys. In
            the place of an image's data stands the name of the file that keeps it.
        images: the bytes of those images, by that name.
        left_out: parameters of the request that the endpoint does not take, so that the body that
            it answered lacked them, or had them under an older name.
        reply: the body of the answer as it came; None where none came.
        seconds: until the reply was there, retries included.
        occurrence: how often the attempt asked the same before.
        is_too_long: the error is that the prompt is longer than the model's context window.
        replayed_from: the run whose exchange this repeats: nothing was asked, nothing spent.
    """

    request: Mapping[str, JsonValue] = field(default_factory=dict)
    images: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    left_out: tuple[str, ...] = ()
    reply: str | None = None
    error: str | None = None
    usage: TokenUsage | None = None
    usd: float | None = None
    seconds: float = 0.0
    occurrence: int = 0
    is_too_long: bool = False
    replayed_from: str | None = None


class Answers(Protocol):
    """What answers the questions of an agent instead of a model."""

    @property
    def run(self) -> str:
        """The run whose replies these are."""

    def answer(
        self, episode: str, sha256: str, occurrence: int, request: Mapping[str, JsonValue]
    ) -> ModelExchange:
        """Return the exchange that answers a question."""


@dataclass(slots=True)
class ExchangeCollector:
    """Gathers the exchanges of one attempt, those too that ended in an error.

    Attributes:
        episode: whose they are, `offline-TASK-r0`; what a replay is looked up by.
        answers: what answers its questions; None where models do.
    """

    episode: str = ""
    answers: Answers | None = None
    _asked: Counter[str] = field(default_factory=Counter)
    _gathered: list[ModelExchange] = field(default_factory=list)
    _taken: int = 0

    def occurrence(self, sha256: str) -> int:
        """Note that a request is asked, by its hash, and return how often it was asked before."""
        self._asked[sha256] += 1
        return self._asked[sha256] - 1

    def add(self, exchange: ModelExchange) -> None:
        """Keep an exchange; one that was kept before counts once."""
        if all(exchange is not known for known in self._gathered):
            self._gathered.append(exchange)

    def take(self) -> tuple[ModelExchange, ...]:
        """Return what came since the last call, oldest first."""
        taken = tuple(self._gathered[self._taken :])
        self._taken = len(self._gathered)
        return taken


_collector: ContextVar[ExchangeCollector | None] = ContextVar("arena_exchanges", default=None)


@contextmanager
def collecting(collector: ExchangeCollector) -> Iterator[None]:
    """Have a collector gather what is asked in a block, and in the tasks and threads it starts."""
    token = _collector.set(collector)
    try:
        yield
    finally:
        _collector.reset(token)


def current_collector() -> ExchangeCollector | None:
    """Return who gathers the exchanges of the caller; None outside of an episode."""
    return _collector.get()


_MOST_USD: Final = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was spent on models; sums up by `+`.

    Attributes:
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
    found = Spent()
    for one in spent:
        found += one
    return found


def spent_on(
    exchanges: Iterable[ModelExchange], input_tokens: int, output_tokens: int, usd: float | None
) -> Spent:
    """Return what a decision took.

    What an agent reports beyond its exchanges it spent by a client of its own; if it reports less,
    that takes nothing away.
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
    """What an external agent says that it spent; null is unknown, what is missing is nothing."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    input_tokens: TokenCount | None = 0
    output_tokens: TokenCount | None = 0
    usd: float | None = Field(default=None, ge=0, le=_MOST_USD, allow_inf_nan=False)


def reported_usage(value: object) -> Spent:
    """Return what an external agent says that it spent.

    Args:
        value: `{"input_tokens": 812, "output_tokens": 40, "usd": 0.0024}`, each of which may be
            missing; None says nothing. Tokens that are null were spent, and nobody knows how many.
    """
    if value is None:
        return Spent()
    try:
        usage = Usage.model_validate(value)
    except ValidationError as cause:
        first = cause.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "usage"
        message = f"the agent reports invalid usage: {field}: {first['msg']}"
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
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value is None
    return 0 <= value <= _MOST_USD


def is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value <= MOST_TOKENS
