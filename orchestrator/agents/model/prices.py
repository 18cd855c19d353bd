"""What a model costs: price tables, Arena's and a user's own, and the cost of a reply by them."""

from __future__ import annotations

import datetime as dt
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena_core.errors import InputError
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
