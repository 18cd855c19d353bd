"""Remove the container and start its golden image again: always right, the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.reset.replica import start_replica
from orchestrator.reset.watch import Watch

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class Recreate:
    """A new container in the place of the old one."""

    name: str = "recreate"
    needs: str = ""
    touches: bool = True

    def applies(self, watch: Watch, *, wrote: bool) -> bool:  # noqa: ARG002
        """Say yes always."""
        return True

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        """Remove, start, wait for health."""
        placement = watch.replica.placement
        await watch.close()
        await engine.remove(watch.replica.container.id)
        return Watch.over(engine, await start_replica(engine, placement), new=True)
