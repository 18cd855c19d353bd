"""Waiting until a container really serves: the page its manifest names, not just its port."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self

from arena_core.errors import ArenaError, EngineError, SiteGoneError, UnhealthyError
from orchestrator.sandbox.engine.containers import Container, Endpoint
from orchestrator.sandbox.engine.engine import Engine

_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.05
_ONE_TRY_S = 10.0
_LAST_LINES = 20
_ANSWERED = "status"
_WORKING = 0.05  # of one processor; what only waits uses less


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthProbe:
    """The page that proves a container serves.

    Attributes:
        contains: a text that its body must have.
        timeout_s: how long to wait for it.
        most_s: where it is given, `timeout_s` counts anew as long as the container makes progress
            (it logs, answers otherwise, or uses the processor before it answers), up to this time
            in all: a machine under load is no fault of the container.
        tls: whether the port speaks TLS. The certificate is not looked at: only a person's or an
            agent's browser must trust it, and the port is one Arena just published on loopback.
    """

    endpoint: Endpoint
    host: str
    path: str
    contains: str
    timeout_s: float
    tls: bool = False
    most_s: float | None = None


async def wait_healthy(engine: Engine, container: Container, probe: HealthProbe) -> float:
    """Wait until the page answers 200 with the text; return how long that took, in seconds."""
    began = time.monotonic()
    tries = _Tries(probe)
    serving = asyncio.create_task(tries.until_served())
    exiting = asyncio.create_task(engine.wait_exit(container.id))
    stalling = asyncio.create_task(_no_progress(engine, container, tries))
    tasks: set[asyncio.Task[Any]] = {serving, exiting, stalling}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
            return time.monotonic() - began
        if exiting.done():
            raise await _gone(engine, container, exiting.result())
        stalling.result()
        raise await _unhealthy(engine, container, tries, time.monotonic() - began)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _no_progress(engine: Engine, container: Container, tries: _Tries) -> None:
    """Return when the time for a container is up."""
    probe = tries.probe
    if probe.most_s is None:
        await asyncio.sleep(probe.timeout_s)
        return
    ends = time.monotonic() + probe.most_s
    before = await _Signs.of(engine, container, tries)
    while (left := ends - time.monotonic()) > 0:
        await asyncio.sleep(min(probe.timeout_s, left))
        now = await _Signs.of(engine, container, tries)
        if not now.shows_progress(before):
            return
        before = now


@dataclass(frozen=True, slots=True)
class _Signs:
    """What shows that a container does something."""

    at: float
    answer: str
    answers: bool
    log: str
    processor_s: float

    @classmethod
    async def of(cls, engine: Engine, container: Container, tries: _Tries) -> Self:
        log = await engine.logs(container.id, tail=_LAST_LINES)
        used = await engine.processor_seconds(container.id)
        return cls(time.monotonic(), tries.last, tries.answers, log, used)

    def shows_progress(self, before: _Signs) -> bool:
        if (self.answer, self.log) != (before.answer, before.log):
            return True
        if self.answers:
            return False  # what it uses goes into answering these very questions
        return self.processor_s - before.processor_s > _WORKING * (self.at - before.at)


async def published(engine: Engine, container: Container, port: int) -> Endpoint:
    endpoint = container.ports.get(port)
    if endpoint is not None:
        return endpoint
    now = await engine.container(container.id)
    if now is None or now.exit_code is not None:
        raise await _gone(engine, container, now.exit_code if now else None)
    raise EngineError(f"{container.name} is {now.state} and publishes no port {port}")


class _Tries:
    """Asking for one page until it is there, with a short back-off between the tries.

    Attributes:
        last: why the last try was not good enough.
    """

    def __init__(self, probe: HealthProbe) -> None:
        self.probe = probe
        self.last = "nothing answered"

    @property
    def answers(self) -> bool:
        """Whether the last try got a page, though not the one that is wanted."""
        return self.last.startswith(_ANSWERED)

    async def until_served(self) -> None:
        """Return when the page is there; the caller sets the bound."""
        pause_s = _FIRST_PAUSE_S
        while (failure := await asyncio.to_thread(_ask, self.probe)) is not None:
            self.last = failure
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)


def _ask(probe: HealthProbe) -> str | None:
    import requests  # noqa: PLC0415  not needed by commands that wait for nothing

    from orchestrator.sandbox.engine.origin_client import OriginClient, fetch  # noqa: PLC0415

    scheme = "https" if probe.tls else "http"
    client = OriginClient(
        origin=f"{scheme}://{probe.host}", address=probe.endpoint, verify=not probe.tls
    )
    try:
        answer = fetch(client, probe.path, timeout_s=_ONE_TRY_S)
    except requests.RequestException as error:
        return f"no answer ({type(error).__name__})"
    if answer.status != HTTPStatus.OK:
        return f"{_ANSWERED} {answer.status}"
    if probe.contains not in answer.text:
        return f"{_ANSWERED} 200, but no {probe.contains!r} on the page"
    return None


async def _gone(engine: Engine, container: Container, exit_code: int | None) -> SiteGoneError:
    how = "was removed" if exit_code is None else f"exited with code {exit_code}"
    message = f"{container.name} {how} before it served"
    return SiteGoneError(message + await _last_lines(engine, container))


async def _unhealthy(
    engine: Engine, container: Container, tries: _Tries, waited_s: float
) -> UnhealthyError:
    now = await engine.container(container.id)
    probe = tries.probe
    message = (
        f"{container.name} did not become healthy within {waited_s:.3g} s: awaited "
        f"{probe.contains!r} on http://{probe.host}{probe.path} (asked at {probe.endpoint}); "
        f"last: {tries.last}; the container is {now.state if now else 'gone'}"
    )
    return UnhealthyError(message + await _last_lines(engine, container))


async def _last_lines(engine: Engine, container: Container) -> str:
    try:
        lines = (await engine.logs(container.id, tail=_LAST_LINES)).splitlines()
    except ArenaError as error:
        return f"\n  (no log: {error.message})"
    return "".join(f"\n  {line}" for line in lines) or "\n  (it logged nothing)"
