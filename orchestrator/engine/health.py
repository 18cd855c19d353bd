"""Waiting until a container really serves: the page its manifest names, not just its port."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from http import HTTPStatus

from arena_core.errors import ArenaError, EngineError, SiteGoneError, UnhealthyError
from orchestrator.engine.containers import Container, Endpoint
from orchestrator.engine.engine import Engine

_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.05
_ONE_TRY_S = 10.0
_LAST_LINES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthProbe:
    """The page that proves a container serves.

    Attributes:
        endpoint: where it is asked.
        host: the Host header.
        path: of the page.
        contains: a text that its body must have.
        timeout_s: how long to wait for it in all.
        tls: whether the port speaks TLS. The certificate is not looked at: only a person's or an
            agent's browser must trust it, and the port is one Arena just published on loopback.
    """

    endpoint: Endpoint
    host: str
    path: str
    contains: str
    timeout_s: float
    tls: bool = False


async def wait_healthy(engine: Engine, container: Container, probe: HealthProbe) -> float:
    """Wait until the page answers 200 with the text; return how long that took, in seconds.

    Raises:
        SiteGoneError: the container exited meanwhile; at once, with its last lines.
        UnhealthyError: the time was up; with what was awaited, the last answer, the container's
            state and its last lines.
    """
    began = time.monotonic()
    tries = _Tries(probe)
    serving = asyncio.create_task(tries.until_served())
    exiting = asyncio.create_task(engine.wait_exit(container.id))
    try:
        async with asyncio.timeout(probe.timeout_s):
            await asyncio.wait({serving, exiting}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
            return time.monotonic() - began
        raise await _gone(engine, container, exiting.result())
    except TimeoutError as cause:
        raise await _unhealthy(engine, container, tries) from cause
    finally:
        serving.cancel()
        exiting.cancel()
        await asyncio.wait({serving, exiting})


async def published(engine: Engine, container: Container, port: int) -> Endpoint:
    """Return where a container's port is reached.

    Raises:
        SiteGoneError: it publishes none, as it has exited already; with its last lines.
        EngineError: it runs, but was not asked to publish that port.
    """
    endpoint = container.ports.get(port)
    if endpoint is not None:
        return endpoint
    now = await engine.container(container.id)
    if now is None or now.exit_code is not None:
        raise await _gone(engine, container, now.exit_code if now else None)
    message = f"{container.name} is {now.state} and publishes no port {port}"
    raise EngineError(message)


class _Tries:
    """Asking for one page until it is there, with a short back-off between the tries.

    Attributes:
        last: why the last try was not good enough.
    """

    def __init__(self, probe: HealthProbe) -> None:
        self.probe = probe
        self.last = "nothing answered"

    async def until_served(self) -> None:
        """Return when the page is there; the caller sets the bound."""
        pause_s = _FIRST_PAUSE_S
        while (failure := await asyncio.to_thread(_ask, self.probe)) is not None:
            self.last = failure
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)


def _ask(probe: HealthProbe) -> str | None:
    """Ask once; return None for the awaited page, else what came instead."""
    import requests  # noqa: PLC0415  not needed by commands that wait for nothing

    from orchestrator.engine.origin_client import OriginClient, fetch  # noqa: PLC0415

    scheme = "https" if probe.tls else "http"
    client = OriginClient(
        origin=f"{scheme}://{probe.host}", address=probe.endpoint, verify=not probe.tls
    )
    try:
        answer = fetch(client, probe.path, timeout_s=_ONE_TRY_S)
    except requests.RequestException as error:
        return f"no answer ({type(error).__name__})"
    if answer.status != HTTPStatus.OK:
        return f"status {answer.status}"
    if probe.contains not in answer.text:
        return f"status 200, but no {probe.contains!r} on the page"
    return None


async def _gone(engine: Engine, container: Container, exit_code: int | None) -> SiteGoneError:
    how = "was removed" if exit_code is None else f"exited with code {exit_code}"
    message = f"{container.name} {how} before it served"
    return SiteGoneError(message + await _last_lines(engine, container))


async def _unhealthy(engine: Engine, container: Container, tries: _Tries) -> UnhealthyError:
    now = await engine.container(container.id)
    probe = tries.probe
    message = (
        f"{container.name} did not become healthy within {probe.timeout_s:g} s: awaited "
        f"{probe.contains!r} on http://{probe.host}{probe.path} (asked at {probe.endpoint}); "
        f"last: {tries.last}; the container is {now.state if now else 'gone'}"
    )
    return UnhealthyError(message + await _last_lines(engine, container))


async def _last_lines(engine: Engine, container: Container) -> str:
    """Return the end of the container's log, indented under the message; it may be gone."""
    try:
        lines = (await engine.logs(container.id, tail=_LAST_LINES)).splitlines()
    except ArenaError as error:
        return f"\n  (no log: {error.message})"
    return "".join(f"\n  {line}" for line in lines) or "\n  (it logged nothing)"
