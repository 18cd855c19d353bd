"""Opens a tape: a WACZ file whose every byte is somebody else's, within limits and checked."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena_core.errors import InputError
from orchestrator.gateway.tapes.exchange import TapedExchange
from orchestrator.gateway.tapes.records import Entry, catalogue, load, refusing

MOST_MEMBERS: Final = 10_000
MOST_BYTES: Final = 16 * 1024**3
_MOST_TEXT: Final = 32 * 1024 * 1024
_MOST_RATIO: Final = 300
_RATIO_FROM: Final = 1024 * 1024
_PIECE: Final = 1024 * 1024
_PACKAGE: Final = "datapackage.json"
_PAGES: Final = ("pages/pages.jsonl", "pages/extraPages.jsonl")
_WARCS: Final = (".warc", ".warc.gz")
_UNREADABLE: Final = 0x1 | 0x20 | 0x40  # encrypted, a patch, strongly encrypted
_PACKED: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
# https://github.com/harvard-lil/js-wacz/issues/127: it hashes each file twice over.
_WRONG_HASH: Final = (
    "fetch it again; of js-wacz (Scoop, Perma), which notes wrong digests, unzip it and arena tape"
    " import the files in archive/"
)
_PORTS: Final = {"http": 80, "https": 443}


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class TapeNotes(_Lenient):
    """What Arena notes in a tape that it makes; empty of one of another program.

    Attributes:
        by: `record` or `import`.
        lost: answers whose bodies the browser had dropped before they could be read.
        robots: what robots.txt said where it was asked, one line each.
        passed_over: URLs that robots.txt forbade, so that they were left out.
    """

    by: Annotated[str, Field(max_length=40)] = ""
    lost: int = 0
    robots: tuple[Annotated[str, Field(max_length=400)], ...] = ()
    passed_over: int = 0


class _Resource(_Lenient):
    path: Annotated[str, Field(max_length=4096)]
    hash: Annotated[str, Field(max_length=200)] = ""


class _Package(_Lenient):
    title: Annotated[str, Field(max_length=4096)] = ""
    software: Annotated[str, Field(max_length=400)] = ""
    created: Annotated[str, Field(max_length=100)] = ""
    resources: tuple[_Resource, ...] = ()
    arena: TapeNotes = TapeNotes()


class TapePage(_Lenient):
    """A page of a tape, as its list of pages has it."""

    url: Annotated[str, Field(max_length=8192)]
    ts: Annotated[str, Field(max_length=100)] = ""
    title: Annotated[str | None, Field(max_length=4096)] = None


@dataclass(frozen=True, slots=True, order=True)
class TapedOrigin:
    """Scheme, host and port that a tape has answers of."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> TapedOrigin:
        parts = urlsplit(url)
        return cls(parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme])

    def __str__(self) -> str:
        usual = self.port == _PORTS[self.scheme]
        return f"{self.scheme}://{self.host}{'' if usual else f':{self.port}'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTape:
    """A tape that was checked whole, open for reading.

    Attributes:
        sha256: of the file.
        entries: what was recorded, in that order; the records themselves say it, whatever the
            tape's own index does.
        lost: answers that repeat one which is not on it.
        pages: its own list of pages.
        software: what made it, as it says.
    """

    path: Path
    sha256: str
    entries: tuple[Entry, ...]
    lost: int
    pages: tuple[TapePage, ...]
    title: str
    software: str
    created: str
    notes: TapeNotes
    file: zipfile.ZipFile

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def origins(self) -> tuple[TapedOrigin, ...]:
        """The origins that it has answers of."""
        return tuple(sorted({TapedOrigin.of(entry.url) for entry in self.entries}))

    def load(self, entry: Entry) -> TapedExchange:
        """Return an exchange whole."""
        return load(entry, partial(_member, self.path, self.file))


@contextmanager
def _member(path: Path, file: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    """Open a file of a tape; what is damaged in it is one line that names it."""
    with refusing(f"{path}: {name}"), file.open(name) as stream:
        yield stream


@contextmanager
def open_tape(path: Path) -> Iterator[OpenTape]:
    """Open a tape and check all of it; it is closed with the block.

    Nothing is unpacked onto the disk, and no member is read beyond what its limits allow.

    Raises:
        InputError: it is no WACZ, is damaged, or is larger than a tape may be.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such tape", hint="arena tape record makes one")
    if path.name.endswith(_WARCS):
        hint = f"arena tape import {path} --out TAPE.wacz"
        raise InputError(f"{path}: is a WARC, and a tape is a WACZ", hint=hint)
    sha256 = _sha256(path)
    with refusing(str(path)):
        try:
            file = zipfile.ZipFile(path)
        except zipfile.BadZipFile as cause:
            hint = "a tape is a WACZ file: arena tape record, or arena tape import"
            message = f"{path}: is no WACZ, or is cut off: {cause}"
            raise InputError(message, hint=hint) from cause
    with file:
        with refusing(str(path)):
            _check_members(file)
            package = _package(file)
            archives = _archives(file)
            _check_hashes(file, package)
        found = catalogue(archives, partial(_member, path, file))
        if not found.entries:
            raise InputError(f"{path}: holds no answer of any site")
        yield OpenTape(
            path=path,
            sha256=sha256,
            entries=found.entries,
            lost=found.lost,
            pages=_pages(file),
            title=package.title,
            software=package.software,
            created=package.created,
            notes=package.arena,
            file=file,
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check_members(file: zipfile.ZipFile) -> None:
    """Refuse names that lead elsewhere, and sizes that no tape has."""
    members = file.infolist()
    if len(members) > MOST_MEMBERS:
        raise InputError(f"{len(members):,} files are in it: more than {MOST_MEMBERS:,}")
    seen: set[str] = set()
    for one in members:
        name = one.filename
        # zipfile cuts a name at a NUL: what it was before tells.
        parts = PurePosixPath(name).parts
        if name.startswith("/") or ".." in parts or "\\" in one.orig_filename or ":" in name[:3]:
            raise InputError(f"the file {name[:80]!r} in it leads out of it")
        if "\0" in one.orig_filename or name in seen:
            raise InputError(f"the file {name[:80]!r} is in it twice, or under two names")
        seen.add(name)
        if one.flag_bits & _UNREADABLE or one.compress_type not in _PACKED:
            raise InputError(f"the file {name[:80]!r} in it is encrypted, or packed as no WACZ is")
        packed = max(1, one.compress_size)
        if one.file_size > _RATIO_FROM and one.file_size > _MOST_RATIO * packed:
            times = f"{one.file_size // packed:,} times"
            raise InputError(f"the file {name[:80]!r} in it unpacks to {times} its size: a bomb")
    total = sum(one.file_size for one in members)
    if total > MOST_BYTES:
        raise InputError(f"it unpacks to {total:,} bytes: more than {MOST_BYTES:,}")


def _text(file: zipfile.ZipFile, member: str) -> bytes:
    with file.open(member) as stream:
        found = stream.read(_MOST_TEXT + 1)
    if len(found) > _MOST_TEXT:
        raise InputError(f"{member} is larger than {_MOST_TEXT // 2**20} MiB")
    return found


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested without end") from None


def _package(file: zipfile.ZipFile) -> _Package:
    if _PACKAGE not in file.namelist():
        raise InputError(f"has no {_PACKAGE}, so it is no WACZ")
    try:
        return _Package.model_validate(_json(_text(file, _PACKAGE)))
    except ValidationError as cause:
        fault = cause.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "it"
        raise InputError(f"{_PACKAGE}: {place}: {fault['msg']}") from cause


def _archives(file: zipfile.ZipFile) -> tuple[str, ...]:
    found = [
        name for name in file.namelist() if name.startswith("archive/") and name.endswith(_WARCS)
    ]
    if not found:
        several = any(name.endswith(".wacz") for name in file.namelist())
        hint = "unzip it, and arena tape import the WACZ files in it" if several else ""
        raise InputError("has no WARC in archive/, so there is nothing to replay", hint=hint)
    return tuple(sorted(found))


def _check_hashes(file: zipfile.ZipFile, package: _Package) -> None:
    """Hold each file that the package lists against its SHA-256."""
    names = set(file.namelist())
    for one in package.resources:
        kind, _, wanted = one.hash.partition(":")
        if one.path not in names:
            raise InputError(f"{_PACKAGE} lists {one.path[:80]!r}, which is not in it")
        if kind != "sha256":
            continue
        machine = hashlib.sha256()
        with file.open(one.path) as stream:
            while piece := stream.read(_PIECE):
                machine.update(piece)
        if machine.hexdigest() != wanted.lower():
            message = f"{one.path} is not what {_PACKAGE} says: its SHA-256 differs"
            raise InputError(message, hint=_WRONG_HASH)


def _pages(file: zipfile.ZipFile) -> tuple[TapePage, ...]:
    """Return the list of pages; a line that is no page says nothing."""
    found: list[TapePage] = []
    for name in _PAGES:
        with refusing(name):
            lines = _text(file, name).splitlines() if name in file.namelist() else ()
        for line in lines:
            try:
                found.append(TapePage.model_validate(_json(line)))
            except ValueError:  # ValidationError is one
                continue
    return tuple(found)
