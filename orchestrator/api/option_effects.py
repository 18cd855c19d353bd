"""Refuses what was asked for and would change nothing: an option without effect misleads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from arena_core.errors import UsageError
from orchestrator.api.run_resources import RunResources
from orchestrator.runner.request import RunRequest
from sites.upstreams import LiveUpstream, ReplicaUpstream, StagedUpstream, Upstream

if TYPE_CHECKING:
    from sites.atlas import Atlas


def refuse_offline_resolves(resolves: Sequence[str], *, staged: bool, online: bool) -> None:
    """Refuse options about live origins where none can be visited.

    Raises:
        UsageError: naming the option.
    """
    if online:
        return
    for option, is_given in (("--staged", staged), ("--resolve", bool(resolves))):
        if is_given:
            message = f"{option} says where --online leads: it has no effect without --online"
            raise UsageError(message, hint=f"add --online, or leave {option} away")


def refuse_without_effect(request: RunRequest, resources: RunResources, atlas: Atlas) -> None:
    """Refuse options about live origins, replicas or a browser that the chosen tasks do not use.

    Raises:
        UsageError: naming the option and what there is.
    """
    _refuse_live(request, atlas)
    _refuse_watching_nothing(request)
    refuse_idle_pace(request, resources, atlas)


def refuse_idle_pace(request: RunRequest, resources: RunResources, atlas: Atlas) -> None:
    """Refuse options about replicas where the chosen tasks visit none that they could be about.

    Raises:
        UsageError: naming the option.
    """
    replicas = {
        name for world in request.worlds for name in request.upstreams(atlas, world).replicas
    }
    stateful = {name for name in replicas if atlas.site(name).stateful}
    if resources.memory_bytes is not None and not replicas:
        message = "--memory has no effect: the chosen tasks visit no replica"
        raise UsageError(message)
    for option, value in (("--spares", resources.spares), ("--strategy", resources.strategy)):
        if value is not None and not stateful:
            message = f"{option} has no effect: the chosen tasks visit no replica that holds state"
            raise UsageError(message)


def _refuse_watching_nothing(request: RunRequest) -> None:
    if any(task.recorded is None for task in request.tasks):
        return
    wanted = (("--record-requests", request.records_requests), ("--trace", request.traces))
    for option, is_given in wanted:
        if is_given:
            message = f"{option} has no effect: no chosen task is played in a browser"
            raise UsageError(message)


def _refuse_live(request: RunRequest, atlas: Atlas) -> None:
    if request.staged and not any(
        map(_can_be_staged, _visited(replace(request, staged=False), atlas))
    ):
        message = "--staged has no effect: no chosen task visits a site with a staged live origin"
        raise UsageError(message)
    left = {place for one in _visited(request, atlas) if (place := _place_on_the_web(one))}
    for resolve in request.resolves:
        if (resolve.host, resolve.port) not in left:
            message = f"--resolve {resolve} has no effect: the run visits no such live origin"
            shown = ", ".join(f"{host}:{port}" for host, port in sorted(left)) or "none"
            hint = f"live origins that are visited and not staged: {shown}"
            raise UsageError(message, hint=hint)
        left.remove((resolve.host, resolve.port))


def _visited(request: RunRequest, atlas: Atlas) -> Iterator[Upstream]:
    for world in request.worlds:
        yield from request.upstreams(atlas, world).by_site.values()


def _can_be_staged(upstream: Upstream) -> bool:
    match upstream:
        case ReplicaUpstream():
            return False
        case LiveUpstream(live=live) | StagedUpstream(live=live):
            return live.staged is not None
        case _:
            assert_never(upstream)


def _place_on_the_web(upstream: Upstream) -> tuple[str, int] | None:
    """Return host and port that are looked up; None for what is on this machine."""
    match upstream:
        case ReplicaUpstream() | StagedUpstream():
            return None
        case LiveUpstream(live=live):
            return live.host, live.port
        case _:
            assert_never(upstream)
