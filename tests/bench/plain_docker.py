"""The plain way back to golden: `docker rm -f`, `docker run` with the same options, and health."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import requests
from bench.shop_life import ShopLife

from orchestrator.sandbox.engine import network
from orchestrator.sandbox.engine.containers import LOOPBACK, ContainerSpec, Endpoint
from orchestrator.sandbox.reset.replica import Placement
from sites.manifest import Site

_HEALTH_S = 60.0
_PAUSE_S = 0.01


@dataclass(slots=True)
class PlainContainer:
    """A container that somebody starts by hand, again and again."""

    placement: Placement
    id: str
    endpoint: Endpoint

    async def renew(self, life: ShopLife) -> float:
        """Change what it holds; then remove it, start it anew and await its health.

        Returns the milliseconds of the latter.
        """
        await life.change(self.endpoint)
        return await asyncio.to_thread(self._remade) * 1000

    def _remade(self) -> float:
        began = time.perf_counter()
        _docker("rm", "--force", "--volumes", self.id)
        self.id, self.endpoint = _run(self.placement)
        return time.perf_counter() - began


@contextmanager
def plain_container(placement: Placement) -> Iterator[PlainContainer]:
    """Start a replica's container by the command line; at the end, remove it."""
    container = PlainContainer(placement, *_run(placement))
    try:
        yield container
    finally:
        _docker("rm", "--force", "--volumes", container.id)


def run_argv(spec: ContainerSpec) -> tuple[str, ...]:
    """Return the words of `docker run` that say what `Engine.run` says."""
    volume = f"type=volume,target={spec.state.folder}" if spec.state else ""
    return (
        "run",
        "--detach",
        "--init",
        *("--name", spec.name),
        *(word for name, value in spec.labels.items() for word in ("--label", f"{name}={value}")),
        *(word for port in spec.ports for word in ("--publish", f"{LOOPBACK}::{port}")),
        *("--network", network.NAME),
        *("--memory", f"{spec.memory_mb}m", "--memory-swap", f"{spec.memory_mb}m"),
        *("--cpus", str(spec.cpus), "--pids-limit", str(spec.pids)),
        *("--cap-drop", "ALL", "--security-opt", "no-new-privileges:true"),
        *("--log-opt", "max-size=10m", "--log-opt", "max-file=2"),
        *("--dns", LOOPBACK, "--dns-search", ".", "--dns-opt", "timeout:1"),
        *("--dns-opt", "attempts:1", "--sysctl", "net.ipv4.ip_default_ttl=1"),
        *(("--read-only", "--tmpfs", "/tmp:mode=1777") if spec.read_only else ()),  # noqa: S108
        *(("--tmpfs", "/run:mode=1777") if spec.read_only else ()),
        *(("--mount", volume) if volume else ()),
        spec.image,
    )


def _run(placement: Placement) -> tuple[str, Endpoint]:
    container = _docker(*run_argv(placement.spec()))
    ports = json.loads(_docker("inspect", "--format", "{{json .NetworkSettings.Ports}}", container))
    published = ports[f"{placement.site.port}/tcp"][0]
    endpoint = Endpoint(LOOPBACK, int(published["HostPort"]))
    await_health(placement.site, endpoint, time.monotonic() + _HEALTH_S)
    return container, endpoint


def await_health(site: Site, endpoint: Endpoint, deadline: float) -> None:
    """Ask until a site's health page is there. Raises RuntimeError at the deadline."""
    while time.monotonic() < deadline:
        try:
            answer = requests.get(
                f"http://{endpoint}{site.health.path}", headers={"Host": site.host}, timeout=5
            )
            if answer.status_code == 200 and site.health.contains in answer.text:
                return
        except requests.RequestException:
            pass
        time.sleep(_PAUSE_S)
    message = f"{site.name} did not become healthy"
    raise RuntimeError(message)


def _docker(*words: str) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        ["docker", *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()
