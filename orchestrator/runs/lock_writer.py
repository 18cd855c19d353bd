"""Writes down, before a run begins, everything that says what is measured."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import assert_never

from arena_core.errors import ImageError, UsageError
from arena_core.plugins import Plugin
from orchestrator.browser.observation import IN_VIEWPORT
from orchestrator.browser.observations.forms import OBSERVATIONS
from orchestrator.browser.process.remote import RemoteBrowser, open_browser
from orchestrator.runs.clocks import facts_and_clock
from orchestrator.runs.request import RunRequest
from orchestrator.runs.store.browser_lock import BrowserLock, headed_of
from orchestrator.runs.store.lock import RunLock, describe_host, hash_suite, package_versions
from orchestrator.runs.tapes import tape_locks
from orchestrator.sandbox.engine.containers import ImageInfo, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.images.recipes import Recipe
from sites.registry import SiteRegistry
from sites.upstreams import (
    LiveUpstream,
    ReplicaUpstream,
    StagedUpstream,
    TapeUpstream,
    Upstream,
    Upstreams,
)
from tasks.sources import IMPORTERS


async def make_lock(request: RunRequest, registry: SiteRegistry, engine: Engine) -> RunLock:
    """Return the lock of a new run, with an id of its own."""
    now = datetime.now(UTC)
    upstreams = [request.upstreams(registry, world) for world in request.worlds]
    version, browser = await _browser_of(request)
    images = await images_used(upstreams, engine)
    told, clock = await facts_and_clock(engine)
    return RunLock(
        **request.settings.terms,
        run=f"{now:%Y%m%d-%H%M%S}-{request.suite.suite}-{secrets.token_hex(2)}",
        created_at=now.isoformat(timespec="seconds"),
        suite=request.suite.suite,
        suite_version=request.suite.version,
        suite_hash=hash_suite(request.suite),
        tasks=tuple(task.id for task in request.tasks),
        agent=request.agent_lock.model_copy(update={"name": request.agent.name}),
        staged=tuple(staged.site.name for one in upstreams for staged in one.staged),
        upstreams={one.world: one.kinds for one in upstreams},
        identified={
            one.site.name: one.live.identify
            for world in upstreams
            for one in world.by_site.values()
            if isinstance(one, LiveUpstream) and one.live.identify
        },
        online_faces=request.online_faces,
        tapes=tape_locks(request, hash_suite(request.suite)),
        replayed=None if request.recording is None else request.recording.lock,
        rollouts=request.rollouts,
        images={tag: image.id for tag, image in images.items()},
        goldens=goldens_of(images),
        engine=told.version,
        browser=version,
        browser_used=browser,
        packages=package_versions(request.suite, _plugins_of(request)),
        host=describe_host(),
        clock=clock,
    )


async def require_same_images(lock: RunLock, engine: Engine) -> None:
    """Refuse to go on with a run on other images than it began with: its figures would mix two."""
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


async def images_used(upstreams: Iterable[Upstreams], engine: Engine) -> dict[str, ImageInfo]:
    """Return the images whose containers answer, by tag.

    Raises:
        ImageError: one is not there.
    """
    recipes = [_recipe_of(one) for world in upstreams for one in world.by_site.values()]
    by_tag = {recipe.image.tag: recipe for recipe in recipes if recipe}
    return {tag: await _image(recipe, engine) for tag, recipe in by_tag.items()}


def goldens_of(images: Mapping[str, ImageInfo]) -> dict[str, str]:
    """Return the digests of the states that images were sealed with; of those that have one."""
    labels = {tag: image.labels for tag, image in images.items()}
    return {tag: one[Labels.GOLDEN] for tag, one in labels.items() if one.get(Labels.GOLDEN)}


def _recipe_of(upstream: Upstream) -> Recipe | None:
    """Return the recipe of the image whose container answers; None where none does."""
    match upstream:
        case ReplicaUpstream(site=site):
            return Recipe(image=site.image, site=site, staged=False)
        case StagedUpstream(site=site, staged=staged):
            return Recipe(image=staged.image, site=site, staged=True)
        case LiveUpstream() | TapeUpstream():
            return None
        case _:
            assert_never(upstream)


async def _image(recipe: Recipe, engine: Engine) -> ImageInfo:
    image = await engine.image(recipe.image.tag)
    if image is None:
        message = f"{recipe.label}: there is no image {recipe.image.tag}, and the run needs it"
        raise ImageError(message, hint=recipe.command)
    return image


async def require_same_browser(lock: RunLock, request: RunRequest) -> None:
    """Refuse to go on online in another browser than a run began in: its figures would mix two."""
    if lock.live_pool is None:
        return
    _, now = await _browser_of(request)
    if now.pool != lock.live_pool:
        message = f"run {lock.run} began online in {lock.live_pool}, and would go on in {now.pool}"
        hint = "start a new run: live scores of two browsers are never put together"
        raise UsageError(message, hint=hint)


async def browser_chosen(request: RunRequest) -> str:
    """Return which browser a run would be played in, whatever its version."""
    _, used = await _browser_of(request)
    return used.chosen


async def _browser_of(request: RunRequest) -> tuple[str, BrowserLock]:
    """Return a browser's version, and all that the lock says of it."""
    async with open_browser(request.browser) as browser:
        entry = request.settings.browser
        used = BrowserLock(
            kind=browser.kind,
            product=browser.build.product,
            user_agent=browser.build.user_agent,
            headed=headed_of(browser.kind, browser.build.user_agent),
            at=browser.address if isinstance(browser, RemoteBrowser) else None,
            provider=entry.provider if entry else None,
            proxy=entry.proxy if entry else None,
            country=entry.country if entry else None,
        )
        return browser.version, used
