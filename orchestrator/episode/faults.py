"""What leaves an episode without a score: errors, dropped logins, live sites that let nobody in."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import assert_never

from arena_core.bugs import bug_in_words, is_bug, place_of
from arena_core.cookie import Cookie
from arena_core.errors import (
    ArenaError,
    BrowserError,
    EngineError,
    GatewayError,
    InputError,
    LoginError,
    ModelError,
    ReplayMissError,
    SiteError,
    SiteGoneError,
)
from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.episode.environment import EpisodeEnvironment, EpisodeSession
from orchestrator.gateway.journal import GatewayJournal
from orchestrator.gateway.taped import MISS_STATUS
from sites.upstreams import (
    LiveUpstream,
    ReplicaUpstream,
    StagedUpstream,
    TapeUpstream,
    Upstream,
    is_visited_live,
)
from tasks.schema import Task

_LOG = logging.getLogger(__name__)
# What bot walls, rate limits and regional bars answer with; a start page is open to everybody else.
_BARRED = frozenset({401, 403, 429, 451, 503})
_GONE = frozenset({404, 410})
_ERRORS_FROM = 400


async def dropped_login(
    task: Task, environment: EpisodeEnvironment, journal: GatewayJournal, session: EpisodeSession
) -> str | None:
    """Say which login the site dropped in an episode that is over; None where none was.

    A login that the agent ended itself does not count: it asked for one of the paths
    that its manifest lists as `login.ends`. A site without such paths is never blamed.
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
    upstream = environment.upstreams.by_site.get(error.site)
    is_live = upstream is not None and is_visited_live(upstream)
    if is_live and not error.is_unanswered:
        return EpisodeFault(reason=UnscoredReason.DRIFTED, message=error.message)
    silent = error.site if is_live else None
    return EpisodeFault(reason=UnscoredReason.INFRA, message=error.message, unreachable=silent)


async def _held(task: Task, session: EpisodeSession) -> list[tuple[str, str, tuple[Cookie, ...]]]:
    return [
        (site, role, await session.cookies(login_name(task, site, role)))
        for site in task.roles
        for role in task.roles_of(site)
    ]


def _asked(upstream: Upstream, journal: GatewayJournal, session: EpisodeSession) -> Iterator[str]:
    """Yield what was asked for; inside TLS only the browser sees it."""
    match upstream:
        case ReplicaUpstream() | TapeUpstream():
            pass
        case LiveUpstream(live=live) | StagedUpstream(live=live):
            yield from session.asked_of(live.host)
        case _:
            assert_never(upstream)
    for one in journal.since(0):
        if one.site == upstream.site.name and one.refused is None:
            yield one.url


def fault_of(error: Exception, environment: EpisodeEnvironment) -> EpisodeFault | None:
    """Return what an error makes of an episode; None if it is neither a fault nor a bug."""
    if isinstance(error, LoginError):
        return login_fault(environment, error)
    if is_bug(error):
        _LOG.error("a bug broke the episode off", exc_info=error)
        message, place = bug_in_words(error), place_of(error)
        return EpisodeFault(reason=UnscoredReason.INTERNAL, message=message, place=place)
    reason = _reason(error)
    if reason is None or not isinstance(error, ArenaError):
        return None
    _LOG.debug("what broke the episode off", exc_info=error)
    silent = error.live_site if isinstance(error, SiteGoneError) else None
    return EpisodeFault(reason=reason, message=error.message, unreachable=silent)


def _reason(error: Exception) -> UnscoredReason | None:
    match error:
        case InputError():
            # The task does not fit its sites, and only playing it showed that.
            return UnscoredReason.CHECK_ERROR
        case ReplayMissError():
            return UnscoredReason.REPLAY_MISS
        case ModelError(is_permanent=False):
            return UnscoredReason.INFRA
        case SiteError() | EngineError() | GatewayError() | BrowserError():
            return UnscoredReason.INFRA
        case _:
            return None


def start_fault(
    environment: EpisodeEnvironment, answers: Iterable[tuple[str, int | None]]
) -> EpisodeFault | None:
    """Return why a start page did not let the episode in; None where all did.

    Only start pages are looked at: what an agent runs into later may be its own doing, and is
    judged with all that it left, see `evaluators.barred_sites`.
    """
    for url, status in answers:
        if status is None or status < _ERRORS_FROM:
            continue
        is_live = _is_live(url, environment)
        if _is_taped(url, environment) and status == MISS_STATUS:
            message = f"the start page {url} is not on the site's tape"
            return EpisodeFault(reason=UnscoredReason.TAPE_MISS, message=message)
        if is_live and status in _BARRED:
            message = f"the live site answered {status} to the start page {url}"
            return EpisodeFault(reason=UnscoredReason.BLOCKED, message=message)
        if is_live and status in _GONE:
            message = f"the start page {url} is gone from the live site ({status})"
            return EpisodeFault(reason=UnscoredReason.DRIFTED, message=message)
        logical = environment.registry.logical(url) or url
        message = f"the start page {logical} answered {status}: there is nothing to play on"
        return EpisodeFault(reason=UnscoredReason.NOT_FOUND_AT_START, message=message)
    return None


def _is_taped(url: str, environment: EpisodeEnvironment) -> bool:
    name, _, _ = (environment.registry.logical(url) or "").partition(":")
    return isinstance(environment.upstreams.by_site.get(name), TapeUpstream)


def _is_live(url: str, environment: EpisodeEnvironment) -> bool:
    """Whether a start page is at a live origin, or was led away to a host of no site."""
    name, _, _ = (environment.registry.logical(url) or "").partition(":")
    upstreams = environment.upstreams.by_site
    return any(map(is_visited_live, [upstreams[name]] if name in upstreams else upstreams.values()))
