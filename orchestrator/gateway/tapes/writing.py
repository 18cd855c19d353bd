"""Writes a tape, of what was recorded or of archives: WARC, CDXJ and pages in a WACZ."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from http import HTTPStatus
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from arena_core.errors import InputError
from arena_core.extras import extra
from orchestrator.gateway.tapes.exchange import TapedExchange, decoded
from orchestrator.gateway.tapes.index import BODY_METHOD, body_in_query
from orchestrator.gateway.tapes.records import (
    NEEDED_BY,
    Entry,
    catalogue,
    load,
    read_records,
    refusing,
)
from orchestrator.gateway.tapes.wacz import OpenTape, TapeNotes, open_tape

_TITLE: Final = re.compile(rb"<title[^>]*>([^<]{0,400})</title>", re.IGNORECASE)
_HEAD_BYTES: Final = 64 * 1024
_DATE: Final = "%Y-%m-%dT%H:%M:%SZ"
_WARC: Final = "data.warc.gz"
_VERSION: Final = "1.1.1"
_WARCS: Final = (".warc", ".warc.gz")


def now() -> str:
    return datetime.now(UTC).strftime(_DATE)


def write_tape(
    path: Path, exchanges: Iterable[TapedExchange], *, title: str, notes: TapeNotes
) -> int:
    """Write a tape of exchanges, each once, and return how many it has.

    The file is there whole or not at all.

    Raises:
        InputError: there is a file of that name, or nothing to write.
        PrerequisiteError: the extra `tape` is not installed.
    """
    if path.exists():
        raise InputError(f"{path}: is there already", hint="name another file, or remove it")
    extra("warcio.warcwriter", "tape", needed_by=NEEDED_BY)  # refused before anything is written
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".arena-tape-", dir=path.parent) as name:
        folder = Path(name)
        with (folder / _WARC).open("wb") as stream:
            pages = _Warc(stream).write(exchanges)
        if not pages.count:
            raise InputError(f"{path}: nothing was recorded, so there is no tape to write")
        made = folder / "tape.wacz"
        _pack(made, folder / _WARC, pages.lines, title, notes)
        made.replace(path)
    return pages.count


class _Pages:
    """The list of pages, as it grows."""

    def __init__(self) -> None:
        self.count = 0
        self.lines = [{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}]
        self._known: set[str] = set()

    def note(self, one: TapedExchange) -> None:
        self.count += 1
        if one.is_page and one.url not in self._known:
            self._known.add(one.url)
            title = one.title or _title(one) or one.url
            line = {"id": uuid4().hex, "url": one.url, "ts": one.date or now(), "title": title}
            self.lines.append(line)


class _Warc:
    """Writes a request and a response record for each exchange."""

    def __init__(self, stream: IO[bytes]) -> None:
        writer = extra("warcio.warcwriter", "tape", needed_by=NEEDED_BY)
        self._heads = extra("warcio.statusandheaders", "tape", needed_by=NEEDED_BY)
        self._writer = writer.WARCWriter(stream, gzip=True)

    def write(self, exchanges: Iterable[TapedExchange]) -> _Pages:
        fields = {"software": "Arena", "format": "WARC File Format 1.0"}
        self._writer.write_record(self._writer.create_warcinfo_record(_WARC, fields))
        pages, known = _Pages(), set[str]()
        for one in exchanges:
            digest = hashlib.sha256(repr((one.status, one.sent_body)).encode() + one.body)
            name = f"{one.method} {one.url} {digest.hexdigest()}"
            if name not in known:
                known.add(name)
                self._pair(one)
                pages.note(one)
        return pages

    def _pair(self, one: TapedExchange) -> None:
        date = {"WARC-Date": one.date or now()}
        try:
            phrase = HTTPStatus(one.status).phrase
        except ValueError:
            phrase = ""
        head = self._heads.StatusAndHeaders(
            f"{one.status} {phrase}".strip(), list(one.headers), protocol="HTTP/1.1"
        )
        answer = self._record(one.url, "response", one.body, head, date)
        parts = urlsplit(one.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        line = f"{one.method} {target} HTTP/1.1"
        asked = self._heads.StatusAndHeaders(line, list(one.sent), is_http_request=True)
        answer_id = answer.rec_headers.get_header("WARC-Record-ID")
        goes_with = {**date, "WARC-Concurrent-To": answer_id}
        request = self._record(one.url, "request", one.sent_body, asked, goes_with)
        self._writer.write_record(answer)
        self._writer.write_record(request)

    def _record(self, url: str, kind: str, body: bytes, head: Any, more: dict[str, str]) -> Any:
        return self._writer.create_warc_record(
            url,
            kind,
            payload=io.BytesIO(body),
            length=len(body),  # without it, a temporary file is made and left open
            http_headers=head,
            warc_headers_dict=more,
        )


def _title(one: TapedExchange) -> str:
    """Return what a document calls itself, as far as that can be read without a browser."""
    body = decoded(one.body, one.header("content-encoding"))
    found = _TITLE.search((one.body if body is None else body)[:_HEAD_BYTES])
    return " ".join(unescape(found[1].decode("utf-8", "replace")).split()) if found else ""


def _pack(
    made: Path, warc: Path, pages: Sequence[dict[str, str]], title: str, notes: TapeNotes
) -> None:
    index = warc.parent / "index.cdxj"
    _index(warc, index)
    listed = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in pages).encode()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        # Players read records where they lie in the zip: the archive is stored as it is.
        file.write(warc, f"archive/{_WARC}", zipfile.ZIP_STORED)
        file.write(index, "indexes/index.cdxj")
        file.writestr("pages/pages.jsonl", listed)
        package = {
            "profile": "data-package",
            "wacz_version": _VERSION,
            "title": title,
            "software": "Arena",
            "created": now(),
            "resources": [
                _resource(f"archive/{_WARC}", warc.read_bytes()),
                _resource("indexes/index.cdxj", index.read_bytes()),
                _resource("pages/pages.jsonl", listed),
            ],
            "arena": notes.model_dump(mode="json"),
        }
        text = json.dumps(package, indent=2).encode()
        file.writestr("datapackage.json", text)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(text).hexdigest()}"}
        file.writestr("datapackage-digest.json", json.dumps(digest))


def _index(warc: Path, index: Path) -> None:
    """Write the CDXJ of an archive: a line a response, by its key and date.

    The file format is that of https://specs.webrecorder.net/cdxj/0.1.0/; ReplayWeb.page finds a
    POST by its method and body, which its key has behind the URL as pywb puts them there.
    """
    entries = catalogue([_WARC], lambda _: warc.open("rb")).entries
    with warc.open("rb") as stream:
        begins = [one.offset for one in read_records(stream)]
    ends = dict(zip(begins, [*begins[1:], warc.stat().st_size], strict=True))
    lines = []
    for one in entries:
        url, found = one.url, {"url": one.url}
        if one.method != "GET":
            body = _in_query(one)
            url += f"{'&' if urlsplit(url).query else '?'}{BODY_METHOD}={one.method}"
            url += f"&{body}" if body else ""
            found |= {"method": one.method, "requestBody": body}
        found |= {"mime": one.kind.partition(";")[0], "status": str(one.status)}
        found |= {"length": str(ends[one.at] - one.at), "offset": str(one.at), "filename": _WARC}
        stamp = re.sub(r"\D", "", one.date)[:14]
        lines.append(f"{url_key('%20'.join(url.split()))} {stamp} {json.dumps(found)}\n")
    index.write_text("".join(sorted(lines)), encoding="utf-8")


def _in_query(entry: Entry) -> str:
    kind = next((value for name, value in entry.sent if name.lower() == "content-type"), "")
    try:
        return body_in_query(entry.sent_body, kind)
    except (ValueError, RecursionError):  # no JSON, whatever its head says
        return body_in_query(entry.sent_body, "")


def url_key(url: str) -> str:
    """Return a URL as an index sorts it: `example,shop)/tea?a=1` for that of a page of a shop."""
    parts = urlsplit(url.lower())
    host = (parts.hostname or "").removeprefix("www.")
    port = "" if parts.port in {None, 80, 443} else f":{parts.port}"
    path = parts.path.rstrip("/") or "/"
    query = "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    return f"{','.join(reversed(host.split('.')))}{port}){path}{'?' if query else ''}{query}"


def _resource(path: str, data: bytes) -> dict[str, object]:
    return {
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "hash": f"sha256:{hashlib.sha256(data).hexdigest()}",
        "bytes": len(data),
    }


def import_tape(sources: Sequence[Path], out: Path) -> int:
    """Write one tape of WARC and WACZ files, and return how many exchanges it has.

    What identifies a visitor is left out: cookies, authorisation.

    Raises:
        InputError: a file is none of these, or is damaged.
    """
    with ExitStack() as stack:
        warcs = [str(path) for path in sources if path.name.endswith(_WARCS)]
        tapes = [stack.enter_context(open_tape(one)) for one in sources if str(one) not in warcs]
        found = catalogue(warcs, _opened)
        if warcs and not found.entries:
            raise InputError(f"{', '.join(warcs)}: no answer of any site")
        lost = found.lost + sum(one.lost + one.notes.lost for one in tapes)
        exchanges = chain((load(entry, _opened) for entry in found.entries), *map(_titled, tapes))
        title = ", ".join(path.name for path in sources)
        return write_tape(out, exchanges, title=title, notes=TapeNotes(by="import", lost=lost))


@contextmanager
def _opened(warc: str) -> Iterator[IO[bytes]]:
    if not Path(warc).is_file():
        raise InputError(f"{warc}: there is no such archive")
    with refusing(warc), Path(warc).open("rb") as stream:
        yield stream


def _titled(tape: OpenTape) -> Iterator[TapedExchange]:
    titles = {page.url: page.title or "" for page in tape.pages}
    for entry in tape.entries:
        yield replace(tape.load(entry), title=titles.get(entry.url, ""))
