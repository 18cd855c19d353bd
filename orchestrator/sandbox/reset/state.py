"""What a replica's state consists of, as values that can be compared, named and stored."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final, Protocol, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from arena_core.errors import ImageError
from arena_core.names import counted

_VERSION = 3  # 2: objects and probes; 3: SHA-1 of rows
ROWS_ELSEWHERE: Final = "rows of"
_LONGEST_FACT: Final = 200
_LENGTH: Final = 8


@dataclass(frozen=True, slots=True)
class TableState:
    """One table: its definition, its rows as a set with repeats, and the next id it would give.

    Attributes:
        content: hash over the rows, whatever order they are in.
        auto_increment: None where the table has no such column.
        definition: hash of the definition without the counter.
    """

    name: str
    rows: int
    content: str
    auto_increment: int | None
    definition: str


@dataclass(frozen=True, slots=True)
class FileState:
    """One entry of a file tree.

    Attributes:
        kind: `f` file, `d` folder, `l` link, as find(1) names them.
        mode: octal permissions.
        owner: `uid:gid`.
        content: SHA-256 of a file, target of a link, empty otherwise; of a file in a scratch folder
            that begins with the number of a running process `pid`.
    """

    path: str
    kind: str
    mode: str
    owner: str
    content: str


@dataclass(frozen=True, slots=True)
class ObjectState:
    """What a database holds besides the tables of its schema.

    Attributes:
        kind: trigger, view, routine, event; or setting, a variable set while the server ran; or
            `rows of` another schema.
        definition: hash of everything that defines it, or of the rows; of a setting its value.
    """

    kind: str
    name: str
    definition: str


@dataclass(frozen=True, slots=True)
class ProbeState:
    """What one probe of the manifest found.

    Attributes:
        value: the fact itself, or its hash where that would be long.
    """

    name: str
    value: str

    @classmethod
    def of(cls, name: str, fact: str) -> Self:
        """Keep a short fact as it is, so that differences can show it."""
        if len(fact) <= _LONGEST_FACT:
            return cls(name, fact)
        digest = hashlib.sha256(fact.encode(errors="surrogatepass")).hexdigest()
        return cls(name, f"{len(fact)} characters, SHA-256 {digest}")


@dataclass(frozen=True)  # without slots: the digest is kept
class Fingerprint:
    """A replica's whole state: equal digests mean equal state, volatile parts left out.

    Attributes:
        files: entries of the stateful folders.
        scratch: entries of the folders in memory, which every start and rewind empties.
    """

    tables: tuple[TableState, ...] = ()
    files: tuple[FileState, ...] = ()
    objects: tuple[ObjectState, ...] = ()
    probes: tuple[ProbeState, ...] = ()
    scratch: tuple[FileState, ...] = ()

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.to_json()).hexdigest()

    @cached_property
    def own_digest(self) -> str:
        """The digest without rows of other schemas, which golden fingerprints do not know."""
        return replace(self, objects=_objects_of(self, elsewhere=False)).digest

    def to_json(self) -> bytes:
        """Return the canonical form: equal fingerprints give equal bytes."""
        document: dict[str, object] = {
            "version": _VERSION,
            "tables": [asdict(table) for table in sorted(self.tables, key=_name)],
            "files": [asdict(entry) for entry in sorted(self.files, key=_path)],
            "objects": [asdict(entry) for entry in sorted(self.objects, key=_object)],
            "probes": [asdict(probe) for probe in sorted(self.probes, key=_name)],
        }
        if self.scratch:
            document["scratch"] = [asdict(entry) for entry in sorted(self.scratch, key=_path)]
        return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, document: bytes) -> Fingerprint:
        try:
            stored = _STORED.validate_json(document)
        except ValidationError as cause:
            message = "the image's golden fingerprint cannot be read"
            raise ImageError(message, hint="arena build --force") from cause
        if stored.version != _VERSION:
            message = f"the image's golden fingerprint has version {stored.version}, not {_VERSION}"
            raise ImageError(message, hint="arena build --force")
        return cls(
            tables=stored.tables,
            files=stored.files,
            objects=stored.objects,
            probes=stored.probes,
            scratch=stored.scratch,
        )

    def with_scratch_of(self, fresh: Fingerprint) -> Fingerprint:
        """Return this state, but with the scratch folders of another."""
        return replace(self, scratch=fresh.scratch)

    def with_objects(self, found: tuple[ObjectState, ...]) -> Fingerprint:
        """Return this state with more objects."""
        return replace(self, objects=(*self.objects, *found)) if found else self

    @property
    def reads_elsewhere(self) -> bool:
        """Whether it knows the rows of other schemas, as the fingerprint of a taken state does."""
        return any(entry.kind == ROWS_ELSEWHERE for entry in self.objects)

    def differences(self, golden: Fingerprint) -> tuple[str, ...]:
        """Say in one line each which part differs from golden, and how.

        Rows of other schemas are compared where both fingerprints know them.
        """
        both = self.reads_elsewhere and golden.reads_elsewhere
        objects, of_golden = (_objects_of(found, elsewhere=both) for found in (self, golden))
        return (
            *_compare(_by(golden.tables, _name), _by(self.tables, _name), "table", _table_change),
            *_compare(_by(golden.files, _path), _by(self.files, _path), "file", _file_change),
            *_compare(
                _by(golden.scratch, _path), _by(self.scratch, _path), "scratch", _file_change
            ),
            *_compare(_by(of_golden, _object), _by(objects, _object), "", _object_change),
            *_compare(_by(golden.probes, _name), _by(self.probes, _name), "probe", _probe_change),
        )


def _objects_of(found: Fingerprint, *, elsewhere: bool) -> tuple[ObjectState, ...]:
    return tuple(one for one in found.objects if elsewhere or one.kind != ROWS_ELSEWHERE)


class GoldenState(Protocol):
    """What a sealed image says about the state that its containers start with."""

    @property
    def digest(self) -> str:
        """The digest of its fingerprint."""

    async def parts(self) -> Fingerprint:
        """Return the whole fingerprint, to name differences with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenState:
    """A state that was taken of a running replica: a `GoldenState` to go back to by its supervisor.

    Attributes:
        image_id: the sealed image of the replica; no other can be brought to it.
        packed: what the supervisor took; its bytes are the supervisor's matter.
        fingerprint: of the replica when it was taken, which a replica must show afterwards.
        clock: the site's time then; None where its clock is the host's.
        rows: of the tables in which it differs from golden, as `pack_rows` writes them; None where
            it differs in none.
    """

    site: str
    image_id: str
    packed: bytes
    fingerprint: Fingerprint
    clock: datetime | None = None
    rows: bytes | None = None

    @property
    def digest(self) -> str:
        return self.fingerprint.digest

    @property
    def name(self) -> str:
        """The digest of what was taken, by which the supervisor names it."""
        return hashlib.sha256(self.packed).hexdigest()

    async def parts(self) -> Fingerprint:
        return self.fingerprint

    def at(self, moment: datetime) -> TakenState:
        """Return the same state with the site's clock at another moment.

        What was taken begins with the length of its header, which is JSON; `docker/supervisor`
        writes and reads it.
        """
        plain = zlib.decompress(self.packed)
        end = _LENGTH + int.from_bytes(plain[:_LENGTH], "big")
        header = json.loads(plain[_LENGTH:end])
        header["clock"] = int(moment.timestamp()) * 10**9 + moment.microsecond * 1000
        head = json.dumps(header, separators=(",", ":")).encode()
        packed = zlib.compress(len(head).to_bytes(_LENGTH, "big") + head + plain[end:], 1)
        return replace(self, packed=packed, clock=moment)


@dataclass(frozen=True, slots=True)
class _Stored:
    version: int
    tables: tuple[TableState, ...]
    files: tuple[FileState, ...]
    objects: tuple[ObjectState, ...] = ()
    probes: tuple[ProbeState, ...] = ()
    scratch: tuple[FileState, ...] = ()


_STORED = TypeAdapter(_Stored)

Part = TypeVar("Part", TableState, FileState, ObjectState, ProbeState)


def _name(part: TableState | ProbeState) -> str:
    return part.name


def _object(entry: ObjectState) -> str:
    return f"{entry.kind} {entry.name}"


def _path(entry: FileState) -> str:
    return entry.path


def _by(parts: tuple[Part, ...], key: Callable[[Part], str]) -> dict[str, Part]:
    return {key(part): part for part in parts}


def _compare(
    golden: Mapping[str, Part],
    found: Mapping[str, Part],
    noun: str,
    change: Callable[[Part, Part], list[str]],
) -> Iterator[str]:
    for key in sorted({*golden, *found}):
        shown = f"{noun} {key if key.isprintable() else repr(key)}".lstrip()
        if key not in golden:
            yield f"{shown}: new"
        elif key not in found:
            yield f"{shown}: removed"
        elif changes := change(golden[key], found[key]):
            yield f"{shown}: {', '.join(changes)}"


def _table_change(golden: TableState, found: TableState) -> list[str]:
    changes = []
    if found.rows != golden.rows:
        more = found.rows - golden.rows
        rows = counted(abs(more), "row")
        changes.append(f"{rows} {'more' if more > 0 else 'fewer'}")
    elif found.content != golden.content:
        changes.append("same number of rows, other content")
    if found.auto_increment != golden.auto_increment:
        changes.append(f"next id {found.auto_increment} instead of {golden.auto_increment}")
    if found.definition != golden.definition:
        changes.append("other definition")
    return changes


def _file_change(golden: FileState, found: FileState) -> list[str]:
    changes = []
    if found.kind != golden.kind:
        changes.append(f"type {found.kind} instead of {golden.kind}")
    if found.content != golden.content:
        changes.append("other content")
    if found.mode != golden.mode:
        changes.append(f"mode {found.mode} instead of {golden.mode}")
    if found.owner != golden.owner:
        changes.append(f"owner {found.owner} instead of {golden.owner}")
    return changes


def _object_change(golden: ObjectState, found: ObjectState) -> list[str]:
    changed = "other content" if found.kind == ROWS_ELSEWHERE else "other definition"
    return [] if found.definition == golden.definition else [changed]


def _probe_change(golden: ProbeState, found: ProbeState) -> list[str]:
    return [] if found.value == golden.value else [f"{found.value!r} instead of {golden.value!r}"]
