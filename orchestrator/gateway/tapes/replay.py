"""Answers a gateway's requests from a tape: redirects, ranges, codings, forms; frozen clocks."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from orchestrator.gateway.documents import is_document, with_script
from orchestrator.gateway.heads import BadMessageError, Field, ResponseHead, parse_field
from orchestrator.gateway.taped import Exactness, TapedAnswer, TapedRequest
from orchestrator.gateway.tapes.exchange import TapedExchange, decoded, is_packed
from orchestrator.gateway.tapes.index import TapeIndex
from orchestrator.gateway.tapes.records import Entry
from orchestrator.gateway.tapes.wacz import OpenTape

_RANGE: Final = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")
_PART: Final = re.compile(r"bytes ([0-9]{1,15})-([0-9]{1,15})/([0-9]{1,15})")
_PARTIAL: Final = 206
_UNSATISFIABLE: Final = 416
_NEEDS_NO_CODING: Final = frozenset({"", "identity"})
# Of the bytes as they were transferred then; what is sent now has its own length.
_OF_BYTES: Final = frozenset({"content-length", "content-range", "accept-ranges", "etag"})


class TapeReplay:
    """What a tape answers; it holds no body in memory.

    Args:
        tape: open as long as this is asked.
        logical: the manifests' rules.
        is_frozen: documents begin at the time of their recording, see `frozen`.
    """

    def __init__(
        self,
        tape: OpenTape,
        logical: Callable[[str], str | None] = lambda _: None,
        *,
        is_frozen: bool = False,
    ) -> None:
        self._tape = tape
        self._is_frozen = is_frozen
        self._index: TapeIndex[Entry] = TapeIndex(tape.entries, logical)

    def answer(self, request: TapedRequest) -> TapedAnswer | None:
        found = self._index.find(request.method, request.url, request.body, request.content_type)
        if found is None:
            return self._from_parts(request)
        entry, exactness = found
        exchange = self._tape.load(entry)
        if self._is_frozen:
            exchange = frozen(exchange)
        whole = _readable(exchange, request.codings)
        if whole is None:
            return None
        if request.range and request.method == "GET" and exchange.status == 200:  # noqa: PLR2004
            return _part_of(exchange, request.range, exactness) or whole(exactness)
        return whole(exactness)

    def _from_parts(self, request: TapedRequest) -> TapedAnswer | None:
        """Answer with a recorded part: the one that is asked for, or one that is the whole."""
        if request.method not in {"GET", "HEAD"}:
            return None
        for entry in self._index.parts(request.url):
            place = _PART.fullmatch(entry.range)
            if place is None:
                continue
            first, last, size = map(int, place.groups())
            wanted = _wanted(request.range, size) if request.range else (0, size - 1)
            if wanted is None or not first <= wanted[0] <= wanted[1] <= last:
                continue
            exchange = self._tape.load(entry)
            body = exchange.body[wanted[0] - first : wanted[1] - first + 1]
            if len(body) != wanted[1] - wanted[0] + 1:
                continue  # the record does not hold what its head promises
            status = _PARTIAL if request.range else 200
            return _answer(exchange, status, body, Exactness.EXACT, (*wanted, size))
        return None


def _readable(
    exchange: TapedExchange, codings: frozenset[str]
) -> Callable[[Exactness], TapedAnswer] | None:
    """Return what answers with the whole body, in a coding that it has and the client takes.

    None where the body is in another one and cannot be decoded here.
    """
    coding = exchange.header("content-encoding").strip().lower()
    body, drops = exchange.body, frozenset[str]()
    if coding not in _NEEDS_NO_CODING:
        plain = decoded(body, coding)
        if is_packed(body, coding) and coding not in codings:
            return None
        if not is_packed(body, coding) and (plain is None or coding not in codings):
            body, drops = body if plain is None else plain, frozenset({"content-encoding"})
    return lambda exactness: TapedAnswer(
        status=exchange.status,
        fields=_fields(exchange, drops),
        body=body,
        exactness=exactness,
    )


def _part_of(exchange: TapedExchange, asked: str, exactness: Exactness) -> TapedAnswer | None:
    """Return a part of a body that was recorded whole; None where the range makes no sense."""
    coding = exchange.header("content-encoding")
    body = decoded(exchange.body, coding)
    if body is None:
        body = exchange.body
        if is_packed(body, coding):
            return None  # a part of what cannot be decoded here is a part of nothing
    if _RANGE.fullmatch(asked) is None:
        return None  # several ranges, or another unit: the whole is a right answer
    wanted = _wanted(asked, len(body))
    if wanted is None:
        size = Field(b"content-range", b"Content-Range", b"bytes */%d" % len(body))
        return TapedAnswer(status=_UNSATISFIABLE, fields=(size,), body=b"", exactness=exactness)
    part = body[wanted[0] : wanted[1] + 1]
    return _answer(exchange, _PARTIAL, part, exactness, (*wanted, len(body)))


def _answer(
    exchange: TapedExchange,
    status: int,
    body: bytes,
    exactness: Exactness,
    place: tuple[int, int, int],
) -> TapedAnswer:
    fields = _fields(exchange, _OF_BYTES | {"content-encoding"})
    if status == _PARTIAL:
        said = b"bytes %d-%d/%d" % place
        fields = (*fields, Field(b"content-range", b"Content-Range", said))
    return TapedAnswer(status=status, fields=fields, body=body, exactness=exactness)


def _wanted(asked: str, size: int) -> tuple[int, int] | None:
    """Return the first and last byte of a range; None where the body has none of it."""
    found = _RANGE.fullmatch(asked)
    if found is None or not size:
        return None
    first, last = found.groups()
    if not first:
        length = int(last or 0)
        return (max(0, size - length), size - 1) if length else None
    begin, end = int(first), min(int(last) if last else size - 1, size - 1)
    return (begin, end) if begin <= end else None


def _fields(exchange: TapedExchange, drops: frozenset[str]) -> tuple[Field, ...]:
    """Return the headers as HTTP/1.1 has them; one that it cannot have is left out."""
    found: list[Field] = []
    for name, value in exchange.headers:
        if name.lower() in drops or name.startswith(":"):
            continue
        try:
            found.append(parse_field(f"{name}: {value}".encode("latin-1", "replace")))
        except BadMessageError:
            continue
    return tuple(found)


class ChainedTapes:
    """Several tapes that hold parts of one host: the first that has an answer gives it."""

    def __init__(self, tapes: Sequence[TapeReplay]) -> None:
        self._tapes = tuple(tapes)

    def answer(self, request: TapedRequest) -> TapedAnswer | None:
        answers = (tape.answer(request) for tape in self._tapes)
        return next((one for one in answers if one is not None), None)


# The clock runs on: a page that waits until some time has passed waits that long.
_SCRIPT: Final = (
    "(()=>{const D=Date,P=performance,b=P.now(),now=()=>Math.floor(TIME+P.now()-b);"
    "let s=SEED;window.Date=new Proxy(D,{"
    "construct:(d,a,n)=>Reflect.construct(d,a.length?a:[now()],n),"
    "apply:()=>new D(now()).toString(),"
    "get:(d,k)=>k==='now'?now:Reflect.get(d,k)});"
    "D.prototype.constructor=window.Date;"
    "Math.random=()=>(s=(s*1664525+1013904223)%4294967296)/4294967296;"
    "document.currentScript.remove()})()"
)
_DATE: Final = "%Y-%m-%dT%H:%M:%S"


def frozen(exchange: TapedExchange) -> TapedExchange:
    """Return a document with a script that sets its clock and its chance; all others unchanged.

    The script removes itself. What lets no script run, or cannot be read, has no clock to set.
    """
    fields = tuple(
        Field(name.lower().encode("latin-1", "replace"), name.encode("latin-1", "replace"), value)
        for name, text in exchange.headers
        for value in (text.encode("latin-1", "replace"),)
    )
    head = ResponseHead(1, fields, exchange.status, str(exchange.status).encode())
    if not is_document(head):
        return exchange
    seed = zlib.crc32(exchange.url.encode())
    script = _SCRIPT.replace("TIME", str(_recorded_ms(exchange.date))).replace("SEED", str(seed))
    altered = with_script(head, exchange.body, script)
    if altered is None:
        return exchange
    headers = tuple(
        (one.name.decode("latin-1"), one.value.decode("latin-1")) for one in altered.head.fields
    )
    return replace(exchange, headers=headers, body=altered.body)


def _recorded_ms(date: str) -> int:
    """Return when it was recorded; the beginning of 2000 where a tape does not say."""
    try:
        found = datetime.strptime(date[:19], _DATE).replace(tzinfo=UTC)
    except ValueError:
        found = datetime(2000, 1, 1, tzinfo=UTC)
    return int(found.timestamp() * 1000)
