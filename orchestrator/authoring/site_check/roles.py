"""Roles: they log in, are known by their cookies alone, may and may not; and their API logins."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urljoin, urlsplit

import requests

from arena_core.cookie import Cookie
from arena_core.errors import LoginError
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from orchestrator.sandbox.logins import is_logged_in, login, replica_client, role_of
from orchestrator.sandbox.reset.replica import Replica
from sites.accounts import ApiLogin, PageWith, Role

_OK: Final = 200
_REFUSED: Final = frozenset({401, 403, 404})


async def broken_login(replica: Replica, name: str) -> tuple[str, ...]:
    """Return what is wrong with a role's login, with what it may open, and with what it may not."""
    site, role = replica.site, role_of(replica.site, name)
    client = replica_client(site, replica.endpoint)
    try:
        cookies = await login(site, name, role, client)
    except LoginError as failure:
        return (failure.message,)
    breaches = []
    if not await is_logged_in(site, name, role, client, cookies):
        breaches.append(f"role '{name}': is not known by its cookies on {role.proof.path}")
    if await is_logged_in(site, name, role, client, ()):
        breaches.append(f"role '{name}': {role.proof.path} knows it without its cookies")
    more = await asyncio.to_thread(lambda: tuple(_rights(client, name, role, cookies)))
    return (*breaches, *more)


async def broken_api(replica: Replica, name: str) -> tuple[str, ...]:
    """Return what is wrong with a role's API login; nothing where it has none."""
    api = role_of(replica.site, name).api
    if api is None:
        return ()
    client = replica_client(replica.site, replica.endpoint)
    return await asyncio.to_thread(lambda: tuple(_api(client, name, api)))


def _rights(
    client: OriginClient, name: str, role: Role, cookies: Sequence[Cookie]
) -> Iterator[str]:
    with origin_session(client) as session:
        for one in cookies:
            session.cookies.set(one.name, one.value, domain=one.domain, path=one.path)
        for page in role.may:
            answer = session.get(client.url(page.path), timeout=PAGE_TIMEOUT_S)
            if not _shows(answer, page):
                yield (
                    f"role '{name}' may open {page.path}, but it answers {answer.status_code}"
                    f" without '{page.contains}'"
                )
        for path in role.may_not:
            answer = session.get(client.url(path), timeout=PAGE_TIMEOUT_S, allow_redirects=False)
            if not _is_refusal(answer, role):
                yield f"role '{name}' may not open {path}, but it answers {answer.status_code}"


def _api(client: OriginClient, name: str, api: ApiLogin) -> Iterator[str]:
    path = api.proof.path
    wrong = api.model_copy(update={"secret": f"not {api.secret}"})
    answer = _ask(client, path, api)
    if not _shows(answer, api.proof):
        yield (
            f"role '{name}': {path} answers its API login with {answer.status_code},"
            f" without '{api.proof.contains}'"
        )
    for what, given in (("nobody", None), ("a wrong secret", wrong)):
        if _shows(_ask(client, path, given), api.proof):
            yield f"role '{name}': {path} tells {what} what only its API login may see"


def _ask(client: OriginClient, path: str, api: ApiLogin | None) -> requests.Response:
    with origin_session(client) as session:
        return session.get(
            client.url(path),
            headers=dict(api.headers()) if api else {},
            timeout=PAGE_TIMEOUT_S,
            allow_redirects=False,
        )


def _shows(answer: requests.Response, page: PageWith) -> bool:
    found = page.contains in answer.text or page.contains in html.unescape(answer.text)
    return answer.status_code == _OK and found


def _is_refusal(answer: requests.Response, role: Role) -> bool:
    if answer.is_redirect:
        to = urljoin(answer.url, answer.headers["Location"])
        return urlsplit(to).path == role.login.path
    return answer.status_code in _REFUSED
