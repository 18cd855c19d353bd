"""The file of a state: what was taken of each site, and the fingerprint that proves it."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, BinaryIO, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from arena_core.errors import ImageError, StateError
from orchestrator.sandbox.reset.state import Fingerprint, TakenState

_MANIFEST: Final = "state.json"
_MOST_BYTES: Final = 1 << 28
_MOST_SITES: Final = 100
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
# What zipfile raises for bytes that it cannot read; the last for a version that it does not know.
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    NotImplementedError,
)

_Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_SiteName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,62}$")]


class _Site(BaseModel):
    """What the manifest says of one site; digests are of the parts `SITE/taken` and so on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    image_id: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
    taken: _Digest
    fingerprint: _Digest
    clock: AwareDatetime | None = None
    rows: _Digest | None = None


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["arena-state"] = "arena-state"
    version: Literal[1] = 1
    made: AwareDatetime
    sites: Annotated[dict[_SiteName, _Site], Field(min_length=1, max_length=_MOST_SITES)]


@dataclass(frozen=True, slots=True)
class SavedState:
    """The states of some sites, taken one right after the other.

    Attributes:
        sites: by name.
    """

    made: datetime
    sites: Mapping[str, TakenState]


def write_state(state: SavedState, path: Path) -> None:
    """Write a state as one file, which appears whole or not at all.

    Raises:
        StateError: it cannot be written there.
    """
    parts = {
        f"{name}/{part}": content
        for name, one in state.sites.items()
        for part, content in (
            ("taken", one.packed),
            ("fingerprint", one.fingerprint.to_json()),
            *((("rows", one.rows),) if one.rows is not None else ()),
        )
    }
    manifest = _Manifest(
        made=state.made,
        sites={
            name: _Site(
                image_id=one.image_id,
                taken=_digest(parts[f"{name}/taken"]),
                fingerprint=_digest(parts[f"{name}/fingerprint"]),
                clock=one.clock,
                rows=None if one.rows is None else _digest(one.rows),
            )
            for name, one in state.sites.items()
        },
    )
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(_MANIFEST, manifest.model_dump_json(indent=1))
            for name, content in parts.items():
                file.writestr(name, content)
        unfinished.replace(path)
    except OSError as cause:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise StateError(f"{path} cannot be written: {cause.strerror or cause}") from cause


def read_state(path: Path) -> SavedState:
    """Read the file of a state, which may come from anybody.

    Raises:
        StateError: it is missing, damaged, no regular file, or not the file of a state.
    """
    try:
        with _opened(path) as content, zipfile.ZipFile(content) as file:
            parts = _Parts(file)
            manifest = _Manifest.model_validate_json(parts.read(_MANIFEST))
            sites = {name: _site(parts, name, one) for name, one in manifest.sites.items()}
    except ValidationError as cause:
        first = cause.errors()[0]
        where = ".".join(map(str, first["loc"])) or _MANIFEST
        raise StateError(f"{path} is not the file of a state: {where}: {first['msg']}") from cause
    except _UNREADABLE as cause:
        raise StateError(f"{path} is damaged, or not the file of a state: {cause}") from cause
    except (_DamagedError, ImageError) as cause:
        raise StateError(f"{path} is damaged: {cause}") from cause
    except OSError as cause:
        raise StateError(f"{path} cannot be read: {cause.strerror or cause}") from cause
    return SavedState(manifest.made, sites)


class _DamagedError(Exception):
    """A part is not what the manifest says."""


def _opened(path: Path) -> BinaryIO:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StateError(f"{path} is not a regular file")
    return os.fdopen(handle, "rb")


class _Parts:
    """Reads the parts of a file, and no more of all of them than anybody would take."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._left = _MOST_BYTES

    def read(self, name: str) -> bytes:
        try:
            part = self._file.getinfo(name)
        except KeyError as cause:
            raise _DamagedError(f"it has no part '{name}'") from cause
        if part.compress_type not in _METHODS or part.flag_bits & _ENCRYPTED:
            raise _DamagedError(f"its part '{name}' is not packed as Arena packs it")
        with self._file.open(part) as opened:
            content = opened.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise _DamagedError(f"it holds more than {_MOST_BYTES >> 20} MiB")
        return content


def _site(parts: _Parts, name: str, told: _Site) -> TakenState:
    found = {}
    parts_told = {"taken": told.taken, "fingerprint": told.fingerprint, "rows": told.rows}
    for part, digest in parts_told.items():
        if digest is None:
            continue
        found[part] = parts.read(f"{name}/{part}")
        if _digest(found[part]) != digest:
            raise _DamagedError(f"its part '{name}/{part}' is not what the file says")
    return TakenState(
        site=name,
        image_id=told.image_id,
        packed=found["taken"],
        fingerprint=Fingerprint.from_json(found["fingerprint"]),
        clock=told.clock,
        rows=found.get("rows"),
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
