"""`arena diff`: what was changed in a site since it was golden, row by row and file by file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import UsageError
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console, Json

if TYPE_CHECKING:
    from evaluators.changes import Change, ChangeKind
    from orchestrator.delta.as_check import Document
    from orchestrator.delta.delta import Delta, NextId
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.replica import Replica

app = typer.Typer()

_LIMIT = 50


@app.command()
def diff(
    site: Annotated[str, typer.Argument(help="The site; it must be up.")],
    slot: Annotated[
        int, typer.Option(min=0, help="Of which slot, where `arena up` started several.")
    ] = 0,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help=f"How many rows of each table to show; default: {_LIMIT}."),
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
    """Show what was changed in a site since it was golden.

    Rows with their columns before and after, files, definitions, and the
    next ids that moved. Passwords, tokens and sessions are not shown.

    With --as-check: a check `by: db_delta`, as YAML. What changes by itself
    stands in its `ignore`: it is seen on a second, fresh replica, on which every
    role logs in and pages are opened, and nothing else is done. Times of the
    change, ids that the database gave and secrets are not asked for.
    """
    console = Console(as_json)
    if as_check:
        if limit is not None:
            message = "--limit has no effect with --as-check: a check asks for every change"
            raise UsageError(message)
        _print_check(console, run(_as_check(site, slot)))
        return
    delta = run(_look(site, slot, limit or _LIMIT))
    if as_json:
        console.json(_document(delta, slot))
        return
    for line in picture(delta):
        console.line(line)


async def _as_check(site: str, slot: int) -> Document:
    from orchestrator.cli.known_sites import known_sites
    from orchestrator.contract.visits import changes_by_visits
    from orchestrator.delta.as_check import ByItself, check_of
    from orchestrator.delta.delta import delta_of
    from orchestrator.delta.moments import Moments
    from orchestrator.engine.engine import Engine
    from orchestrator.operations.inventory import running_replica

    async with await Engine.connect() as engine:
        atlas = known_sites()
        replica = await running_replica(engine, atlas, site, slot)
        hosts = frozenset(one.host for one in atlas.sites.values())
        looked = await changes_by_visits(engine, replica.site, hosts, f"diff-{os.getpid()}")
        by_itself = ByItself.of(looked)
        delta = await delta_of(engine, replica, ignored=by_itself.ignored)
        created = datetime.fromtimestamp(replica.container.created, UTC)
        moments = Moments.between(created, datetime.now(UTC), replica.site.clock)
        return check_of(delta, by_itself, moments, await _definitions(engine, replica))


async def _definitions(engine: Engine, replica: Replica) -> Mapping[str, str]:
    """Return the definitions of the tables of a replica's image; none where it has no tables."""
    from orchestrator.delta.golden_rows import GoldenRows
    from orchestrator.images.golden import ROWS_LABEL, golden_rows

    image = await engine.image(replica.placement.image_id)
    if image is None or ROWS_LABEL not in image.labels:
        return {}
    with GoldenRows.opened(await golden_rows(engine, image)) as rows:
        return {name: table.shape.definition for name, table in rows.tables().items()}


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


async def _look(site: str, slot: int, limit: int) -> Delta:
    from orchestrator.cli.known_sites import known_sites
    from orchestrator.delta.delta import delta_of
    from orchestrator.engine.engine import Engine
    from orchestrator.operations.inventory import running_replica

    async with await Engine.connect() as engine:
        replica = await running_replica(engine, known_sites(), site, slot)
        return await delta_of(engine, replica, limit=limit)


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
        "changed": not delta.is_empty,
        "changes": [change.model_dump(mode="json") for change in delta.changes],
        "next_ids": [
            {"table": one.table, "before": one.before, "after": one.after} for one in delta.next_ids
        ],
        "scratch": [change.model_dump(mode="json") for change in delta.scratch],
    }
