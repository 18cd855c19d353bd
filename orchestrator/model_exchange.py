"""What was asked of a model and what came back, as the evidence keeps it; who collects it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue


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
        error: why there is no completion; None where there is one.
        usage: None where the endpoint did not count.
        usd: what it cost; None where usage or price is unknown.
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
        self, trial: str, sha256: str, occurrence: int, request: Mapping[str, JsonValue]
    ) -> ModelExchange:
        """Return the exchange that answers a question.

        Raises:
            ReplayMissError: there is none; says what differs.
        """


@dataclass(slots=True)
class ExchangeCollector:
    """Gathers the exchanges of one attempt, those too that ended in an error.

    Attributes:
        trial: whose they are, `offline-TASK-r0`; what a replay is looked up by.
        answers: what answers its questions; None where models do.
    """

    trial: str = ""
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
