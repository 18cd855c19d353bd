"""`arena diff`: what was changed in a site, row by row and file by file."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import UsageError
from orchestrator.cli.arena import in_arena
from orchestrator.cli.console import Console, Json

if TYPE_CHECKING:
    from evaluators.changes import Change, ChangeKind
    from orchestrator.sandbox.delta.check import Document
    from orchestrator.sandbox.delta.delta import Delta, NextId

app = typer.Typer()

_LIMIT = 50


class Start(StrEnum):
    """What a site may be compared with in place of the state that it was brought to."""

    GOLDEN = "golden"


@app.command()
def diff(
    site: Annotated[str, typer.Argument(help="The site; it must be up.")],
    slot: Annotated[int, typer.Option(min=0, help="The slot, if `arena up` started several.")] = 0,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help=f"How many rows of each table to show; default: {_LIMIT}."),
    ] = None,
    start: Annotated[
        Start | None,
        typer.Option("--from", help="Compare with golden, whatever state was restored."),
    ] = None,
    as_check: Annotated[
        bool,
        typer.Option(
            "--as-check",
            help="Print a check that asks for exactly these changes, to paste into a task.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show what changed in a site since it was golden, or was brought to a saved state.

    Shows rows with their columns before and after, files, definitions, and the next ids that moved.
    Passwords, tokens and sessions are not shown.

    With --as-check, prints a check `by: db_delta` as YAML, of what changed since golden. Its
    `ignore` lists what changes by itself, as seen on a second, fresh replica on which every role
    only logs in and opens pages. It does not ask for times of the change, ids that the database
    gave, or secrets.
    """
    console = Console(as_json)
    if as_check:
        if limit is not None:
            raise UsageError("--limit has no effect with --as-check: a check asks for every change")
        _print_check(
            console, in_arena(console, lambda arena: arena.sites.diff_as_check(site, slot=slot))
        )
        return
    delta = in_arena(
        console,
        lambda arena: arena.sites.diff(
            site, slot=slot, limit=limit or _LIMIT, from_golden=start is Start.GOLDEN
        ),
    )
    if delta.start is not None:
        console.note(f"compared with the state '{delta.start}'; --from golden shows all changes")
    if as_json:
        console.json(_document(delta, slot))
        return
    for line in picture(delta):
        console.line(line)


def _print_check(console: Console, check: Document) -> None:
    import yaml

    if console.as_json:
        console.json(check)
    else:
        text = yaml.safe_dump(
            [check], sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
        )
        console.line(text.rstrip())
    if not check["match"]["changes"]:
        console.note("nothing was changed: this check asks that it stays so")


def picture(delta: Delta) -> Iterator[str]:
    """Yield the lines for people: a heading for each table, and one line a row."""
    if delta.is_empty:
        yield f"{delta.site}: nothing changed"
        return
    moved = {one.table: one for one in delta.next_ids}
    for heading, changes in groupby(delta.changes, key=_heading):
        counter = moved.pop(heading, None)
        yield f"{heading}{f'  ({_counter(counter)})' if counter else ''}"
        for change in changes:
            yield f"  {_line(change)}"
    for table, counter in moved.items():
        yield f"{table}  ({_counter(counter)}; same rows)"
    if delta.scratch:
        yield "scratch files"
        for one in delta.scratch:
            yield f"  {_line(one)}"


def _heading(change: Change) -> str:
    match change.of:
        case "row" | "table" | "more":
            return change.table
        case "file":
            return "files"
        case "other":
            return "besides"


def _line(change: Change) -> str:
    from evaluators.changes import ChangeKind, said_cells

    match change.of:
        case "row":
            name = ", ".join(f"{column}={value}" for column, value in change.key.items())
            return f"{_sign(change.kind)} {name or 'a row'}: {said_cells(change)}"
        case "table":
            whole = {ChangeKind.ADDED: "new table", ChangeKind.REMOVED: "table removed"}
            what = whole.get(change.kind, "other definition")
            return f"{_sign(change.kind)} {what}: {', '.join(change.differs)}"
        case "more":
            return f"… and {change.count} more; --limit shows more"
        case "file":
            differs = f": {', '.join(change.differs)}" if change.differs else ""
            return f"{_sign(change.kind)} {change.path}{differs}"
        case "other":
            return f"~ {change.what}"


def _sign(kind: ChangeKind) -> str:
    return {"added": "+", "removed": "-", "changed": "~"}[kind.value]


def _counter(moved: NextId) -> str:
    return f"next id {moved.before} -> {moved.after}"


def _document(delta: Delta, slot: int) -> Json:
    return {
        "site": delta.site,
        "slot": slot,
        "from": delta.start or Start.GOLDEN,
        "changed": not delta.is_empty,
        "changes": [change.model_dump(mode="json") for change in delta.changes],
        "next_ids": [
            {"table": one.table, "before": one.before, "after": one.after} for one in delta.next_ids
        ],
        "scratch": [change.model_dump(mode="json") for change in delta.scratch],
    }
