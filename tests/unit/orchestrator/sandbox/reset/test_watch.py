"""A watch over a replica whose supervisor is a real server; databases: tests/docker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import cast

import pytest
from support.sites.supervisor_server import Question, SupervisorServer, TokenEngine, supervisor

from arena_core.errors import ResetError, SiteGoneError
from orchestrator.sandbox.engine.containers import Container, Endpoint
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.ladder import reset_replica, strategies_for
from orchestrator.sandbox.reset.replica import Placement, Replica
from orchestrator.sandbox.reset.state import (
    ROWS_ELSEWHERE,
    FileState,
    Fingerprint,
    ObjectState,
    TakenState,
)
from orchestrator.sandbox.reset.strategies import Clean, Rewind
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site

SITE = Site.model_validate(
    {
        "name": "shelf",
        "title": "Shelf",
        "summary": "files only",
        "host": "shelf.arena.test",
        "stateful": True,
        "image": {"tag": "arena-test/shelf:1", "published": "unused"},
        "port": 8000,
        "health": {"path": "/", "contains": "ready"},
        "resources": {"memory_mb": 64, "cpus": 1.0, "pids": 16},
        "state": {"folder": "/f", "port": 9009},
        "fingerprint": {"files": ["/f/media"]},
    }
)
PICTURE = FileState(path="/f/media/p.png", kind="f", mode="644", owner="1:1", content="aa")
GOLDEN = Fingerprint(files=(PICTURE,))
NO_ENGINE = cast("Engine", TokenEngine())


@dataclass(frozen=True, slots=True)
class Sealed:
    state: Fingerprint

    @property
    def digest(self) -> str:
        return self.state.digest

    async def parts(self) -> Fingerprint:
        return self.state


@dataclass
class Shelf:
    """A folder of one file, as its supervisor describes it."""

    picture: FileState = PICTURE
    scratch: tuple[FileState, ...] = ()
    stamp: str = "s1"
    asked: list[str] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None

    def answer(self, question: Question) -> object:
        self.asked.append(str(question["ask"]))
        if question["ask"] == "stamp":
            return {"ask": "stamp", "stamp": self.stamp}
        if question["ask"] == "scratch":
            return {"ask": "scratch", "files": [asdict(entry) for entry in self.scratch]}
        self.meanwhile()
        return {"ask": "files", "files": [asdict(self.picture)]}


@asynccontextmanager
async def watched(
    shelf: Shelf, *, new: bool = True
) -> AsyncIterator[tuple[SupervisorServer, Watch]]:
    async with supervisor(shelf.answer) as server:
        port = {8000: server.endpoint, 9009: server.endpoint}
        replica = Replica(
            placement=Placement(site=SITE, image_id="i", golden=Sealed(GOLDEN), owner="test"),
            container=Container(
                id="c",
                name="shelf",
                image_id="i",
                labels={},
                state="running",
                exit_code=None,
                ports=port,
            ),
            endpoint=server.endpoint,
            database=None,
            supervisor=server.endpoint,
        )
        watch = Watch.over(NO_ENGINE, replica, new=new)
        try:
            yield server, watch
        finally:
            await watch.close()


async def test_what_was_never_proven_is_not_known_to_be_golden() -> None:
    async with watched(Shelf()) as (server, watch):
        assert await watch.moved() == "it was not proven golden before"
        assert server.lines == []


async def test_a_golden_state_stands_until_a_stamp_moves() -> None:
    shelf = Shelf()
    async with watched(shelf) as (_, watch):
        assert (await watch.prove()).digest == GOLDEN.digest
        assert await watch.moved() is None
        shelf.stamp = "s2"
        assert await watch.moved() == "a stateful or scratch file was changed"


async def test_what_was_proven_of_one_target_says_nothing_of_another() -> None:
    taken = TakenState(
        site="shelf",
        image_id="i",
        packed=b"blocks",
        fingerprint=Fingerprint(files=(replace(PICTURE, content="bb"),)),
    )
    shelf = Shelf()
    async with watched(shelf) as (_, watch):
        await watch.prove()
        assert await watch.moved() is None
        watch.aim(taken)
        assert watch.golden is None
        assert await watch.moved() == "it was not proven golden before"
        assert (await watch.prove()).differences(taken.fingerprint) == (
            "file /f/media/p.png: other content",
        )
        assert watch.golden is None
        shelf.picture = replace(PICTURE, content="bb")
        await watch.prove()
        assert await watch.moved() is None
        watch.aim(None)
        await watch.prove()
        assert watch.golden is None


@pytest.mark.parametrize(("knows", "expected"), [(True, 1), (False, 0)])
async def test_rows_of_other_schemas_are_read_where_the_target_knows_them(
    monkeypatch: pytest.MonkeyPatch, *, knows: bool, expected: int
) -> None:
    found = ObjectState(ROWS_ELSEWHERE, "mysql", "sum")
    asked: list[object] = []

    async def rows(*told: object) -> tuple[ObjectState, ...]:
        asked.append(told)
        return (found,)

    monkeypatch.setattr("orchestrator.sandbox.reset.watch.rows_elsewhere", rows)
    fingerprint = GOLDEN.with_objects((found,)) if knows else GOLDEN
    taken = TakenState(site="shelf", image_id="i", packed=b"blocks", fingerprint=fingerprint)
    async with watched(Shelf()) as (_, watch):
        await watch.prove()
        assert not asked  # golden does not know them
        watch.aim(taken)
        assert (await watch.prove()).digest == taken.digest
    assert len(asked) == expected


async def test_a_file_in_a_scratch_folder_that_no_image_starts_with_is_not_golden() -> None:
    shelf = Shelf(scratch=(replace(PICTURE, path="/run/shelf/lock"),))
    async with watched(shelf) as (_, watch):
        state = await watch.prove()
        assert state.differences(GOLDEN) == ("scratch /run/shelf/lock: new",)
        assert state.digest != GOLDEN.digest
        assert watch.golden is None


async def test_a_state_that_is_not_golden_is_no_baseline() -> None:
    shelf = Shelf(picture=replace(PICTURE, content="bb"))
    async with watched(shelf) as (_, watch):
        assert (await watch.prove()).digest != GOLDEN.digest
        assert await watch.moved() is not None
        assert watch.golden is None


async def test_a_write_while_the_state_is_read_counts_as_moved_until_it_is_read_in_peace() -> None:
    shelf = Shelf()
    stamps = iter(f"w{number}" for number in range(100))

    def write() -> None:
        shelf.stamp = next(stamps)

    shelf.meanwhile = write
    async with watched(shelf) as (_, watch):
        await watch.prove()
        assert shelf.asked.count("files") == 2
        assert (await watch.glance()).moved == "a stateful or scratch file was changed"
        shelf.meanwhile = lambda: None
        await watch.prove(own_writes=True)
        assert await watch.moved() is None


async def test_a_state_that_looks_golden_is_no_baseline_where_writes_are_not_accounted_for() -> (
    None
):
    """A trigger, a grant, another schema: the state that is read shows none of them."""
    async with watched(Shelf(), new=False) as (_, watch):
        assert (await watch.prove()).digest == GOLDEN.digest
        assert watch.golden is None
        with pytest.raises(
            ResetError,
            match="not clean: possible only where no request that may write was seen since",
        ):
            await reset_replica(NO_ENGINE, watch, strategies=strategies_for("clean"), wrote=False)
        with pytest.raises(
            ResetError,
            match="not clean: possible only where no request that may write was seen since",
        ):
            await reset_replica(
                NO_ENGINE, watch, strategies=strategies_for("clean"), wrote=False, look_before=True
            )


@pytest.mark.parametrize("looks", [0, 1])
async def test_what_moved_and_looks_golden_again_is_no_baseline(looks: int) -> None:
    shelf = Shelf()
    async with watched(shelf) as (_, watch):
        await watch.prove()
        shelf.stamp = "s2"
        for _ in range(looks):
            assert await watch.moved() is not None
        await watch.prove()
        assert watch.golden is None
        with pytest.raises(
            ResetError,
            match="not clean: possible only where no request that may write was seen since",
        ):
            await reset_replica(NO_ENGINE, watch, strategies=strategies_for("clean"), wrote=False)


async def _nothing() -> None:
    """Do nothing beside the reading."""


async def test_a_state_that_is_taken_does_not_hide_what_was_written_before() -> None:
    """The state that is read does not show everything: nobody may call it clean afterwards."""
    shelf = Shelf()
    async with watched(shelf) as (_, watch):
        await watch.prove()
        shelf.stamp = "s2"
        await watch.read(_nothing)
        await watch.prove()
        assert watch.golden is None


async def test_what_a_login_of_ours_moved_is_accounted_for() -> None:
    shelf = Shelf()
    async with watched(shelf) as (_, watch):
        await watch.prove()
        shelf.stamp = "s2"
        assert await watch.moved() is not None
        await watch.prove(own_writes=True)
        assert await watch.moved() is None


async def test_after_a_restore_what_is_proven_is_a_baseline_again() -> None:
    async with watched(Shelf(), new=False) as (_, watch):
        await watch.restored()
        await watch.prove()
        assert await watch.moved() is None


async def test_a_site_without_state_needs_no_baseline() -> None:
    async with watched(Shelf(), new=False) as (_, watch):
        site = SITE.model_copy(update={"stateful": False})
        placement = replace(watch.replica.placement, site=site)
        idle = Watch.over(NO_ENGINE, replace(watch.replica, placement=placement))
        await idle.prove()
        assert await idle.moved() is None
        await idle.close()


async def test_one_write_while_the_state_is_read_makes_it_be_read_again() -> None:
    shelf = Shelf()

    def once() -> None:
        shelf.stamp = "s2"
        shelf.meanwhile = lambda: None

    shelf.meanwhile = once
    async with watched(shelf) as (_, watch):
        await watch.prove()
        assert await watch.moved() is None


async def test_a_generation_that_nobody_asked_for_is_a_move() -> None:
    async with watched(Shelf()) as (server, watch):
        await watch.prove()
        server.tell(2)
        await (await watch.supervision()).stamp()
        assert await watch.moved() == "it was rewound: generation 2, not 1"


async def test_a_rewind_under_way_is_a_move() -> None:
    async with watched(Shelf()) as (server, watch):
        await watch.prove()
        server.tell(1, "rewinding")
        moved = await watch.moved()
        assert moved is not None
        assert "is being rewound" in moved


async def test_a_lost_connection_is_a_move_even_when_it_comes_back() -> None:
    async with watched(Shelf()) as (server, watch):
        await watch.prove()
        server.hang_up()
        moved = await watch.moved()
        assert moved is not None
        assert "closed the connection" in moved
        await watch.supervision()
        assert await watch.moved() == "it was not proven golden before"


async def test_after_a_restore_nothing_is_known() -> None:
    async with watched(Shelf()) as (_, watch):
        await watch.prove()
        await watch.restored()
        assert await watch.moved() is not None


async def test_clean_is_proven_by_counters_and_reads_nothing_else() -> None:
    shelf = Shelf()
    async with watched(shelf) as (_, watch):
        await watch.prove()
        shelf.asked.clear()
        done = await reset_replica(NO_ENGINE, watch, wrote=False)
        receipt = done.receipt
        assert (receipt.strategy, receipt.proof, receipt.fallbacks) == ("clean", "counters", ())
        assert receipt.before == receipt.after == receipt.golden == GOLDEN.digest
        assert set(shelf.asked) == {"stamp"}
        assert done.watch is watch


async def test_a_forced_clean_refuses_a_dirty_replica_and_leaves_it_alone() -> None:
    shelf = Shelf()
    async with watched(shelf) as (_, watch):
        await watch.prove()
        shelf.stamp = "s2"
        with pytest.raises(
            ResetError, match="not clean: a stateful or scratch file was changed; the replica"
        ):
            await reset_replica(NO_ENGINE, watch, strategies=strategies_for("clean"), wrote=False)


async def test_a_forced_clean_refuses_where_a_write_was_seen() -> None:
    async with watched(Shelf()) as (_, watch):
        await watch.prove()
        with pytest.raises(ResetError, match="not clean: possible only where no request"):
            await reset_replica(NO_ENGINE, watch, strategies=(Clean(),), wrote=True)


async def test_a_forced_rewind_refuses_an_image_without_a_supervisor() -> None:
    async with watched(Shelf()) as (_, watch):
        plain = Watch.over(NO_ENGINE, replace(watch.replica, supervisor=None))
        with pytest.raises(ResetError, match="not rewind: possible only where its image"):
            await reset_replica(NO_ENGINE, plain, strategies=(Rewind(),))


async def test_a_replica_whose_supervisor_is_gone_cannot_be_proven() -> None:
    async with watched(Shelf()) as (_, watch):
        gone = replace(watch.replica, supervisor=Endpoint("127.0.0.1", 1))
        with pytest.raises(SiteGoneError, match="cannot be reached"):
            await Watch.over(NO_ENGINE, gone).prove()
