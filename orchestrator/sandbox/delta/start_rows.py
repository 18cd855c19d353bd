"""The rows of a state that was taken: those of the tables in which it differs from golden."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import StateError
from orchestrator.sandbox.delta.present_rows import pack_rows
from orchestrator.sandbox.reset.taking import take_marked_state

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.state import TakenState
    from orchestrator.sandbox.reset.watch import Mark, Watch


async def take_state_with_rows(engine: Engine, watch: Watch) -> TakenState:
    """Take a replica's state, with the rows in which it differs from golden."""
    taken, mark = await take_marked_state(engine, watch)
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
    if not await _still_is(watch, taken, mark):
        raise StateError(f"site '{replica.site.name}' was written to while its rows were read")
    return replace(taken, rows=rows)


async def _still_is(watch: Watch, taken: TakenState, mark: Mark) -> bool:
    """Whether a replica is in a state yet; read anew only where something moved since."""
    now = await watch.mark()
    if now is not None and now.moved_since(mark) is None:
        return True
    return not (await watch.prove()).differences(taken.fingerprint)
