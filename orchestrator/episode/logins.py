"""Whose doing it was that a role is no longer logged in: the agent's or the site's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from arena_core.cookie import Cookie
from arena_core.errors import LoginError
from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.episode.interfaces import EpisodeSession
from orchestrator.gateway import GatewayJournal
from sites.upstreams import (
    LiveUpstream,
    ReplicaUpstream,
    StagedUpstream,
    Upstream,
    is_visited_live,
)
from tasks.schema import Task


async def dropped_login(
    task: Task, environment: EpisodeEnvironment, journal: GatewayJournal, session: EpisodeSession
) -> str | None:
    """Say which login the site dropped in an episode that is over; None where none was.

    A login that the agent ended itself is no matter of the site's: it asked for one of the paths
    that its manifest lists as `login.ends`. A site without such paths is never blamed.

    Raises:
        LoginError: a replica does not answer.
        BrowserError: the browser does not.
    """
    if not task.roles:
        return None
    for name, role, cookies in await _held(task, session):
        upstream = environment.upstreams.of(name)
        login = upstream.roles[role].login if role in upstream.roles else None
        if login is None or not login.ends:
            continue
        if any(map(login.is_ended_by, _asked(upstream, journal, session))):
            continue
        if await environment.accounts.is_logged_out(name, role, cookies):
            return (
                f"site '{name}', role '{role}': the site dropped the login during the episode;"
                f" the agent asked for nothing that ends it ({', '.join(login.ends)})"
            )
    return None


def login_name(task: Task, site: str, role: str | None) -> str:
    """Return what the login of a role is called in the browser session; empty for the first."""
    return f"{site}: {role}" if (site, role) in task.further_roles else ""


def login_fault(environment: EpisodeEnvironment, error: LoginError) -> EpisodeFault:
    """Say what a login that failed makes of an episode, by what answers for the site."""
    upstream = environment.upstreams.by_site.get(error.site)
    is_live = upstream is not None and is_visited_live(upstream)
    reason = UnscoredReason.DRIFTED if is_live else UnscoredReason.INFRA
    return EpisodeFault(reason=reason, message=error.message)


async def _held(task: Task, session: EpisodeSession) -> list[tuple[str, str, tuple[Cookie, ...]]]:
    """Return every role of a task with the cookies of its context."""
    return [
        (site, role, await session.cookies(login_name(task, site, role)))
        for site in task.roles
        for role in task.roles_of(site)
    ]


def _asked(upstream: Upstream, journal: GatewayJournal, session: EpisodeSession) -> Iterator[str]:
    """Yield what was asked for; inside TLS only the browser sees it."""
    match upstream:
        case ReplicaUpstream():
            pass
        case LiveUpstream(live=live) | StagedUpstream(live=live):
            yield from session.asked_of(live.host)
        case _:
            assert_never(upstream)
    for one in journal.since(0):
        if one.site == upstream.site.name and one.refused is None:
            yield one.url
