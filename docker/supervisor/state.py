"""A state as bytes: the changes to the pristine copy, what lies in scratch folders, the time."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from attributes import is_settable
from blocks import BLOCK, Content
from changes import Changes
from failure import Refusal
from restore import Facts, Wanted

_VERSION = 1
_LENGTH = 8
_LONGEST_HEADER = 1 << 24
# Of blocks, when a state is taken and when it comes back: they are in memory several times over.
MOST_TAKEN = 24 << 20
_LEVEL = 1


class State(NamedTuple):
    """What a container's site is at one moment, without its processes.

    Attributes:
        changes: in what the folder differs from its pristine copy.
        scratch: what lies in scratch folders, each folder ahead of what it holds.
        clock: the site's time in nanoseconds since 1970; None where it has the host's.
    """

    changes: Changes
    scratch: tuple[Wanted, ...]
    clock: int | None


def digest_of(packed: bytes) -> str:
    """Return what a packed state is named by."""
    return hashlib.sha256(packed).hexdigest()


def pack(state: State, golden: Wanted) -> bytes:
    """Return a state as bytes, for a supervisor with the same pristine copy."""
    body: list[bytes] = []
    header = {
        "version": _VERSION,
        "pristine": _identity(golden),
        "clock": state.clock,
        "changed": [
            _written(path, entry, body) for path, entry in sorted(state.changes.changed.items())
        ],
        "removed": sorted(map(os.fsdecode, state.changes.removed)),
        "scratch": [_written(entry.path, entry, body) for entry in state.scratch],
    }
    head = json.dumps(header, separators=(",", ":")).encode()
    packer = zlib.compressobj(_LEVEL)
    parts = (len(head).to_bytes(_LENGTH, "big"), head, *body)
    return b"".join((*map(packer.compress, parts), packer.flush()))


def unpack(packed: bytes, golden: Wanted, roots: Iterable[bytes], room: int) -> State:
    """Read a state that may come from anybody.

    Args:
        packed: as `pack` made it.
        golden: the pristine copy that it must belong to.
        roots: the scratch folders.
        room: how many bytes its files may take.

    Raises:
        Refusal: it is damaged, belongs to another image, or holds what no container could have
            left: a path out of its folder, another owner, a file beyond the limit.
    """
    try:
        unpacker = zlib.decompressobj()
        plain = unpacker.decompress(packed, MOST_TAKEN + _LONGEST_HEADER)
        if not unpacker.eof or unpacker.unused_data:
            raise Refusal("the state is truncated, too large, or has more behind it")
        end = _LENGTH + int.from_bytes(plain[:_LENGTH], "big")
        header = json.loads(plain[_LENGTH:end])
        if header["version"] != _VERSION:
            raise Refusal(f"the state is of version {header['version']!r}, not {_VERSION}")
        if header["pristine"] != _identity(golden):
            raise Refusal("the state belongs to another image: its pristine copy is another")
        reader = _Reader(golden, tuple(roots), plain[end:], room)
        state = State(
            Changes(
                dict(map(reader.changed, header["changed"])),
                frozenset(reader.inner(path) for path in header["removed"]),
            ),
            tuple(reader.scratch(entry) for entry in header["scratch"]),
            None if header["clock"] is None else _whole(header["clock"], 1 << 63),
        )
        reader.end()
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError, RecursionError) as cause:
        msg = f"the state cannot be read: {type(cause).__name__}: {cause}"
        raise Refusal(msg) from cause
    return state


def _identity(golden: Wanted) -> str:
    """Return a digest of a pristine copy: names, kinds, modes, sizes and times of all it holds."""
    total = hashlib.sha256()
    for path, entry in sorted(_all(golden, b"")):
        # The folder itself is another volume in each container.
        facts = (entry.kind, *(entry.facts if path else ()), entry.content.size, entry.target)
        total.update(b"%b\0%b\n" % (path, repr(facts).encode()))
    return total.hexdigest()


def _all(entry: Wanted, path: bytes) -> Iterator[tuple[bytes, Wanted]]:
    yield path, entry
    for name, inner in entry.inner.items():
        yield from _all(inner, os.path.join(path, name))


def _written(path: bytes, entry: Wanted, body: list[bytes]) -> dict[str, Any]:
    body.extend(data for _, data in entry.content.blocks)
    return {
        "path": os.fsdecode(path),
        "kind": entry.kind,
        "facts": list(entry.facts),
        "target": os.fsdecode(entry.target),
        "attributes": {
            name: base64.b64encode(value).decode() for name, value in entry.attributes.items()
        },
        "over_pristine": entry.content.base is not None,
        "size": entry.content.size,
        "blocks": [number for number, _ in entry.content.blocks],
    }


class _Reader:
    """Reads entries, and takes their blocks from the body in the order in which they come."""

    def __init__(self, golden: Wanted, roots: tuple[bytes, ...], body: bytes, room: int) -> None:
        self._golden = golden
        self._body = body
        self._at = 0
        self._folders = set(roots)
        self._left = room
        entries = [entry for _, entry in _all(golden, b"")]
        self._users = {os.geteuid(), *(entry.facts.uid for entry in entries)}
        self._groups = {os.getegid(), *os.getgroups(), *(one.facts.gid for one in entries)}

    def changed(self, told: dict[str, Any]) -> tuple[bytes, Wanted]:
        inner = self.inner(told["path"]) if told["path"] else b""
        path = os.path.join(self._golden.path, inner) if inner else self._golden.path
        return inner, self._entry(told, path, _found(self._golden, inner))

    def scratch(self, told: dict[str, Any]) -> Wanted:
        path = os.fsencode(told["path"])
        folder, name = os.path.split(path)
        if folder not in self._folders:
            raise Refusal(f"the state has an entry {told['path']!r} outside the scratch folders")
        self.inner(os.fsdecode(name))
        if told["kind"] == "d":
            self._folders.add(path)
        return self._entry(told, path, None)

    def inner(self, told: str) -> bytes:
        path = os.fsencode(told)
        if b"\0" in path or any(name in (b"", b".", b"..") for name in path.split(b"/")):
            raise Refusal(f"the state has an entry {told!r} that leads out of its folder")
        return path

    def end(self) -> None:
        if self._at != len(self._body):
            raise Refusal("the state has more blocks than its files name")

    def _entry(self, told: dict[str, Any], path: bytes, pristine: Wanted | None) -> Wanted:
        mode, uid, gid, mtime_ns = told["facts"]
        facts = Facts(
            _whole(mode, 1 << 12), _whole(uid, 1 << 32), _whole(gid, 1 << 32), _time(mtime_ns)
        )
        if told["kind"] not in ("f", "d", "l"):
            raise Refusal(f"the state has an entry of kind {told['kind']!r}")
        if facts.uid not in self._users or facts.gid not in self._groups:
            raise Refusal(f"the state has an entry of another owner: {told['path']!r}")
        if facts.mode & stat.S_ISUID and facts.uid != os.geteuid():
            raise Refusal(f"the state has an entry that changes the user: {told['path']!r}")
        target = os.fsencode(told["target"])
        attributes = {
            str(name): base64.b64decode(value, validate=True)
            for name, value in told["attributes"].items()
        }
        if b"\0" in target or not all(map(is_settable, attributes)):
            raise Refusal(f"the state has an entry that cannot be made: {told['path']!r}")
        return Wanted(
            path=path,
            kind=told["kind"],
            facts=facts,
            content=self._content(told, pristine),
            target=target,
            attributes=attributes,
        )

    def _content(self, told: dict[str, Any], pristine: Wanted | None) -> Content:
        base = None
        if told["over_pristine"]:
            if pristine is None or pristine.kind != "f":
                raise Refusal(f"the state changes a file that is not there: {told['path']!r}")
            base = pristine.content.base
        size = _whole(told["size"], self._left + 1)
        self._left -= size
        blocks = []
        last = -1
        for number in told["blocks"]:
            start = _whole(number, -(-size // BLOCK)) * BLOCK
            length = min(BLOCK, size - start)
            data = self._body[self._at : self._at + length]
            if number <= last or len(data) != length:
                raise Refusal(f"the state numbers the blocks of {told['path']!r} wrongly")
            blocks.append((number, data))
            last = number
            self._at += length
        return Content(base, size, tuple(blocks))


def _found(golden: Wanted, inner: bytes) -> Wanted | None:
    entry: Wanted | None = golden
    for name in inner.split(b"/") if inner else ():
        entry = entry.inner.get(name) if entry is not None else None
    return entry


def _whole(number: object, limit: int) -> int:
    if type(number) is not int or not 0 <= number < limit:
        raise Refusal(f"the state has a number out of bounds: {number!r}")
    return number


def _time(number: object) -> int:
    if type(number) is not int or abs(number) >= 1 << 63:
        raise Refusal(f"the state has a time out of bounds: {number!r}")
    return number
