"""The options beside `--ray`, of all commands that play on a Ray cluster."""

from __future__ import annotations

from typing import Any, Final

import typer

from arena_core.errors import UsageError
from orchestrator.cli.runs import options as of

OF_RAY: Final = ("ray", "ray_shards", "ray_env", "ray_send", "allow")


def ray_terms(context: typer.Context) -> dict[str, Any] | None:
    """Return how a run is played on a cluster, as `arena.ray` takes it; None without `--ray`."""
    typed = context.params
    if typed["ray"] is None:
        for name in OF_RAY:
            if name in of.given(context):
                raise UsageError(f"--{name.replace('_', '-')} has no effect without --ray")
        return None
    if typed["headed"]:
        raise UsageError("--headed shows no window on a node", hint="omit it, or omit --ray")
    return {
        "address": typed["ray"],
        "allow": [one.strip() for one in (typed["allow"] or "").split(",") if one.strip()],
        "environment": typed["ray_env"] or (),
        "send": typed["ray_send"],
    }
