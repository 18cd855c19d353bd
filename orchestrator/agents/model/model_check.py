"""Asks a model one question, to see whether it can be asked; see `Arena.check_model`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from orchestrator.agents.model.client import check_model
from orchestrator.agents.model.options import DEADLINE_S, ModelOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """What came of one question to a model.

    Attributes:
        model: as it was asked for.
        url: base URL of the endpoint.
        answered_as: the name that the endpoint gave itself, often with a date; None where none.
        reply: what it said; a model that thinks may have said nothing yet.
        seconds: how long that took.
        input_tokens, output_tokens: as reported; None where the endpoint does not count.
        usd: what it cost; None where no price is known.
        price: what the model costs, in words, with date and source; None where nobody knows.
    """

    model: str
    url: str
    answered_as: str | None
    reply: str
    seconds: float
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None
    price: str | None


async def ask_once(
    model: str | None,
    url: str | None,
    *,
    temperature: float | None,
    deadline_s: float | None,
    prices: str | None,
) -> ModelCheck:
    """Ask a model one question; arguments and errors are those of `Arena.check_model`."""
    options = ModelOptions.of(
        model,
        url,
        os.environ,
        temperature=temperature,
        prices=prices,
        deadline_s=DEADLINE_S if deadline_s is None else deadline_s,
    )
    said = await check_model(options)
    return ModelCheck(
        model=options.name,
        url=options.url,
        answered_as=said.model,
        reply=said.text,
        seconds=said.exchange.seconds,
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        usd=said.usd,
        price=str(options.price) if options.price else None,
    )
