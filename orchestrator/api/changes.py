"""What was changed in a running site, as a check that asks for exactly that."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime

from orchestrator.contract.visits import changes_by_visits
from orchestrator.delta.as_check import ByItself, Document, check_of
from orchestrator.delta.delta import delta_of
from orchestrator.delta.golden_rows import GoldenRows
from orchestrator.delta.moments import Moments
from orchestrator.engine.engine import Engine
from orchestrator.images.golden import ROWS_LABEL, golden_rows
from orchestrator.operations.inventory import running_replica
from orchestrator.reset.replica import Replica
from sites.atlas import Atlas


async def changes_as_check(engine: Engine, atlas: Atlas, site: str, slot: int) -> Document:
    """Return a check `by: db_delta` for what was changed; errors are those of `Arena.diff`."""
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
    image = await engine.image(replica.placement.image_id)
    if image is None or ROWS_LABEL not in image.labels:
        return {}
    with GoldenRows.opened(await golden_rows(engine, image)) as rows:
        return {name: table.shape.definition for name, table in rows.tables().items()}
