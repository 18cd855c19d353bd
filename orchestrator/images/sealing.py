"""Sealing: an image becomes golden when what its containers start with is known and proven."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol, Self, TypeVar

from arena_core.errors import ImageError
from orchestrator.engine.containers import (
    Container,
    ContainerKind,
    ContainerSpec,
    Endpoint,
    ImageInfo,
    Labels,
    StateMount,
)
from orchestrator.engine.engine import Engine
from orchestrator.engine.health import HealthProbe, published, wait_healthy
from orchestrator.images.baking import bake
from orchestrator.images.golden import PATH, ROWS_LABEL, ROWS_PATH, unstarted
from orchestrator.images.image_cache import digest_of, packed
from sites.manifest import Site

_STOP_S: Final = 60
_PAGE_S: Final = 60.0
_BAD_STATUS: Final = 400
_KILLED: Final = 137


class SealableState(Protocol):
    """What sealing must know of a fingerprint."""

    @property
    def digest(self) -> str:
        """One hex digest over the whole state."""

    def to_json(self) -> bytes:
        """Return the parts."""

    def differences(self, golden: Self) -> tuple[str, ...]:
        """Name what differs from another state."""

    def with_scratch_of(self, fresh: Self) -> Self:
        """Return this state, but with what a fresh container has in its folders in memory."""


StateT = TypeVar("StateT", bound=SealableState)
Take = Callable[[Engine, Site, Container], Awaitable[StateT]]
# Writes the rows of a running container into a file; False where it has none.
TakeRows = Callable[[Engine, Site, Container, Path], Awaitable[bool]]


async def seal(
    engine: Engine,
    site: Site,
    unsealed: ImageInfo,
    source: str,
    *,
    take: Take[StateT],
    take_rows: TakeRows,
    on_line: Callable[[str], None],
    manifest: str = "its site.yaml",
) -> ImageInfo:
    """Make the site's golden image from a built one, under the manifest's tag.

    The built image is started once, baked and warmed. Where a bake or the warm-up changed it, the
    stopped container becomes the image; where nothing did, the built image does, and no layer is
    added. A state in a volume never gets into an image: there it must change nothing. The golden
    state is put into the image, and a container started from it must show that state.

    Args:
        engine: the engine.
        site: the manifest.
        unsealed: the image as built or pulled.
        source: the hash of what it was built from.
        take: takes the fingerprint of a running container.
        take_rows: takes its rows, so that changes can be listed later.
        on_line: gets lines of progress.
        manifest: the path of the site's manifest, for messages.

    Raises:
        ImageError: a page of the warm-up fails, the container does not stop cleanly, or the sealed
            image starts with another state; names the differences.
        SiteError: the container does not become healthy, or its state cannot be read.
    """
    labels = {Labels.SITE: site.name, Labels.SOURCE: source}
    golden, candidate = await _make(
        engine,
        site,
        unsealed,
        labels=labels,
        take=take,
        take_rows=take_rows,
        on_line=on_line,
        manifest=manifest,
    )
    try:
        on_line("seal: proving that a fresh container is golden")
        await _prove(engine, site, candidate, golden, take)
        before = await engine.image(site.image.tag)
        await engine.tag(candidate.id, site.image.tag)
    except BaseException:
        await engine.remove_unused_image(candidate.id)
        raise
    if before is not None and before.id != candidate.id:
        await engine.remove_unused_image(before.id)
    return replace(candidate, tag=site.image.tag)


async def _make(
    engine: Engine,
    site: Site,
    unsealed: ImageInfo,
    *,
    labels: Mapping[str, str],
    take: Take[StateT],
    take_rows: TakeRows,
    on_line: Callable[[str], None],
    manifest: str,
) -> tuple[StateT, ImageInfo]:
    """Start, warm, fingerprint, stop, and commit with the golden state and its rows inside."""
    async with _baked(engine, site, unsealed.id, on_line) as container:
        on_line("seal: started; warming")
        cold = await take(engine, site, container)
        await _warm(engine, site, container, manifest)
        # What the warm-up left in memory is gone in the next container.
        golden = (await take(engine, site, container)).with_scratch_of(cold)
        rows, rows_label = await _carried_rows(engine, site, container, take_rows)
        await _stop_cleanly(engine, site, container)
        known = {**labels, Labels.GOLDEN: golden.digest, ROWS_LABEL: rows_label}
        files = {PATH: golden.to_json(), **rows}
        if site.bake:
            await engine.copy_in(container.id, files)
            return golden, await engine.commit(container.id, None, known)
        if cold.digest != golden.digest and site.state is None:
            changes = cold.differences(golden)
            on_line(f"seal: the warm-up changed {len(changes)} parts, they go into the image")
            await engine.copy_in(container.id, files)
            return golden, await engine.commit(container.id, None, known)
    untouched = await engine.create(unstarted(unsealed.id))
    try:
        await engine.copy_in(untouched.id, files)
        return golden, await engine.commit(untouched.id, None, known)
    finally:
        await engine.remove(untouched.id)


async def _carried_rows(
    engine: Engine, site: Site, container: Container, take_rows: TakeRows
) -> tuple[Mapping[str, bytes], str]:
    """Return the file of rows as an image carries it, and its label; both empty without rows."""
    with tempfile.TemporaryDirectory(prefix="arena-sealing-") as scratch:
        file = Path(scratch) / "rows"
        if not await take_rows(engine, site, container, file):
            return {}, ""
        return {ROWS_PATH: await asyncio.to_thread(packed, file)}, digest_of(file)


async def _prove(
    engine: Engine, site: Site, image: ImageInfo, golden: StateT, take: Take[StateT]
) -> None:
    """Start a container of the sealed image and compare its state with golden."""
    async with serving(engine, site, image.id) as container:
        found = await take(engine, site, container)
    if found.digest != golden.digest:
        shown = "".join(f"\n  {line}" for line in found.differences(golden)[:20])
        message = f"site '{site.name}': the sealed image does not start as it was sealed:{shown}"
        hint = (
            "list what changes by itself as volatile in its site.yaml, or, of scratch folders, as"
            " `passing` in its supervisor.toml; or make it constant"
        )
        raise ImageError(message, hint=hint)


@asynccontextmanager
async def serving(engine: Engine, site: Site, image: str) -> AsyncIterator[Container]:
    """Run a healthy container under the replica's limits, and remove it at the end.

    Args:
        engine: the engine.
        site: the manifest.
        image: id of an image of the site, which need not be sealed.
    """
    container = await engine.run(_spec(site, image))
    try:
        await _until_healthy(engine, site, container)
        yield container
    finally:
        await engine.remove(container.id)


@asynccontextmanager
async def _baked(
    engine: Engine, site: Site, image: str, on_line: Callable[[str], None]
) -> AsyncIterator[Container]:
    """Run a container that becomes healthy once its bake is done; remove it at the end."""
    container = await engine.run(_spec(site, image))
    try:
        await bake(engine, site, container, on_line)
        await _until_healthy(engine, site, container)
        yield container
    finally:
        await engine.remove(container.id)


async def _until_healthy(engine: Engine, site: Site, container: Container) -> None:
    probe = HealthProbe(
        endpoint=await published(engine, container, site.port),
        host=site.host,
        path=site.health.path,
        contains=site.health.contains,
        timeout_s=site.health.timeout_s,
    )
    await wait_healthy(engine, container, probe)


def _spec(site: Site, image: str) -> ContainerSpec:
    state = site.state
    return ContainerSpec(
        name=f"arena-sealing-{site.name}-{secrets.token_hex(4)}",
        image=image,
        labels={Labels.SITE: site.name, Labels.KIND: ContainerKind.SEALING, Labels.OWNER: "build"},
        ports=site.ports,
        memory_mb=site.resources.memory_mb,
        cpus=site.resources.cpus,
        pids=site.resources.pids,
        read_only=state is not None,
        state=StateMount(state.folder, state.memory_mb) if state else None,
        command=site.container.command,
        environment=site.container.environment,
        capabilities=frozenset(one.name for one in site.container.capabilities),
        shm_mb=site.container.shm_mb,
    )


async def _warm(engine: Engine, site: Site, container: Container, manifest: str) -> None:
    """Fetch the pages that the manifest lists, one after the other."""
    endpoint = container.ports[site.port]
    for path in site.warm:
        status = await asyncio.to_thread(_status, site, endpoint, path)
        if isinstance(status, str) or status >= _BAD_STATUS:
            said = await engine.logs(container.id, tail=20)
            shown = "".join(f"\n  {line}" for line in said.splitlines())
            page = f"http://{site.host}{path}"
            message = f"site '{site.name}': warming {page} failed: {status}{shown}"
            hint = f"mend what the application logged, or correct `warm` in {manifest}"
            raise ImageError(message, hint=hint)


def _status(site: Site, endpoint: Endpoint, path: str) -> int | str:
    """Fetch one page and return its status, or why there was none."""
    import requests  # noqa: PLC0415  not needed where nothing is sealed

    from orchestrator.engine.origin_client import OriginClient, fetch  # noqa: PLC0415

    client = OriginClient(origin=f"http://{site.host}", address=endpoint)
    try:
        return fetch(client, path, timeout_s=_PAGE_S).status
    except requests.RequestException as error:
        return f"no answer ({type(error).__name__})"


async def _stop_cleanly(engine: Engine, site: Site, container: Container) -> None:
    """Stop the container and make sure that it ended by itself."""
    await engine.stop(container.id, _STOP_S)
    stopped = await engine.container(container.id)
    if stopped is None or stopped.exit_code == _KILLED:
        last = await engine.logs(container.id, tail=20) if stopped else ""
        shown = "".join(f"\n  {line}" for line in last.splitlines())
        message = f"site '{site.name}': its container did not stop within {_STOP_S} s{shown}"
        raise ImageError(message, hint="its entrypoint must trap TERM and stop every part")
