"""Pages opened as everybody who may: whether they answer, and what looking changes."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

from arena_core.cookie import Cookie
from evaluators.changes import Change
from orchestrator.access.logins import login, replica_client, role_of
from orchestrator.contract.pages import broken_pages, starts_of
from orchestrator.delta.delta import delta_of
from orchestrator.engine.engine import Engine
from orchestrator.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from orchestrator.pool.acquiring import place
from orchestrator.reset.replica import Replica, start_replica
from sites.manifest import Site

_BAD: Final = 400


async def visit_as_everybody(replica: Replica) -> tuple[str, ...]:
    """Open the warm pages without a login, and as each role, and the pages that the role may open.

    Returns:
        Which of them answer with an error.

    Raises:
        LoginError: a role cannot log in.
    """
    site, client = replica.site, replica_client(replica.site, replica.endpoint)
    bad: list[str] = []
    for name in (None, *site.roles):
        role = role_of(site, name) if name else None
        cookies = await login(site, name, role, client) if name and role else ()
        paths = [*starts_of(replica), *(page.path for page in (role.may if role else ()))]
        bad += await asyncio.to_thread(_bad_answers, client, cookies, paths)
    return tuple(bad)


async def changes_by_visits(
    engine: Engine, site: Site, hosts: Collection[str], owner: str
) -> tuple[Change, ...]:
    """Return what differs from golden on a fresh replica that was only looked at.

    Every role logs in and opens its pages; without a login, the front page, three deeper ones and
    everything that these link to on the site are opened. The replica is gone afterwards.

    Args:
        engine: where it runs.
        site: with a sealed image.
        hosts: of all sites.
        owner: what its container is labelled with.

    Raises:
        ImageError: the site has no sealed image.
        SiteError: no replica of it becomes healthy, or a role cannot log in.
    """
    try:
        replica = await start_replica(engine, await place(engine, site, owner=owner, slot=0))
        await broken_pages(replica, hosts)
        await visit_as_everybody(replica)
        return (await delta_of(engine, replica)).changes
    finally:
        await engine.sweep(owner)


def _bad_answers(
    client: OriginClient, cookies: Sequence[Cookie], paths: Sequence[str]
) -> list[str]:
    bad = []
    with origin_session(client) as session:
        for one in cookies:
            session.cookies.set(one.name, one.value, domain=one.domain, path=one.path)
        for path in paths:
            status = session.get(client.url(path), timeout=PAGE_TIMEOUT_S).status_code
            if status >= _BAD:
                bad.append(f"{path} answers {status}")
    return bad
