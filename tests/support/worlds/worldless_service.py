"""A service on loopback, over episodes without engine and browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx

from orchestrator.serve.server import Served, serve
from support.tasks.small_suites import bells, write_suite
from support.worlds.worldless import WorldlessArena


@dataclass(frozen=True, slots=True)
class Service:
    """A running service, a client that knows its token, and the Arena behind it."""

    served: Served
    client: httpx.AsyncClient
    arena: WorldlessArena
    task: str

    async def create(self, **more: Any) -> httpx.Response:
        return await self.client.post("/episodes", json={"task": self.task, **more})

    async def begun(self, **more: Any) -> str:
        answer = await self.create(**more)
        assert answer.status_code == 201, answer.text
        name: str = answer.json()["episode"]
        return name

    async def step(self, name: str, **asked: Any) -> httpx.Response:
        return await self.client.post(f"/episodes/{name}/step", json=asked)

    async def checkpoint(self, name: str, checkpoint: str) -> httpx.Response:
        asked = {"checkpoint": checkpoint}
        return await self.client.post(f"/episodes/{name}/checkpoints", json=asked)

    async def restore(self, name: str, checkpoint: str) -> httpx.Response:
        asked = {"checkpoint": checkpoint}
        return await self.client.post(f"/episodes/{name}/restore", json=asked)

    async def fork(self, name: str, checkpoint: str, count: int) -> httpx.Response:
        asked = {"checkpoint": checkpoint, "count": count}
        return await self.client.post(f"/episodes/{name}/forks", json=asked)

    async def go_on(self, content: bytes | AsyncIterator[bytes], **asked: Any) -> httpx.Response:
        """Begin an episode at the file of a checkpoint."""
        return await self.client.post(
            "/episodes/from-checkpoint", params={"task": self.task, **asked}, content=content
        )

    async def kept(self, name: str, checkpoint: str) -> bytes:
        """Return the file of a checkpoint."""
        return (await self.client.get(f"/episodes/{name}/checkpoints/{checkpoint}")).content

    async def finish(self, name: str, **asked: Any) -> httpx.Response:
        return await self.client.post(f"/episodes/{name}/finish", json=asked)

    async def free(self) -> int:
        free: int = (await self.client.get("/health")).json()["free"]
        return free

    async def until_free(self, free: int, limit_s: float = 10.0) -> None:
        """Wait until so many slots are free."""
        async with asyncio.timeout(limit_s):
            while await self.free() != free:  # noqa: ASYNC110  a client can only ask
                await asyncio.sleep(0.02)


class Serving(Protocol):
    def __call__(
        self,
        *,
        slots: int = 1,
        idle_s: float = 60.0,
        checkpoints: bool = True,
        references: bool = False,
        socket_path: Path | None = None,
    ) -> AbstractAsyncContextManager[Service]: ...


def serving_from(tmp_path: Path) -> Serving:
    suite = write_suite(tmp_path, bells("one"), bells("two", limits={"steps": 3}))

    @asynccontextmanager
    async def open_service(
        *,
        slots: int = 1,
        idle_s: float = 60.0,
        checkpoints: bool = True,
        references: bool = False,
        socket_path: Path | None = None,
    ) -> AsyncIterator[Service]:
        async with (
            WorldlessArena() as arena,
            serve(
                arena,
                slots=slots,
                port=0,
                idle_s=idle_s,
                checkpoints=checkpoints,
                references=references,
                socket_path=socket_path,
                token_path=tmp_path / "token",
            ) as served,
            httpx.AsyncClient(
                base_url=served.url,
                headers={"Authorization": f"Bearer {served.token}"},
                timeout=60,  # a machine may be busy
            ) as client,
        ):
            yield Service(served, client, arena, f"{suite}/one")

    return open_service
