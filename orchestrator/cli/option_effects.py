"""Refuses what was asked for and would change nothing: an option without effect misleads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena_core.errors import UsageError
from orchestrator.cli.run_resources import RunResources
from orchestrator.runner.request import RunRequest

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


def refuse_without_effect(request: RunRequest, pace: RunResources, atlas: Atlas) -> None:
    """Refuse options about live origins or replicas that the chosen tasks do not visit.

    Raises:
        UsageError: naming the option and what there is.
    """
    _refuse_live(request, atlas)
    refuse_idle_pace(request, pace, atlas)


def refuse_idle_pace(request: RunRequest, pace: RunResources, atlas: Atlas) -> None:
    """Refuse options about replicas where the chosen tasks visit none that they could be about.

    Raises:
        UsageError: naming the option.
    """
    replicas = {
        name for world in request.worlds for name in request.sites_with_replicas(atlas, world)
    }
    stateful = {name for name in replicas if atlas.site(name).stateful}
    if pace.memory_bytes is not None and not replicas:
        message = "--memory has no effect: the chosen tasks visit no replica"
        raise UsageError(message)
    for option, value in (("--spares", pace.spares), ("--strategy", pace.strategy)):
        if value is not None and not stateful:
            message = f"{option} has no effect: the chosen tasks visit no replica that holds state"
            raise UsageError(message)


def _refuse_live(request: RunRequest, atlas: Atlas) -> None:
    visited = atlas.select(names) if (names := request.sites_visited_live(atlas)) else ()
    lives = [site.live for site in visited if site.live]
    if request.staged and not any(live.staged for live in lives):
        message = "--staged has no effect: no chosen task visits a site with a staged live origin"
        raise UsageError(message)
    # A staged origin is where its stand-in listens, whatever else is said.
    left = {(live.host, live.port) for live in lives if not (request.staged and live.staged)}
    for resolve in request.resolves:
        if (resolve.host, resolve.port) not in left:
            message = f"--resolve {resolve} has no effect: the run visits no such live origin"
            shown = ", ".join(f"{host}:{port}" for host, port in sorted(left)) or "none"
            hint = f"live origins that are visited and not staged: {shown}"
            raise UsageError(message, hint=hint)
        left.remove((resolve.host, resolve.port))
