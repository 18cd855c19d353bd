"""What is missing on this machine, what is plugged in, and how to fix either."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.bugs import bug_in_words
from arena_core.errors import ArenaError, ManifestError, PluginError, PrerequisiteError
from arena_core.plugins import ExtensionPoint, Plugin

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine, EngineFacts
    from orchestrator.sandbox.images.recipes import Recipe, RecipeBook
    from sites.registry import SiteRegistry

_PYTHON = (3, 11)
_NEED_DISK_GB = 5.0
_GB = 1e9
_REINSTALL = (
    f"in the folder of Arena's sources: {sys.executable} -m pip install --force-reinstall ."
)
# What the packages import without any extra; held to them by tests/unit/test_dependencies.py. The
# compiled parts of a library are named where its package loads them later only.
MODULES: Final = (
    "PIL.Image",
    "aiohttp",
    "anyio.from_thread",
    "bs4",
    "cryptography.hazmat.primitives.serialization",
    "docker",
    "jinja2",
    "jsonpath",
    "lxml.html",
    "markupsafe",
    "matplotlib.figure",
    "msgspec",
    "numpy",
    "openai",
    "platformdirs",
    "playwright.async_api",
    "psycopg",
    "pydantic",
    "pydantic_core",
    "pymysql",
    "re2",
    "requests",
    "rich.live",
    "scipy.stats",
    "soupsieve",
    "sqlglot",
    "trustme",
    "typer",
    "urllib3",
    "yaml",
    "yarl",
)


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
        hint: the command that fixes it; empty if nothing is to be done.
    """

    name: str
    state: DoctorStatus
    found: str
    hint: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether Arena cannot do its work without it."""
        return self.state is DoctorStatus.MISSING


def _sites(folders: Sequence[Path] | None) -> tuple[SiteRegistry, tuple[DoctorCheck, ...]]:
    """Read the sites; one of one's own that cannot be used hides nothing else."""
    from sites.registry import load_registry, sites_in

    try:
        registry = load_registry(None if folders is None else [sites_in(one) for one in folders])
    except ManifestError as error:
        check = DoctorCheck("own sites", DoctorStatus.MISSING, error.message, error.hint)
        return load_registry(()), (check,)
    broken = tuple(
        DoctorCheck(
            f"own site {name}",
            DoctorStatus.BROKEN,
            error.message,
            error.hint or "correct its site.yaml",
        )
        for name, error in sorted(registry.broken.items())
    )
    return registry, broken


def _plugins() -> tuple[DoctorCheck, ...]:
    """Count what is plugged in by others, and name what of it is broken."""
    found = examine_plugins()
    foreign = [one for one in found if not one.plugin.is_own]
    owners = sorted({one.plugin.distribution for one in foreign})
    summary = f"{len(foreign)} of {', '.join(owners)}" if foreign else "Arena's own alone"
    broken = tuple(
        DoctorCheck(f"{one.noun} {one.plugin.name}", DoctorStatus.BROKEN, one.fault, one.hint)
        for one in found
        if one.fault
    )
    return (DoctorCheck("plug-ins", DoctorStatus.OK, summary), *broken)


async def examine(folders: Sequence[Path] | None) -> tuple[DoctorCheck, ...]:
    """Look at everything; a part that cannot be looked at does not hide the others.

    Args:
        folders: of sites of one's own; where they are found by themselves where omitted.
    """
    installed = _installation()
    if installed.is_missing:  # the rest could not even be imported
        return (_python(), installed)
    registry, of_own = _sites(folders)
    checks = [*of_own, *_plugins(), _python(), installed]
    checks += [check async for check in _engine(registry)]
    checks += [check async for check in _browser()]
    return tuple(checks)


def _python() -> DoctorCheck:
    wanted = ".".join(str(part) for part in _PYTHON)
    enough = sys.version_info >= _PYTHON
    hint = "" if enough else f"install Python {wanted} or newer"
    return DoctorCheck(
        "Python",
        DoctorStatus.OK if enough else DoctorStatus.MISSING,
        platform.python_version(),
        hint,
    )


def _installation() -> DoctorCheck:
    """Import everything that Arena does: what is missing would end an episode, not this command."""
    broken = broken_modules()
    if not broken:
        found = f"all {len(MODULES)} modules can be imported"
        return DoctorCheck("installation", DoctorStatus.OK, found)
    found = "; ".join(f"{name}: {why}" for name, why in broken.items())
    return DoctorCheck("installation", DoctorStatus.MISSING, found, _REINSTALL)


async def _engine(registry: SiteRegistry) -> AsyncIterator[DoctorCheck]:
    """Look at the Docker engine and at what must be on it."""
    from orchestrator.sandbox.engine.engine import Engine

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
        yield await _memory(engine, facts, registry)
        yield await _network(engine)
        async for check in _way_out(engine):
            yield check
        async for check in _images(engine, registry):
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


async def _memory(engine: Engine, facts: EngineFacts, registry: SiteRegistry) -> DoctorCheck:
    """Compare the engine's memory with the limits of one replica of each site that is here."""
    has_mb = facts.memory_bytes / 2**20
    here = [site for site in registry.sites.values() if await engine.image(site.image.tag)]
    wanted_mb = sum(site.resources.memory_mb for site in here)
    found = f"{has_mb / 1024:.1f} GiB, {wanted_mb / 1024:.1f} for one replica of each site here"
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
    from orchestrator.sandbox.images.build import BASE_TAG

    if await engine.image(BASE_TAG) is not None:
        yield container_way_out(await engine.why_not_shut(BASE_TAG))


def container_way_out(not_shut: str) -> DoctorCheck:
    """Say whether a packet filter keeps containers in, or their packets' time to live only."""
    name = "way out of containers"
    if not not_shut:
        return DoctorCheck(name, DoctorStatus.OK, "none: a packet filter in each")
    found = f"only their packets' time to live, which one inside can raise ({not_shut})"
    return DoctorCheck(
        name, DoctorStatus.OPTIONAL, found, "an engine on a kernel with nf_tables and nft_reject"
    )


async def _images(engine: Engine, registry: SiteRegistry) -> AsyncIterator[DoctorCheck]:
    """Look at the base image and at each site's images.

    One that is not here is missing to nobody: which sites are played is not known. One that is here
    and cannot be used as it is was asked for.
    """
    from orchestrator.sandbox.docker_files import docker_folder
    from orchestrator.sandbox.images.build import BASE_TAG
    from orchestrator.sandbox.images.recipes import RecipeBook

    present = await engine.image(BASE_TAG)
    if present is None:
        found = f"no {BASE_TAG}; it is pulled, or built where no registry answers"
        yield DoctorCheck("base image", DoctorStatus.OPTIONAL, found, "arena build")
    else:
        yield DoctorCheck(
            "base image", DoctorStatus.OK, f"{BASE_TAG}, {present.size_bytes / 1e6:.0f} MB"
        )
    try:
        book = RecipeBook(registry, docker_folder(), present.id if present else "")
        recipes = book.in_order(registry.select(()), staged=True)
    except ArenaError as error:
        yield DoctorCheck("images", DoctorStatus.MISSING, error.message, error.hint)
        return
    for recipe in sorted(recipes, key=lambda one: (one.staged, one.site.name)):
        yield await _image(engine, book, recipe)


async def _image(engine: Engine, book: RecipeBook, recipe: Recipe) -> DoctorCheck:
    from orchestrator.sandbox.images.build import why_unusable

    name = f"image {recipe.image.tag}"
    hint = recipe.command
    unusable = DoctorStatus.OPTIONAL if recipe.staged else DoctorStatus.MISSING
    image = await engine.image(recipe.image.tag)
    if image is None:
        use = "only for --staged" if recipe.staged else recipe.site.title
        return DoctorCheck(name, DoctorStatus.OPTIONAL, f"not here ({use})", hint)
    try:
        source = book.source_hash(recipe)
    except ArenaError as error:
        return DoctorCheck(name, unusable, error.message, error.hint)
    why = why_unusable(image, recipe, source)
    if why:
        return DoctorCheck(name, unusable, why, hint)
    return DoctorCheck(name, DoctorStatus.OK, f"{image.size_bytes / 1e6:.0f} MB")


async def _browser() -> AsyncIterator[DoctorCheck]:
    """Start Chromium once: that it is there and that it runs here are two things."""
    from orchestrator.browser.process.chromium import BrowserOptions
    from orchestrator.browser.process.launch import launch

    try:
        async with launch(BrowserOptions()) as browser:
            yield DoctorCheck("Chromium", DoctorStatus.OK, f"{browser.version}, starts")
            if "shell" not in browser.version:
                what = (
                    "not installed: runs without a window start the full browser, which is slower"
                )
                hint = "apt-get install chromium-headless-shell"
                yield DoctorCheck("headless shell", DoctorStatus.OPTIONAL, what, hint)
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


def broken_modules() -> dict[str, str]:
    """Return the modules that cannot be imported, each with the reason in one line."""
    broken: dict[str, str] = {}
    for name in MODULES:
        try:
            import_module(name)
        except Exception as cause:  # noqa: BLE001  whatever a half-installed library raises
            broken[name] = bug_in_words(cause)
    return broken


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedPlugin:
    """A plug-in that was imported to see whether it can be used.

    Attributes:
        noun: what kind of thing it is: `agent`.
        fault: why it cannot be used, in one line; empty where it can.
        hint: the next step.
    """

    noun: str
    plugin: Plugin
    fault: str = ""
    hint: str = ""


def extension_points() -> tuple[ExtensionPoint[object], ...]:
    """Return every extension point of Arena."""
    from evaluators.check_functions import FUNCTIONS
    from evaluators.locators.kinds import LOCATORS
    from evaluators.matchers.kinds import MATCHERS
    from evaluators.scorers.base import SCORERS
    from orchestrator.agents.choice import AGENTS
    from orchestrator.analysis.run_report.extension_points import EXPORTERS, REPORTS
    from orchestrator.browser.observations.forms import OBSERVATIONS
    from tasks.imports.formats import FORMATS
    from tasks.sources import IMPORTERS

    return (
        AGENTS,
        OBSERVATIONS,
        LOCATORS,
        MATCHERS,
        FUNCTIONS,
        IMPORTERS,
        SCORERS,
        FORMATS,
        EXPORTERS,
        REPORTS,
    )


def examine_plugins() -> tuple[ExaminedPlugin, ...]:
    """Import everything that is plugged in; what is broken is told and hides nothing else."""
    return tuple(
        _examined(extension_point, plugin)
        for extension_point in extension_points()
        for plugin in extension_point.plugins()
    )


def _examined(extension_point: ExtensionPoint[object], plugin: Plugin) -> ExaminedPlugin:
    try:
        extension_point.load(plugin.name)
    except PluginError as error:
        return ExaminedPlugin(
            noun=extension_point.noun, plugin=plugin, fault=error.message, hint=error.hint
        )
    return ExaminedPlugin(noun=extension_point.noun, plugin=plugin)
