"""Sealing: an image becomes golden when what its containers start with is known and proven."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from arena_core.errors import EngineError, ImageError, SiteGoneError
from orchestrator.sandbox.delta.present_rows import pack_rows
from orchestrator.sandbox.engine.containers import (
    Container,
    ContainerKind,
    Endpoint,
    Executed,
    ImageInfo,
    Labels,
)
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.health import HealthProbe, published, wait_healthy
from orchestrator.sandbox.golden import (
    PATH,
    ROWS_LABEL,
    ROWS_PATH,
    digest_of,
    packed,
    unstarted,
)
from orchestrator.sandbox.reset.fingerprint import take_fingerprint
from orchestrator.sandbox.reset.replica import container_spec
from orchestrator.sandbox.reset.state import Fingerprint
from sites.manifest import BakeStep, Site

_AGAIN_S: Final = 1.0  # what a step waits for says nothing when it is there
_LAST_LINES: Final = 10


async def bake(
    engine: Engine, site: Site, container: Container, on_line: Callable[[str], None]
) -> None:
    """Run the manifest's `bake` in a started container, each command until it succeeds."""
    for number, step in enumerate(site.bake, start=1):
        words = [word.replace("{host}", site.host) for word in step.run]
        on_line(f"bake: {number} of {len(site.bake)}: {' '.join(words)[:80]}")
        await _until_done(engine, site, container, words, step)


async def _until_done(
    engine: Engine, site: Site, container: Container, words: Sequence[str], step: BakeStep
) -> None:
    ends = time.monotonic() + step.timeout_s
    last = "nothing"
    while (left := ends - time.monotonic()) > 0:
        try:
            done = await engine.execute(container.id, words, timeout_s=left)
        except SiteGoneError as gone:
            said = await engine.logs(container.id, tail=_LAST_LINES)
            message = f"site '{site.name}': the container ended while it was baked: {said.strip()}"
            raise ImageError(message, hint="see `container` in its site.yaml") from gone
        except EngineError as slow:
            last = slow.message
            continue
        if done.exit_code == 0:
            return
        last = f"exit code {done.exit_code}: {_tail(done)}"
        await asyncio.sleep(min(_AGAIN_S, max(0.0, ends - time.monotonic())))
    message = (
        f"site '{site.name}': `{' '.join(words)[:200]}` did not succeed in {step.timeout_s:g} s"
    )
    raise ImageError(f"{message}; last: {last}", hint="correct `bake` in its site.yaml")


def _tail(done: Executed) -> str:
    written = (done.stdout + done.stderr).decode(errors="replace").split("\n")
    return " | ".join(line.strip() for line in written if line.strip())[-400:] or "no output"


_STOP_S: Final = 60
_MOST_PATIENCE: Final = 10  # times the manifest's limit, while a container makes progress
_PAGE_S: Final = 60.0
_BAD_STATUS: Final = 400
_KILLED: Final = 137


async def seal(
    engine: Engine,
    site: Site,
    unsealed: ImageInfo,
    source: str,
    *,
    on_line: Callable[[str], None],
    manifest: str = "its site.yaml",
) -> ImageInfo:
    """Make the site's golden image from a built one, under the manifest's tag.

    The built image is started once, baked and warmed. Where a bake or the warm-up changed it, the
    stopped container becomes the image; where nothing did, the built image does, and no layer is
    added. A state in a volume never gets into an image: there it must change nothing. The golden
    state is put into the image, and a container started from it must show that state.

    Args:
        unsealed: the image as built or pulled.
        source: the hash of what it was built from.
        manifest: the path of the site's manifest, for messages.
    """
    labels = {Labels.SITE: site.name, Labels.SOURCE: source}
    golden, candidate = await _make(
        engine, site, unsealed, labels=labels, on_line=on_line, manifest=manifest
    )
    try:
        on_line("seal: proving that a fresh container is golden")
        await _prove(engine, site, candidate, golden)
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
    on_line: Callable[[str], None],
    manifest: str,
) -> tuple[Fingerprint, ImageInfo]:
    """Start, warm, fingerprint, stop, and commit with the golden state and its rows inside."""
    async with serving(engine, site, unsealed.id, on_bake=on_line) as container:
        on_line("seal: started; warming")
        cold = await take_fingerprint(engine, site, container)
        await _warm(engine, site, container, manifest)
        # What the warm-up left in memory is gone in the next container.
        golden = (await take_fingerprint(engine, site, container)).with_scratch_of(cold)
        rows, rows_label = await _carried_rows(engine, site, container)
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
    engine: Engine, site: Site, container: Container
) -> tuple[Mapping[str, bytes], str]:
    """Return the file of rows as an image carries it, and its label; both empty without rows."""
    with tempfile.TemporaryDirectory(prefix="arena-sealing-") as scratch:
        file = Path(scratch) / "rows"
        if not await pack_rows(engine, site, container, file):
            return {}, ""
        return {ROWS_PATH: await asyncio.to_thread(packed, file)}, digest_of(file)


async def _prove(engine: Engine, site: Site, image: ImageInfo, golden: Fingerprint) -> None:
    async with serving(engine, site, image.id) as container:
        found = await take_fingerprint(engine, site, container)
    if found.digest != golden.digest:
        shown = "".join(f"\n  {line}" for line in found.differences(golden)[:20])
        message = f"site '{site.name}': the sealed image does not start as it was sealed:{shown}"
        hint = (
            "list what changes by itself as volatile in its site.yaml, or, of scratch folders, as"
            " `passing` in its supervisor.toml; or make it constant"
        )
        raise ImageError(message, hint=hint)


@asynccontextmanager
async def serving(
    engine: Engine, site: Site, image: str, *, on_bake: Callable[[str], None] | None = None
) -> AsyncIterator[Container]:
    """Run a healthy container under the replica's limits, and remove it at the end.

    Args:
        image: id of an image of the site, which need not be sealed.
        on_bake: bake it before it is healthy, and hand lines of progress to this.
    """
    name = f"arena-sealing-{site.name}-{secrets.token_hex(4)}"
    labels = {Labels.SITE: site.name, Labels.KIND: ContainerKind.SEALING, Labels.OWNER: "build"}
    container = await engine.run(container_spec(site, name=name, image=image, labels=labels))
    try:
        if on_bake is not None:
            await bake(engine, site, container, on_bake)
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
        most_s=_MOST_PATIENCE * site.health.timeout_s,
    )
    await wait_healthy(engine, container, probe)


async def _warm(engine: Engine, site: Site, container: Container, manifest: str) -> None:
    endpoint = container.ports[site.port]
    for path in site.warm:
        status = await asyncio.to_thread(_status, site, endpoint, path)
        if isinstance(status, str) or status >= _BAD_STATUS:
            said = await engine.logs(container.id, tail=20)
            shown = "".join(f"\n  {line}" for line in said.splitlines())
            page = f"http://{site.host}{path}"
            message = f"site '{site.name}': warming {page} failed: {status}{shown}"
            hint = f"fix what the application logged, or correct `warm` in {manifest}"
            raise ImageError(message, hint=hint)


def _status(site: Site, endpoint: Endpoint, path: str) -> int | str:
    import requests  # noqa: PLC0415  not needed where nothing is sealed

    from orchestrator.sandbox.engine.origin_client import OriginClient, fetch  # noqa: PLC0415

    client = OriginClient(origin=f"http://{site.host}", address=endpoint)
    try:
        return fetch(client, path, timeout_s=_PAGE_S).status
    except requests.RequestException as error:
        return f"no answer ({type(error).__name__})"


async def _stop_cleanly(engine: Engine, site: Site, container: Container) -> None:
    await engine.stop(container.id, _STOP_S)
    stopped = await engine.container(container.id)
    if stopped is None or stopped.exit_code == _KILLED:
        last = await engine.logs(container.id, tail=20) if stopped else ""
        shown = "".join(f"\n  {line}" for line in last.splitlines())
        message = f"site '{site.name}': its container did not stop within {_STOP_S} s{shown}"
        raise ImageError(message, hint="its entrypoint must trap TERM and stop every part")
