"""`make bench`: every figure in one run, as ratios against the plain way.

``python -m bench resets`` measures one part alone (see `_PARTS`) and writes no file.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench import (
    adapters,
    auto_workers,
    bootstraps,
    cdp,
    checkpoints,
    commands,
    every_site,
    gateway,
    imported,
    imports,
    live,
    merging,
    observations,
    onlookers,
    resets,
    scored_runs,
    scoring,
    simulated,
    sites,
    slot_memory,
    states,
    steps,
    study_report,
    study_status,
    tapes,
    workers,
)
from bench.figures import Figure, show

from orchestrator.gateway.policy import SocketAddress

_PAGES: Final = ("/", "/catalogue/", "/search/?q=kettle")


def main(names: list[str]) -> None:
    """Measure the named parts, or everything and write bench.json."""
    unknown = sorted(set(names) - set(_PARTS))
    if unknown:
        sys.exit(f"no part {', '.join(unknown)}; there are: {', '.join(_PARTS)}")
    figures = [figure for name in names or _PARTS for figure in _PARTS[name]()]
    show(figures, None if names else Path("bench.json"))


def _start() -> list[Figure]:
    return [commands.help_figure(), sites.up_figure()]


def _sites() -> list[Figure]:
    return asyncio.run(every_site.site_figures())


def _gateway() -> list[Figure]:
    return asyncio.run(_gateway_figures())


async def _gateway_figures() -> list[Figure]:
    host, port = await sites.first_page_address("shop")
    try:
        pages = [f"http://shop.arena.test{path}" for path in _PAGES]
        return [
            await gateway.request_figure(),
            await gateway.page_figure(pages, SocketAddress(host, port)),
        ]
    finally:
        await asyncio.to_thread(subprocess.run, ["arena", "down"], check=True, capture_output=True)


def _tapes() -> list[Figure]:
    return asyncio.run(tapes.tape_figures())


def _recorder() -> list[Figure]:
    return asyncio.run(live.recorder_figures())


def _cdp() -> list[Figure]:
    return [asyncio.run(_cdp_figure())]


async def _cdp_figure() -> Figure:
    host, port = await sites.first_page_address("wiki")
    try:
        return await cdp.cdp_figure(SocketAddress(host, port))
    finally:
        await asyncio.to_thread(subprocess.run, ["arena", "down"], check=True, capture_output=True)


def _states() -> list[Figure]:
    return asyncio.run(states.state_figures())


def _checkpoints() -> list[Figure]:
    return asyncio.run(checkpoints.checkpoint_figures())


def _resets() -> list[Figure]:
    return asyncio.run(resets.reset_figures())


def _memory() -> list[Figure]:
    return asyncio.run(slot_memory.memory_figures())


def _observations() -> list[Figure]:
    return asyncio.run(observations.observation_figures())


def _workers() -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        return workers.worker_figures(Path(scratch))


def _auto() -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        return auto_workers.auto_figures(Path(scratch))


def _onlookers() -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        return onlookers.onlooker_figures(Path(scratch))


def _demo() -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        return [commands.demo_figure(folder / "demo"), commands.smoke_figure(folder / "smoke")]


def _unit() -> list[Figure]:
    return [commands.unit_figure()]


def _http() -> list[Figure]:
    return [adapters.http_figure()]


_PARTS: Final[dict[str, Callable[[], list[Figure]]]] = {
    "start": _start,
    "sites": _sites,
    "gateway": _gateway,
    "resets": _resets,
    "states": _states,
    "tapes": _tapes,
    "checkpoints": _checkpoints,
    "memory": _memory,
    "steps": steps.step_figures,
    "scoring": scoring.scoring_figures,
    "bootstraps": bootstraps.bootstrap_figures,
    "scored-runs": scored_runs.scored_run_figures,
    "exports": scored_runs.export_figures,
    "merge": merging.merge_figures,
    "simulated": simulated.simulated_figures,
    "study-status": study_status.study_figures,
    "study-report": study_report.study_report_figures,
    "imported": imported.imported_figures,
    "imports": imports.import_figures,
    "observations": _observations,
    "workers": _workers,
    "auto": _auto,
    "onlookers": _onlookers,
    "demo": _demo,
    "http": _http,
    "cdp": _cdp,
    "watcher": live.watcher_figures,
    "recorder": _recorder,
    "canary": live.canary_figures,
    "vector": adapters.vector_figures,
    "unit": _unit,
}


if __name__ == "__main__":
    main(sys.argv[1:])
