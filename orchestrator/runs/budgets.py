"""One memory budget for the replicas of all worlds of a run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.runs.request import RunRequest
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.memory import (
    MIB,
    Costs,
    default_budget,
    format_size,
    least_bytes,
    priced_sites,
)
from orchestrator.sandbox.pool.slot_pool import capacity_for
from sites.registry import SiteRegistry


async def begun_with(request: RunRequest, registry: SiteRegistry, engine: Engine) -> RunRequest:
    """Return a request with a number of workers: for `auto` the largest that it begins with."""
    settings = request.settings
    if isinstance(settings.workers, int):
        return request
    for count in range(settings.workers_at_first, 1, -1):
        with suppress(UsageError):  # so many do not fit
            fewer = request.with_workers(count)
            await share_budget(fewer, registry, engine)
            return fewer
    return request.with_workers(1)


async def share_budget(
    request: RunRequest, registry: SiteRegistry, engine: Engine
) -> Mapping[World, int | None]:
    """Return each world's part of the budget, None where it is for one world to find its own."""
    costs = Costs.load()
    sites = {
        world: registry.select(names)
        for world in request.worlds
        if (names := request.upstreams(registry, world).replicas)
    }
    needs = {
        world: least_bytes(await priced_sites(engine, chosen, costs), request.workers_in(world))
        for world, chosen in sites.items()
    }
    parts = await _parts(request, needs, engine)
    for world, chosen in sites.items():
        await capacity_for(
            engine,
            chosen,
            costs,
            workers=request.workers_in(world),
            spares=request.spares_in(world),
            memory_bytes=parts[world],
            strategy=request.settings.strategy,
        )
    return parts


async def _parts(
    request: RunRequest, needs: Mapping[World, int], engine: Engine
) -> dict[World, int | None]:
    """Split it in proportion to what the worlds' workers need."""
    if len(needs) < len(World):
        return dict.fromkeys(needs, request.settings.memory)
    total, needed = request.settings.memory, sum(needs.values())
    if total is None:
        total = default_budget((await engine.facts()).memory_bytes)
        if needed > total and request.settings.workers == 1:
            return dict.fromkeys(needs)  # the least there is: tried on any machine
    if needed > total:
        words = " and ".join(f"{format_size(need)} {world}" for world, need in needs.items())
        message = f"replicas need {words}, and the budget is {format_size(total)}"
        hint = f"fewer --workers, one world at a time, or --memory {-(-needed // MIB)}MiB"
        raise UsageError(message, hint=hint)
    return {world: need + (total - needed) * need // needed for world, need in needs.items()}
