"""Images that others publish, by their manifests: loaded or pulled, baked, sealed, played, reset.

WebArena's own images are not at hand: a stand-in of a few MB has their ports, commands, settings
and URL shapes.
"""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.sites.docker_registry import local_registry
from support.sites.slot_pools import until_ready

from arena_core.errors import ImageError, InputError, LoginError
from orchestrator.api.arena import Arena
from orchestrator.authoring.site_check.container import broken_confinement
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import origin_session
from orchestrator.sandbox.images.build import BuildOutcome
from orchestrator.sandbox.logins import is_logged_in, login, replica_client
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import start_replica
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site
from sites.registry import load_registry

pytestmark = pytest.mark.docker

STAND_IN = Path(__file__).parents[2] / "own_sites" / "market"
SHOP = "webarena-shopping"
TAG = f"own/{SHOP}:1"
OWNER = "test-published"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the publisher offers: one image, as `docker save` writes it."""
    path = tmp_path_factory.mktemp("published") / "shopping_final_0712.tar"
    name = "arena-test/market-published:1"
    subprocess.run(["docker", "build", "-q", "-t", name, STAND_IN], check=True, timeout=120)
    subprocess.run(["docker", "save", "-o", path, name], check=True, timeout=60)
    subprocess.run(["docker", "rmi", name], check=True, timeout=60)
    yield path
    subprocess.run(["docker", "rmi", "--no-prune", TAG], check=False, timeout=60)


def sites_of(folder: Path, which: str) -> Path:
    """The manifests as Arena writes them, but for cores that this machine may not have."""
    sites = folder / which
    for path in Arena(sites=()).sites.published(which, folder=sites):
        path.write_text(path.read_text().replace("cpus: 4.0", "cpus: 1.0"))
    return sites


def docker(*words: str) -> None:
    """Run a command of the engine's own client, which has to succeed."""
    subprocess.run(["docker", *words], check=True, capture_output=True, timeout=120)


@contextmanager
def references(address: str) -> Iterator[None]:
    """Remove at the end what the engine still has of a registry's images, and what was sealed."""
    try:
        yield
    finally:
        names = [f"{address}/webarena/shopping:0712", f"{address}/sealed:1", TAG]
        subprocess.run(
            ["docker", "rmi", "--no-prune", *names], check=False, capture_output=True, timeout=60
        )


@asynccontextmanager
async def replica_of(site: Site) -> AsyncIterator[tuple[Engine, Watch]]:
    """A replica of a sealed image, gone at the end with whatever took its place."""
    async with await Engine.connect() as engine:
        replica = await start_replica(engine, await place(engine, site, owner=OWNER, slot=0))
        watch = Watch.over(engine, replica, new=True)
        try:
            yield engine, watch
        finally:
            await watch.close()
            await engine.sweep(OWNER)


def reviews(watch: Watch, *, write: str | None = None) -> str:
    """The store's first page; a review is written before."""
    client = replica_client(watch.replica.site, watch.replica.endpoint)
    with origin_session(client) as session:
        if write is not None:
            session.post(client.url("/review/product/post/"), data={"detail": write}, timeout=10)
        return session.get(client.url("/"), timeout=10).text


async def test_an_original_image_is_loaded_baked_and_sealed_and_comes_back_by_a_new_container(
    archive: Path, tmp_path: Path
) -> None:
    async with Arena(sites=[sites_of(tmp_path, "webarena")]) as arena:
        done = await arena.sites.load(SHOP, archive)
        assert (done.outcome, bool(done.golden)) == (BuildOutcome.LOADED, True)
        site = arena.registry.site(SHOP)
    async with replica_of(site) as (engine, watch):
        assert await broken_confinement(engine, watch.replica) == ()
        client = replica_client(site, watch.replica.endpoint)
        cookies = await login(site, "customer", site.roles["customer"], client)
        assert [cookie.name for cookie in cookies] == ["PHPSESSID"]
        assert "of+the+agent" in reviews(watch, write="of the agent")
        reset = await reset_replica(engine, watch)
        assert (reset.receipt.strategy, reset.receipt.proof) == ("recreate", "image")
        assert "of+the+agent" not in reviews(reset.watch)
        # Nothing would show what a page that was only read has changed: no `clean`.
        again = await reset_replica(engine, reset.watch, wrote=False)
        assert again.receipt.strategy == "recreate"
        await again.watch.close()


@SLOW
async def test_an_original_image_is_pulled_from_a_registry_baked_and_sealed_once(
    tmp_path: Path,
) -> None:
    with local_registry(tmp_path) as address, references(address):
        name = f"{address}/webarena/shopping:0712"
        docker("build", "-q", "-t", name, str(STAND_IN))
        docker("push", "-q", name)
        docker("rmi", name)
        sites = sites_of(tmp_path, "webarena")
        manifest = sites / SHOP / "site.yaml"
        archive = "archive: shopping_final_0712.tar"
        manifest.write_text(manifest.read_text().replace(archive, f"published: {name}"))
        async with Arena(sites=[sites]) as arena:
            [done] = await arena.sites.pull([SHOP])
            site = arena.registry.site(SHOP)
        assert (done.outcome, bool(done.golden)) == (BuildOutcome.PULLED, True)
        async with replica_of(site) as (engine, watch):
            # Baked: the store answers under its own host, where its publisher's was before.
            assert "of+the+agent" in reviews(watch, write="of the agent")
            reset = await reset_replica(engine, watch)
            assert (reset.receipt.strategy, reset.receipt.proof) == ("recreate", "image")
            assert "of+the+agent" not in reviews(reset.watch)
            await reset.watch.close()
        # The same image again: nothing is baked or sealed, which takes the real ones minutes.
        async with Arena(sites=[sites]) as arena:
            [again] = await arena.sites.pull([SHOP])
        assert (again.outcome, again.golden) == (BuildOutcome.UNCHANGED, done.golden)
        # Sealed and published by somebody: taken as it is, and never for another site.
        docker("tag", TAG, f"{address}/sealed:1")
        docker("push", "-q", f"{address}/sealed:1")
        docker("rmi", f"{address}/sealed:1")
        manifest.write_text(manifest.read_text().replace(name, f"{address}/sealed:1"))
        async with Arena(sites=[sites]) as arena:
            [same] = await arena.sites.pull([SHOP])
        assert (same.outcome, same.golden) == (BuildOutcome.UNCHANGED, done.golden)
        other = sites / "webarena-reddit" / "site.yaml"
        archive = "archive: postmill-populated-exposed-withimg.tar"
        assert archive in other.read_text()
        other.write_text(other.read_text().replace(archive, f"published: {address}/sealed:1"))
        async with Arena(sites=[sites]) as arena:
            with pytest.raises(ImageError, match=f"sealed image of site '{SHOP}'"):
                await arena.sites.pull(["webarena-reddit"])


@SLOW
async def test_a_replica_whose_state_nobody_can_read_is_followed_by_a_warm_spare(
    archive: Path, tmp_path: Path
) -> None:
    async with Arena(sites=[sites_of(tmp_path, "webarena")]) as arena:
        await arena.sites.load(SHOP, archive)
        registry = arena.registry
    async with (
        await Engine.connect() as engine,
        SlotPool.open(engine, registry, [SHOP], OWNER, spares=1) as pool,
    ):
        used: set[str] = set()
        for _ in range(2):
            await pool.up()
            await until_ready(pool)
            ready = {one.id for one in await engine.containers({Labels.OWNER: OWNER})} - used
            async with pool.lease([SHOP]) as slot:
                replica = slot.replicas[SHOP]
                assert replica.container.id in ready
                assert len(ready) == 2
                [receipt] = slot.receipts
                assert (receipt.strategy, receipt.proof) == ("recreate", "image")
                watch = Watch.over(engine, replica, new=True)
                assert "of+the+agent" not in reviews(watch)
                assert "of+the+agent" in reviews(watch, write="of the agent")
                await watch.close()
                slot.wrote(SHOP)
                used.add(replica.container.id)
        await until_ready(pool)
        assert not used & {one.id for one in await engine.containers({Labels.OWNER: OWNER})}


@SLOW
async def test_a_slim_image_logs_its_roles_in_by_a_header(archive: Path, tmp_path: Path) -> None:
    async with Arena(sites=[sites_of(tmp_path, "webarena-verified")]) as arena:
        await arena.sites.load(SHOP, archive)
        site = arena.registry.site(SHOP)
    role = site.roles["customer"]
    async with replica_of(site) as (_, watch):
        client = replica_client(site, watch.replica.endpoint)
        cookies = await login(site, "customer", role, client)
        assert await is_logged_in(site, "customer", role, client, cookies)
        wrong = role.model_copy(update={"password": "Password.124"})
        with pytest.raises(LoginError, match="prove it on /customer/account/"):
            await login(site, "customer", wrong, client)


@SLOW
async def test_a_bake_that_never_succeeds_says_what_the_command_said(
    archive: Path, tmp_path: Path
) -> None:
    sites = sites_of(tmp_path, "webarena")
    manifest = sites / SHOP / "site.yaml"
    wrong = "{run: [/var/www/magento2/bin/magento, cache:flash], timeout_s: 1}"
    text = manifest.read_text()
    manifest.write_text(text.replace("run: [/var/www/magento2/bin/magento, cache:flush]", wrong))
    async with Arena(sites=[sites]) as arena:
        with pytest.raises(ImageError, match=r"cache:flash` did not succeed in 1 s; .*no commands"):
            await arena.sites.load(SHOP, archive)


async def test_a_file_that_is_no_image_is_refused_in_one_line(tmp_path: Path) -> None:
    sites = sites_of(tmp_path, "webarena")
    for name, content in (("text.tar", b"no archive"), ("empty.tar", b"")):
        (tmp_path / name).write_bytes(content)
    async with Arena(sites=[sites]) as arena:
        for name in ("text.tar", "empty.tar", "missing.tar"):
            with pytest.raises((InputError, ImageError), match=name) as refused:
                await arena.sites.load(SHOP, tmp_path / name)
            assert "\n" not in refused.value.message


def test_every_manifest_names_its_source_and_keeps_no_secret_of_ours(tmp_path: Path) -> None:
    for which in ("webarena", "webarena-verified"):
        registry = load_registry([sites_of(tmp_path, which)])
        assert not registry.broken
        assert len(registry.own) == 6
