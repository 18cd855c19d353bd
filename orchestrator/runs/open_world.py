"""One world, open: the replicas, staged origins and logins that all its episodes share."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from arena_core.cookie import Cookie
from arena_core.errors import LoginError
from arena_core.work_events import WorkEnded, WorkStep
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.session.tape_recorder import TapeRecorder
from orchestrator.gateway.live_limits import LiveMeters
from orchestrator.gateway.policy import Resolve
from orchestrator.gateway.tapes.hosts import SiteTape
from orchestrator.gateway.tapes.named import NamedTape
from orchestrator.runs.events import OnEvent, ProgressNote
from orchestrator.runs.starts import Starts
from orchestrator.runs.tapes import open_tapes
from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import OriginClient
from orchestrator.sandbox.logins import is_logged_in, is_logged_out, login, role_at
from orchestrator.sandbox.pool.pool_context import Phase, PoolEvent
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.staged_origins import StagedOrigins, staged_origins
from sites.registry import SiteRegistry
from sites.upstreams import LiveUpstream, OriginUpstream, StagedUpstream, Upstreams


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginLogins:
    """Roles logged in at live and staged origins.

    Attributes:
        resolves: where connections to their hosts go instead.
        ca_file: the authority of staged origins; None where none is staged.
        jars: the logins made so far, by site and role.
    """

    resolves: Sequence[Resolve] = ()
    ca_file: str | None = None
    jars: dict[tuple[str, str], tuple[Cookie, ...]] = field(default_factory=dict)

    def fresh(self) -> OriginLogins:
        """Return the same without a login made yet: a sign-out there ends none here."""
        return replace(self, jars={})

    async def cookies(self, upstream: OriginUpstream, role: str) -> tuple[Cookie, ...]:
        """Return the proven login of a role."""
        site, client, account = upstream.site, self.client(upstream), role_at(upstream, role)
        known = self.jars.get((site.name, role))
        if known is None or not await is_logged_in(site, role, account, client, known):
            known = await login(site, role, account, client)
            self.jars[site.name, role] = known
        return known

    async def is_logged_out(
        self, upstream: OriginUpstream, role: str, cookies: Sequence[Cookie]
    ) -> bool:
        """Whether the origin bars the role's page to whoever has these cookies.

        A page that cannot be fetched just now says nothing.
        """
        account, client = role_at(upstream, role), self.client(upstream)
        try:
            return await is_logged_out(upstream.site, role, account, client, cookies)
        except LoginError:
            return False

    def client(self, upstream: OriginUpstream) -> OriginClient:
        """Return how an origin is reached from here."""
        live = upstream.live
        elsewhere = next(
            (one.to for one in self.resolves if (one.host, one.port) == (live.host, live.port)),
            None,
        )
        address = Endpoint(elsewhere.host, elsewhere.port) if elsewhere else None
        match upstream:
            case LiveUpstream():
                return OriginClient(origin=upstream.origin, address=address)
            case StagedUpstream():
                return OriginClient(origin=upstream.origin, address=address, ca_file=self.ca_file)
            case _:
                assert_never(upstream)


Record = Callable[[OriginLogins, Upstreams], Awaitable[TapeRecorder]]
_NO_TAPES: Final[Mapping[str, NamedTape]] = {}
_LOG = logging.getLogger(__name__)
_TROUBLE = frozenset({Phase.LOST, Phase.FAILED})
_AT_WORK = frozenset({Phase.STARTING, Phase.RESETTING})


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSize:
    """How many episodes a world has room for, and what its replicas may take.

    Attributes:
        workers: episodes side by side.
        spares: warm replicas beyond the workers', of each site that holds state; None for what is
            thought best.
        memory_bytes: budget for all replicas; None for most of the machine.
        strategy: of resets between episodes.
    """

    workers: int = 1
    spares: int | None = None
    memory_bytes: int | None = None
    strategy: str = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorld:
    """What all episodes of one world share.

    Attributes:
        upstreams: what answers for each site that may be visited.
        browser: what each worker's browser is like.
        slot_pool: the replicas; None where no replica answers for any site.
        starts: the states that tasks set up on them; None without replicas.
        logins: how workers log in at live origins.
        resolves: where live hosts are sent elsewhere.
        live: what all of them together may ask of live hosts.
        tapes: what answers in place of live origins, by site.
        recorder: keeps what browsers get, for a tape; None where nothing does.
    """

    registry: SiteRegistry
    upstreams: Upstreams
    browser: BrowserOptions
    slot_pool: SlotPool | None
    starts: Starts | None
    logins: OriginLogins
    resolves: tuple[Resolve, ...]
    live: LiveMeters = field(default_factory=LiveMeters)
    tapes: Mapping[str, SiteTape] = field(default_factory=dict)
    recorder: TapeRecorder | None = None


@asynccontextmanager
async def open_world(
    engine: Engine,
    registry: SiteRegistry,
    upstreams: Upstreams,
    owner: str,
    *,
    size: WorldSize,
    on_event: OnEvent,
    resolves: Sequence[Resolve] = (),
    tapes: Mapping[str, NamedTape] = _NO_TAPES,
    browser: BrowserOptions,
    record: Record | None = None,
    asked: Mapping[str, int] | None = None,
) -> AsyncIterator[OpenWorld]:
    """Open a world: its replicas begin to start, its staged origins serve; all end with the block.

    Args:
        engine: where containers run.
        registry: the known sites.
        upstreams: what answers for each site that is visited.
        owner: what the containers are labelled with.
        size: how many episodes there is room for.
        on_event: called with what is started, and what goes wrong with a replica.
        resolves: where the user sends live hosts instead.
        tapes: by the site that each answers for.
        browser: how to start it; the key of staged origins or tapes is added.
        record: makes what keeps what browsers get, once it is known how origins are reached; None
            where nothing does.
        asked: by live host, how many requests an earlier process of the same run sent it.
    """

    def note(text: str) -> None:
        _LOG.info("%s", text)
        on_event(ProgressNote(text))

    async with AsyncExitStack() as stack:
        pool = await _pool(engine, registry, upstreams, owner, size, note, on_event, stack)
        staged = await _staged(engine, upstreams, owner, note, stack)
        opening = open_tapes(upstreams, tapes, registry.logical)
        taped, tape_spki = await stack.enter_async_context(opening)
        led = (*resolves, *(staged.resolves if staged else ()))
        logins = OriginLogins(resolves=led, ca_file=staged.ca_file if staged else None)
        yield OpenWorld(
            registry=registry,
            upstreams=upstreams,
            browser=replace(browser, trusted_spki=staged.spki if staged else tape_spki),
            slot_pool=pool,
            starts=None if pool is None else Starts(engine, registry, pool, note),
            logins=logins,
            resolves=led,
            live=LiveMeters.of(upstreams, asked),
            tapes=taped,
            recorder=None if record is None else await record(logins, upstreams),
        )


async def _pool(  # noqa: PLR0917 - the parts of `open_world`
    engine: Engine,
    registry: SiteRegistry,
    upstreams: Upstreams,
    owner: str,
    size: WorldSize,
    note: Callable[[str], None],
    on_event: OnEvent,
    stack: AsyncExitStack,
) -> SlotPool | None:
    world, replicas = upstreams.world, upstreams.replicas
    if not replicas:
        return None

    def on_pool_event(event: PoolEvent) -> None:
        """Pass on what a replica is at, and what went wrong with it as a note."""
        unit = f"{world} {event.replica}"
        if event.phase in _AT_WORK:
            on_event(WorkStep(unit, f"{event.phase} {event.detail}".rstrip()))
        else:
            on_event(WorkEnded(unit))
        if event.phase in _TROUBLE:
            note(f"{world}: {event.replica} {event.phase}: {event.detail}")

    note(f"{world}: starting {', '.join(replicas)}")
    pool = await stack.enter_async_context(
        SlotPool.open(
            engine,
            registry,
            replicas,
            owner,
            workers=size.workers,
            spares=size.spares,
            memory_bytes=size.memory_bytes,
            strategy=size.strategy,
            on_event=on_pool_event,
        )
    )
    note(f"{world}: {pool.capacity.summary()}")
    if engine.not_shut:
        why = f"containers could open connections: {engine.not_shut}"
        note(f"{world}: {why}; see arena doctor")
    pool.warm()
    return pool


async def _staged(
    engine: Engine,
    upstreams: Upstreams,
    owner: str,
    note: Callable[[str], None],
    stack: AsyncExitStack,
) -> StagedOrigins | None:
    if not upstreams.staged:
        return None
    names = ", ".join(one.site.name for one in upstreams.staged)
    note(f"{upstreams.world}: starting staged live origins of {names}")
    return await stack.enter_async_context(staged_origins(engine, upstreams.staged, owner))
