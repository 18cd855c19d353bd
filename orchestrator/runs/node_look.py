"""Looks at this machine as one node of several: engine, browser, clock, and the images wanted."""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from arena_core.errors import UnknownNameError
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.runs.clocks import facts_and_clock
from orchestrator.runs.node_facts import (
    Likeness,
    NodeCheck,
    NodeEngine,
    NodeFacts,
    NodeFault,
    NodeImage,
)
from orchestrator.runs.store.lock import describe_host, own_packages
from orchestrator.sandbox.docker_files import docker_folder
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.images.build import BASE_TAG, why_unusable
from orchestrator.sandbox.images.recipes import Recipe, RecipeBook, recipes_of
from sites.manifest import Site
from sites.registry import SiteRegistry

_MB: Final = 2**20
_TO_LOAD: Final = "arena images save FILE on the other node, arena node prepare --images FILE here"


async def look_at_node(
    engine: Engine, registry: SiteRegistry, wanted: Collection[Recipe], like: Likeness | None
) -> NodeCheck:
    """Look at this machine and at the images that are wanted of it.

    Raises:
        BrowserMissingError, BrowserError: Chromium is not there, or does not start.
        EngineError: the engine does not answer.
    """
    images, faults = await images_here(engine, registry, wanted, is_alone=like is None)
    told, clock = await facts_and_clock(engine)
    async with launch(BrowserOptions()) as browser:
        version = browser.version
    facts = NodeFacts(
        node=platform.node(),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        packages=own_packages(),
        host=describe_host(),
        engine=NodeEngine(
            version=told.version,
            storage=told.storage_driver,
            cpus=told.cpus,
            memory_mb=told.memory_bytes // _MB,
        ),
        browser=version,
        clock=clock,
        images=images,
    )
    if like is None:
        return NodeCheck(facts=facts, faults=tuple(faults))
    # Of what was asked for, and of nothing else that the other node has.
    tags = {one.image.tag for one in wanted}
    asked = replace(like, images={tag: one for tag, one in like.images.items() if tag in tags})
    missing = frozenset(one.image for one in faults)
    differences = tuple(asked.differences(facts, missing))
    return NodeCheck(
        facts=facts,
        faults=tuple(faults),
        like=like.name,
        differences=differences,
        clock_there=like.clock,
    )


def recipes_wanted(
    registry: SiteRegistry, sites: Iterable[Site] | None, like: Likeness | None, *, staged: bool
) -> tuple[Recipe, ...]:
    """Return the images that a node shall have: those of sites, else those it shall be like.

    Raises:
        UnknownNameError: no site here has an image that it shall have.
    """
    if sites is not None or like is None:
        chosen = registry.select(()) if sites is None else sites
        return tuple(recipe for site in chosen for recipe in recipes_of(site, staged=staged))
    known = RecipeBook(registry, docker_folder(), "").by_tag
    foreign = sorted(like.images.keys() - known.keys())
    if foreign:
        message = f"{like.name} has images of no site here: {', '.join(foreign[:5])}"
        raise UnknownNameError(message, hint="install its sites here too, or name those wanted")
    return tuple(known[tag] for tag in sorted(like.images))


async def images_here(
    engine: Engine, registry: SiteRegistry, wanted: Iterable[Recipe], *, is_alone: bool
) -> tuple[dict[str, NodeImage], list[NodeFault]]:
    """Return the images that are here, and what is wrong with those wanted.

    Where another node says which image it must be, an older one than the sources is fine.
    """
    base = await engine.image(BASE_TAG)
    book = RecipeBook(registry, docker_folder(), base.id if base else "")
    images: dict[str, NodeImage] = {}
    faults: list[NodeFault] = []
    for recipe in wanted:
        tag = recipe.image.tag
        image = await engine.image(tag)
        if image is not None:
            images[tag] = NodeImage(id=image.id, golden=image.labels.get(Labels.GOLDEN))
        if image is None or is_alone:
            why = why_unusable(image, recipe, book.source_hash(recipe))
            if why:
                faults.append(NodeFault(tag, why, recipe.command if is_alone else _TO_LOAD))
    return images, faults
