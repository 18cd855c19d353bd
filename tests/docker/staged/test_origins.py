from __future__ import annotations

import asyncio
import base64
import hashlib
import ssl

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from quick_cases import SLOW
from support.sites.kiosk_site import OWNER

from arena_core.errors import ImageError
from arena_core.worlds import World
from orchestrator.sandbox.engine.containers import Endpoint, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import OriginClient, origin_session
from orchestrator.sandbox.logins import login, role_at
from orchestrator.sandbox.staged_origins import StagedOrigins, staged_origins
from sites.manifest import Site
from sites.registry import SiteRegistry
from sites.upstreams import StagedUpstream

pytestmark = pytest.mark.docker


def upstreams(registry: SiteRegistry) -> tuple[StagedUpstream, ...]:
    return registry.upstreams(["kiosk"], World.ONLINE, staged=True).staged


def door_of(staged: StagedOrigins, *, trusting: bool = True) -> OriginClient:
    (resolve,) = staged.resolves
    address = Endpoint(resolve.to.host, resolve.to.port)
    ca_file = staged.ca_file if trusting else None
    return OriginClient(origin="https://www.kiosk.example", address=address, ca_file=ca_file)


def ask(client: OriginClient, path: str) -> str:
    with origin_session(client) as session:
        return session.get(client.url(path), timeout=10).text


async def test_a_staged_origin_answers_under_its_real_name_with_a_certificate_that_holds(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with staged_origins(engine, upstreams(registry), OWNER) as staged:
        assert staged.names == ("kiosk",)
        (resolve,) = staged.resolves
        assert (resolve.host, resolve.port, resolve.to.host) == (
            "www.kiosk.example",
            443,
            "127.0.0.1",
        )
        body = await asyncio.to_thread(ask, door_of(staged), "/")
        assert "asked as www.kiosk.example" in body
        with pytest.raises(requests.exceptions.SSLError):
            await asyncio.to_thread(ask, door_of(staged, trusting=False), "/")


@SLOW
async def test_roles_log_in_at_a_staged_origin_as_they_would_live(
    engine: Engine, registry: SiteRegistry, kiosk: Site
) -> None:
    async with staged_origins(engine, upstreams(registry), OWNER) as staged:
        role = role_at(upstreams(registry)[0], "ada")
        cookies = await login(kiosk, "ada", role, door_of(staged))
        assert {cookie.domain for cookie in cookies} == {"www.kiosk.example"}


async def test_the_servers_chain_ends_in_the_key_that_a_browser_is_told_to_trust(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with staged_origins(engine, upstreams(registry), OWNER) as staged:
        (container,) = await engine.containers({Labels.OWNER: OWNER, Labels.KIND: "staged"})
        served = await engine.execute(container.id, ("cat", "/etc/arena/tls/origin.crt"))
        leaf, authority = x509.load_pem_x509_certificates(served.stdout)
        assert leaf.issuer == authority.subject
        spki = authority.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        assert base64.b64encode(hashlib.sha256(spki).digest()).decode() == staged.spki
        ssl.create_default_context(cadata=staged.ca_pem.decode())


async def test_nothing_staged_stays_behind(engine: Engine, registry: SiteRegistry) -> None:
    async with staged_origins(engine, upstreams(registry), OWNER):
        assert await engine.containers({Labels.OWNER: OWNER}) != ()
    assert await engine.containers({Labels.OWNER: OWNER}) == ()


async def test_a_missing_staged_image_says_how_to_get_it(engine: Engine, kiosk: Site) -> None:
    assert kiosk.live is not None
    assert kiosk.live.staged is not None
    image = kiosk.live.staged.image.model_copy(update={"tag": "arena-test/no-such:1"})
    staged = kiosk.live.staged.model_copy(update={"image": image})
    live = kiosk.live.model_copy(update={"staged": staged})
    odd = SiteRegistry({"kiosk": kiosk.model_copy(update={"live": live})})
    with pytest.raises(ImageError, match="no-such") as caught:
        async with staged_origins(engine, upstreams(odd), OWNER):
            pass
    assert caught.value.hint == "arena pull kiosk --staged"
