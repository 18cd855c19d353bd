"""The rows of a state that was taken: those of the tables in which it differs from golden."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import StateError
from orchestrator.sandbox.delta.present_rows import pack_rows

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.state import TakenState
    from orchestrator.sandbox.reset.watch import Watch


async def with_rows(engine: Engine, watch: Watch, taken: TakenState) -> TakenState:
    """Return a state with its rows, read from the replica that it was just taken of.

    Raises:
        StateError: the replica was written to since.
    """
    replica = watch.replica
    golden = await replica.placement.golden.parts()
    before = {table.name: table for table in golden.tables}
    changed = frozenset(
        table.name for table in taken.fingerprint.tables if before.get(table.name) != table
    )
    if not changed:
        return taken
    with tempfile.TemporaryDirectory(prefix="arena-rows-") as folder:
        path = Path(folder) / "rows"
        await pack_rows(engine, replica.site, replica.container, path, changed)
        rows = path.read_bytes()
    if (await watch.prove()).digest != taken.digest:
        raise StateError(f"site '{replica.site.name}' was written to while its rows were read")
    return replace(taken, rows=rows)
