"""What the engine does with containers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena_core.errors import EngineError, SiteGoneError
from orchestrator.sandbox.engine import creation, network
from orchestrator.sandbox.engine.calls import ANSWER_S, Calls, mapped, on_loop
from orchestrator.sandbox.engine.commands import run_command
from orchestrator.sandbox.engine.containers import (
    Container,
    ContainerSpec,
    Executed,
    Labels,
)
from orchestrator.sandbox.engine.packet_filter import shut_in, try_packet_filter

if TYPE_CHECKING:
    from docker import APIClient

_REMOVE_S = 60.0


class ContainerCalls:
    """The part of `Engine` that starts, watches, enters and removes containers.

    Attributes:
        not_shut: why containers that were started are kept from opening connections by their
            packets' time to live only, which whoever is inside can raise; empty where none is.
    """

    def __init__(self, calls: Calls) -> None:
        self.not_shut = ""
        self._calls = calls
        self._network_id: str | None = None

    async def run(self, spec: ContainerSpec) -> Container:
        """Create and start a container on Arena's network; it may have exited on return.

        Cancelling leaves no container behind, and neither does an error.
        """
        return await self._made(spec, start=True)

    async def create(self, spec: ContainerSpec) -> Container:
        """Create a container without starting it: to copy files in or out, or to commit."""
        return await self._made(spec, start=False)

    async def shut(self, container: Container) -> None:
        """Keep a container that `run` did not start from opening connections."""
        await self._calls.short(
            f"shutting {container.name} in",
            lambda api: self._shut(api, container.image_id, container.labels, container.id),
        )

    async def why_not_shut(self, image: str) -> str:
        """Say why containers cannot be kept from opening connections here; empty where they can.

        Args:
            image: one that the engine has, with Perl in it.
        """
        try:
            await self._calls.short(
                "trying a packet filter", lambda api: try_packet_filter(api, image)
            )
        except EngineError as error:
            return error.message
        return ""

    async def copy_in(self, container_id: str, files: Mapping[str, bytes]) -> None:
        await self._calls.short(
            f"copying into {container_id[:12]}",
            lambda api: creation.copy_in(api, container_id, files),
        )

    async def copy_out(self, container_id: str, path: str) -> bytes:
        return await self._calls.short(
            f"copying {path} out of {container_id[:12]}",
            lambda api: creation.copy_out(api, container_id, path),
        )

    async def find_file(self, container_id: str, path: str) -> bytes | None:
        return await self._calls.short(
            f"copying {path} out of {container_id[:12]}",
            lambda api: creation.find_file(api, container_id, path),
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
        await self._calls.short(
            f"stopping {container_id[:12]}",
            lambda api: api.stop(container_id, timeout=timeout_s),
            ANSWER_S + timeout_s,
        )

    async def signal(self, container_id: str, name: str) -> None:
        """Send a signal, for example `USR1`, to a container's first process."""
        await self._calls.short(
            f"sending {name} to {container_id[:12]}", lambda api: api.kill(container_id, name)
        )

    async def remove(self, container_id: str) -> None:
        """Kill and remove a container with its volumes; one that is gone already is fine."""
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
        """Remove the containers of an owner, or of any, with their volumes; return their names.

        One that cannot be removed keeps no other from it; its error is raised at the end.
        """
        found = await self.containers({Labels.OWNER: owner})
        outcomes = await asyncio.gather(
            *(self.remove(container.id) for container in found), return_exceptions=True
        )
        await self._calls.short(
            "removing volumes", lambda api: creation.remove_volumes(api, {Labels.OWNER: owner})
        )
        for outcome in outcomes:
            if outcome is not None:
                raise outcome
        return tuple(container.name for container in found)

    async def execute(
        self, container_id: str, argv: Sequence[str], timeout_s: float = 30.0
    ) -> Executed:
        doing = f"running `{' '.join(argv)[:80]}` in {container_id[:12]}"
        return await self._calls.long(
            doing, lambda api: run_command(api, container_id, argv), timeout_s
        )

    async def states_token(self, container_id: str) -> str | None:
        """Return what a replica's supervisor asks of whoever takes states; None without one."""
        return await self._calls.short(
            f"looking at {container_id[:12]}", lambda api: creation.states_token(api, container_id)
        )

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
        put = on_loop(lines.put_nowait)

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

    async def processor_seconds(self, container_id: str) -> float:
        used = (await self._measured(container_id)).get("cpu_stats") or {}
        return float((used.get("cpu_usage") or {}).get("total_usage", 0)) / 1e9

    async def _measured(self, container_id: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._calls.short(
            f"measuring {container_id[:12]}",
            lambda api: api.stats(container_id, stream=False, one_shot=True),
        )
        return found

    async def memory_bytes(self, container_id: str) -> int:
        """Return the memory a container uses, without the file cache it could give back."""
        found = await self._measured(container_id)
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
            return self._brought_up(api, spec, self._network_id, start=start)
        except NotFound as cause:
            if "network" not in str(cause.explanation):
                raise
        # Somebody removed the network since it was last used.
        self._network_id = network.ensure(api)
        return self._brought_up(api, spec, self._network_id, start=start)

    def _brought_up(
        self, api: APIClient, spec: ContainerSpec, network_id: str, *, start: bool
    ) -> Container:
        """Create a container, start it if asked to, and inspect it; a failure leaves none."""
        container_id = creation.create(api, spec, network_id)
        try:
            if spec.files:
                creation.copy_in(api, container_id, spec.files)
            if start:
                api.start(container_id)
                self._shut(api, spec.image, spec.labels, container_id)
            return creation.inspect(api, container_id)
        except BaseException:
            api.remove_container(container_id, force=True, v=True)
            raise

    def _shut(
        self, api: APIClient, image: str, labels: Mapping[str, str], container_id: str
    ) -> None:
        try:
            with mapped("making a packet filter"):
                shut_in(api, image, labels, container_id)
        except EngineError as error:
            self.not_shut = error.message


def _await_removal(api: APIClient, container_id: str) -> None:
    from docker.errors import NotFound  # noqa: PLC0415

    try:
        api.wait(container_id, timeout=_REMOVE_S, condition="removed")
    except NotFound:
        return
