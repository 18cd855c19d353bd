"""`arena db`: one read-only query on a site's database."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

import typer

from orchestrator.cli.arena import in_arena
from orchestrator.cli.console import Cell, Column, Console

app = typer.Typer()

_LIMIT = 200


@app.command()
def db(
    site: Annotated[str, typer.Argument(help="The site; it must be up.")],
    sql: Annotated[str, typer.Argument(help="One SELECT or SHOW, in quotes.")],
    slot: Annotated[int, typer.Option(min=0, help="The slot, if `arena up` started several.")] = 0,
    limit: Annotated[int, typer.Option(min=1, help="How many rows to show at most.")] = _LIMIT,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the rows as JSON objects.")
    ] = False,
) -> None:
    """Run one read-only query on a site's database.

    It uses the account that checks use: you see what a check sees.
    """
    console = Console(as_json)
    answer = in_arena(console, lambda arena: arena.sites.query(site, sql, slot=slot, limit=limit))
    rows = [tuple(_cell(value) for value in row) for row in answer.rows]
    columns = tuple(
        Column(name, right=_is_number(rows, at)) for at, name in enumerate(answer.columns)
    )
    console.table(columns, rows, [dict(zip(answer.columns, row, strict=True)) for row in rows])
    if answer.cut:
        console.warn(f"only the first {limit} rows are shown; --limit shows more")


def _cell(value: object) -> Cell:
    """Return a value of the database as JSON can hold it; nothing is rounded."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            return str(value)
        case bytes():
            return value.decode("utf-8", errors="backslashreplace")
        case _:
            return str(value)


def _is_number(rows: list[tuple[Cell, ...]], at: int) -> bool:
    return bool(rows) and all(isinstance(row[at], int | float | None) for row in rows)
