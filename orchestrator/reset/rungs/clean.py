"""Change nothing: right where nothing was written, which the counters or the proof show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena_core.errors import ResetError, SiteGoneError
from orchestrator.reset.replica import as_replica, await_health

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.watch import Watch


@dataclass(frozen=True, slots=True)
class Clean:
    """Keep the replica as it is.

    Attributes:
        serves_within_s: how long its health may take where that has to be asked. An application
            that is broken is a usual reason for a reset, so this is not the manifest's start time.
    """

    name: str = "clean"
    needs: str = "no request that may write was seen since a reset that this process watched"
    touches: bool = False
    serves_within_s: float = 3.0

    def applies(self, watch: Watch, *, wrote: bool) -> bool:
        """Say yes unless a write was seen, or may have been missed before the watch began.

        The whole state may look golden then and hold what it does not show: a trigger, a grant,
        another schema, a file beside the stateful folders.
        """
        return not wrote and (watch.is_accounted or watch.golden is not None)

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        """Refuse where something moved; where that cannot be seen, check that it still serves.

        The connections over which the counters are read end with the container, so where they tell
        that nothing moved, it runs.
        """
        seen = await watch.glance()
        if seen.moved is not None:
            raise ResetError(seen.moved)
        if not watch.is_accounted:
            message = "something moved since it was proven golden"
            raise ResetError(message)
        if seen.unseen is not None:
            await _require_serving(engine, watch, self.serves_within_s)
        return watch


async def _require_serving(engine: Engine, watch: Watch, within_s: float) -> None:
    replica = watch.replica
    container = await engine.container(replica.container.id)
    if container is None or container.state != "running":
        state = "removed" if container is None else container.state
        message = f"site '{replica.site.name}': container {replica.container.name} is {state}"
        raise SiteGoneError(message)
    await await_health(engine, as_replica(replica.placement, container), timeout_s=within_s)
