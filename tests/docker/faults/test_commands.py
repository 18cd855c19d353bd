"""`arena up`, `arena reset` and `arena down`: killed, interrupted, and at the same time."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from mutations.golden import Golden
from mutations.subject import Accounts, Subject
from mutations.tables import used_ids
from quick_cases import SLOW, quick_first
from sabotage import apart
from sabotage.engine_cli import awaited_containers_of, containers_of, docker, volumes_of
from sabotage.inside import ambush
from sabotage.relay import Relay
from support.agents.arena_process import ArenaProcess, Ended
from support.runs.run_at import on_engine

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.replica import as_replica
from sites.manifest import Site

pytestmark = pytest.mark.docker

LIMIT_S: Final = 60.0
STATE: Final = "/srv/shop/state"
LARGE: Final = 20_000_000
USR1: Final = r"^POST \S+/kill\?signal=USR1"
CREATE: Final = r"^POST \S+/containers/create"
START: Final = r"^POST \S+/containers/\S+/start"
REMOVE: Final = r"^DELETE "
WAIT: Final = r"^POST \S+/wait"


class Apart:
    """An installation whose only site is the shop, and whose `arena up` is this test's own."""

    def __init__(
        self, owner: str, cwd: Path, site: Site, golden: Golden, accounts: Accounts
    ) -> None:
        self.owner = owner
        self._cwd = cwd
        self._site = site
        self._golden = golden
        self._accounts = accounts

    def start(self, *words: str) -> ArenaProcess:
        program = (sys.executable, apart.__file__, self.owner)
        return ArenaProcess(*words, cwd=self._cwd, program=program)

    def run(self, *words: str) -> Ended:
        with self.start(*words) as process:
            return process.wait(LIMIT_S)

    def down(self) -> Ended:
        return self.run("down", "--owner", self.owner)

    def upload(self) -> None:
        """Write a large file, which takes a moment to be read and to be written again."""
        [container] = containers_of(self.owner)
        docker("exec", container, "sh", "-c", f"head -c {LARGE} /dev/urandom >{STATE}/media/large")

    def spoil(self) -> None:
        """Use ids up, so that the one replica there is differs from golden."""
        self._with_subject(used_ids)

    def require_golden(self) -> None:
        """Check that there is one replica, and that it is like a fresh one."""
        self._with_subject(self._golden.holds)

    def _with_subject(self, work: Callable[[Subject], Awaitable[object]]) -> None:
        async def look(engine: Engine) -> None:
            [container_id] = containers_of(self.owner)
            container = await engine.container(container_id)
            assert container is not None
            placement = await place(engine, self._site, owner=self.owner, slot=0)
            await work(Subject(engine, as_replica(placement, container), self._accounts))

        on_engine(look)


@pytest.fixture
def arena(
    owner: str, tmp_path: Path, *, shop: Site, golden: Golden, accounts: Accounts, relay: Relay
) -> Apart:
    return Apart(owner, tmp_path, shop, golden, accounts)


@pytest.mark.parametrize("moment", quick_first([CREATE, START]), ids=["created", "started"])
def test_an_up_that_is_killed_half_way_is_made_good_by_the_next(
    arena: Apart, relay: Relay, moment: str
) -> None:
    with arena.start("up", "shop") as process:
        relay.on(moment, after=process.kill)
        assert process.wait(LIMIT_S).code == -9
    assert len(awaited_containers_of(arena.owner)) == 1
    again = arena.run("up", "shop")
    assert again.code == 0, again.err
    arena.require_golden()
    assert arena.down().code == 0


@SLOW
@pytest.mark.parametrize(
    ("strategy", "moment"),
    [("rewind", USR1), ("recreate", REMOVE)],
    ids=["rewound", "removed"],
)
def test_a_reset_that_is_killed_is_made_good_by_the_next(
    arena: Apart, relay: Relay, strategy: str, moment: str
) -> None:
    assert arena.run("up", "shop").code == 0
    arena.spoil()
    with arena.start("reset", "--strategy", strategy) as process:
        relay.on(moment, after=process.kill)
        assert process.wait(LIMIT_S).code == -9
    up = arena.run("up", "shop")
    assert up.code == 0, up.err
    again = arena.run("reset")
    assert again.code == 0, again.err
    assert "golden" in again.out
    arena.require_golden()
    assert arena.down().code == 0


@SLOW
@pytest.mark.parametrize(("strategy", "moment"), [("rewind", USR1), ("recreate", WAIT)])
def test_an_interrupted_reset_leaves_nothing_half_done(
    arena: Apart, relay: Relay, strategy: str, moment: str
) -> None:
    assert arena.run("up", "shop").code == 0
    arena.spoil()
    with arena.start("reset", "--strategy", strategy) as process:
        relay.on(moment, before=process.interrupt)
        ended = process.wait(LIMIT_S)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert "arena: interrupted" in ended.err
    assert arena.run("up", "shop").code == 0
    assert arena.run("reset").code == 0
    arena.require_golden()
    assert arena.down().code == 0


@SLOW
@pytest.mark.parametrize(
    ("command", "moment"), [("save", "stand"), ("restore", "copy"), ("restore", "start")]
)
def test_a_state_command_that_is_killed_leaves_a_site_that_goes_on_and_can_be_proven(
    arena: Apart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, moment: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert arena.run("up", "shop").code == 0
    arena.upload()
    assert arena.run("state", "save", "kept").code == 0
    name = "half" if command == "save" else "kept"
    if command == "restore":
        assert arena.run("reset").code == 0
    [container] = containers_of(arena.owner)
    struck = ambush(container, STATE, moment, "SIGCONT")  # which changes nothing
    with arena.start("state", command, name) as process:
        struck()
        process.kill()
        assert process.wait(LIMIT_S).code == -9
    states = [one["name"] for one in arena.run("state", "list", "--json").document]
    assert states == ["kept"]
    [restored] = arena.run("state", "restore", "kept", "--json").document
    assert restored["proven"]
    assert containers_of(arena.owner) == [container]
    again = arena.run("reset")
    assert again.code == 0, again.err
    arena.require_golden()
    assert arena.down().code == 0


@SLOW
def test_two_resets_of_one_site_at_the_same_time_both_end_golden(arena: Apart) -> None:
    assert arena.run("up", "shop").code == 0
    arena.spoil()
    with (
        arena.start("reset", "--strategy", "recreate") as one,
        arena.start("reset", "--strategy", "rewind") as other,
    ):
        ended = [one.wait(LIMIT_S), other.wait(LIMIT_S)]
    assert [one.code for one in ended] == [0, 0], [one.err for one in ended]
    arena.require_golden()
    assert arena.down().code == 0


@SLOW
def test_two_ups_at_the_same_time_start_one_replica(arena: Apart) -> None:
    with arena.start("up", "shop") as one, arena.start("up", "shop") as other:
        ended = [one.wait(LIMIT_S), other.wait(LIMIT_S)]
    assert [one.code for one in ended] == [0, 0], [one.err for one in ended]
    arena.require_golden()
    assert arena.down().code == 0


@SLOW
def test_a_down_beside_a_reset_leaves_nothing(arena: Apart, relay: Relay) -> None:
    assert arena.run("up", "shop").code == 0
    with ExitStack() as stack:
        down: list[ArenaProcess] = []
        relay.on(
            REMOVE,
            before=lambda: down.append(
                stack.enter_context(arena.start("down", "--owner", arena.owner))
            ),
        )
        reset = arena.run("reset", "--strategy", "recreate")
        assert reset.code == 0, reset.err
        assert down[0].wait(LIMIT_S).code == 0
    assert containers_of(arena.owner) == []


@SLOW
def test_down_removes_the_volume_of_a_container_that_somebody_removed(arena: Apart) -> None:
    assert arena.run("up", "shop").code == 0
    [container_id] = containers_of(arena.owner)
    docker("rm", "--force", container_id)
    assert len(volumes_of(arena.owner)) == 1
    assert arena.down().code == 0
    assert volumes_of(arena.owner) == []
