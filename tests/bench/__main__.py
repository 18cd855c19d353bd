"""`make bench`: every figure in one run, as ratios against the plain way."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from pathlib import Path

from bench import commands, gateway, sites
from bench.figures import Figure, show

from orchestrator.gateway import Address

_PAGES = ("/", "/catalogue/", "/search/?q=kettle")


def main() -> None:
    """Measure everything and write bench.json."""
    figures = [commands.help_figure(), sites.up_figure(), *asyncio.run(_gateway())]
    with tempfile.TemporaryDirectory() as scratch:
        figures.append(commands.demo_figure(Path(scratch) / "demo"))
    figures.append(commands.unit_figure())
    show(figures, Path("bench.json"))


async def _gateway() -> list[Figure]:
    host, port = await sites.first_page_address("shop")
    try:
        pages = [f"http://shop.arena.test{path}" for path in _PAGES]
        return [
            await gateway.request_figure(),
            await gateway.page_figure(pages, Address(host, port)),
        ]
    finally:
        await asyncio.to_thread(subprocess.run, ["arena", "down"], check=True, capture_output=True)


if __name__ == "__main__":
    main()
