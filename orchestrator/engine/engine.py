"""The Docker engine as the rest of Arena sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from orchestrator.engine.containers import Container, ContainerSpec, Executed, ImageInfo


class Engine:
    """An asyncio facade over one Docker engine; every call has a deadline and Arena's errors."""

    @classmethod
    async def connect(cls) -> Engine:
        """Connect as DOCKER_HOST says. Raises EngineMissingError."""
        raise NotImplementedError

    async def version(self) -> str:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    async def image(self, tag: str) -> ImageInfo | None:
        raise NotImplementedError

    async def build(
        self,
        tag: str,
        context: bytes,
        dockerfile: str,
        labels: Mapping[str, str],
        on_line: Callable[[str], None],
    ) -> ImageInfo:
        raise NotImplementedError

    async def pull(self, reference: str, tag: str, on_line: Callable[[str], None]) -> ImageInfo:
        raise NotImplementedError

    async def commit(self, container_id: str, tag: str, labels: Mapping[str, str]) -> ImageInfo:
        raise NotImplementedError

    async def remove_image(self, tag: str) -> None:
        raise NotImplementedError

    async def run(self, spec: ContainerSpec) -> Container:
        raise NotImplementedError

    async def container(self, container_id: str) -> Container | None:
        raise NotImplementedError

    async def containers(self, labels: Mapping[str, str | None]) -> tuple[Container, ...]:
        raise NotImplementedError

    async def stop(self, container_id: str, timeout_s: int = 10) -> None:
        raise NotImplementedError

    async def remove(self, container_id: str) -> None:
        raise NotImplementedError

    async def execute(
        self, container_id: str, argv: Sequence[str], timeout_s: float = 30.0
    ) -> Executed:
        raise NotImplementedError

    async def logs(self, container_id: str, tail: int = 50) -> str:
        raise NotImplementedError

    def follow_logs(self, container_id: str, tail: int = 50) -> AsyncIterator[str]:
        raise NotImplementedError

    async def memory_bytes(self, container_id: str) -> int:
        raise NotImplementedError

    async def wait_exit(self, container_id: str) -> int:
        raise NotImplementedError

    async def sweep(self, owner: str | None) -> tuple[str, ...]:
        raise NotImplementedError
