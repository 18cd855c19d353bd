"""Pages: every link answers, nothing comes from outside, and visits change nothing."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urldefrag, urljoin, urlsplit

import requests

from arena_core.cookie import Cookie
from evaluators.changes import Change
from orchestrator.sandbox.delta.check import ByItself, Document, Moments, check_of
from orchestrator.sandbox.delta.delta import delta_of
from orchestrator.sandbox.delta.golden_rows import GoldenRows
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from orchestrator.sandbox.golden import ROWS_LABEL, golden_rows
from orchestrator.sandbox.inventory import running_replica
from orchestrator.sandbox.logins import login, parse_html, replica_client, role_of
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.replica import Replica, start_replica
from sites.manifest import Site
from sites.registry import SiteRegistry

if TYPE_CHECKING:
    from lxml.html import HtmlElement

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
        document = parse_html(answer.text)
        base = urljoin(answer.url, next((one.get("href", "") for one in document.iter("base")), ""))
        links = (_absolute(base, one.get("href")) for one in document.iter("a") if one.get("href"))
        loads = (_absolute(base, load) for one in document.iter("*") for load in _loads_of(one))
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
            f"{page.url} links to {url}, which belongs to no site"
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


def _loads_of(element: HtmlElement) -> Iterator[str]:
    """Yield what a browser fetches by itself for one element."""
    if element.tag == "link" and _LOADED_LINKS & set(element.get("rel", "").lower().split()):
        yield element.get("href", "")
    if element.tag in _RESOURCE and element.get(_RESOURCE[element.tag]):
        yield element.get(_RESOURCE[element.tag])
    for candidate in element.get("srcset", "").split(","):
        yield from candidate.split()[:1]
    yield from _css_urls(element.get("style", ""))
    if element.tag == "style":
        yield from _css_urls(element.text or "")


def _css_urls(text: str) -> Iterator[str]:
    for quoted, imported in _IN_CSS.findall(text):
        yield quoted or imported


async def visit_as_everybody(replica: Replica) -> tuple[str, ...]:
    """Open the warm pages with and without logins, return which answer with an error."""
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


async def changes_as_check(
    engine: Engine, registry: SiteRegistry, site: str, slot: int
) -> Document:
    """Return a check `by: db_delta` for what was changed; errors are those of `sites.diff`."""
    replica = await running_replica(engine, registry, site, slot)
    hosts = frozenset(one.host for one in registry.sites.values())
    looked = await changes_by_visits(engine, replica.site, hosts, f"diff-{os.getpid()}")
    by_itself = ByItself.of(looked)
    delta = await delta_of(engine, replica, ignored=by_itself.ignored)
    created = datetime.fromtimestamp(replica.container.created, UTC)
    moments = Moments.between(created, datetime.now(UTC), replica.site.clock)
    return check_of(delta, by_itself, moments, await definitions_of(engine, replica))


async def definitions_of(engine: Engine, replica: Replica) -> Mapping[str, str]:
    """Return the definitions of the tables of a replica's image; none where it has no tables."""
    image = await engine.image(replica.placement.image_id)
    if image is None or ROWS_LABEL not in image.labels:
        return {}
    with GoldenRows.opened(await golden_rows(engine, image)) as rows:
        return {name: table.shape.definition for name, table in rows.tables().items()}
