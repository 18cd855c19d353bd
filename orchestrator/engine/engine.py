"""The Docker engine as the rest of Arena sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self

from orchestrator.engine import creation, imaging, network
from orchestrator.engine.calls import ANSWER_S, Calls
from orchestrator.engine.containers import (
    Container,
    ContainerSpec,
    Executed,
    ImageInfo,
    Labels,
)
from orchestrator.engine.faults import engine_missing
from sites.errors import ImageError, SiteGoneError

if TYPE_CHECKING:
    from docker import APIClient

_CONNECT_S = 10.0
_BUILD_S = 1800.0
_PULL_S = 1800.0
_COMMIT_S = 300.0
_REMOVE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFacts:
    """What the engine says about itself.

    Attributes:
        root: the folder, on the engine's machine, that images and containers live in.
        memory_bytes: of the engine's machine.
    """

    version: str
    storage_driver: str
    root: str
    memory_bytes: int
    cpus: int


class Engine:
    """An asyncio facade over one Docker engine.

    Every call has a deadline and raises Arena's errors only (see `faults`): `EngineError` and its
    leaves, `SiteGoneError` for a container that is gone, `ImageError` for an image.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._network_id: str | None = None

    @classmethod
    async def connect(cls) -> Engine:
        """Connect to the engine that DOCKER_HOST names, or to the local one.

        Raises:
            EngineMissingError: none answers; with the command that mends it.
        """
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
        """Let the connections go; also done at the end of `async with`."""
        self._calls.close()

    async def version(self) -> str:
        """Return the engine's version, for example 20.10.24."""
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
        )

    async def has_network(self) -> bool:
        """Whether the network of Arena's containers was made; `EngineError` if it is not tight."""
        return await self._calls.short("looking for the network", network.find) is not None

    # Images

    async def image(self, tag: str) -> ImageInfo | None:
        """Return the local image of that name, or None."""
        return await self._calls.short(
            f"looking for image {tag}", lambda api: imaging.image_info(api, tag)
        )

    async def build(
        self,
        tag: str,
        context: bytes,
        dockerfile: str,
        labels: Mapping[str, str],
        on_line: Callable[[str], None],
        *,
        cached: bool = True,
    ) -> ImageInfo:
        """Build an image; cancelling breaks the build off and leaves no container behind.

        Args:
            tag: its name.
            context: a tar of the build context.
            dockerfile: path inside the context.
            labels: put on the image.
            on_line: gets each line of output, on the event loop.
            cached: whether steps may be taken from earlier builds.

        Raises:
            ImageError: a step failed; with the last 20 lines.
        """
        line = _on_loop(on_line)
        await self._calls.long(
            f"building {tag}",
            lambda api: imaging.build(
                api,
                tag=tag,
                context=context,
                dockerfile=dockerfile,
                labels=labels,
                cached=cached,
                on_line=line,
            ),
            _BUILD_S,
        )
        return await self._the_image(tag)

    async def pull(
        self,
        reference: str,
        tag: str,
        on_line: Callable[[str], None],
        deadline_s: float = _PULL_S,
    ) -> ImageInfo:
        """Pull `reference` and name it `tag` here. Raises ImageError."""
        line = _on_loop(on_line)
        doing = f"pulling {reference}"
        await self._calls.long(doing, lambda api: imaging.pull(api, reference, line), deadline_s)
        if tag != reference:
            await self.tag(reference, tag)
        return await self._the_image(tag)

    async def tag(self, source: str, tag: str) -> None:
        """Give an image one more name."""
        repository, _, version = tag.rpartition(":")
        await self._calls.short(
            f"naming {source} {tag}", lambda api: api.tag(source, repository, version, force=True)
        )

    async def commit(
        self, container_id: str, tag: str | None, labels: Mapping[str, str]
    ) -> ImageInfo:
        """Make an image of a container's file system, without the container's own labels.

        Args:
            container_id: running or not.
            tag: the image's name; None for one that has only its id.
            labels: put on the image.
        """
        changes = creation.commit_changes(labels)
        made: dict[str, Any] = await self._calls.long(
            f"committing {container_id[:12]}",
            lambda api: api.commit(container_id, changes=changes),
            _COMMIT_S,
        )
        if tag is not None:
            await self.tag(str(made["Id"]), tag)
        return await self._the_image(tag or str(made["Id"]))

    async def remove_image(self, tag: str) -> None:
        """Take a name away from an image, and the image with its last name; idempotent."""

        def work(api: APIClient) -> None:
            if imaging.image_info(api, tag) is not None:
                # Forced: a container that is about to go must not keep the name.
                api.remove_image(tag, noprune=True, force=True)

        await self._calls.short(f"removing image {tag}", work)

    async def remove_unused_image(self, image_id: str) -> bool:
        """Remove an image and the layers only it has, unless something else uses it."""
        from docker.errors import APIError  # noqa: PLC0415  the SDK loads on first use

        def work(api: APIClient) -> bool:
            try:
                api.remove_image(image_id)
            except APIError as error:
                if error.status_code in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
                    return False
                raise
            return True

        return await self._calls.short(f"removing image {image_id[:19]}", work)

    # Containers

    async def run(self, spec: ContainerSpec) -> Container:
        """Create and start a container on Arena's network; it may have exited on return.

        Cancelling leaves no container behind, and neither does an error.

        Raises:
            PortTakenError: a fixed port is in use.
            ImageError: no such image.
        """
        return await self._made(spec, start=True)

    async def create(self, spec: ContainerSpec) -> Container:
        """Create a container without starting it: to copy files in or out, or to commit."""
        return await self._made(spec, start=False)

    async def copy_in(self, container_id: str, files: Mapping[str, bytes]) -> None:
        """Write files, by absolute path, into a container that need not run."""
        await self._calls.short(
            f"copying into {container_id[:12]}",
            lambda api: creation.copy_in(api, container_id, files),
        )

    async def copy_out(self, container_id: str, path: str) -> bytes:
        """Read one file of a container that need not run."""
        return await self._calls.short(
            f"copying {path} out of {container_id[:12]}",
            lambda api: creation.copy_out(api, container_id, path),
        )

    async def container(self, container_id: str) -> Container | None:
        """Return a container's present state by id or name, or None when it is gone."""
        try:
            return await self._calls.short(
                f"looking for container {container_id[:12]}",
                lambda api: creation.inspect(api, container_id),
            )
        except SiteGoneError:
            return None

    async def containers(self, labels: Mapping[str, str | None]) -> tuple[Container, ...]:
        """Return the containers, stopped ones too, that have all labels (None: any value)."""
        filters = {"label": creation.label_filters(labels)}
        rows: list[dict[str, Any]] = await self._calls.short(
            "listing containers", lambda api: api.containers(all=True, filters=filters)
        )
        found = (creation.summarised(row) for row in rows)
        matching = (container for container in found if creation.has_labels(container, labels))
        return tuple(sorted(matching, key=lambda container: container.name))

    async def stop(self, container_id: str, timeout_s: int = 10) -> None:
        """Send TERM, and KILL after `timeout_s`."""
        await self._calls.short(
            f"stopping {container_id[:12]}",
            lambda api: api.stop(container_id, timeout=timeout_s),
            ANSWER_S + timeout_s,
        )

    async def remove(self, container_id: str) -> None:
        """Kill and remove a container; one that is gone already is fine."""
        from docker.errors import APIError, NotFound  # noqa: PLC0415  the SDK loads on first use

        def work(api: APIClient) -> None:
            try:
                api.remove_container(container_id, force=True, v=True)
            except NotFound:
                return
            except APIError as error:
                if "already in progress" not in str(error.explanation):
                    raise
                _await_removal(api, container_id)

        await self._calls.short(f"removing {container_id[:12]}", work, _REMOVE_S)

    async def sweep(self, owner: str | None) -> tuple[str, ...]:
        """Remove the containers of an owner, or of any; return their names."""
        found = await self.containers({Labels.OWNER: owner})
        async with asyncio.TaskGroup() as group:
            for container in found:
                group.create_task(self.remove(container.id))
        return tuple(container.name for container in found)

    async def execute(
        self, container_id: str, argv: Sequence[str], timeout_s: float = 30.0
    ) -> Executed:
        """Run a command inside a container and return what it left.

        Raises:
            SiteGoneError: the container does not run.
            EngineError: the command took longer than `timeout_s` (it may still run inside).
        """

        def work(api: APIClient) -> Executed:
            started = api.exec_create(container_id, list(argv))
            stdout, stderr = api.exec_start(started["Id"], demux=True)
            code = api.exec_inspect(started["Id"])["ExitCode"]
            return Executed(exit_code=int(code or 0), stdout=stdout or b"", stderr=stderr or b"")

        doing = f"running `{' '.join(argv)[:80]}` in {container_id[:12]}"
        return await self._calls.long(doing, work, timeout_s)

    async def logs(self, container_id: str, tail: int = 50) -> str:
        """Return the last lines of a container's output, both streams in their order."""
        raw: bytes = await self._calls.short(
            f"reading the log of {container_id[:12]}",
            lambda api: api.logs(container_id, stdout=True, stderr=True, tail=tail),
        )
        return raw.decode("utf-8", errors="replace")

    async def follow_logs(self, container_id: str, tail: int = 50) -> AsyncIterator[str]:
        """Yield a container's lines as they come, until it ends or the iteration is left."""
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        put = _on_loop(lines.put_nowait)

        def work(api: APIClient) -> None:
            kept = b""
            for chunk in api.logs(container_id, stream=True, follow=True, tail=tail):
                *whole, kept = (kept + chunk).split(b"\n")
                for line in whole:
                    put(line.decode("utf-8", errors="replace"))
            if kept:
                put(kept.decode("utf-8", errors="replace"))

        reading = asyncio.create_task(
            self._calls.long(f"following the log of {container_id[:12]}", work, None)
        )
        reading.add_done_callback(lambda _: lines.put_nowait(None))
        try:
            while (line := await lines.get()) is not None:
                yield line
            await reading
        finally:
            reading.cancel()
            await asyncio.wait({reading})

    async def memory_bytes(self, container_id: str) -> int:
        """Return the memory a container uses, without the file cache it could give back."""
        found: dict[str, Any] = await self._calls.short(
            f"measuring {container_id[:12]}",
            lambda api: api.stats(container_id, stream=False, one_shot=True),
        )
        memory = found.get("memory_stats") or {}
        parts = memory.get("stats") or {}
        cache = parts.get("inactive_file", parts.get("total_inactive_file", 0))
        return max(0, int(memory.get("usage", 0)) - int(cache))

    async def wait_exit(self, container_id: str) -> int:
        """Wait until a container has ended and return its exit code; the engine tells, no polling.

        The caller sets the bound. Raises SiteGoneError for one that is gone already.
        """
        return int(
            await self._calls.long(
                f"waiting for {container_id[:12]}",
                lambda api: api.wait(container_id, timeout=None)["StatusCode"],
                None,
            )
        )

    async def _made(self, spec: ContainerSpec, *, start: bool) -> Container:
        """Make a container; a caller that is cancelled meanwhile leaves none behind."""
        doing = f"starting {spec.name}"
        work = asyncio.ensure_future(
            self._calls.short(doing, lambda api: self._make(api, spec, start=start))
        )
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work}, timeout=ANSWER_S)
            if work.done() and not work.cancelled() and work.exception() is None:
                await self.remove(work.result().id)
            raise

    def _make(self, api: APIClient, spec: ContainerSpec, *, start: bool) -> Container:
        """Create, start and inspect, in one go; what was created and fails to start is removed."""
        from docker.errors import NotFound  # noqa: PLC0415

        self._network_id = self._network_id or network.ensure(api)
        try:
            return _brought_up(api, spec, self._network_id, start=start)
        except NotFound as cause:
            if "network" not in str(cause.explanation):
                raise
        # Somebody removed the network since it was last used.
        self._network_id = network.ensure(api)
        return _brought_up(api, spec, self._network_id, start=start)

    async def _the_image(self, tag: str) -> ImageInfo:
        found = await self.image(tag)
        if found is None:
            message = f"the engine has no image {tag} although it just made it"
            raise ImageError(message)
        return found


def _brought_up(api: APIClient, spec: ContainerSpec, network_id: str, *, start: bool) -> Container:
    """Create a container, start it if asked to, and inspect it; a failure leaves none behind."""
    container_id = creation.create(api, spec, network_id)
    try:
        if spec.files:
            creation.copy_in(api, container_id, spec.files)
        if start:
            api.start(container_id)
        return creation.inspect(api, container_id)
    except BaseException:
        api.remove_container(container_id, force=True, v=True)
        raise


def _client(version: str | None, timeout_s: float | None) -> APIClient:
    """Open a client of the SDK as the environment says. Raises EngineMissingError."""
    import docker  # noqa: PLC0415
    from docker.errors import DockerException  # noqa: PLC0415

    try:
        return docker.from_env(version=version, timeout=timeout_s, max_pool_size=16).api
    except (DockerException, OSError, ValueError) as cause:
        raise engine_missing(cause) from cause


def _await_removal(api: APIClient, container_id: str) -> None:
    """Wait for a removal that another caller began."""
    from docker.errors import NotFound  # noqa: PLC0415

    try:
        api.wait(container_id, timeout=_REMOVE_S, condition="removed")
    except NotFound:
        return


def _on_loop(deliver: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that a thread may call; `deliver` then runs on this event loop."""
    loop = asyncio.get_running_loop()

    def put(line: str) -> None:
        try:
            loop.call_soon_threadsafe(deliver, line)
        except RuntimeError:
            # The loop is closed: nobody reads any more.
            return

    return put
