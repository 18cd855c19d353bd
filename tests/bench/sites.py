"""What `arena up` costs against the plain way: `docker run` of the slowest site and its health."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from statistics import median

from bench.figures import Figure
from bench.plain_docker import await_health

from orchestrator.sandbox.engine.containers import LOOPBACK, Endpoint
from sites.manifest import Site
from sites.registry import load_registry

_ROUNDS = 5
_HEALTH_S = 60.0


def up_figure(names: tuple[str, ...] = ("shop", "wiki")) -> Figure:
    """Measure `arena up` of sites (logins included) against the slowest one's plain start."""
    registry = load_registry()
    ours: list[float] = []
    plain: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(_ROUNDS):
        for name in names:
            plain[name].append(_plain_start(registry.site(name)))
        ours.append(_up(names))
    reference = max(median(times) for times in plain.values())
    return Figure(
        "arena up of both sites, s (reference: slowest docker run + health)",
        median(ours),
        reference,
        median(ours) / reference,
        "ratio <= 1.15",
        met=median(ours) <= 1.15 * reference,
        worst=max(ours),
        rounds=_ROUNDS,
    )


def _up(names: tuple[str, ...]) -> float:
    subprocess.run(["arena", "down"], check=True, capture_output=True)
    began = time.monotonic()
    subprocess.run(["arena", "up", *names], check=True, capture_output=True)
    seconds = time.monotonic() - began
    subprocess.run(["arena", "down"], check=True, capture_output=True)
    return seconds


def _plain_start(site: Site) -> float:
    """Start one site as a person would without Arena: docker run, then ask until it is healthy."""
    began = time.monotonic()
    run = ["docker", "run", "--detach", "--publish", f"127.0.0.1::{site.port}", site.image.tag]
    container = subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()
    try:
        inspect = ["docker", "inspect", "--format", "{{json .NetworkSettings.Ports}}", container]
        ports = json.loads(subprocess.run(inspect, check=True, capture_output=True).stdout)
        port = int(ports[f"{site.port}/tcp"][0]["HostPort"])
        await_health(site, Endpoint(LOOPBACK, port), began + _HEALTH_S)
        return time.monotonic() - began
    finally:
        subprocess.run(
            ["docker", "rm", "--force", "--volumes", container], check=True, capture_output=True
        )


async def first_page_address(name: str) -> tuple[str, int]:
    """Start a site with `arena up` and return where its replica listens."""
    await asyncio.to_thread(subprocess.run, ["arena", "up", name], check=True, capture_output=True)
    listed = await asyncio.to_thread(
        subprocess.run, ["arena", "status", "--json"], check=True, capture_output=True
    )
    for site in json.loads(listed.stdout):
        if site["site"] == name:
            host, _, port = site["url"].removeprefix("http://").rstrip("/").rpartition(":")
            return host, int(port)
    message = f"{name} is not running"
    raise RuntimeError(message)
