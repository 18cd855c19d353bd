"""Records the requests of a session's pages, as the browser itself reports them.

Playwright holds every new page until it listens there, and listens to dedicated workers too: the
requests of a popup, a frame of another origin or a worker are seen from the first on.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal

from playwright.async_api import BrowserContext, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from evaluators.network import Recording, RequestRecord
from orchestrator.browser.session.request_secrets import RequestSecrets

MAX_REQUESTS: Final = 20_000
MAX_BODY: Final = 1 << 20
_LAST_S: Final = 5.0
# Parts of a page: for these, the headers that the page set are enough.
_PARTS: Final = frozenset({"image", "stylesheet", "script", "font", "media", "texttrack"})
_TEXTS: Final = (
    "text/",
    "application/json",
    "application/xml",
    "application/x-www-form-urlencoded",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRecord:
    """A session's requests; `fault` says why the record is not complete."""

    requests: tuple[RequestRecord, ...]
    fault: str | None = None


@dataclass(slots=True)
class _SentRequest:
    """A request, and what came of it."""

    request: Request
    step: int
    page: Page | None
    noticed: datetime = field(default_factory=lambda: datetime.now(UTC))
    status: int | None = None
    failed: str | None = None
    request_headers: dict[str, str] | None = None
    response_headers: dict[str, str] | None = None
    response_body: str | None = None
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class _StoppedWrite:
    """A request that was not sent, as what stopped it saw it."""

    method: str
    url: str
    step: int
    why: str

    @property
    def place(self) -> tuple[str, str]:
        return self.method, self.url


class _StoppedWrites:
    """Finds out which of the requests that the browser reports were stopped.

    Whoever stops one and whoever reports one know it by different names, so they are matched by
    method and URL: on a read-only origin no other write is ever sent.
    """

    def __init__(self, stopped: list[_StoppedWrite], asides: Counter[tuple[str, str]]) -> None:
        self._left: dict[tuple[str, str], list[_StoppedWrite]] = {}
        for one in stopped:
            self._left.setdefault(one.place, []).append(one)
        for place, times in asides.items():
            del self._left.get(place, [])[:times]

    def why(self, request: Request) -> str | None:
        left = self._left.get(_place(request))
        return left.pop(0).why if left else None

    def rest(self) -> Iterator[_StoppedWrite]:
        """Yield those that the browser did not report."""
        for left in self._left.values():
            yield from left


class NetworkRecorder:
    """Follows the requests of one session's contexts.

    Args:
        wanted: what to record besides the requests themselves.
        logical: maps a URL to its logical form.
        tab_of: the number of a page's tab; None if it is no tab.
        is_aside: whether a page is not the agent's, so that nothing of it is recorded.
        hides_cookies: the value of no cookie is recorded.
    """

    def __init__(
        self,
        wanted: frozenset[Recording],
        logical: Callable[[str], str | None],
        tab_of: Callable[[Page], int | None],
        is_aside: Callable[[Page], bool],
        *,
        hides_cookies: bool = False,
    ) -> None:
        self._keeps_answers = Recording.ANSWERS in wanted
        self._logical = logical
        self._tab_of = tab_of
        self._is_aside = is_aside
        self._secrets = RequestSecrets(hides_cookies=hides_cookies)
        self._sent: dict[Request, _SentRequest] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._fault: str | None = None
        self._step = 0
        self._stopped: list[_StoppedWrite] = []
        self._asides = Counter[tuple[str, str]]()

    def follow(self, context: BrowserContext) -> None:
        context.on("request", self._was_sent)
        context.on("requestfinished", self._has_ended)
        context.on("requestfailed", self._has_ended)

    def next_step(self) -> None:
        self._step += 1

    def stopped(self, method: str, url: str, why: str) -> None:
        """Note that a request of the session's pages was not sent."""
        if len(self._stopped) < MAX_REQUESTS:
            self._stopped.append(_StoppedWrite(method, url.partition("#")[0], self._step, why))

    async def record(self) -> NetworkRecord:
        """Return the requests so far, after waiting a moment for those still under way."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_S):
                while self._read_rest():
                    await asyncio.wait(tuple(self._reading))
        kept = [
            one for one in self._sent.values() if one.page is None or not self._is_aside(one.page)
        ]
        asides = self._asides + Counter(
            _place(one.request)
            for one in self._sent.values()
            if one.page and self._is_aside(one.page)
        )
        stopped = _StoppedWrites(self._stopped, asides)
        places = {one.request: place for place, one in enumerate(kept)}
        requests = [
            self._record(one, place, places, stopped.why(one.request))
            for place, one in enumerate(kept)
        ]
        for unseen in stopped.rest():
            requests.append(self._unseen(unseen, len(requests)))
        return NetworkRecord(requests=tuple(requests), fault=self._fault)

    async def close(self) -> None:
        for task in tuple(self._reading):
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)

    def _read_rest(self) -> bool:
        """Start reading requests that have not ended; whether any is being read."""
        for request in tuple(self._sent):
            self._has_ended(request)
        return bool(self._reading)

    def _was_sent(self, request: Request) -> None:
        if len(self._sent) >= MAX_REQUESTS:
            self._fault = f"the pages sent more than {MAX_REQUESTS:,} requests"
            return
        page = _page_of(request)
        if request.url.startswith(("data:", "blob:")):
            return
        if page and self._is_aside(page):
            self._asides[_place(request)] += 1
            return
        self._sent[request] = _SentRequest(request, self._step, page)

    def _has_ended(self, request: Request) -> None:
        sent = self._sent.get(request)
        if sent is None or sent.is_read:
            return
        sent.is_read = True
        task = asyncio.get_running_loop().create_task(self._read(sent))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _read(self, sent: _SentRequest) -> None:
        """Read a request that ended; a page that closed keeps the rest."""
        request = sent.request
        sent.page = sent.page or _page_of(request)
        sent.failed = request.failure
        if sent.page is not None and self._is_aside(sent.page):
            return
        is_part = request.resource_type in _PARTS
        sent.request_headers = dict(request.headers)
        try:
            response = await request.response()
            if response is not None:
                sent.status = response.status
                sent.response_headers = dict(response.headers)
            if is_part:
                return
            sent.request_headers = await _all_headers(request)
            if response is not None:
                sent.response_headers = await _all_headers(response)
                if self._keeps_answers and not sent.failed:
                    sent.response_body = await self._answer(response)
        except PlaywrightError as error:
            sent.failed = sent.failed or str(error).partition("\n")[0]

    async def _answer(self, response: Response) -> str | None:
        """Return a text answer; None for other content, a long one, or one that is gone."""
        headers = response.headers
        kind = headers.get("content-type", "")
        if not kind.startswith(_TEXTS) and "+json" not in kind:
            return None
        try:
            body = await response.body()
        except PlaywrightError:
            return None  # a redirect has none, and a page that was left has dropped it
        return body.decode("utf-8", "replace") if len(body) <= MAX_BODY else None

    def _unseen(self, stopped: _StoppedWrite, place: int) -> RequestRecord:
        """Return a request that was stopped and never reported, as of a page's last moment."""
        url = stopped.url.partition("?")[0]
        logical = self._logical(url)
        return RequestRecord(
            index=place,
            step=stopped.step,
            method=stopped.method,
            url=url,
            logical=logical,
            site=None if logical is None else logical.partition(":")[0],
            resource_type="other",
            is_whole=False,
            blocked=stopped.why,
        )

    def _record(
        self,
        sent: _SentRequest,
        place: int,
        places: dict[Request, int],
        blocked: str | None,
    ) -> RequestRecord:
        request, secrets = sent.request, self._secrets
        before = request.redirected_from
        logical = self._logical(request.url)
        headers = sent.request_headers or {}
        body = request.post_data_buffer
        is_sent = blocked is None  # what answers a request that was stopped is no site's
        answer = (sent.response_headers or {}) if is_sent else {}
        return RequestRecord(
            index=place,
            step=sent.step,
            tab=None if sent.page is None else self._tab_of(sent.page),
            method=request.method,
            url=secrets.url(request.url),
            logical=None if logical is None else secrets.url(logical),
            site=None if logical is None else logical.partition(":")[0],
            resource_type=request.resource_type,
            is_navigation=request.is_navigation_request(),
            status=sent.status if is_sent else None,
            request_headers=secrets.headers(headers),
            request_body=_text(body, headers.get("content-type", ""), secrets),
            request_bytes=_size(body, headers),
            response_headers=secrets.headers(answer),
            response_body=None
            if sent.response_body is None or not is_sent
            else secrets.body(sent.response_body, answer.get("content-type", "")),
            redirected_from=None if before is None else places.get(before),
            failed=sent.failed if is_sent else None,
            blocked=blocked,
            sent_at=_time_sent(sent).isoformat(timespec="milliseconds"),
            answer_ms=_since_sent(request, "responseStart") if is_sent else None,
            end_ms=_since_sent(request, "responseEnd") if is_sent else None,
        )


def _place(request: Request) -> tuple[str, str]:
    return request.method, request.url.partition("#")[0]


def _time_sent(sent: _SentRequest) -> datetime:
    """Return when the browser sent a request, or when that was noticed if nothing else is known."""
    began = sent.request.timing["startTime"]
    return datetime.fromtimestamp(began / 1000, UTC) if began > 0 else sent.noticed


def _since_sent(request: Request, moment: Literal["responseStart", "responseEnd"]) -> float | None:
    ms = request.timing[moment]
    return round(ms, 1) if ms >= 0 else None


def _text(body: bytes | None, content_type: str, secrets: RequestSecrets) -> str | None:
    if body is None or len(body) > MAX_BODY:
        return None
    return secrets.body(body.decode("utf-8", "replace"), content_type)


def _size(body: bytes | None, headers: Mapping[str, str]) -> int:
    """Return a body's length, also of one with files, which the browser does not hand out."""
    said = headers.get("content-length", "")
    return len(body) if body else int(said) if said.isdecimal() else 0


async def _all_headers(one: Request | Response) -> dict[str, str]:
    return {name: value for name, value in (await one.all_headers()).items() if name[:1] != ":"}


def _page_of(request: Request) -> Page | None:
    """Return the page that sent a request; None for a worker of no page, or before it exists."""
    try:
        return request.frame.page
    except PlaywrightError:
        return None
