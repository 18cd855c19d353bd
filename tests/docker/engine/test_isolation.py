from __future__ import annotations

import socket
from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import docker
import pytest

from arena_core.errors import EngineError
from orchestrator.sandbox.engine import network
from orchestrator.sandbox.engine.containers import Container, ContainerSpec
from orchestrator.sandbox.engine.engine import Engine

pytestmark = pytest.mark.docker

Another = Callable[[str], ContainerSpec]


async def connects(engine: Engine, container: Container, host: str, port: int) -> bool:
    opening = f"timeout 10 bash -c 'exec 3<>/dev/tcp/{host}/{port}'"
    return (await engine.execute(container.id, ["bash", "-c", opening])).exit_code == 0


async def address(engine: Engine, container: Container) -> str:
    told = await engine.execute(container.id, ["hostname", "-I"])
    return told.stdout.decode().split()[0]


def host_config(container: Container) -> dict[str, Any]:
    raw = docker.from_env()
    try:
        config: dict[str, Any] = raw.api.inspect_container(container.id)["HostConfig"]
    finally:
        raw.close()
    return config


def host_addresses() -> list[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: only asks for the route
        return [probe.getsockname()[0]]


async def test_a_container_can_connect_to_itself_and_to_nothing_else(
    engine: Engine, another: Another
) -> None:
    container = await engine.run(another("a"))
    neighbour = await engine.run(another("b"))
    own, other = await address(engine, container), await address(engine, neighbour)
    gateway = own.rsplit(".", 1)[0] + ".1"

    assert await connects(engine, container, own, 8000)  # the way of asking works
    assert not await connects(engine, container, other, 8000)
    assert not await connects(engine, container, "1.1.1.1", 443)
    for host in (gateway, *host_addresses()):
        assert not await connects(engine, container, host, neighbour.ports[8000].port)


async def test_a_connection_to_the_outside_is_refused_at_once(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)
    opening = "exec 3<>/dev/tcp/198.51.100.7/80"

    refused = await engine.execute(container.id, ["timeout", "4", "bash", "-c", opening])

    assert b"No route to host" in refused.stderr


async def test_a_name_lookup_fails_soon_and_asks_nobody(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)

    # As long as the container itself sees it: to get in there may take a busy machine longer.
    found = await engine.execute(container.id, ["timeout", "5", "getent", "hosts", "debian.org"])

    assert found.exit_code == 2  # there is no such name; 124 would be that time was up
    assert host_config(container)["Dns"] == ["127.0.0.1"]  # a name server that is not there


async def test_a_port_is_published_on_loopback_only(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)
    endpoint = container.ports[8000]

    assert endpoint.host == "127.0.0.1"
    with socket.create_connection((endpoint.host, endpoint.port), timeout=5):
        pass
    for host in host_addresses():
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, endpoint.port), timeout=5)


async def test_a_container_has_no_capability_and_can_gain_none(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)

    status = (await engine.execute(container.id, ["cat", "/proc/1/status"])).stdout.decode()

    told = dict(line.split(":\t", 1) for line in status.splitlines())
    assert int(told["CapBnd"].strip(), 16) == 0
    assert told["NoNewPrivs"].strip() == "1"


async def test_memory_and_processes_are_limited(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)

    limits = host_config(container)

    assert limits["Memory"] == limits["MemorySwap"] == 64 * 2**20
    assert limits["PidsLimit"] == 32
    assert limits["NanoCpus"] == 10**9
    assert limits["RestartPolicy"]["Name"] in {"", "no"}
    assert limits["LogConfig"]["Config"]["max-size"]


@pytest.fixture
def trial_name(monkeypatch: pytest.MonkeyPatch, owner: str) -> object:
    monkeypatch.setattr(network, "NAME", owner)
    yield owner
    raw = docker.from_env()
    for made in raw.networks.list(names=[owner]):
        made.remove()
    raw.close()


def test_the_network_is_made_once_by_many_at_the_same_time(trial_name: str) -> None:
    count = 6
    start = Barrier(count)
    made: list[str] = []

    def make() -> None:
        client = docker.from_env()
        start.wait(10)
        made.append(network.ensure(client.api))
        client.close()

    threads = [Thread(target=make) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    raw = docker.from_env()
    assert [found.id for found in raw.networks.list(names=[trial_name])] == made[:1]
    assert len(made) == count
    assert len(set(made)) == 1
    raw.close()


def test_a_network_that_lets_containers_out_is_refused(trial_name: str) -> None:
    raw = docker.from_env()
    raw.networks.create(trial_name, driver="bridge")

    with pytest.raises(EngineError, match="enable_ip_masquerade") as refused:
        network.ensure(raw.api)

    assert "docker network rm" in refused.value.hint
    raw.close()


async def test_the_network_is_removed_but_for_one_that_others_made_or_use(
    engine: Engine, another: Another, trial_name: str
) -> None:
    assert not await engine.remove_network()
    used = await engine.run(another("a"))
    with pytest.raises(EngineError, match="has active endpoints") as refused:
        await engine.remove_network()
    assert f"docker network inspect {trial_name}" in refused.value.hint
    await engine.remove(used.id)
    assert await engine.remove_network()
    raw = docker.from_env()
    assert raw.networks.list(names=[trial_name]) == []
    raw.networks.create(trial_name, driver="bridge")
    assert not await engine.remove_network()
    assert len(raw.networks.list(names=[trial_name])) == 1
    raw.close()


async def test_a_network_that_was_removed_meanwhile_is_made_again(
    engine: Engine, another: Another, trial_name: str
) -> None:
    first = await engine.run(another("a"))
    await engine.remove(first.id)
    raw = docker.from_env()
    for known in raw.networks.list(names=[trial_name]):
        known.remove()
    raw.close()

    second = await engine.run(another("b"))

    assert second.state == "running"
    await engine.remove(second.id)
