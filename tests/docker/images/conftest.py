"""A site small enough to be built and sealed in a second, in a docker/ folder of its own."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.sandbox.engine.containers import ContainerKind, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.images import build
from orchestrator.sandbox.images.build import BuildResult, build_images
from sites.manifest import Site
from sites.registry import SiteRegistry

# Serves /health; /write?x adds a file to the state; anything else is 404.
SERVER = r"""
use IO::Socket::INET;
$| = 1;
$SIG{TERM} = sub { exit 0 };
my $port = IO::Socket::INET->new(Listen => 16, LocalPort => 8000, ReuseAddr => 1) or die;
while (my $peer = $port->accept) {
    my ($path) = <$peer> =~ m{GET (\S+)};
    while (<$peer>) { last if /^\r?$/ }
    if ($path =~ m{^/write}) { open my $file, '>>', '/srv/state/written'; print $file $path; }
    my $status = $path =~ m{^/(health|write)} ? '200 OK' : '404 Not Found';
    print $peer "HTTP/1.1 $status\r\nContent-Length: 6\r\nConnection: close\r\n\r\nready\n";
    close $peer;
}
"""
DOCKERFILE = """FROM debian:bookworm-slim
RUN mkdir /srv/state && echo baked > /srv/state/baked && chown -R 10001 /srv/state
COPY kiosk/server.pl /server.pl
USER 10001
CMD ["perl", "/server.pl"]
"""


class Trial:
    """A site under trial, and its images."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.folder = folder
        self.name = f"kiosk-{secrets.token_hex(4)}"
        self.tag = f"own/{self.name}:1"
        self.staged_tag = f"arena-test/{self.name}-live:1"
        self.lines: list[str] = []

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def site(self, **changed: Any) -> Site:
        fields: dict[str, Any] = {
            "name": self.name,
            "title": "Kiosk",
            "summary": "a site of a test",
            "host": "kiosk.arena.test",
            "stateful": True,
            "image": {
                "tag": self.tag,
                "build": {"dockerfile": "kiosk/Dockerfile", "context": ["kiosk"]},
            },
            "port": 8000,
            "health": {"path": "/health", "contains": "ready", "timeout_s": 20},
            "warm": ["/health"],
            "resources": {"memory_mb": 64, "cpus": 1.0, "pids": 32},
            "fingerprint": {"files": ["/srv/state"]},
        }
        return Site.model_validate({**fields, **changed})

    async def build(self, site: Site, **options: Any) -> tuple[BuildResult, ...]:
        return await build_images(
            self.engine,
            SiteRegistry({site.name: site}),
            [site],
            on_line=self.lines.append,
            **options,
        )

    async def left_behind(self) -> list[str]:
        sealing = await self.engine.containers(
            {Labels.KIND: ContainerKind.SEALING, Labels.OWNER: "build"}
        )
        return [one.name for one in sealing if self.name in one.name]

    async def clear(self) -> None:
        for container in await self.engine.containers({Labels.SITE: self.name}):
            await self.engine.remove(container.id)
        for tag in (self.staged_tag, self.tag, f"{self.tag}-unsealed"):
            if image := await self.engine.image(tag):
                await self.engine.remove_unused_image(image.id)


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with await Engine.connect() as connected:
        yield connected


@pytest.fixture
async def trial(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Trial]:
    made = Trial(engine, tmp_path / "docker")
    made.write("kiosk/Dockerfile", DOCKERFILE)
    made.write("kiosk/server.pl", SERVER)
    monkeypatch.setattr(build, "docker_folder", lambda: made.folder)
    yield made
    await made.clear()
