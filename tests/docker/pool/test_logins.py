from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from quick_cases import SLOW
from support.sites.kiosk_site import OWNER

from arena_core.errors import LoginError, UnknownNameError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import OriginClient
from orchestrator.sandbox.logins import (
    is_logged_in,
    is_logged_out,
    login,
    replica_client,
    role_of,
)
from orchestrator.sandbox.pool.slot import Slot
from orchestrator.sandbox.pool.slot_pool import SlotPool
from sites.accounts import Login, Role
from sites.manifest import Site
from sites.registry import SiteRegistry

pytestmark = pytest.mark.docker


@pytest.fixture
async def slot(engine: Engine, registry: SiteRegistry) -> AsyncIterator[Slot]:
    async with (
        SlotPool.open(engine, registry, ["kiosk"], OWNER) as slot_pool,
        slot_pool.lease(["kiosk"]) as leased,
    ):
        yield leased


def door_of(slot: Slot) -> OriginClient:
    replica = slot.replicas["kiosk"]
    return replica_client(replica.site, replica.endpoint)


async def attempt(slot: Slot, kiosk: Site, login_change: dict[str, object], **change: str) -> None:
    role = role_of(kiosk, "ada")
    changed = Login.model_validate({**role.login.model_dump(), **login_change})
    broken = Role.model_validate({**role.model_dump(), **change, "login": changed.model_dump()})
    await login(kiosk, "ada", broken, door_of(slot))


async def test_cookies_belong_to_the_sites_own_host(slot: Slot) -> None:
    cookies = {cookie.name: cookie for cookie in await slot.cookies("kiosk", "ada")}
    session = cookies["session"]
    assert (session.value, session.domain, session.path) == ("ada", "kiosk.arena.test", "/")
    assert session.http_only
    assert session.expires is not None
    assert not cookies["csrf"].http_only
    assert cookies["csrf"].expires is None


@SLOW
async def test_a_role_is_logged_in_once_and_only_proven_after_that(slot: Slot) -> None:
    first = await slot.cookies("kiosk", "grace")
    seen = await slot.query("kiosk", "SELECT last_seen FROM account WHERE name = 'grace'")
    assert await slot.cookies("kiosk", "grace") == first
    assert await slot.query("kiosk", "SELECT last_seen FROM account WHERE name = 'grace'") == seen


async def test_a_login_that_the_site_forgot_is_renewed(slot: Slot) -> None:
    first = await slot.cookies("kiosk", "ada")
    ready = slot._leased["kiosk"].ready
    ready.cookies["ada"] = tuple(cookie for cookie in first if cookie.name != "session")
    assert "session" in {cookie.name for cookie in await slot.cookies("kiosk", "ada")}


@SLOW
async def test_a_session_that_only_the_page_after_the_form_sets_is_found(slot: Slot) -> None:
    assert "session" in {cookie.name for cookie in await slot.cookies("kiosk", "grace")}


@SLOW
async def test_cookies_the_site_no_longer_knows_are_seen_as_such(slot: Slot, kiosk: Site) -> None:
    role, client = role_of(kiosk, "ada"), door_of(slot)
    cookies = await slot.cookies("kiosk", "ada")
    assert await is_logged_in(kiosk, "ada", role, client, cookies)
    assert not await is_logged_in(kiosk, "ada", role, client, ())


@SLOW
async def test_only_whom_the_site_sends_to_its_login_is_logged_out(slot: Slot, kiosk: Site) -> None:
    cookies = await slot.cookies("kiosk", "ada")
    assert not await slot.is_logged_out("kiosk", "ada", cookies)
    assert await slot.is_logged_out("kiosk", "ada", ())
    renamed = tuple(replace(cookie, value="countess") for cookie in cookies)
    assert not await is_logged_in(kiosk, "ada", role_of(kiosk, "ada"), door_of(slot), renamed)
    assert not await slot.is_logged_out("kiosk", "ada", renamed)


async def test_a_redirect_that_does_not_lead_to_the_login_proves_nothing(
    slot: Slot, kiosk: Site
) -> None:
    role = role_of(kiosk, "ada")
    elsewhere = role.model_copy(
        update={"login": role.login.model_copy(update={"path": "/another-login"})}
    )
    assert not await is_logged_out(kiosk, "ada", elsewhere, door_of(slot), ())


async def test_a_wrong_password_fails_at_the_proof_without_telling_it(
    slot: Slot, kiosk: Site
) -> None:
    with pytest.raises(LoginError, match=r"role 'ada'.*prove it on /me.*302 to /login") as caught:
        await attempt(slot, kiosk, {}, password="top-secret")
    assert "top-secret" not in caught.value.message


@SLOW
async def test_a_form_that_is_not_there_is_named(slot: Slot, kiosk: Site) -> None:
    with pytest.raises(LoginError, match=r"find form 'signin' on /login.*page 'Sign in - Kiosk'"):
        await attempt(slot, kiosk, {"form": "signin"})


@SLOW
async def test_a_refused_form_shows_the_pages_title(slot: Slot, kiosk: Site) -> None:
    fields = {"user": "ada", "pass": "x", "csrf": "forged"}
    with pytest.raises(LoginError, match=r"send the form to /login: got 403, page 'Forged'"):
        await attempt(slot, kiosk, {"fields": fields})


@SLOW
async def test_a_site_that_leads_elsewhere_is_not_followed(slot: Slot, kiosk: Site) -> None:
    with pytest.raises(LoginError, match=r"leads away from http://kiosk\.arena\.test"):
        await attempt(slot, kiosk, {"path": "/away"})


@SLOW
async def test_an_unknown_role_is_answered_with_those_there_are(slot: Slot) -> None:
    with pytest.raises(UnknownNameError, match="no role 'merchant'; there are: ada, grace"):
        await slot.cookies("kiosk", "merchant")
