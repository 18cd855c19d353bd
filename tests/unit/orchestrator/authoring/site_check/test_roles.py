from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest
from support.sites.standing_web import Answer, Web

from orchestrator.authoring.site_check.roles import broken_api, broken_login

LOGIN = {"path": "/login", "fields": {"user": "{username}", "pass": "{password}"}}
FORM = '<form method="post" action="/enter"><input name="user"><input name="pass" type="password">'
API = {
    "scheme": "header",
    "header": "X-Key",
    "secret": "key",
    "proof": {"path": "/api/me", "contains": "emma"},
}


def role(**more: object) -> dict[str, object]:
    emma = {
        "username": "emma",
        "password": "secret",
        "login": LOGIN,
        "proof": {"path": "/me", "contains": "emma"},
    }
    return {"roles": {"member": {**emma, **more}}}


def for_members(web: Web, path: str, body: str) -> None:
    """Put a page that sends whoever has no session to the login."""

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        if "session=emma" in request.headers.get("Cookie", ""):
            return Answer(body=body)
        return Answer(status=302, headers={"Location": "/login?next=/me"})

    web.answers[path] = answer


def site_with_login(web: Web) -> None:
    web.page("/login", FORM)
    headers = {"Set-Cookie": "session=emma; Path=/", "Location": "/me"}
    web.page("/enter", "", status=302, headers=headers)
    for_members(web, "/me", "signed in as emma")


async def test_a_role_that_is_what_its_manifest_says_has_no_breach(web: Web) -> None:
    site_with_login(web)
    for_members(web, "/notes", "my notes")
    web.page("/admin", "no", status=403)
    web.page("/others", "", status=302, headers={"Location": "/login"})
    more = {"may": [{"path": "/notes", "contains": "my notes"}], "may_not": ["/admin", "/others"]}
    assert await broken_login(web.replica(**role(**more)), "member") == ()


async def test_a_role_that_cannot_log_in_is_a_breach(web: Web) -> None:
    site_with_login(web)
    web.page("/enter", "wrong password")
    (breach,) = await broken_login(web.replica(**role()), "member")
    assert "site 'notes', role 'member': could not prove it on /me" in breach


async def test_a_proof_that_everybody_gets_is_a_breach(web: Web) -> None:
    site_with_login(web)
    web.page("/me", "emma wrote this")
    (breach,) = await broken_login(web.replica(**role()), "member")
    assert breach == "role 'member': /me knows it without its cookies"


async def test_a_page_that_the_role_should_get_and_does_not_is_a_breach(web: Web) -> None:
    site_with_login(web)
    web.page("/notes", "nothing here")
    more = {"may": [{"path": "/notes", "contains": "my notes"}]}
    (breach,) = await broken_login(web.replica(**role(**more)), "member")
    assert breach == "role 'member' may open /notes, but it answers 200 without 'my notes'"


@pytest.mark.parametrize(("status", "to"), [(200, ""), (302, "/"), (500, "")])
async def test_a_page_that_the_role_is_not_refused_is_a_breach(
    web: Web, status: int, to: str
) -> None:
    site_with_login(web)
    web.page("/admin", "welcome", status=status, headers={"Location": to} if to else {})
    (breach,) = await broken_login(web.replica(**role(may_not=["/admin"])), "member")
    assert breach == f"role 'member' may not open /admin, but it answers {status}"


def api_for(web: Web, *keys: str) -> None:
    """Put an API that tells who has one of some keys; an empty one is nobody's."""

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        if request.headers.get("X-Key", "") in keys:
            return Answer(body='{"user": "emma"}', kind="application/json")
        return Answer(status=401)

    web.answers["/api/me"] = answer


async def test_an_api_login_that_opens_what_nobody_else_gets_has_no_breach(web: Web) -> None:
    api_for(web, "key")
    assert await broken_api(web.replica(**role(api=API)), "member") == ()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (("other",), "/api/me answers its API login with 401"),
        (("key", ""), "/api/me tells nobody what only its API login may see"),
        (("key", "not key"), "/api/me tells a wrong secret what only its API login may see"),
    ],
)
async def test_an_api_login_that_opens_nothing_or_is_not_needed_is_a_breach(
    web: Web, keys: tuple[str, ...], said: str
) -> None:
    api_for(web, *keys)
    (breach,) = await broken_api(web.replica(**role(api=API)), "member")
    assert said in breach
