"""Many readers and writers at a time, for a while: no answer may be the server's own fault."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Final
from urllib.parse import urlsplit

import requests

from orchestrator.authoring.site_check.pages import read_answer, starts_of
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from orchestrator.sandbox.logins import replica_client
from orchestrator.sandbox.reset.replica import Replica

SECONDS: Final = 60.0
READERS: Final = 8
WRITERS: Final = 2
_BROKEN: Final = 500
_BAD: Final = 400
_STEPS: Final = 12  # links that a reader follows before it begins anew
_SHOWN: Final = 10

# Writes one thing that bears a text; returns the answer, redirects followed or not.
Write = Callable[[requests.Session, OriginClient, str], requests.Response]


@dataclass(slots=True)
class _Tally:
    """What all readers and writers saw."""

    reads: int = 0
    writes: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def read(self) -> None:
        with self.guard:
            self.reads += 1

    def wrote(self) -> None:
        with self.guard:
            self.writes += 1

    def fault(self, text: str) -> None:
        with self.guard:
            self.faults[text] += 1


async def broken_under_load(
    replica: Replica, write: Write | None, *, seconds: float = SECONDS
) -> tuple[str, ...]:
    """Return what went wrong while eight readers and two writers were at work.

    Readers follow random links from the pages of the warm-up; an answer of 500 or more, none at
    all, and a write that is refused are breaches. Where there is no write, writers read too.

    Args:
        replica: of the site; it is written to.
        write: how a writer writes.
        seconds: for how long; each reader follows links from one page at least, each writer writes
            one thing.
    """
    tally = _Tally()
    client, ends = replica_client(replica.site, replica.endpoint), time.monotonic() + seconds
    starts = starts_of(replica)
    writers = WRITERS if write is not None else 0
    readers = READERS + WRITERS - writers
    dice = [Random(number) for number in range(readers)]  # noqa: S311 - no secret
    # Threads of their own: the loop's usual ones are fewer than all these where cores are few.
    with ThreadPoolExecutor(READERS + WRITERS) as pool:
        work = [pool.submit(_read, client, starts, own, ends, tally) for own in dice]
        if write is not None:
            work += [pool.submit(_write, client, write, n, ends, tally) for n in range(writers)]
        await asyncio.gather(*map(asyncio.wrap_future, work))
    breaches = [f"{times} times: {fault}" for fault, times in tally.faults.most_common(_SHOWN)]
    if tally.reads < READERS:
        breaches.append(f"only {tally.reads} pages were read")
    if write is not None and tally.writes < WRITERS:
        breaches.append(f"only {tally.writes} things were written")
    return tuple(breaches)


def _read(
    client: OriginClient, starts: tuple[str, ...], dice: Random, ends: float, tally: _Tally
) -> None:
    host = urlsplit(client.origin).hostname
    is_over = False
    with origin_session(client) as session:
        while not is_over:  # a machine that is late lets each of them walk once all the same
            url = client.url(dice.choice(starts))
            for _ in range(_STEPS):
                answer = _asked(session, url, tally)
                if answer is None:
                    break
                page = read_answer(answer)
                here = [link for link in page.links if urlsplit(link).hostname == host]
                if not here:
                    break
                url = dice.choice(here)
            is_over = time.monotonic() >= ends


def _asked(session: requests.Session, url: str, tally: _Tally) -> requests.Response | None:
    try:
        answer = session.get(url, timeout=PAGE_TIMEOUT_S)
    except requests.exceptions.InvalidURL:
        return None  # it sends on to another site, as a link may
    except requests.RequestException as cause:
        tally.fault(f"GET {url}: {type(cause).__name__}")
        return None
    tally.read()
    if answer.status_code >= _BROKEN:
        tally.fault(f"GET {url}: {answer.status_code}")
        return None
    return answer


def _write(client: OriginClient, write: Write, writer: int, ends: float, tally: _Tally) -> None:
    number = 0
    with origin_session(client) as session:
        while number == 0 or time.monotonic() < ends:
            number += 1
            try:
                answer = write(session, client, f"writer {writer} wrote line {number}")
            except requests.RequestException as cause:
                tally.fault(f"a write: {type(cause).__name__}")
                continue
            if answer.status_code >= _BAD:
                asked = answer.request
                tally.fault(f"{asked.method} {asked.url}: {answer.status_code}")
            else:
                tally.wrote()
