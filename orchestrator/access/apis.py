"""Questions to a replica's API, asked as a program with the login of a role."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import requests

from arena_core.errors import ApiError
from orchestrator.access.logins import replica_client, role_of
from orchestrator.engine.origin_client import PAGE_TIMEOUT_S, fetch

if TYPE_CHECKING:
    from orchestrator.reset.replica import Replica
    from sites.accounts import ApiLogin

_HEADERS: Final = {"Accept": "application/json, */*;q=0.5", "User-Agent": "Arena checks"}


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """What an API answered: redirects are not followed, for they may lead to a login page."""

    status: int
    body: str


async def ask_api(replica: Replica, role: str, path: str) -> ApiAnswer:
    """GET a path of a replica with a role's API login, past any gateway: nothing is counted.

    Args:
        replica: whose API.
        role: one with `api` in the site's manifest.
        path: path and query.

    Raises:
        ApiError: the role has no API login, or the replica did not answer.
        UnknownNameError: no such role.
    """
    login = role_of(replica.site, role).api
    if login is None:
        message = f"site '{replica.site.name}', role '{role}': its manifest has no `api` login"
        raise ApiError(message)
    return await asyncio.to_thread(_get, replica, login, path)


def _get(replica: Replica, login: ApiLogin, path: str) -> ApiAnswer:
    client = replica_client(replica.site, replica.endpoint)
    headers = {**_HEADERS, **login.headers()}
    try:
        answer = fetch(client, path, timeout_s=PAGE_TIMEOUT_S, headers=headers)
    except requests.RequestException as cause:
        message = f"site '{replica.site.name}': GET {path} of its API failed: {cause}"
        raise ApiError(message) from cause
    return ApiAnswer(answer.status, answer.text)
