"""The front page and three deeper ones: every link answers, and nothing comes from outside."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

import requests

from orchestrator.access.logins import replica_client
from orchestrator.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from orchestrator.reset.replica import Replica

FRONT: Final = "/"
_DEEPER: Final = 3
_AT_ONCE: Final = 4
_OK: Final = 200
_BAD: Final = 400
_GONE: Final = 599  # no answer at all
_RESOURCE: Final = {
    "img": "src",
    "script": "src",
    "iframe": "src",
    "frame": "src",
    "embed": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "track": "src",
    "object": "data",
}
_LOADED_LINKS: Final = frozenset({"stylesheet", "icon", "preload", "modulepreload", "manifest"})
_IN_CSS: Final = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


@dataclass(frozen=True, slots=True)
class SitePage:
    """One answer, and where it leads.

    Attributes:
        links: absolute URLs that a person may follow, without fragments.
        loads: absolute URLs that a browser fetches by itself.
    """

    url: str
    status: int
    is_html: bool
    links: tuple[str, ...]
    loads: tuple[str, ...]


async def broken_pages(replica: Replica, hosts: Collection[str]) -> tuple[str, ...]:
    """Return what is wrong with the front page, three deeper pages, and all they lead to.

    Args:
        replica: of the site.
        hosts: of all sites: a link may lead to another one, but to no host of `.test` beside them.
    """
    return await asyncio.to_thread(_look, replica, frozenset(hosts))


async def outside_requests(replica: Replica) -> tuple[str, ...]:
    """Return what pages of the warm-up and their style sheets load from other hosts."""
    return await asyncio.to_thread(_loads_of_warm_pages, replica)


def starts_of(replica: Replica) -> tuple[str, ...]:
    """Return the front page's path, and those that the manifest warms."""
    return tuple(dict.fromkeys((FRONT, *replica.site.warm)))


def read_answer(answer: requests.Response) -> SitePage:
    """Return what an answer leads to; a style sheet loads things too."""
    kind = answer.headers.get("Content-Type", "")
    links: Iterable[str] = ()
    loads: Iterable[str] = ()
    if "html" in kind:
        found = _References()
        found.feed(answer.text)
        base = urljoin(answer.url, found.base)
        links = (_absolute(base, link) for link in found.links)
        loads = (_absolute(base, load) for load in found.loads)
    elif "css" in kind:
        loads = (_absolute(answer.url, load) for load in _css_urls(answer.text))
    return SitePage(
        answer.url,
        answer.status_code,
        "html" in kind,
        tuple(dict.fromkeys(link for link in links if _is_web(link))),
        tuple(dict.fromkeys(load for load in loads if _is_web(load))),
    )


def _look(replica: Replica, hosts: frozenset[str]) -> tuple[str, ...]:
    client, host = replica_client(replica.site, replica.endpoint), replica.site.host
    front = _fetch(client, client.url(FRONT))
    deeper = _deeper(client, front, replica)
    looked_at = [front, *deeper]
    wanted = dict.fromkeys(url for page in looked_at for url in (*page.loads, *page.links))
    known = {page.url for page in looked_at}
    asked = [url for url in wanted if urlsplit(url).hostname == host and url not in known]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = list(pool.map(lambda url: _fetch(client, url), asked))
    breaches = [
        *(f"{page.url} answers {page.status}" for page in looked_at if page.status >= _BAD),
        *(
            f"{url} answers {page.status} (linked or loaded from {_where(url, looked_at)})"
            for url, page in zip(asked, answers, strict=True)
            if page.status >= _BAD
        ),
        *(
            f"{page.url} loads {url}"
            for page in (*looked_at, *answers)
            for url in page.loads
            if urlsplit(url).hostname != host
        ),
        *(
            f"{page.url} links to {url}, which is no site's"
            for page in looked_at
            for url in page.links
            if (urlsplit(url).hostname or "").endswith(".test")
            and urlsplit(url).hostname not in hosts
        ),
    ]
    if len(deeper) < _DEEPER and len(front.links) >= _DEEPER:
        breaches.append(f"only {len(deeper)} deeper pages were found")
    return tuple(breaches)


def _deeper(client: OriginClient, front: SitePage, replica: Replica) -> list[SitePage]:
    """Return three pages beyond the front page: those warmed first, then those it links."""
    candidates = [client.url(path) for path in starts_of(replica)[1:]]
    here = [url for url in front.links if urlsplit(url).hostname == replica.site.host]
    candidates += here[len(here) // 2 :] + here
    deeper: dict[str, SitePage] = {}
    for url in dict.fromkeys(candidates):
        page = _fetch(client, url)
        if page.is_html and page.url not in {front.url, *deeper}:
            deeper[page.url] = page
        if len(deeper) == _DEEPER:
            break
    return list(deeper.values())


def _loads_of_warm_pages(replica: Replica) -> tuple[str, ...]:
    client, host = replica_client(replica.site, replica.endpoint), replica.site.host
    pages = [_fetch(client, client.url(path)) for path in starts_of(replica)]
    sheets = {url for page in pages for url in page.loads if urlsplit(url).path.endswith(".css")}
    pages += [_fetch(client, url) for url in sorted(sheets) if urlsplit(url).hostname == host]
    return tuple(
        f"{page.url} loads {url}"
        for page in pages
        for url in page.loads
        if urlsplit(url).hostname != host
    )


def _fetch(client: OriginClient, url: str) -> SitePage:
    with origin_session(client) as session:
        try:
            return read_answer(session.get(url, timeout=PAGE_TIMEOUT_S))
        except requests.exceptions.InvalidURL:  # it sends on to another site, as a link may
            return SitePage(url, _OK, is_html=False, links=(), loads=())
        except requests.RequestException as cause:
            return SitePage(
                f"{url} ({type(cause).__name__})", _GONE, is_html=False, links=(), loads=()
            )


def _where(url: str, pages: Iterable[SitePage]) -> str:
    return next(page.url for page in pages if url in page.links or url in page.loads)


def _absolute(base: str, link: str) -> str:
    return urldefrag(urljoin(base, link.strip())).url


def _is_web(url: str) -> bool:
    return urlsplit(url).scheme in {"http", "https"}


def _css_urls(text: str) -> Iterator[str]:
    for quoted, imported in _IN_CSS.findall(text):
        yield quoted or imported


class _References(HTMLParser):
    """Collects what a page loads by itself, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.loads: list[str] = []
        self.links: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self._in_style = tag == "style"
        if tag == "base":
            self.base = given.get("href", "")
        elif tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and _LOADED_LINKS & set(given.get("rel", "").lower().split()):
            self.loads.append(given.get("href", ""))
        if tag in _RESOURCE and _RESOURCE[tag] in given:
            self.loads.append(given[_RESOURCE[tag]])
        for candidate in given.get("srcset", "").split(","):
            self.loads += candidate.split()[:1]
        self.loads += _css_urls(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.loads += _css_urls(data)
