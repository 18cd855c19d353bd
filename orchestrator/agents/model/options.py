"""Which model, where, with which key, how long to wait for it, and what it costs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from arena_core.errors import InputError, UsageError
from orchestrator.agents.model_exchange import TokenUsage
from sites.documents import yaml_in_words
from sites.faults import mistakes

_MILLION: Final = 1_000_000
_SHIPPED: Final = "prices.yaml"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelPrice(_Strict):
    """USD per million tokens; `cached` of the prompt's tokens that came from a cache.

    Where there is no `cached`, they cost what other tokens of the prompt do.
    """

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    def cost(self, usage: TokenUsage) -> float:
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        of_cached = self.input if self.cached is None else self.cached
        paid = (usage.input_tokens - cached) * self.input + cached * of_cached
        return (paid + usage.output_tokens * self.output) / _MILLION


class PriceTable(_Strict):
    """Prices of one day.

    Attributes:
        url: base URL of the endpoint that asks these prices: a model of the same name elsewhere has
            none. Without it they are those of any endpoint.
    """

    date: dt.date
    source: str = Field(min_length=1, pattern=r"^[^\n]+$")
    url: str | None = None
    models: dict[str, ModelPrice]

    def price(self, model: str, url: str) -> ModelPrice | None:
        """Return the price of a model at an endpoint; None where it is unknown."""
        is_its = self.url is None or self.url.rstrip("/") == url.rstrip("/")
        return self.models.get(model) if is_its else None


class KnownPrice(_Strict):
    """A model's price and where it comes from."""

    price: ModelPrice
    date: dt.date
    source: str

    def __str__(self) -> str:
        price = self.price
        cached = "" if price.cached is None else f", cached {price.cached:g}"
        return (
            f"USD per million tokens: input {price.input:g}{cached}, output {price.output:g}"
            f" ({self.source}, {self.date})"
        )


def find_price(model: str, url: str, own: Path | None = None) -> KnownPrice | None:
    """Return the price of a model at an endpoint: by a user's own table, else by Arena's."""
    tables = [] if own is None else [read_prices(own)]
    for table in (*tables, shipped_prices()):
        price = table.price(model, url)
        if price is not None:
            return KnownPrice(price=price, date=table.date, source=table.source)
    return None


@cache
def shipped_prices() -> PriceTable:
    text = (files("orchestrator.agents.model") / _SHIPPED).read_text(encoding="utf-8")
    return PriceTable.model_validate(yaml.safe_load(text))


def read_prices(path: Path) -> PriceTable:
    hint = "a table has date, source, models: {NAME: {input: 2.5, output: 10}}, USD per million"
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as cause:
        raise InputError(f"{path}: the prices cannot be read: {cause.strerror}") from cause
    except (yaml.YAMLError, UnicodeDecodeError) as cause:
        raise InputError(f"{path}: is not YAML: {yaml_in_words(cause)}", hint=hint) from cause
    try:
        return PriceTable.model_validate(found)
    except ValidationError as cause:
        first, *_ = mistakes(cause, found)
        field = ".".join(map(str, first.at)) or "file"
        raise InputError(f"{path}: {field}: {first.message}", hint=hint) from cause


OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "ARENA_MODEL_URL"
ATTEMPT_S = 60.0
DEADLINE_S = 120.0
HOTTEST = 2.0


class Parameter(StrEnum):
    """A parameter of sampling that an endpoint may refuse, by its name in the API."""

    TEMPERATURE = "temperature"
    SEED = "seed"
    REASONING_EFFORT = "reasoning_effort"
    MAX_TOKENS = "max_completion_tokens"

    @property
    def flag(self) -> str:
        return f"--{self.value.replace('_', '-')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How to reach a model.

    Attributes:
        url: base URL of the API, as in `http://127.0.0.1:8000/v1`.
        key: what the endpoint asks for; None for a local server that asks for nothing.
        reasoning_effort: how long a reasoning model may think, such as `low`; None asks nothing.
        max_completion_tokens: where a reply with its thinking is cut; None where the endpoint cuts.
        is_replay: a run's replies answer; the endpoint is never asked, so no key is needed.
        insisted: parameters that a person asked for; where the endpoint refuses one of these, that
            is an error, while any other is left out.
        attempt_s: deadline for one request, in seconds.
        deadline_s: deadline for one reply with all attempts and the waiting between them.
        retries: further attempts after 408, 409, 429, 5xx, a broken connection or a stall.
    """

    name: str
    url: str = OPENAI_URL
    key: SecretStr | None = field(default=None, repr=False)
    temperature: float = 0.0
    reasoning_effort: str | None = None
    max_completion_tokens: int | None = None
    price: KnownPrice | None = None
    is_replay: bool = False
    insisted: frozenset[Parameter] = frozenset()
    attempt_s: float = ATTEMPT_S
    deadline_s: float = DEADLINE_S
    retries: int = 4

    @classmethod
    def of(
        cls,
        name: str | None,
        url: str | None,
        environment: Mapping[str, str],
        *,
        temperature: float | None = None,
        has_seed: bool = False,
        reasoning_effort: str | None = None,
        max_completion_tokens: int | None = None,
        prices: str | None = None,
        is_replay: bool = False,
        deadline_s: float = DEADLINE_S,
    ) -> Self:
        """Fill in from the environment what the command line left out."""
        if not name:
            message = "no model is named"
            raise UsageError(message, hint="name one with --model NAME, as its endpoint calls it")
        _require_numbers(temperature, max_completion_tokens, deadline_s)
        address = url_of(url, environment)
        key = environment.get(KEY_VARIABLE, "").strip()
        if not all(character.isascii() and character.isprintable() for character in key):
            message = f"{KEY_VARIABLE} holds characters that no key has"
            raise UsageError(message, hint="was it copied whole, and alone?")
        if not key and address == OPENAI_URL and not is_replay:
            message = f"{OPENAI_URL} asks for a key, and {KEY_VARIABLE} is not set"
            hint = (
                f"set {KEY_VARIABLE}, or name another endpoint with --model-url or {URL_VARIABLE}"
            )
            raise UsageError(message, hint=hint)
        return cls(
            name=name,
            url=address,
            key=SecretStr(key) if key else None,
            temperature=temperature or 0.0,
            price=find_price(name, address, Path(prices) if prices else None),
            is_replay=is_replay,
            reasoning_effort=reasoning_effort,
            max_completion_tokens=max_completion_tokens,
            insisted=_insisted(
                temperature=temperature is not None,
                seed=has_seed,
                reasoning_effort=reasoning_effort is not None,
                max_completion_tokens=max_completion_tokens is not None,
            ),
            attempt_s=min(ATTEMPT_S, deadline_s),
            deadline_s=deadline_s,
        )

    @property
    def is_local(self) -> bool:
        """Whether the endpoint is on this machine, where no proxy of the lab's is wanted."""
        return urlsplit(self.url).hostname in {"127.0.0.1", "::1", "localhost"}


def url_of(url: str | None, environment: Mapping[str, str]) -> str:
    """Return the API's base URL: as given, else the environment's, else OpenAI's."""
    return _checked(url or environment.get(URL_VARIABLE) or OPENAI_URL)


def _insisted(**asked: bool) -> frozenset[Parameter]:
    return frozenset(Parameter(name) for name, is_asked in asked.items() if is_asked)


def _require_numbers(temperature: float | None, longest: int | None, deadline_s: float) -> None:
    """Refuse what the option's own range lets pass, such as `nan`."""
    if temperature is not None and not 0 <= temperature <= HOTTEST:
        raise UsageError(f"--temperature {temperature:g} is not a number from 0 to {HOTTEST:g}")
    if longest is not None and longest < 1:
        raise UsageError(f"{Parameter.MAX_TOKENS.flag} {longest} is not a number of tokens")
    if not (isfinite(deadline_s) and deadline_s > 0):
        raise UsageError(f"--model-deadline {deadline_s:g} is not a number of seconds")


def _checked(url: str) -> str:
    """Return the URL without a slash at its end.

    It is shown in messages and written into a run's lock, so it must not hold a secret.
    """
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
        parts = None
    if not sound or parts is None:
        message = f"the model's URL is not an http(s) URL: {url!r}"
        raise UsageError(message, hint="it looks like http://127.0.0.1:8000/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        message = f"the model's URL on {parts.hostname} holds a user, a query or a fragment"
        raise UsageError(message, hint=f"put the key into {KEY_VARIABLE}, and only the path here")
    return url.rstrip("/")
