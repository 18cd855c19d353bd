"""The site check on one site, point by point: what `arena site check` runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from arena_core.errors import ArenaError, DatabaseError, SiteError
from arena_core.work_events import OnWork, WorkEnded, WorkPlanned, WorkStep, ignore_work
from orchestrator.authoring.site_check.container import (
    broken_beginning,
    broken_clock,
    broken_confinement,
    broken_health,
)
from orchestrator.authoring.site_check.facts import (
    Facts,
    RunningSites,
    check_facts,
    read_facts,
)
from orchestrator.authoring.site_check.load import broken_under_load
from orchestrator.authoring.site_check.pages import (
    broken_pages,
    outside_requests,
    visit_as_everybody,
)
from orchestrator.authoring.site_check.roles import broken_api, broken_login
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.docker_files import docker_folder
from orchestrator.sandbox.engine.containers import ImageInfo, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import ROWS_LABEL, is_sealed
from orchestrator.sandbox.images.build import ensure_base
from orchestrator.sandbox.images.contexts import ca_bundle, context_tar
from orchestrator.sandbox.images.recipes import RecipeBook, recipes_of
from orchestrator.sandbox.images.seal import serving
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.database import execute_as_owner
from orchestrator.sandbox.reset.fingerprint import take_fingerprint
from orchestrator.sandbox.reset.ladder import LADDER, reset_replica
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.strategies import Rewind, Strategy
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import DatabaseEngine, FileDatabase, ServerDatabase, Site
from sites.registry import SiteRegistry

_ROWS: Final = 3
_SQL_S: Final = 30.0


def can_be_tried(site: Site) -> bool:
    """Whether a site says that it is safe, and has a database that rows are written to here."""
    database = site.database
    on_mariadb = isinstance(database, ServerDatabase) and database.engine is DatabaseEngine.MARIADB
    return on_mariadb and site.state is not None and site.state.crash_safe


async def broken_states(engine: Engine, replica: Replica) -> tuple[str, ...]:
    """Return which rows are lost that were committed right before a state was taken.

    The replica stays in such a state.

    Raises:
        StateError: no state can be taken.
        ResetError: what came back is not what was taken; the replica was removed.
    """
    watch = Watch.over(engine, replica, new=True)
    try:
        await _run(engine, replica, "CREATE TABLE arena_mark (id INT, t TEXT) ENGINE = InnoDB")
        states = []
        for number in range(1, _ROWS + 1):
            row = f"INSERT INTO arena_mark VALUES ({number}, REPEAT('{number}', 20000))"  # noqa: S608 - a number
            await _run(engine, replica, row)
            states.append((number, await take_state(engine, watch)))
        breaches = []
        for number, taken in reversed(states):
            await _run(engine, replica, "UPDATE arena_mark SET t = ''; DROP TABLE arena_mark")
            watch.aim(taken)
            await reset_replica(engine, watch, strategies=(Rewind(),))
            found = await _run(engine, replica, "SELECT COUNT(*), MAX(LEFT(t, 1)) FROM arena_mark")
            if found.split() != [str(number)] * 2:
                breaches.append(f"{number} rows were committed; the state holds {found.strip()}")
        return tuple(breaches)
    finally:
        await watch.close()


async def _run(engine: Engine, replica: Replica, sql: str) -> str:
    done = await execute_as_owner(engine, replica, sql, "--skip-column-names", timeout_s=_SQL_S)
    if done.exit_code != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise SiteError(f"site '{replica.site.name}': `{sql[:60]}` failed: {said[-200:]}")
    return done.stdout.decode("utf-8", "replace")


# The line of a Dockerfile right before the one that bakes: another value bakes once more.
AGAIN: Final = "ARG AGAIN="
_LOAD_S: Final = 10.0
_MARK: Final = ".arena-mark"
_TABLES: Final = {
    "mariadb": "SHOW TABLES",
    "postgresql": "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
}
_Look = Callable[[Engine, Replica], Awaitable[tuple[str, ...]]]


async def broken_bakes(engine: Engine, registry: SiteRegistry, site: Site) -> tuple[str, ...]:
    """Return whether a second bake of a site's sealed image starts with another state."""
    sealed = await engine.image(site.image.tag)
    if sealed is None or not is_sealed(sealed):
        return (f"image {site.image.tag} was never sealed",)
    image = await _baked_again(engine, registry, site)
    try:
        async with serving(engine, site, image.id) as container:
            found = await take_fingerprint(engine, site, container)
    finally:
        await engine.remove_image(image.tag)
    golden = sealed.labels[Labels.GOLDEN]
    return () if found.digest == golden else (f"its state is {found.digest}, not {golden}",)


async def _baked_again(engine: Engine, registry: SiteRegistry, site: Site) -> ImageInfo:
    """Build a site's image with its bake repeated, whatever the engine has in its cache."""
    base = await ensure_base(engine, docker_folder(), lambda _: None)
    book = RecipeBook(registry, docker_folder(), base.id)
    recipe, *_ = recipes_of(site, staged=False)
    dockerfile = recipe.image.build.dockerfile if recipe.image.build else ""
    files = tuple(
        replace(one, content=one.content.replace(f"{AGAIN}\n".encode(), f"{AGAIN}2\n".encode()))
        if one.path == dockerfile
        else one
        for one in book.files(recipe)
    )
    # The labels of the sealed image that it may start FROM are not its own.
    labels = {Labels.GOLDEN: "", ROWS_LABEL: "", Labels.SITE: site.name}
    tag = f"arena-again/{site.name}:1"
    return await engine.build(
        tag, context_tar(files, ca_bundle()), dockerfile, labels, lambda _: None
    )


@dataclass(frozen=True, slots=True)
class ContractPoint:
    """One point of a site check, and what is wrong with the site; empty where nothing is."""

    title: str
    breaches: tuple[str, ...]


async def check_site(
    engine: Engine,
    registry: SiteRegistry,
    site: Site,
    owner: str,
    on_point: Callable[[ContractPoint], None],
    *,
    on_work: OnWork = ignore_work,
    twice: bool = False,
) -> tuple[ContractPoint, ...]:
    """Check a site's sealed image on replicas of its own; they are gone when this returns.

    Args:
        engine: where they run.
        registry: all sites: links may lead to them.
        site: the one to check.
        owner: what its containers are labelled with.
        on_point: called with each point as soon as it is decided.
        on_work: called with what is being decided.
        twice: bake the image once more and compare, which takes as long as its bake.
    """
    looks = _looks(site, frozenset(one.host for one in registry.sites.values()))
    strategies = [strategy for strategy in LADDER[1:] if site.state or strategy.name == "recreate"]
    has_states = can_be_tried(site)
    shared = read_facts().between(site.name, await _built(engine, registry, site.name))
    planned = len(looks) + len(strategies) + bool(shared.facts) + has_states + twice
    on_work(WorkPlanned(planned))
    points: list[ContractPoint] = []

    async def decide(title: str, work: Awaitable[tuple[str, ...]]) -> None:
        on_work(WorkStep(site.name, title))
        try:
            point = ContractPoint(title, await work)
        except ArenaError as failure:
            point = ContractPoint(title, (failure.message,))
        points.append(point)
        on_point(point)
        on_work(WorkEnded(site.name))

    async with _replica(engine, site, owner) as replica:
        for title, look in looks:
            await decide(title, look(engine, replica))
    for strategy in strategies:
        title = f"golden again after a change, by {strategy.name}"
        await decide(title, _undone(engine, site, owner, strategy))
    if shared.facts:
        others = ", ".join(sorted(shared.sites - {site.name}))
        work = _contradicted(engine, registry, shared, owner)
        await decide(f"its facts agree with those of {others}", work)
    if has_states:
        title = "a state that is taken right after a commit holds its row"
        await decide(title, _holds_rows(engine, site, owner))
    if twice:
        await decide("a second bake gives the same state", broken_bakes(engine, registry, site))
    return tuple(points)


def _looks(site: Site, hosts: frozenset[str]) -> tuple[tuple[str, _Look], ...]:
    """Return what is looked at on one replica, in order: the last one breaks it."""
    has_roles, has_database = bool(site.roles), site.database is not None
    looks: list[tuple[bool, str, _Look]] = [
        (True, "a fresh replica is golden", _golden),
        (
            True,
            "pages answer, and load nothing from outside",
            lambda _, replica: _pages(replica, hosts),
        ),
        (
            has_roles,
            "every role logs in, and may what it should",
            lambda _, replica: _roles(replica),
        ),
        (True, "looking at pages changes nothing", _looked_at),
        (
            has_database,
            "the account of checks cannot write",
            lambda _, replica: _read_only(replica),
        ),
        (
            isinstance(site.database, FileDatabase) and site.state is not None,
            "a write to the database's file is noticed",
            _file_is_watched,
        ),
        (True, "time zone and language are the manifest's", broken_clock),
        (True, "no privileges, no way out, limits that hold", broken_confinement),
        (
            True,
            f"{_LOAD_S:g} s of many readers without a fault",
            lambda _, replica: broken_under_load(replica, None, seconds=_LOAD_S),
        ),
        (
            isinstance(site.database, ServerDatabase),
            "health fails with the database, and a dead one ends the container",
            broken_health,
        ),
    ]
    return tuple((title, look) for applies, title, look in looks if applies)


@asynccontextmanager
async def _replica(engine: Engine, site: Site, owner: str) -> AsyncIterator[Replica]:
    replica = await start_replica(engine, await place(engine, site, owner=owner, slot=0))
    try:
        yield replica
    finally:
        await engine.sweep(owner)


async def _built(engine: Engine, registry: SiteRegistry, besides: str) -> frozenset[str]:
    images = {name: await engine.image(one.image.tag) for name, one in registry.sites.items()}
    return frozenset(
        name for name, image in images.items() if image and is_sealed(image) and name != besides
    )


async def _contradicted(
    engine: Engine, registry: SiteRegistry, shared: Facts, owner: str
) -> tuple[str, ...]:
    replicas = {}
    try:
        for name in sorted(shared.sites):
            where = await place(engine, registry.site(name), owner=owner, slot=0)
            replicas[name] = await start_replica(engine, where)
        report = await check_facts(shared, RunningSites(replicas))
    finally:
        await engine.sweep(owner)
    return tuple(str(one) for one in report.breaches)


async def _holds_rows(engine: Engine, site: Site, owner: str) -> tuple[str, ...]:
    async with _replica(engine, site, owner) as replica:
        return await broken_states(engine, replica)


async def _golden(engine: Engine, replica: Replica) -> tuple[str, ...]:
    found = await take_fingerprint(engine, replica.site, replica.container)
    return () if found.digest == replica.golden else (f"its state is {found.digest}",)


async def _pages(replica: Replica, hosts: frozenset[str]) -> tuple[str, ...]:
    breaches = (*await broken_pages(replica, hosts), *await outside_requests(replica))
    return tuple(dict.fromkeys(breaches))


async def _roles(replica: Replica) -> tuple[str, ...]:
    breaches: list[str] = []
    for name, role in replica.site.roles.items():
        breaches += await broken_login(replica, name)
        breaches += await broken_api(replica, name)
        if not (role.may or role.may_not):
            breaches.append(f"role '{name}': no page is named that it may or may not open")
    return tuple(breaches)


async def _looked_at(engine: Engine, replica: Replica) -> tuple[str, ...]:
    return (*await visit_as_everybody(replica), *await _golden(engine, replica))


async def _read_only(replica: Replica) -> tuple[str, ...]:
    database = replica.site.database
    if database is None:
        return ()
    rows = (await ask(replica, _TABLES[database.engine])).rows
    if not rows:
        return ("it sees no table of the database",)
    breaches = []
    for statement in (f"DELETE FROM {rows[0][0]}", "CREATE TABLE arena_mark (id INT)"):  # noqa: S608 - a name the database gave
        try:
            await ask(replica, statement)
        except DatabaseError:
            continue
        breaches.append(f"it was let do this: {statement}")
    return tuple(breaches)


async def _file_is_watched(engine: Engine, replica: Replica) -> tuple[str, ...]:
    database, watch = replica.site.database, Watch.over(engine, replica)
    if not isinstance(database, FileDatabase):
        return ()
    try:
        await watch.prove()
        done = await engine.execute(replica.container.id, ["touch", database.file])
        if done.exit_code != 0:
            return (f"{database.file} cannot be written by the site's own user",)
        if await watch.moved() is None:
            return (
                f"{database.file} was touched unseen: take it out of supervisor.toml's counted",
            )
    finally:
        await watch.close()
    return ()


async def _undone(engine: Engine, site: Site, owner: str, strategy: Strategy) -> tuple[str, ...]:
    """Leave a file behind, go back by one strategy, and look whether it is gone."""
    async with _replica(engine, site, owner) as replica:
        watch = Watch.over(engine, replica)
        if not strategy.applies(watch, wrote=True):
            await watch.close()
            return ("it does not apply",)
        folder = site.state.folder if site.state else "/tmp"  # noqa: S108
        mark = f"{folder}/{_MARK}"
        await engine.execute(replica.container.id, ["touch", mark])
        reset = await reset_replica(engine, watch, strategies=[strategy], wrote=True)
        await reset.watch.close()
        after = reset.replica.container.id
        left = (await engine.execute(after, ["test", "-e", mark])).exit_code == 0
        breaches = [f"{mark} is still there"] if left else []
        breaches += await broken_beginning(reset.replica)
        if reset.receipt.strategy != strategy.name or not reset.receipt.proven:
            breaches.append(f"it went by {reset.receipt.strategy}: {reset.receipt.fallbacks}")
        return tuple(breaches)
