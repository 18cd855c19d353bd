"""Accounts, databases and APIs of an episode: each question goes to what answers for the site."""

from __future__ import annotations

from typing import Any

import pytest

from arena_core.errors import ApiError, ArenaError, DatabaseError, UnknownNameError
from arena_core.worlds import World
from evaluators.changes import IgnoredChanges
from orchestrator.runs.environments import SiteAccess
from orchestrator.runs.open_world import OriginLogins
from orchestrator.sandbox.pool.slot import Slot
from sites.registry import load_registry

ATLAS = load_registry(())
ANSWERED = "answered by"


class Replicas:
    """A slot, as far as access to sites asks one."""

    async def cookies(self, site: str, *_: object) -> str:
        return f"{ANSWERED} the replica of {site}"

    async def is_logged_out(self, _site: str, _role: str, _cookies: object) -> bool:
        return True

    query = changes = ask_api = cookies

    async def marks(self) -> dict[str, object]:
        return {"forum": None}


class Origins:
    """Logins at live origins."""

    async def cookies(self, upstream: Any, _role: str) -> str:
        return f"{ANSWERED} {upstream.origin}"

    async def is_logged_out(self, _upstream: Any, _role: str, _cookies: object) -> bool:
        return False


def access(world: World, *, staged: bool = False) -> Any:
    upstreams = ATLAS.upstreams(["shop", "tools"], world, staged=staged)
    slot: Any = Replicas()
    logins: Any = Origins()
    return SiteAccess(upstreams=upstreams, slot=slot, logins=logins)


@pytest.mark.parametrize("staged", [False, True])
async def test_a_role_logs_in_at_what_answers_for_its_site(*, staged: bool) -> None:
    online, offline = access(World.ONLINE, staged=staged), access(World.OFFLINE)
    shop = ATLAS.site("shop")
    assert shop.live is not None
    assert await online.cookies("shop", "customer") == f"{ANSWERED} {shop.live.origin}"
    assert await offline.cookies("shop", "customer") == f"{ANSWERED} the replica of shop"
    for one in (online, offline):
        assert await one.cookies("tools", "emma") == f"{ANSWERED} the replica of tools"
    assert await offline.is_logged_out("shop", "customer", ())
    assert not await online.is_logged_out("shop", "customer", ())


async def test_a_replica_is_asked_for_rows_changes_and_its_api() -> None:
    offline, answer = access(World.OFFLINE), f"{ANSWERED} the replica of shop"
    assert await offline.query("shop", "SELECT 1") == answer
    assert await offline.changes("shop", IgnoredChanges()) == answer
    assert set(await offline.marks()) == {"forum"}
    role = next(name for name, role in ATLAS.site("shop").roles.items() if role.api)
    assert await offline.ask_api("shop", role, "/api/") == answer


@pytest.mark.parametrize("staged", [False, True])
async def test_what_a_live_site_cannot_answer_is_refused_by_its_kind_of_question(
    *, staged: bool
) -> None:
    online = access(World.ONLINE, staged=staged)
    for question in (online.query("shop", "SELECT 1"), online.changes("shop", IgnoredChanges())):
        with pytest.raises(DatabaseError, match="there is no database behind the live 'shop'"):
            await question
    with pytest.raises(ApiError, match="there is no API login behind the live 'shop'") as refused:
        await online.ask_api("shop", "customer", "/api/")
    assert not isinstance(refused.value, DatabaseError)
    assert "worlds" in refused.value.hint


async def test_a_site_of_no_task_is_answered_for_by_nothing() -> None:
    online = access(World.ONLINE)
    with pytest.raises(UnknownNameError, match="'wiki' is not visited here"):
        await online.query("wiki", "SELECT 1")


async def test_an_episode_without_replicas_has_an_empty_slot_and_no_marks() -> None:
    upstreams = ATLAS.upstreams(["shop"], World.ONLINE)
    slot = Slot(0, {})
    alone = SiteAccess(upstreams=upstreams, slot=slot, logins=OriginLogins())
    assert await alone.marks() == {}
    assert (slot.replicas, slot.receipts, await slot.lost()) == ({}, (), None)
    with pytest.raises(DatabaseError):
        await alone.query("shop", "SELECT 1")


def test_every_kind_of_refusal_ends_a_command_with_a_code_of_its_own() -> None:
    assert ApiError.exit_code != DatabaseError.exit_code
    assert issubclass(ApiError, ArenaError)


def test_an_episode_s_logins_end_none_of_another_worker_s() -> None:
    shared = OriginLogins(ca_file="authority.pem")
    shared.jars["shop", "customer"] = ()
    own = shared.fresh()
    assert (own.jars, own.ca_file) == ({}, "authority.pem")
    own.jars["shop", "merchant"] = ()
    assert set(shared.jars) == {("shop", "customer")}
