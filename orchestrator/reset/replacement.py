"""A replica whose container does not run: another is started in its place, and proven golden."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from arena_core.errors import ArenaError, SiteGoneError
from orchestrator.reset.ladder import Recreate, Reset, reset_replica
from orchestrator.reset.replica import start_replica
from orchestrator.reset.watch import Watch

if TYPE_CHECKING:
    from orchestrator.engine.containers import Container
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.replica import Placement
    from orchestrator.reset.rungs import Rung

_LAST_LINES: Final = 3


async def replace_container(
    engine: Engine, placement: Placement, ended: Container, rungs: Sequence[Rung]
) -> Reset:
    """Start another container in the place of one that ended, is paused or never started.

    The receipt's strategy is `recreate`, and its first fallback says what the old container was
    like and what it said last.

    Raises:
        SiteGoneError: none of the rungs makes a new container; the old one stays.
        ResetError: the new one is not golden; it is removed.
        UnhealthyError, PortTakenError, EngineError: it could not be started.
    """
    began = time.monotonic()
    name = placement.site.name
    why = await _how_it_is(engine, ended)
    if not any(isinstance(rung, Recreate) for rung in rungs):
        message = f"site '{name}': {why}"
        raise SiteGoneError(message, hint=f"arena reset {name} --strategy recreate")
    await engine.remove(ended.id)
    watch = Watch.over(engine, await start_replica(engine, placement), new=True)
    done = await reset_replica(engine, watch, wrote=False)
    receipt = done.receipt.model_copy(
        update={
            "strategy": Recreate().name,
            "seconds": round(time.monotonic() - began, 4),
            "before": None,
            "differences": (why,),
            "fallbacks": (f"clean: {why}", *done.receipt.fallbacks),
        }
    )
    return Reset(done.watch, receipt)


async def _how_it_is(engine: Engine, ended: Container) -> str:
    code = "" if ended.exit_code is None else f" with code {ended.exit_code}"
    how = f"container {ended.name} is {ended.state}{code}"
    try:
        log = await engine.logs(ended.id, tail=_LAST_LINES)
    except ArenaError:
        return how  # its state is reason enough
    said = " | ".join(log.splitlines())
    return f"{how}; it said last: {said}" if said else how
