"""Visitors who only look: they follow links by GET, and compare what two replicas show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from random import Random
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import requests

from arena_core.cookie import Cookie
from orchestrator.authoring.site_check.pages import read_answer, starts_of
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from orchestrator.sandbox.logins import login, replica_client, role_of
from orchestrator.sandbox.reset.replica import Replica

# What differs between two answers that show the same: tokens, moments, and how long something took.
_TOKENS: Final = (
    re.compile(r'(?<=\bnonce=")[^"]+'),  # of 25 letters and digits, one in 85 has no digit
    re.compile(r"\bI[jm][\w-]{40,}\.[\w-]{6}\.[\w-]{27}"),  # itsdangerous: text, moment, seal
    re.compile(r"(?=[\w+/=-]*[A-Z])(?=[\w+/=-]*\d)[\w+/=-]{24,}"),
    re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{10}\b"),
    re.compile(r'(?<= name=")[\w-]+-[0-9a-f]{8}(?=")'),
    re.compile(r"\b1[5-9]\d{8}(?:\d{3})?\b"),
    re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?"),
    re.compile(r"\b\d\d:\d\d(?::\d\d)?\b"),
    re.compile(r"\b\d+ (?:second|minute|min)s?\b"),
    re.compile(r'(?<="secondsBeforeTomorrow":)\d+'),
)
_NUMBER: Final = re.compile(r"\d+")
_BAD: Final = 400
# Another page at every visit; and a feed in the order of a moment that its entries share, of which
# the database may give any.
_UNSTEADY: Final = re.compile(r"^/random\b|/time_entries\.atom\b")


@dataclass(slots=True)
class Visitor:
    """One session on a replica: a role that logged in, or a stranger."""

    session: requests.Session
    client: OriginClient
    leaves_out: tuple[str, ...]
    visited: dict[str, int] = field(default_factory=dict)

    def crawl(self, starts: Iterable[str], dice: Random, pages: int) -> tuple[str, ...]:
        """Follow links to so many pages, each kind of page once before any comes again.

        Returns the paths, in the order in which they were asked for.
        """
        waiting = list(dict.fromkeys(starts))
        shapes: dict[str, int] = {}
        while waiting and len(self.visited) < pages:
            fewest = min(shapes.get(shape_of(path), 0) for path in waiting)
            rare = [path for path in waiting if shapes.get(shape_of(path), 0) == fewest]
            path = dice.choice(rare)
            waiting.remove(path)
            shapes[shape_of(path)] = shapes.get(shape_of(path), 0) + 1
            waiting += [link for link in self._links_of(path) if link not in waiting]
        return tuple(self.visited)

    def text_of(self, path: str) -> list[str]:
        """Return what a page answers, line by line, without what is another at every answer."""
        answer = self._get(path)
        if answer is None:
            return ["no answer"]
        return [str(answer.status_code), *masked(answer.text)]

    def _links_of(self, path: str) -> Iterator[str]:
        answer = self._get(path)
        if answer is None:
            return
        self.visited[path] = answer.status_code
        if answer.status_code >= _BAD:
            return
        host = urlsplit(self.client.origin).hostname
        for link in read_answer(answer).links:
            parts = urlsplit(link)
            there = parts.path + (f"?{parts.query}" if parts.query else "")
            if parts.hostname == host and there not in self.visited and self._may(there):
                yield there

    def _may(self, path: str) -> bool:
        """Say no to what ends the session, as no page after it would be the role's, and to lots."""
        if _UNSTEADY.search(path) is not None:
            return False
        return not any(path.startswith(end) for end in self.leaves_out)

    def _get(self, path: str) -> requests.Response | None:
        try:
            return self.session.get(self.client.url(path), timeout=PAGE_TIMEOUT_S)
        except requests.exceptions.InvalidURL:
            return None  # it sends on to another site, as a link may


@contextmanager
def visitor(replica: Replica, role: str | None, cookies: Sequence[Cookie]) -> Iterator[Visitor]:
    """Open a session with a role's cookies; of nobody in particular where there is no role."""
    client = replica_client(replica.site, replica.endpoint)
    ends = replica.site.roles[role].login.ends if role else ()
    with origin_session(client) as session:
        for one in cookies:
            session.cookies.set(one.name, one.value, domain=one.domain, path=one.path)
        yield Visitor(session, client, tuple(ends))


async def cookies_of(replica: Replica, role: str | None) -> Sequence[Cookie]:
    """Log a role in; a stranger has no cookies."""
    if role is None:
        return ()
    client = replica_client(replica.site, replica.endpoint)
    return await login(replica.site, role, role_of(replica.site, role), client)


def starts(replica: Replica, role: str | None) -> tuple[str, ...]:
    """Return where a visitor begins: the pages of the warm-up, and those that are the role's."""
    own = replica.site.roles[role] if role else None
    pages = [own.proof.path, *(page.path for page in own.may)] if own else []
    return (*starts_of(replica), *pages)


def shape_of(path: str) -> str:
    """Return the kind of page: numbers and values of parameters make no other kind."""
    parts = urlsplit(path)
    named = sorted(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    folder, _, _ = parts.path.rpartition("/")
    return f"{_NUMBER.sub('0', folder)}/{len(parts.path.split('/'))}?{'&'.join(named)}"


def masked(text: str) -> list[str]:
    """Return the lines of an answer with what is drawn or timed put out of the way.

    Characters stand for their references: WordPress draws by lot which letters of an e-mail address
    it writes as one.
    """
    text = unescape(text)
    for token in _TOKENS:
        text = token.sub("*", text)
    return [line.strip() for line in text.splitlines() if line.strip()]


def unlike(shown: Sequence[str], fresh: Sequence[str], again: Sequence[str] = ()) -> str:
    """Say in what a page differs from a fresh replica's; empty where it does not.

    Args:
        shown: what is looked at.
        fresh: what the fresh replica shows.
        again: what that shows the next time, where it was asked: a line that differs tells nothing.
    """
    unsteady = set(fresh) ^ set(again) if again else set[str]()
    here = [line for line in shown if line not in set(fresh) and line not in unsteady]
    there = [line for line in fresh if line not in set(shown) and line not in unsteady]
    if not here and not there:
        return ""
    return f"{_first(here)!r} instead of {_first(there)!r}"


def _first(lines: Sequence[str]) -> str:
    return lines[0][:300] if lines else ""
