from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from arena_core.errors import SiteGoneError, UnhealthyError
from orchestrator.sandbox.engine.containers import Container, ContainerSpec, Endpoint
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.health import HealthProbe, wait_healthy

pytestmark = pytest.mark.docker


def probe(container: Container, contains: str = "ready", timeout_s: float = 30.0) -> HealthProbe:
    return HealthProbe(
        endpoint=container.ports.get(8000, Endpoint("127.0.0.1", 9)),
        host="test.arena.test",
        path="/health",
        contains=contains,
        timeout_s=timeout_s,
    )


async def test_a_page_with_the_text_is_healthy(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)

    assert 0 < await wait_healthy(engine, container, probe(container)) < 30


async def test_health_asks_past_a_proxy_of_the_environment(
    engine: Engine, spec: ContainerSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    container = await engine.run(spec)

    await wait_healthy(engine, container, probe(container))


async def test_a_container_that_exits_is_reported_at_once_with_its_last_lines(
    engine: Engine, spec: ContainerSpec
) -> None:
    broken = replace(spec, files={"/server.pl": b'print "no database here\\n"; sleep 1; exit 9;'})
    container = await engine.run(broken)
    began = time.monotonic()

    with pytest.raises(SiteGoneError, match=r"exited with code 9(.|\n)*no database here"):
        await wait_healthy(engine, container, probe(container, timeout_s=60))

    assert time.monotonic() - began < 40


async def test_a_timeout_says_what_was_awaited_and_what_came(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)
    await wait_healthy(engine, container, probe(container))

    with pytest.raises(UnhealthyError) as late:
        await wait_healthy(engine, container, probe(container, "golden", timeout_s=3))

    message = late.value.message
    assert re.search(r"within 3(\.\d+)? s", message)
    for part in (
        "'golden' on http://test.arena.test/health",
        "status 200, but no 'golden'",
        "the container is running",
        "listening",
    ):
        assert part in message
