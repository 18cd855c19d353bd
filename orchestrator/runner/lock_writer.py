"""Writes down, before a run begins, everything that says what is measured."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import assert_never

from arena_core.errors import ImageError
from arena_core.plugins import Plugin
from orchestrator.browser.launch import launch
from orchestrator.engine.engine import Engine
from orchestrator.observation import IN_VIEWPORT
from orchestrator.observation_forms import OBSERVATIONS
from orchestrator.runner.request import RunRequest
from orchestrator.store.lock import RunLock, describe_host, hash_suite, package_versions
from sites.atlas import Atlas
from sites.manifest import Image
from sites.upstreams import (
    LiveUpstream,
    ReplicaUpstream,
    StagedUpstream,
    Upstream,
    Upstreams,
)
from tasks.importers import IMPORTERS


async def make_lock(request: RunRequest, atlas: Atlas, engine: Engine) -> RunLock:
    """Return the lock of a new run, with an id of its own.

    Raises:
        ImageError: an image that the run needs is not there.
    """
    now = datetime.now(UTC)
    upstreams = [request.upstreams(atlas, world) for world in request.worlds]
    return RunLock(
        run=f"{now:%Y%m%d-%H%M%S}-{request.suite.suite}-{secrets.token_hex(2)}",
        created_at=now.isoformat(timespec="seconds"),
        suite=request.suite.suite,
        suite_version=request.suite.version,
        suite_hash=hash_suite(request.suite),
        tasks=tuple(task.id for task in request.tasks),
        worlds=request.worlds,
        repeats=request.repeats,
        attempts=request.attempts,
        agent=request.agent_lock.model_copy(update={"name": request.agent.name}),
        staged=tuple(staged.site.name for one in upstreams for staged in one.staged),
        upstreams={one.world: one.kinds for one in upstreams},
        resolves=tuple(str(resolve) for resolve in request.resolves),
        records_requests=request.records_requests,
        traces=request.traces,
        limits=request.limits,
        replayed=request.replayed,
        workers=request.workers,
        spares=request.spares,
        memory_bytes=request.memory_bytes,
        strategy=request.strategy,
        images=await _image_ids(upstreams, engine),
        engine=await engine.version(),
        browser=await _browser_version(request),
        packages=package_versions(request.suite, _plugins_of(request)),
        host=describe_host(),
    )


async def require_same_images(lock: RunLock, engine: Engine) -> None:
    """Refuse to go on with a run on other images than it began with: its figures would mix two.

    Raises:
        ImageError: naming the image that is gone or another one now.
    """
    for tag, began_with in lock.images.items():
        found = await engine.image(tag)
        if found is None or found.id != began_with:
            now = "is gone" if found is None else "is another one now"
            message = f"run {lock.run}: the image {tag} that it began with {now}"
            raise ImageError(message, hint="start a new run; what had finished can be reported")


def _plugins_of(request: RunRequest) -> Iterator[Plugin]:
    """Yield what made tasks of the run, and what its agent sees the pages with."""
    for key in request.importers:
        yield IMPORTERS.find(key)
    for name in sorted(request.agent.observations):
        yield OBSERVATIONS.find(name.removesuffix(IN_VIEWPORT))


async def _image_ids(upstreams: Iterable[Upstreams], engine: Engine) -> dict[str, str]:
    images = [_image_of(one) for world in upstreams for one in world.by_site.values()]
    tags = dict.fromkeys(image.tag for image in images if image)
    return {tag: await _image_id(tag, engine) for tag in tags}


def _image_of(upstream: Upstream) -> Image | None:
    """Return the image whose container answers; None on the real web."""
    match upstream:
        case ReplicaUpstream(site=site):
            return site.image
        case StagedUpstream(staged=staged):
            return staged.image
        case LiveUpstream():
            return None
        case _:
            assert_never(upstream)


async def _image_id(tag: str, engine: Engine) -> str:
    image = await engine.image(tag)
    if image is None:
        message = f"there is no image {tag}, and the run needs it"
        raise ImageError(message, hint="arena build, with --staged for staged live origins")
    return image.id


async def _browser_version(request: RunRequest) -> str:
    async with launch(request.browser) as browser:
        return browser.version
