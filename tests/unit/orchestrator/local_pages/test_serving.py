"""A local page lets in whoever has its address, from its own address alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession, web

from arena_core.errors import PortTakenError, UsageError
from orchestrator.local_pages.serving import HEADER, serve_page

PACKAGES = ("orchestrator.local_pages.human", "orchestrator.authoring.recorder")


async def secret(_: web.Request) -> web.Response:
    return web.json_response({"said": "the secret"})


async def takes(request: web.Request) -> web.Response:
    return web.json_response({"bytes": len(await request.read())})


async def fails(_: web.Request) -> web.Response:
    raise UsageError("this cannot be", hint="try another")


ROUTES = (web.get("/secret", secret), web.post("/take", takes), web.get("/fail", fails))


@dataclass
class Visitor:
    client: ClientSession
    url: str

    @property
    def origin(self) -> str:
        return f"http://{urlsplit(self.url).netloc}"

    @property
    def token(self) -> str:
        return urlsplit(self.url).fragment

    async def asks(self, path: str, body: bytes | None = None, **headers: str) -> tuple[int, str]:
        method = "GET" if body is None else "POST"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        url = f"{self.origin}{path}"
        async with self.client.request(method, url, data=body, headers=named) as answer:
            return answer.status, await answer.text()


@pytest.fixture(params=PACKAGES)
async def visitor(request: pytest.FixtureRequest) -> AsyncIterator[Visitor]:
    page = serve_page(request.param, ROUTES, most_bytes=1000)
    async with page as url, ClientSession() as client:
        yield Visitor(client, url)


@pytest.mark.parametrize(
    "path", ["/secret", "/secret?token=", "/secret?token=wrong", "/secret?token=%ff", "/nowhere"]
)
async def test_whoever_lacks_the_token_is_told_nothing(visitor: Visitor, path: str) -> None:
    status, said = await visitor.asks(path)
    assert (status, "token" in said, "secret" in said) == (403, True, False)
    assert (await visitor.asks(path, X_Arena_Token="wrong"))[0] == 403


async def test_whoever_has_it_is_answered(visitor: Visitor) -> None:
    assert HEADER == "X-Arena-Token"
    assert (await visitor.asks("/secret", X_Arena_Token=visitor.token))[0] == 200
    assert (await visitor.asks(f"/secret?token={visitor.token}"))[0] == 200


async def test_what_changes_something_needs_it_in_a_header_that_no_form_can_send(
    visitor: Visitor,
) -> None:
    assert (await visitor.asks(f"/take?token={visitor.token}", b"x"))[0] == 403
    assert (await visitor.asks("/take", b"x", X_Arena_Token=visitor.token))[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "shop.arena.test"])
async def test_a_host_name_that_leads_here_from_elsewhere_is_refused(
    visitor: Visitor, host: str
) -> None:
    for path in ("/", "/secret"):
        assert (await visitor.asks(path, Host=host, X_Arena_Token=visitor.token))[0] == 403


async def test_another_page_is_refused_with_the_token_too(visitor: Visitor) -> None:
    for origin in ("http://shop.arena.test", "null", "http://127.0.0.1:1"):
        asked = await visitor.asks("/take", b"x", Origin=origin, X_Arena_Token=visitor.token)
        assert asked[0] == 403


@pytest.mark.parametrize("path", ["/", "/page.js", "/page.css", "/secret", "/nowhere"])
async def test_every_answer_forbids_scripts_that_are_not_the_pages(
    visitor: Visitor, path: str
) -> None:
    headers = {HEADER: visitor.token}
    async with visitor.client.get(f"{visitor.origin}{path}", headers=headers) as answer:
        policy, text = answer.headers["Content-Security-Policy"], await answer.text()
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in answer.headers
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "frame-ancestors 'none'" in policy
    assert visitor.token not in text
    assert "innerHTML" not in text


async def test_faults_are_one_line(visitor: Visitor) -> None:
    failed = await visitor.asks("/fail", X_Arena_Token=visitor.token)
    assert failed == (400, '{"error": "this cannot be (try another)"}')
    assert (await visitor.asks("/nowhere", X_Arena_Token=visitor.token))[0] == 404
    assert (await visitor.asks("/take", b"x" * 2000, X_Arena_Token=visitor.token))[0] == 413


async def test_a_port_that_is_in_use_is_named(visitor: Visitor) -> None:
    port = urlsplit(visitor.url).port or 0
    with pytest.raises(PortTakenError, match=str(port)):
        async with serve_page(PACKAGES[0], (), port=port, most_bytes=1):
            pass
