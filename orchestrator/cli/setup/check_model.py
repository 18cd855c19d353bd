"""`arena check-model`: whether endpoint, key and name of a model are right."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from orchestrator.cli.arena import in_arena
from orchestrator.cli.console import Column, Console

app = typer.Typer()


@app.command()
def check_model(
    model: Annotated[str, typer.Option(help="The model's name at its endpoint.")],
    model_url: Annotated[
        str | None,
        typer.Option(help="OpenAI-compatible endpoint; key in OPENAI_API_KEY."),
    ] = None,
    model_deadline: Annotated[
        float | None,
        typer.Option(min=1, help="Seconds for the reply with retries; default: 120."),
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, max=2, help="Sampling temperature; default: 0.")
    ] = None,
    prices: Annotated[
        str | None, typer.Option(help="A price table that takes precedence over Arena's own.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Ask a model one short question: are its endpoint, key and name right?

    `arena eval` asks the same before it starts a container. Exits with 70 if the model cannot be
    reached or refuses.

    Example: arena check-model --model gpt-4o-mini
    """
    console = Console(as_json)
    found = in_arena(
        console,
        lambda arena: arena.check_model(
            model,
            url=model_url,
            temperature=temperature,
            deadline_s=model_deadline,
            prices=prices,
        ),
    )
    console.table(
        (
            Column("model"),
            Column("endpoint"),
            Column("answers as"),
            Column("seconds", right=True),
            Column("tokens in", right=True),
            Column("tokens out", right=True),
            Column("price"),
        ),
        [
            (
                found.model,
                found.url,
                found.answered_as,
                f"{found.seconds:.1f}",
                _count(found.input_tokens),
                _count(found.output_tokens),
                found.price or "unknown: --max-usd cannot be held",
            )
        ],
        asdict(found),
    )


def _count(tokens: int | None) -> str | int:
    return "not counted" if tokens is None else tokens
