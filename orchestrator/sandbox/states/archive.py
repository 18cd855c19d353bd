"""The ZIP files of states and checkpoints: whole or not there, bounded, and checked as read."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from enum import Enum
from pathlib import Path
from typing import IO, Annotated, Final

from pydantic import BaseModel, StringConstraints, ValidationError

from arena_core.errors import ImageError, StateError
from arena_core.foreign import first_fault
from arena_core.regular_files import open_regular

MOST_BYTES: Final = 1 << 28  # of all parts together
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
# The end of a ZIP file without a comment, and what stands before it where the file is a large one.
_END: Final = struct.Struct("<4s4H2LH")
_END_BEGINS: Final = b"PK\x05\x06"
_LOCATOR: Final = b"PK\x06\x07"
_LOCATOR_BYTES: Final = 20
_MOST_LIST_BYTES: Final = 1 << 22
# What zipfile raises for bytes that it cannot read; the last for a version that it does not know.
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    NotImplementedError,
    RecursionError,
)

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Kind(Enum):
    """What a file is of: its noun, and what takes such a file. Its manifest is `NOUN.json`."""

    STATE = ("state", "arena state import FILE")
    CHECKPOINT = ("checkpoint", "arena open FILE")

    @property
    def noun(self) -> str:
        return self.value[0]

    @property
    def manifest(self) -> str:
        return f"{self.noun}.json"


class DamagedError(Exception):
    """A part is not what the manifest says."""


class Parts:
    """Reads the parts of a file, and no more of all of them than anybody would take."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._left = MOST_BYTES
        self._unread = set(file.namelist())

    def manifest(self, kind: Kind) -> bytes:
        """Return what says what the file holds; StateError where it is a file of another kind."""
        names = self._file.namelist()
        for other in Kind:
            if other is not kind and other.manifest in names and kind.manifest not in names:
                message = f"it is the file of a {other.noun}, and not of a {kind.noun}"
                raise StateError(message, hint=other.value[1])
        return self.read(kind.manifest)

    def read(self, name: str, sha256: str | None = None) -> bytes:
        """Return a part; DamagedError where its digest is another than the manifest says."""
        try:
            part = self._file.getinfo(name)
        except KeyError as cause:
            raise DamagedError(f"it has no part '{name}'") from cause
        if part.compress_type not in _METHODS or part.flag_bits & _ENCRYPTED:
            raise DamagedError(f"its part '{name}' is not packed as Arena packs it")
        self._unread.discard(name)
        with self._file.open(part) as opened:
            content = opened.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise DamagedError(f"it holds more than {MOST_BYTES >> 20} MiB")
        if sha256 is not None and digest_of(content) != sha256:
            raise DamagedError(f"its part '{name}' is not what the file says")
        return content

    def require_all_read(self) -> None:
        """Raise DamagedError where the file holds a part that its manifest does not name."""
        for name in sorted(self._unread):
            raise DamagedError(f"it holds {name!r:.80}, which its manifest does not name")


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def packed_archive(kind: Kind, manifest: BaseModel, parts: Mapping[str, bytes]) -> bytes:
    """Return the content of a file."""
    if sum(map(len, parts.values())) > MOST_BYTES:
        raise StateError(f"the {kind.noun} has more than {MOST_BYTES >> 20} MiB")
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(kind.manifest, manifest.model_dump_json(indent=1))
        for name, content in parts.items():
            file.writestr(name, content)
    return whole.getvalue()


def write_archive(path: Path, content: bytes) -> None:
    """Write a file, which appears whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as cause:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise StateError(f"{path} cannot be written: {cause.strerror or cause}") from cause


def _with_short_list(content: IO[bytes]) -> zipfile.ZipFile:
    """Open a file whose list of parts is as short as any of Arena's: zipfile keeps all of it.

    Five million names fit a file that is no longer than it may be, and take gigabytes of memory.
    """
    content.seek(0, os.SEEK_END)
    content.seek(max(content.tell() - _LOCATOR_BYTES - _END.size, 0))
    tail = content.read()
    if len(tail) < _END.size or tail[-_END.size :][:4] != _END_BEGINS:
        raise zipfile.BadZipFile("File is not a zip file")
    *_, list_bytes, _, _ = _END.unpack(tail[-_END.size :])
    if list_bytes > _MOST_LIST_BYTES or tail.startswith(_LOCATOR):
        raise DamagedError("its list of parts is too long")
    return zipfile.ZipFile(content)


@contextmanager
def opened_archive(source: Path | IO[bytes], kind: Kind) -> Iterator[Parts]:
    """Let a block read a file, which may come from anybody; whatever is wrong with it is one line.

    Args:
        source: where it is, or the file itself, which is left open.
    """
    what = f"the file of a {kind.noun}"
    path = source if isinstance(source, Path) else f"the {kind.noun}'s file"
    try:
        with (
            open_regular(source, follow=True, most=MOST_BYTES)
            if isinstance(source, Path)
            else nullcontext(source) as content,
            _with_short_list(content) as file,
        ):
            parts = Parts(file)
            yield parts
            parts.require_all_read()
    except ValidationError as cause:
        raise _not_valid(path, kind, cause) from cause
    except _UNREADABLE as cause:
        raise StateError(f"{path} is damaged, or not {what}: {cause}") from cause
    except (DamagedError, ImageError) as cause:
        raise StateError(f"{path} is damaged: {cause}") from cause
    except StateError as cause:
        raise StateError(f"{path}: {cause.message}", hint=cause.hint) from cause
    except OSError as cause:
        raise StateError(f"{path} cannot be read: {cause.strerror or cause}") from cause


def _not_valid(path: Path | str, kind: Kind, fault: ValidationError) -> StateError:
    for error in fault.errors():
        if error["loc"] == ("version",) and isinstance(error["input"], int):
            message = f"{path}: its format has version {error['input']}, which is unknown here"
            return StateError(message, hint="read it with the Arena that wrote it")
    return StateError(f"{path} is not the file of a {kind.noun}: {first_fault(fault)}")
