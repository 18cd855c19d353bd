"""What went through a gateway, or was refused: append-only, read by the episode."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from dataclasses import dataclass

from evaluators.tape_misses import MissedBy
from orchestrator.gateway.taped import Exactness

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request as the gateway saw it, written down when it ended.

    Attributes:
        url: absolute; `host:port` for CONNECT.
        site: None where the host belongs to no site of the task.
        may_write: it was passed on and may have changed the site's state. Of a WebSocket to a
            replica this is assumed; of what is tunnelled to a live host nothing is known: False.
        refused: why policy or HTTP forbade it; it then never left the gateway.
        failed: why it broke off for a reason that is not the agent's (upstream unreachable, dead).
        tunnelled: it opened a tunnel (CONNECT, WebSocket). What goes through one stays unread, but
            for plain http after a CONNECT, which has exchanges of its own.
        recorded: it was answered with a recorded document; its site got no request.
        taped: how what a tape answered matches what was asked; None where no tape did.
        missed: who asked for what a tape lacks; None for all that it has.
        status: as the client got it; None where it went away before there was one.
        started: seconds since the epoch; `ms` until the last byte, or until a tunnel stood.
    """

    method: str
    url: str
    site: str | None
    live: bool
    may_write: bool
    refused: str | None
    failed: str | None
    tunnelled: bool
    status: int | None
    started: float
    ms: float
    recorded: bool = False
    taped: Exactness | None = None
    missed: MissedBy | None = None


class Pending:
    """An exchange that is under way; `finish` writes it down, once."""

    def __init__(
        self,
        journal: GatewayJournal,
        method: str,
        url: str,
        *,
        site: str | None = None,
        live: bool = False,
    ) -> None:
        self._journal = journal
        self._method = method
        self._url = url
        self._site = site
        self._live = live
        self._started = time.time()
        self._clock = time.perf_counter()
        self._finished = False
        self._may_write = False
        self._tunnelled = False
        self._recorded = False
        self.taped: Exactness | None = None
        self.missed: MissedBy | None = None
        self.status: int | None = None

    def mark_write(self) -> None:
        """Count this exchange as one that may write, before its first byte is sent."""
        if not self._may_write and self._site is not None:
            self._may_write = True
            self._journal.count_write(self._site)

    def mark_tunnel(self) -> None:
        self._tunnelled = True

    def mark_recorded(self) -> None:
        self._recorded = True

    def finish(
        self, status: int | None = None, *, refused: str | None = None, failed: str | None = None
    ) -> None:
        if self._finished:
            return
        self._finished = True
        why = refused or failed
        if why is not None:
            _LOG.info(
                "%s: %s %s: %s",
                "refused" if refused else "broke off",
                self._method,
                self._url.partition("?")[0],
                why,
                extra={"site": self._site} if self._site else None,
            )
        self._journal.append(
            Exchange(
                method=self._method,
                url=self._url,
                site=self._site,
                live=self._live,
                may_write=self._may_write,
                refused=refused,
                failed=failed,
                tunnelled=self._tunnelled,
                status=self.status if status is None else status,
                started=self._started,
                ms=(time.perf_counter() - self._clock) * 1000,
                recorded=self._recorded,
                taped=self.taped,
                missed=self.missed,
            )
        )


class GatewayJournal:
    """The exchanges of one gateway in the order in which they ended, and what is under way.

    It belongs to one event loop, like its gateway.
    """

    def __init__(self) -> None:
        self._exchanges: list[Exchange] = []
        self._writes: Counter[str] = Counter()
        self._in_flight = 0
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def in_flight(self) -> int:
        """How many requests have begun and not ended; a tunnel that stands does not count."""
        return self._in_flight

    def mark(self) -> int:
        """Return a position; `since` gives what ended after it."""
        return len(self._exchanges)

    def since(self, mark: int) -> tuple[Exchange, ...]:
        """Return the exchanges that ended after a mark."""
        return tuple(self._exchanges[mark:])

    def writes(self, site: str) -> int:
        """Return how many requests that may write were passed on to a site; begun ones count."""
        return self._writes[site]

    async def changed(self) -> None:
        """Wait until `in_flight` changes next."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    async def quiet(self, timeout_s: float) -> bool:
        """Wait until nothing is in flight; False where that takes longer than `timeout_s`."""
        try:
            async with asyncio.timeout(timeout_s):
                while self._in_flight:
                    await self.changed()
        except TimeoutError:
            return False
        return True

    def begin(self, method: str, url: str, *, site: str | None, live: bool) -> Pending:
        self._in_flight += 1
        self._notify()
        return Pending(self, method, url, site=site, live=live)

    def count_write(self, site: str) -> None:
        """Count one request that may write (for `Pending`)."""
        self._writes[site] += 1

    def append(self, exchange: Exchange) -> None:
        self._exchanges.append(exchange)
        self._in_flight -= 1
        self._notify()

    def _notify(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
