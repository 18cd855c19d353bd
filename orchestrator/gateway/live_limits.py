"""What a run may ask of live hosts, and what each of them got from an episode.

A gateway cannot count requests inside TLS, so the browser session asks here before each of them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from evaluators.evidence import HostUse
from orchestrator.gateway.conversation import RequestPacer
from sites.manifest import Live
from sites.upstreams import LiveUpstream, Upstreams

TOO_MANY_REDIRECTS: Final = "ERR_TOO_MANY_REDIRECTS"
_MINUTE_S: Final = 60.0
_TOO_MANY: Final = 429
_CLIENT_ERRORS: Final = range(400, 500)
_SERVER_ERRORS: Final = range(500, 600)


class LiveMeter:
    """What all episodes of a run together may ask of one live host, as its manifest says.

    Args:
        asked: how many requests the run has sent it before.
    """

    def __init__(self, live: Live, asked: int = 0) -> None:
        rate = live.requests_per_minute
        self.host = live.host
        self.identify = live.identify or ""
        self.room = None if live.concurrency is None else asyncio.Semaphore(live.concurrency)
        self._pacer = RequestPacer(_MINUTE_S, burst=rate) if rate else None
        self._quota = live.quota
        self._asked = asked

    @property
    def is_asked_first(self) -> bool:
        """Whether a request to the host must not be sent without `admit`, or as it is."""
        return bool(self._pacer or self._quota is not None or self.identify)

    async def admit(self) -> str | None:
        """Wait for a request's turn; why it may not be sent, None where it may."""
        if self._quota is not None and self._asked >= self._quota:
            return f"the run's quota of {self._quota} requests to {self.host} is used up"
        self._asked += 1
        if self._pacer is not None:
            await self._pacer.turn()
        return None


@dataclass(frozen=True, slots=True)
class LiveMeters:
    """The meters of all live hosts that a run visits, by the names of their sites."""

    by_site: Mapping[str, LiveMeter] = field(default_factory=dict)

    @classmethod
    def of(cls, upstreams: Upstreams, asked: Mapping[str, int] | None = None) -> LiveMeters:
        """Return meters that go on from what each host was asked before; staged ones have none."""
        before = asked or {}
        found = [one for one in upstreams.by_site.values() if isinstance(one, LiveUpstream)]
        meters = {one.site.name: LiveMeter(one.live, before.get(one.live.host, 0)) for one in found}
        return cls(meters)

    @asynccontextmanager
    async def room_for(self, sites: Iterable[str]) -> AsyncIterator[None]:
        """Wait until one more episode may visit each of these sites, and hold its place."""
        async with AsyncExitStack() as held:
            for name in sorted(sites):  # in one order, so that two never wait for each other
                meter = self.by_site.get(name)
                if meter is not None and meter.room is not None:
                    await held.enter_async_context(meter.room)
            yield


@dataclass(frozen=True, slots=True)
class BrokenPage:
    """A page of a live site that could not be loaded whole, and why."""

    site: str
    url: str
    why: str

    @property
    def is_circle(self) -> bool:
        """Whether it leads back to itself without end: an agent may have asked for that."""
        return self.why == TOO_MANY_REDIRECTS


@dataclass(slots=True)
class _Tally:
    """What one host got, so far."""

    requests: int = 0
    received: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    stopped: int = 0
    loads: deque[float] = field(default_factory=deque)
    busiest: int = 0


class LiveUse:
    """What one episode asks of live hosts: within the limits of its run, and counted.

    Args:
        meters: of the episode's live sites.
        hosts: all live hosts, by each the site that it is; None of a third party.

    Attributes:
        refused: why the run's limits refused a request of the episode; None where they did not.
        broken: the first page of a live site that could not be loaded whole; None where all were.
    """

    def __init__(
        self, meters: Iterable[LiveMeter] = (), hosts: Mapping[str, str | None] | None = None
    ) -> None:
        self._meters = {meter.host: meter for meter in meters}
        self._sites = {} if hosts is None else dict(hosts)
        self._tallies = {host: _Tally() for host in sorted({*self._meters, *self._sites})}
        self._held_back = Counter[tuple[str, str]]()
        self.refused: str | None = None
        self.broken: BrokenPage | None = None

    @property
    def counts(self) -> bool:
        """Whether the episode visits anything live."""
        return bool(self._tallies)

    @property
    def asks_first(self) -> bool:
        return any(meter.is_asked_first for meter in self._meters.values())

    def is_asked_first(self, url: str) -> bool:
        """Whether a URL's request must not be sent without `admit`, or as it is."""
        meter = self._meters.get(_host(url))
        return meter is not None and meter.is_asked_first

    async def admit(self, method: str, url: str) -> str | None:
        """Wait for a request's turn; why it may not be sent, None where it may."""
        meter = self._meters.get(_host(url))
        why = None if meter is None else await meter.admit()
        if why is not None:
            self._held_back[method, _bare(url)] += 1
            self.refused = self.refused or why
        return why

    def user_agent(self, url: str, own: str) -> str | None:
        """Return how a request names its sender where its site's manifest adds to that."""
        meter = self._meters.get(_host(url))
        return f"{own} {meter.identify}" if meter is not None and meter.identify else None

    def stopped(self, method: str, url: str) -> None:
        """Count a write that was not sent, and whose answer is none of the host's."""
        self._held_back[method, _bare(url)] += 1
        if (tally := self._tallies.get(_host(url))) is not None:
            tally.stopped += 1

    def ended(self, method: str, url: str, status: int | None) -> bool:
        """Count a request that was answered or broke off; False for one that was not sent."""
        place = (method, _bare(url))
        if self._held_back[place]:
            self._held_back[place] -= 1
            return False
        tally = self._tallies.get(_host(url))
        if tally is None:
            return False
        tally.requests += 1
        if status is not None:
            tally.statuses[status] += 1
        return True

    def loaded(self, url: str) -> None:
        """Count a page that a tab got, whatever its status."""
        tally = self._tallies.get(_host(url))
        if tally is None:
            return
        now = time.monotonic()
        tally.loads.append(now)
        while tally.loads[0] <= now - _MINUTE_S:
            tally.loads.popleft()
        tally.busiest = max(tally.busiest, len(tally.loads))

    def pages_per_minute(self, host: str) -> int:
        """Return the most pages that tabs got from a host within any minute."""
        return self._tallies[host].busiest if host in self._tallies else 0

    def broke(self, url: str, why: str) -> None:
        """Note that a page could not be loaded whole, in the browser's words; the first stands."""
        site = self._sites.get(_host(url))
        if site is not None and self.broken is None:
            self.broken = BrokenPage(site, url, why)

    def received(self, url: str, size: int) -> None:
        if (tally := self._tallies.get(_host(url))) is not None:
            tally.received += size

    def hosts(self) -> tuple[HostUse, ...]:
        """Return what each host got; hosts that got nothing are left out."""
        return tuple(
            HostUse(
                host=host,
                requests=tally.requests,
                bytes=tally.received,
                writes_stopped=tally.stopped,
                client_errors=_sum(tally, _CLIENT_ERRORS),
                server_errors=_sum(tally, _SERVER_ERRORS),
                rate_limited=tally.statuses[_TOO_MANY],
            )
            for host, tally in self._tallies.items()
            if tally.requests or tally.stopped
        )


def _sum(tally: _Tally, kind: range) -> int:
    return sum(count for status, count in tally.statuses.items() if status in kind)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _bare(url: str) -> str:
    return url.partition("#")[0]
