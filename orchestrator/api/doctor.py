"""What is missing on this machine, and the command that mends it; see `Arena.doctor`."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import ArenaError, ManifestError, PrerequisiteError

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine, EngineFacts
    from orchestrator.images.recipes import Recipe, RecipeBook
    from sites.atlas import Atlas

_PYTHON = (3, 11)
_NEED_DISK_GB = 5.0
_GB = 1e9


class DoctorStatus(StrEnum):
    """How a check ended; only `missing` makes the command fail."""

    OK = "ok"
    MISSING = "missing"
    OPTIONAL = "optional"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One line of the result.

    Attributes:
        found: what there is, or why it is not enough.
        mend: the command that mends it; empty where nothing is to be done.
    """

    name: str
    state: DoctorStatus
    found: str
    mend: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether Arena cannot do its work without it."""
        return self.state is DoctorStatus.MISSING


def _sites(folders: Sequence[Path] | None) -> tuple[Atlas, tuple[DoctorCheck, ...]]:
    """Read the sites; one of one's own that cannot be used hides nothing else."""
    from sites.atlas import load_atlas, sites_in

    try:
        atlas = load_atlas(None if folders is None else [sites_in(one) for one in folders])
    except ManifestError as error:
        check = DoctorCheck("own sites", DoctorStatus.MISSING, error.message, error.hint)
        return load_atlas(()), (check,)
    broken = tuple(
        DoctorCheck(
            f"own site {name}",
            DoctorStatus.BROKEN,
            error.message,
            error.hint or "correct its site.yaml",
        )
        for name, error in sorted(atlas.broken.items())
    )
    return atlas, broken


def _plugins() -> tuple[DoctorCheck, ...]:
    """Count what is plugged in by others, and name what of it is broken."""
    from orchestrator.seams import examine_plugins

    found = examine_plugins()
    foreign = [one for one in found if not one.plugin.is_own]
    owners = sorted({one.plugin.distribution for one in foreign})
    summary = f"{len(foreign)} of {', '.join(owners)}" if foreign else "Arena's own alone"
    broken = tuple(
        DoctorCheck(f"{one.noun} {one.plugin.name}", DoctorStatus.BROKEN, one.fault, one.mend)
        for one in found
        if one.fault
    )
    return (DoctorCheck("plug-ins", DoctorStatus.OK, summary), *broken)


async def examine(folders: Sequence[Path] | None) -> tuple[DoctorCheck, ...]:
    """Look at everything; a part that cannot be looked at does not hide the others.

    Args:
        folders: of sites of one's own; where they are found by themselves where omitted.
    """
    atlas, of_own = _sites(folders)
    checks = [*of_own, *_plugins(), _python()]
    checks += [check async for check in _engine(atlas)]
    checks += [check async for check in _browser()]
    return tuple(checks)


def _python() -> DoctorCheck:
    wanted = ".".join(str(part) for part in _PYTHON)
    enough = sys.version_info >= _PYTHON
    mend = "" if enough else f"install Python {wanted} or newer"
    return DoctorCheck(
        "Python",
        DoctorStatus.OK if enough else DoctorStatus.MISSING,
        platform.python_version(),
        mend,
    )


async def _engine(atlas: Atlas) -> AsyncIterator[DoctorCheck]:
    """Look at the Docker engine and at what must be on it."""
    from orchestrator.engine.engine import Engine

    try:
        engine = await Engine.connect()
    except PrerequisiteError as error:
        yield DoctorCheck("Docker engine", DoctorStatus.MISSING, error.message, error.hint)
        return
    async with engine:
        facts = await engine.facts()
        found = f"{facts.version}, storage driver {facts.storage_driver}"
        yield DoctorCheck("Docker engine", DoctorStatus.OK, found)
        yield _disk(facts)
        yield _memory(facts, atlas)
        yield await _network(engine)
        async for check in _way_out(engine):
            yield check
        async for check in _images(engine, atlas):
            yield check


def _disk(facts: EngineFacts) -> DoctorCheck:
    """Look at the free space where the engine keeps images, if that is on this machine."""
    try:
        free_gb = shutil.disk_usage(Path(facts.root)).free / _GB
    except OSError:
        found = f"{facts.root} cannot be seen from here (another machine's engine, or no rights)"
        return DoctorCheck("disk", DoctorStatus.OPTIONAL, found)
    found = f"{free_gb:.0f} GB free in {facts.root}"
    if free_gb < _NEED_DISK_GB:
        return DoctorCheck(
            "disk",
            DoctorStatus.MISSING,
            f"{found}, {_NEED_DISK_GB:.0f} needed",
            "docker system prune",
        )
    return DoctorCheck("disk", DoctorStatus.OK, found)


def _memory(facts: EngineFacts, atlas: Atlas) -> DoctorCheck:
    """Compare the engine's memory with the limits of one replica of each site."""
    has_mb = facts.memory_bytes / 2**20
    wanted_mb = sum(site.resources.memory_mb for site in atlas.sites.values())
    found = f"{has_mb / 1024:.1f} GiB, {wanted_mb / 1024:.1f} for one replica of each site"
    if has_mb < wanted_mb:
        return DoctorCheck(
            "memory", DoctorStatus.MISSING, found, "give the engine's machine more memory"
        )
    return DoctorCheck("memory", DoctorStatus.OK, found)


async def _network(engine: Engine) -> DoctorCheck:
    try:
        made = await engine.has_network()
    except ArenaError as error:
        return DoctorCheck("Docker network", DoctorStatus.MISSING, error.message, error.hint)
    return DoctorCheck(
        "Docker network", DoctorStatus.OK, "made" if made else "made when first needed"
    )


async def _way_out(engine: Engine) -> AsyncIterator[DoctorCheck]:
    """Try the packet filter that containers get, in one of the base image where that is there."""
    from orchestrator.images import base

    if await engine.image(base.TAG) is not None:
        yield container_way_out(await engine.why_not_shut(base.TAG))


def container_way_out(not_shut: str) -> DoctorCheck:
    """Say whether a packet filter keeps containers in, or their packets' time to live only."""
    name = "way out of containers"
    if not not_shut:
        return DoctorCheck(name, DoctorStatus.OK, "none: a packet filter in each")
    found = f"only their packets' time to live, which one inside can raise ({not_shut})"
    return DoctorCheck(
        name, DoctorStatus.OPTIONAL, found, "an engine on a kernel with nf_tables and nft_reject"
    )


async def _images(engine: Engine, atlas: Atlas) -> AsyncIterator[DoctorCheck]:
    """Look at the base image and at each site's images."""
    from orchestrator.images import base
    from orchestrator.images.contexts import docker_folder
    from orchestrator.images.recipes import RecipeBook

    present = await engine.image(base.TAG)
    if present is None:
        found = f"no {base.TAG}; it is pulled, or built where no registry answers"
        yield DoctorCheck("base image", DoctorStatus.MISSING, found, "arena build")
    else:
        yield DoctorCheck(
            "base image", DoctorStatus.OK, f"{base.TAG}, {present.size_bytes / 1e6:.0f} MB"
        )
    try:
        book = RecipeBook(atlas, docker_folder(), present.id if present else "")
        recipes = book.in_order(atlas.select(()), staged=True)
    except ArenaError as error:
        yield DoctorCheck("images", DoctorStatus.MISSING, error.message, error.hint)
        return
    for recipe in sorted(recipes, key=lambda one: (one.staged, one.site.name)):
        yield await _image(engine, book, recipe)


async def _image(engine: Engine, book: RecipeBook, recipe: Recipe) -> DoctorCheck:
    from orchestrator.images.building import is_current
    from orchestrator.images.golden import is_sealed

    name = f"image {recipe.image.tag}"
    option = " --staged" if recipe.staged else ""
    mend = f"arena build {recipe.site.name}{option}"
    absent = DoctorStatus.OPTIONAL if recipe.staged else DoctorStatus.MISSING
    try:
        source = book.source_hash(recipe)
    except ArenaError as error:
        return DoctorCheck(name, absent, error.message, error.hint)
    image = await engine.image(recipe.image.tag)
    if image is None:
        use = "only for --staged" if recipe.staged else recipe.site.title
        return DoctorCheck(name, absent, f"not built ({use})", mend)
    if not recipe.staged and not is_sealed(image):
        return DoctorCheck(name, absent, "built, but not sealed", mend)
    if not is_current(image, recipe, source):
        return DoctorCheck(name, absent, "outdated: its sources changed since", mend)
    return DoctorCheck(name, DoctorStatus.OK, f"{image.size_bytes / 1e6:.0f} MB")


async def _browser() -> AsyncIterator[DoctorCheck]:
    """Start Chromium once: that it is there and that it runs here are two things."""
    from orchestrator.browser.launch import BrowserOptions, launch

    try:
        async with launch(BrowserOptions()) as browser:
            yield DoctorCheck("Chromium", DoctorStatus.OK, f"{browser.version}, starts")
            if "shell" not in browser.version:
                what = (
                    "not installed: runs without a window start the full browser, which is slower"
                )
                mend = "apt-get install chromium-headless-shell"
                yield DoctorCheck("headless shell", DoctorStatus.OPTIONAL, what, mend)
            yield browser_network(browser.not_isolated)
    except ArenaError as error:
        yield DoctorCheck(
            "Chromium", DoctorStatus.MISSING, error.message.splitlines()[0], error.hint
        )


def browser_network(not_isolated: str) -> DoctorCheck:
    """Say whether the kernel keeps the browser behind its gateway, or only flags do."""
    name = "browser network"
    if not not_isolated:
        return DoctorCheck(
            name, DoctorStatus.OK, "a namespace of its own, with no way but the gateway"
        )
    found = f"no namespace of its own ({not_isolated}); only flags keep it behind the gateway"
    return DoctorCheck(
        name, DoctorStatus.OPTIONAL, found, "run as root, or allow user namespaces to your user"
    )
