"""The Docker engine as the rest of Arena sees it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from orchestrator.sandbox.engine import network
from orchestrator.sandbox.engine.calls import ANSWER_S, Calls, engine_missing
from orchestrator.sandbox.engine.container_calls import ContainerCalls
from orchestrator.sandbox.engine.image_calls import ImageCalls

if TYPE_CHECKING:
    from docker import APIClient

_CONNECT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFacts:
    """What the engine says about itself.

    Attributes:
        root: the folder, on the engine's machine, that images and containers live in.
        clock: what time it is there, as the engine writes it; empty where it does not say.
    """

    version: str
    storage_driver: str
    root: str
    memory_bytes: int
    cpus: int
    clock: str = ""


class Engine(ContainerCalls, ImageCalls):
    """An asyncio facade over one Docker engine.

    Every call has a deadline and raises Arena's errors only (see `faults`): `EngineError` and its
    leaves, `SiteGoneError` for a container that is gone, `ImageError` for an image.
    """

    def __init__(self, calls: Calls) -> None:
        ContainerCalls.__init__(self, calls)
        ImageCalls.__init__(self, calls)

    @classmethod
    async def connect(cls) -> Engine:
        """Connect to the engine that DOCKER_HOST names, or to the local one."""
        try:
            async with asyncio.timeout(_CONNECT_S + 1):
                api = await asyncio.to_thread(_client, None, _CONNECT_S)
        except TimeoutError as cause:
            raise engine_missing(cause) from cause
        api.timeout = ANSWER_S
        spoken = str(api.api_version)
        return cls(Calls(api, lambda timeout_s: _client(spoken, timeout_s)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._calls.close()

    async def version(self) -> str:
        found = await self._calls.short("asking for the version", lambda api: api.version())
        return str(found["Version"])

    async def facts(self) -> EngineFacts:
        """Return what `arena doctor` and a run's lock say about the engine."""
        found: dict[str, Any] = await self._calls.short(
            "asking the engine about itself", lambda api: api.info()
        )
        return EngineFacts(
            version=str(found["ServerVersion"]),
            storage_driver=str(found["Driver"]),
            root=str(found["DockerRootDir"]),
            memory_bytes=int(found["MemTotal"]),
            cpus=int(found["NCPU"]),
            clock=str(found.get("SystemTime") or ""),
        )

    async def has_network(self) -> bool:
        """Whether the network of Arena's containers was made; `EngineError` if it is not tight."""
        return await self._calls.short("looking for the network", network.find) is not None

    async def remove_network(self) -> bool:
        """Remove it, if Arena made it and only its own containers were in it; whether it was."""
        return await self._calls.short("removing the network", network.remove)


def _client(version: str | None, timeout_s: float | None) -> APIClient:
    """Open a client of the SDK as the environment says. Raises EngineMissingError."""
    import docker  # noqa: PLC0415
    from docker.errors import DockerException  # noqa: PLC0415

    try:
        return docker.from_env(version=version, timeout=timeout_s, max_pool_size=16).api
    except (DockerException, OSError, ValueError) as cause:
        raise engine_missing(cause) from cause
