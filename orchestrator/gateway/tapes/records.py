"""WARC records, read from anybody's archive within limits."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any, Final
from urllib.parse import urlsplit

from arena_core.errors import InputError
from arena_core.extras import extra
from orchestrator.gateway.tapes.exchange import Headers, TapedExchange, is_packed, kept_headers

MOST_RECORDS: Final = 300_000
MOST_RECORD_BYTES: Final = 128 * 1024 * 1024
MOST_UNPACKED: Final = 8 * 1024**3
# Text packs 20 to 1 at best, zeros 1000 to 1.
_MOST_RATIO: Final = 300
_RATIO_FROM: Final = 64 * 1024 * 1024
_PIECE: Final = 64 * 1024
NEEDED_BY: Final = "a tape"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRecord:
    """A record of a WARC file.

    Attributes:
        kind: `response`, `request` or `revisit`.
        is_packed: its body is in br or zstd, which nothing here unpacks.
        concurrent: ids of the records that it goes with.
        first_line: of the HTTP message, without the version of a response.
        payload: the digest that says what a revisit repeats.
        offset: where it begins in its file.
    """

    kind: str
    id: str
    concurrent: tuple[str, ...]
    url: str
    date: str
    first_line: str
    headers: Headers
    body: bytes
    payload: str
    refers_to: str
    offset: int
    is_packed: bool

    @property
    def status(self) -> int:
        said = self.first_line.split(" ", 1)[0]
        return int(said) if len(said) == 3 and said.isascii() and said.isdigit() else 0  # noqa: PLR2004

    @property
    def method(self) -> str:
        return self.first_line.split(" ", 1)[0].upper()


# What zipfile (newer versions, encryption), gzip and warcio raise at damaged bytes.
_DAMAGE: Final = (
    *(EOFError, OSError, ValueError, LookupError, AttributeError),
    *(NotImplementedError, RuntimeError, struct.error, zlib.error),
)


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Turn whatever a damaged archive makes the libraries raise into one line about it."""
    try:
        yield
    except InputError as known:
        message = known.message if known.message.startswith(what) else f"{what}: {known.message}"
        raise InputError(message, hint=known.hint) from known
    except _DAMAGE as cause:
        why = " ".join(str(cause).split())[:200] or type(cause).__name__
        message = f"{what}: damaged: {why}"
        raise InputError(message, hint="fetch or record the archive again") from cause
    except Exception as cause:
        if not type(cause).__module__.startswith(("warcio", "zipfile")):
            raise
        why = " ".join(str(cause).split())[:200] or type(cause).__name__
        raise InputError(f"{what}: is no WARC that can be read: {why}") from cause


class _Counted(io.RawIOBase):
    """A stream that notes how many bytes were taken from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.taken = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        piece = self._stream.read(size)
        self.taken += len(piece)
        return piece

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._stream.seek(offset, whence)


def read_records(stream: IO[bytes]) -> Iterator[FoundRecord]:
    """Yield the HTTP records of a WARC file, gzipped or not, that begins here.

    Raises:
        InputError: it is damaged, ends in the middle, or is larger than a tape may be.
    """
    warcio = extra("warcio.archiveiterator", "tape", needed_by=NEEDED_BY)
    counted = _Counted(stream)
    iterator = warcio.ArchiveIterator(counted, no_record_parse=False, check_digests=False)
    unpacked = 0
    for number, record in enumerate(iterator, start=1):
        if number > MOST_RECORDS:
            raise InputError(f"more than {MOST_RECORDS:,} records")
        length = int(record.rec_headers.get_header("Content-Length") or 0)
        if length > MOST_RECORD_BYTES:
            raise InputError(f"a record of {length:,} bytes: more than {MOST_RECORD_BYTES:,}")
        is_http = record.http_headers is not None
        body = _body(record) if is_http else _skipped(record)
        unpacked += length
        if unpacked > MOST_UNPACKED or (
            unpacked > _RATIO_FROM and unpacked > _MOST_RATIO * max(1, counted.taken)
        ):
            raise InputError(f"it unpacks to more than {unpacked:,} bytes: no tape is like that")
        if is_http and record.rec_type in {"response", "request", "revisit"}:
            yield _found(record, body, iterator.get_record_offset())  # which reads what is left
    if not unpacked:
        raise InputError("it holds no record")


def _body(record: Any) -> bytes:
    """Return an HTTP message's body, without chunks, in its content coding."""
    raw = _whole(record)
    if "chunked" not in (record.http_headers.get_header("transfer-encoding") or "").lower():
        return raw
    readers = extra("warcio.bufferedreaders", "tape", needed_by=NEEDED_BY)
    # Browsers' tapes hold bodies without the chunks that their headers speak of; it tells.
    reader = readers.ChunkedDataReader(io.BytesIO(raw), decomp_type=None)
    pieces = bytearray()
    while piece := reader.read(_PIECE):
        pieces += piece
    return bytes(pieces)


def _skipped(record: Any) -> bytes:
    _whole(record)
    return b""


def _whole(record: Any) -> bytes:
    """Read what is left of a record; what its head promises must be there."""
    stream = record.raw_stream
    pieces = bytearray()
    while piece := stream.read(_PIECE):
        pieces += piece
        if len(pieces) > MOST_RECORD_BYTES:
            raise InputError(f"a record of more than {MOST_RECORD_BYTES:,} bytes")
    if getattr(stream, "limit", 0):
        raise InputError(f"it ends in the middle of a record, {stream.limit:,} bytes too early")
    return bytes(pieces)


def _found(record: Any, body: bytes, offset: int) -> FoundRecord:
    of, http = record.rec_headers, record.http_headers

    def said(name: str) -> str:
        return (of.get_header(name) or "").strip()

    line = http.statusline
    if record.rec_type == "request":  # warcio has the method apart
        line = f"{http.protocol} {http.statusline}"
    return FoundRecord(
        kind=record.rec_type,
        id=said("WARC-Record-ID"),
        concurrent=tuple(
            value for name, value in of.headers if name.lower() == "warc-concurrent-to"
        ),
        url=said("WARC-Target-URI").strip("<>").partition("#")[0],
        date=said("WARC-Date"),
        first_line=line,
        headers=tuple((name, value) for name, value in http.headers),
        body=body,
        payload=said("WARC-Payload-Digest"),
        refers_to=said("WARC-Refers-To-Target-URI").strip("<>").partition("#")[0],
        offset=offset,
        is_packed=is_packed(body, http.get_header("content-encoding") or ""),
    )


def is_http(url: str) -> bool:
    """Whether a URL is one that a gateway may be asked for."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An exchange as an index has it: without its answer's body, which is read where it stands.

    Attributes:
        range: the `Content-Range` of the answer; empty for a whole one.
        is_packed: only a client that takes its coding (br, zstd) can read its body.
        member: the file in its archive, in which the answer's record begins at `at`.
        body_member: the same of the record with its body, and `body_at`: another one where the
            answer repeats that.
    """

    method: str
    url: str
    status: int
    kind: str
    range: str
    date: str
    sent: Headers
    sent_body: bytes
    is_packed: bool
    member: str
    at: int
    body_member: str
    body_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What was asked and answered in the files of an archive, in the order of its records.

    Attributes:
        lost: answers that say they repeat another one, which is not in the archive.
    """

    entries: tuple[Entry, ...]
    lost: int


OpenMember = Callable[[str], AbstractContextManager[IO[bytes]]]


def catalogue(members: Iterable[str], opened: OpenMember) -> Catalogue:
    """Read all WARC files of an archive. No body of an answer stays in memory.

    Requests stand before or behind their answers; a revisit says which answer it repeats, which may
    be in another file. An answer whose request is not in the archive is one to a GET.
    """
    light: list[tuple[str, FoundRecord]] = []
    for member in members:
        with opened(member) as stream:
            light += [
                (member, one if one.kind == "request" else replace(one, body=b""))
                for one in read_records(stream)
            ]
    requests = {
        name: one for _, one in light if one.kind == "request" for name in (one.id, *one.concurrent)
    }
    answers = [found for found in light if found[1].kind == "response"]
    by_payload = {one.payload: (member, one) for member, one in answers if one.payload}
    by_url = {one.url: (member, one) for member, one in answers}
    entries: list[Entry] = []
    lost = 0
    for member, one in light:
        is_final = 200 <= one.status < 600  # noqa: PLR2004  an interim answer answers nothing
        if one.kind == "request" or not is_final or not is_http(one.url):
            continue
        repeated = by_payload.get(one.payload) or by_url.get(one.refers_to)
        of_body = (member, one) if one.kind == "response" else repeated
        names = (one.id, *one.concurrent)
        asked = next((requests[name] for name in names if name in requests), None)
        if of_body is None:
            lost += 1
        else:
            entries.append(_entry(member, one, of_body, asked))
    return Catalogue(entries=tuple(entries), lost=lost)


def _entry(
    member: str, answer: FoundRecord, of_body: tuple[str, FoundRecord], asked: FoundRecord | None
) -> Entry:
    body_member, with_body = of_body
    headers = {name.lower(): value for name, value in answer.headers or with_body.headers}
    return Entry(
        method=asked.method if asked else "GET",
        url=answer.url,
        status=answer.status,
        kind=headers.get("content-type", ""),
        range=headers.get("content-range", ""),
        date=answer.date,
        sent=kept_headers(asked.headers) if asked else (),
        sent_body=asked.body if asked else b"",
        is_packed=with_body.is_packed,
        member=member,
        at=answer.offset,
        body_member=body_member,
        body_at=with_body.offset,
    )


def load(entry: Entry, opened: OpenMember) -> TapedExchange:
    """Return an exchange whole, from the files that its entry was found in."""
    answer = of_body = _at(entry.member, entry.at, opened)
    if (entry.body_member, entry.body_at) != (entry.member, entry.at):
        of_body = _at(entry.body_member, entry.body_at, opened)
    if answer.url != entry.url:
        raise InputError(f"the record at {entry.at:,} is no longer that of {entry.url}")
    return TapedExchange(
        method=entry.method,
        url=entry.url,
        status=entry.status,
        headers=kept_headers(answer.headers or of_body.headers),
        body=of_body.body,
        sent=entry.sent,
        sent_body=entry.sent_body,
        date=entry.date,
    )


def _at(member: str, offset: int, opened: OpenMember) -> FoundRecord:
    with opened(member) as stream:
        stream.seek(offset)
        return next(read_records(stream))
