"""A tiny web server as an image, and an engine that is swept after each test."""

from __future__ import annotations

import io
import secrets
import tarfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace

import pytest

from orchestrator.sandbox.engine.containers import ContainerSpec, Labels
from orchestrator.sandbox.engine.engine import Engine

IMAGE = "arena-test/engine:1"
_SERVER = r"""
use IO::Socket::INET;
$| = 1;
$SIG{TERM} = sub { print "bye\n"; exit 0 };
my $port = IO::Socket::INET->new(Listen => 16, LocalPort => 8000, ReuseAddr => 1) or die;
print "listening\n";
while (my $peer = $port->accept) {
    my $request = <$peer>;
    while (<$peer>) { last if /^\r?$/ }
    print $peer "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nready\n";
    close $peer;
}
"""
_DOCKERFILE = """FROM debian:bookworm-slim
COPY server.pl /server.pl
USER 10001
CMD ["perl", "/server.pl"]
"""


def tar_of(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            entry.mode = 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


@pytest.fixture
def context() -> Callable[[Mapping[str, str]], bytes]:
    return tar_of


@pytest.fixture
def owner() -> str:
    return f"test-{secrets.token_hex(4)}"


@pytest.fixture
async def engine(owner: str) -> AsyncIterator[Engine]:
    async with await Engine.connect() as connected:
        yield connected
        await connected.sweep(owner)


@pytest.fixture
async def spec(engine: Engine, owner: str) -> ContainerSpec:
    context = tar_of({"Dockerfile": _DOCKERFILE, "server.pl": _SERVER})
    await engine.build(IMAGE, context, "Dockerfile", {}, lambda _: None)
    return ContainerSpec(
        name=f"arena-{owner}",
        image=IMAGE,
        labels={Labels.OWNER: owner},
        ports=(8000,),
        memory_mb=64,
        cpus=1.0,
        pids=32,
    )


@pytest.fixture
def another(spec: ContainerSpec) -> Callable[[str], ContainerSpec]:
    def named(suffix: str) -> ContainerSpec:
        return replace(spec, name=f"{spec.name}-{suffix}")

    return named
