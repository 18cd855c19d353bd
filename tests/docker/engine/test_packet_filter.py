"""No way out of a container, whatever those inside do with their packets.

Listeners stand in a network namespace that the test makes, on the bridge's own address, and on all
addresses of this machine; no packet is sent to any other.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
from collections.abc import Callable, Iterator
from ctypes import CDLL
from typing import Self

import docker
import pytest

from orchestrator.sandbox.engine import container_calls, packet_filter
from orchestrator.sandbox.engine.containers import Container, ContainerSpec, Labels
from orchestrator.sandbox.engine.engine import Engine

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(
        os.geteuid() != 0 or bool(os.environ.get("DOCKER_HOST", "").startswith("tcp")),
        reason="makes a network namespace beside the engine's: root on its machine",
    ),
]

Another = Callable[[str], ContainerSpec]

# Of the block for measurements between networks (RFC 2544): nobody's.
HERE, THERE = "198.18.77.1", "198.18.77.2"
# As whoever is inside would: raises the time to live, then tries.
ATTEMPT = r"""
use Socket;
my ($kind, $host, $port) = @ARGV;
my $type = $kind eq "udp" ? SOCK_DGRAM : SOCK_STREAM;
socket(my $s, PF_INET, $type, 0) or die "socket: $!";
setsockopt($s, 0, 2, pack("i", 64)) or die "setsockopt: $!";
connect($s, pack_sockaddr_in($port, inet_aton($host))) or die "connect: $!";
syswrite($s, "out") or die "write: $!";
"""


@pytest.fixture
def beyond() -> Iterator[str]:
    """A network namespace behind a cable of this machine; its name."""
    name = f"arena-test-{secrets.token_hex(3)}"
    near, far = f"at{name[-6:]}n", f"at{name[-6:]}f"

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    ip("netns", "add", name)
    try:
        ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
        ip("addr", "add", f"{HERE}/30", "dev", near)
        ip("link", "set", near, "up")
        ip("-n", name, "addr", "add", f"{THERE}/30", "dev", far)
        ip("-n", name, "link", "set", far, "up")
        ip("-n", name, "route", "add", "default", "via", HERE)
        yield name
    finally:
        ip("netns", "del", name)


class Listener:
    """TCP and UDP on one address, here or in a namespace; what came is told at the end."""

    def __init__(self, host: str, namespace: str = "") -> None:
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            if namespace:
                enter(f"/run/netns/{namespace}")
            self._tcp = socket.create_server((host, 0))
            self.port = self._tcp.getsockname()[1]
            self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._udp.bind((host, self.port))
        finally:
            if namespace:
                enter(f"/proc/self/fd/{own}")
            os.close(own)
        for each in (self._tcp, self._udp):
            each.settimeout(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tcp.close()
        self._udp.close()

    def got_tcp(self) -> bool:
        try:
            self._tcp.accept()[0].close()
        except TimeoutError:
            return False
        return True

    def got_udp(self) -> bool:
        try:
            self._udp.recv(10)
        except TimeoutError:
            return False
        return True


def enter(path: str) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        assert CDLL(None).setns(opened, 0) == 0
    finally:
        os.close(opened)


async def tries(engine: Engine, container: Container, host: str, port: int) -> list[str]:
    """Try both ways out, and return what the container was told."""
    told = []
    for kind in ("tcp", "udp"):
        argv = ["timeout", "3", "perl", "-e", ATTEMPT, kind, host, str(port)]
        told.append((await engine.execute(container.id, argv)).stderr.decode())
    return told


def bridge_address(container: Container) -> str:
    raw = docker.from_env()
    try:
        networks = raw.api.inspect_container(container.id)["NetworkSettings"]["Networks"]
    finally:
        raw.close()
    return str(next(iter(networks.values()))["Gateway"])


@pytest.fixture(params=["as root", "by a second container"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways in which the filter is made."""
    if request.param != "as root":
        monkeypatch.setattr(packet_filter, "is_in_reach", lambda *_: False)


@pytest.mark.usefixtures("way")
async def test_nothing_reaches_another_network_by_a_raised_time_to_live(
    engine: Engine, spec: ContainerSpec, beyond: str
) -> None:
    container = await engine.run(spec)

    with Listener(THERE, beyond) as listener:
        told = await tries(engine, container, THERE, listener.port)
        assert (listener.got_tcp(), listener.got_udp()) == (False, False)

    tcp, udp = told  # at once, not by a time limit
    assert "No route to host" in tcp
    assert "Operation not permitted" in udp
    assert engine.not_shut == ""


async def test_nothing_reaches_a_service_of_the_engines_machine(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)
    bridge = bridge_address(container)

    for host in ("0.0.0.0", bridge):  # noqa: S104
        with Listener(host) as listener:
            await tries(engine, container, bridge, listener.port)
            assert (listener.got_tcp(), listener.got_udp()) == (False, False), host


async def test_these_listeners_are_reached_from_a_container_without_the_filter(
    engine: Engine, spec: ContainerSpec, beyond: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_calls, "shut_in", lambda *_: None)
    container = await engine.run(spec)

    with Listener(THERE, beyond) as far, Listener("0.0.0.0") as near:  # noqa: S104
        await tries(engine, container, THERE, far.port)
        await tries(engine, container, bridge_address(container), near.port)

        assert far.got_udp()
        assert (near.got_tcp(), near.got_udp()) == (True, True)


@pytest.mark.usefixtures("way")
async def test_what_was_started_without_the_filter_gets_it_and_once_more_does_no_harm(
    engine: Engine, spec: ContainerSpec
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(container_calls, "shut_in", lambda *_: None)
        container = await engine.run(spec)
    bridge = bridge_address(container)

    await engine.shut(container)
    await engine.shut(container)

    assert engine.not_shut == ""
    with Listener("0.0.0.0") as listener:  # noqa: S104
        await tries(engine, container, bridge, listener.port)
        assert (listener.got_tcp(), listener.got_udp()) == (False, False)
    endpoint = container.ports[8000]
    with socket.create_connection((endpoint.host, endpoint.port), timeout=5) as asked:
        asked.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert asked.recv(12) == b"HTTP/1.1 200"


async def test_an_engine_that_cannot_filter_starts_containers_and_says_so(
    engine: Engine, spec: ContainerSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packet_filter, "is_in_reach", lambda *_: False)
    monkeypatch.setattr(packet_filter, "_SEND", 'die "the kernel refuses: no such thing\n"')

    container = await engine.run(spec)

    assert container.state == "running"
    assert "the kernel refuses: no such thing" in engine.not_shut
    assert "the kernel refuses: no such thing" in await engine.why_not_shut(spec.image)


@pytest.mark.usefixtures("way")
async def test_the_filter_leaves_no_container_behind(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)

    assert await engine.why_not_shut(spec.image) == ""

    owner = spec.labels[Labels.OWNER]
    assert [one.id for one in await engine.containers({Labels.OWNER: owner})] == [container.id]
