"""Looks at this machine as one node of several: engine, browser, clock, and the images wanted."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import Final

from arena_core.errors import UnknownNameError
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.runs.node_facts import (
    Likeness,
    NodeCheck,
    NodeClock,
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
_UNSYNCHRONISED: Final = 0x40  # STA_UNSYNC of <sys/timex.h>
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
    engine_facts, clock = await _engine(engine)
    async with launch(BrowserOptions()) as browser:
        version = browser.version
    facts = NodeFacts(
        node=platform.node(),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        packages=own_packages(),
        host=describe_host(),
        engine=engine_facts,
        browser=version,
        clock=clock,
        images=images,
    )
    if like is None:
        return NodeCheck(facts=facts, faults=tuple(faults))
    # Of what was asked for, and of nothing else that the other node has.
    tags = {one.image.tag for one in wanted}
    asked = Likeness(
        like.name, {tag: one for tag, one in like.images.items() if tag in tags}, like.beside
    )
    missing = frozenset(one.image for one in faults)
    differences = tuple(asked.differences(facts, missing))
    return NodeCheck(facts=facts, faults=tuple(faults), like=like.name, differences=differences)


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


async def _engine(engine: Engine) -> tuple[NodeEngine, NodeClock]:
    """Return what the engine says of itself, and how its clock stands to this machine's."""
    asked = datetime.now(UTC)
    facts = await engine.facts()
    ahead = ahead_of(facts.clock, asked, datetime.now(UTC))
    found = NodeEngine(
        version=facts.version,
        storage=facts.storage_driver,
        cpus=facts.cpus,
        memory_mb=facts.memory_bytes // _MB,
    )
    return found, NodeClock(synchronised=is_synchronised(), engine_ahead_s=ahead)


def ahead_of(told: str, before: datetime, after: datetime) -> float | None:
    """Return by how many seconds a clock is ahead that told its time between two moments.

    Within the time that the answer took nothing is known: that is 0. None where it told no time.
    """
    try:
        there = datetime.fromisoformat(told)
    except ValueError:
        return None
    if there.tzinfo is None:
        return None
    if before <= there <= after:
        return 0.0
    return round((there - (after if there > after else before)).total_seconds(), 3)


class _Timex(ctypes.Structure):
    """`struct timex` of Linux as far as it is read."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 160),
    )


def is_synchronised() -> bool | None:
    """Whether the kernel holds this machine's clock to another one; None where it does not say."""
    found = _Timex()
    try:
        answer = ctypes.CDLL(None).adjtimex(ctypes.byref(found))
    except AttributeError:  # another system than Linux
        return None
    return None if answer < 0 else not found.status & _UNSYNCHRONISED
