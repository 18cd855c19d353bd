"""Build contexts: which files of docker/ an image is built from, as one deterministic tar."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from arena_core.errors import ManifestError, PrerequisiteError
from sites.manifest import Build

CA_BUNDLE: Final = "ca-bundle.crt"
CA_VARIABLE: Final = "ARENA_CA_BUNDLE"
_ABOUT: Final = "README.md"
_LEFT_BEHIND: Final = ("__pycache__", ".pyc", ".mypy_cache", ".ruff_cache", ".pytest_cache")
_USUAL_VARIABLES: Final = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")


def ca_bundle() -> bytes:
    """Return the CA bundle that pip needs behind a TLS-inspecting proxy; empty where none is named.

    ARENA_CA_BUNDLE names it; where it is unset, what this machine's own pip and requests are told
    to use holds for builds too.
    """
    for variable in (CA_VARIABLE, *_USUAL_VARIABLES):
        named = os.environ.get(variable, "")
        if named and (variable == CA_VARIABLE or Path(named).is_file()):
            return _read_bundle(variable, Path(named))
    return b""


def _read_bundle(variable: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as cause:
        message = f"{variable} names {path}, which cannot be read: {cause.strerror}"
        raise PrerequisiteError(message, hint="name a PEM file, or unset the variable") from cause


@dataclass(frozen=True, slots=True)
class ContextFile:
    """One file of a build context: its path in it, whether it is executable, its content."""

    path: str
    executable: bool
    content: bytes


def context_files(
    build: Build, folder: Path, own: Mapping[str, Path] | None = None
) -> tuple[ContextFile, ...]:
    """Return the files that an image is built from, sorted by path, without the CA bundle.

    An image folder's own README.md tells people about it and is no source: editing it makes no
    image outdated.

    Args:
        folder: docker/, where the names are found.
        own: image folders that are elsewhere, by the name under which builds know them.
    """
    found: dict[str, Path] = {}
    for name in (*build.context, build.dockerfile):
        base = named_path(name, folder, own or {})
        for path in _walk(base):
            inside = PurePosixPath(name) / path.relative_to(base)
            if inside.parts[1:] != (_ABOUT,):
                found[inside.as_posix()] = path
    ordered = sorted(found, key=lambda name: PurePosixPath(name).parts)
    return tuple(_read(found[name], name) for name in ordered)


def context_tar(files: tuple[ContextFile, ...], bundle: bytes) -> bytes:
    """Pack a build context; equal files give equal bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for file in (*files, ContextFile(CA_BUNDLE, executable=False, content=bundle)):
            entry = tarfile.TarInfo(file.path)
            entry.size = len(file.content)
            entry.mode = 0o755 if file.executable else 0o644
            tar.addfile(entry, io.BytesIO(file.content))
    return packed.getvalue()


def context_hash(files: tuple[ContextFile, ...]) -> str:
    total = hashlib.sha256()
    for file in files:
        content = hashlib.sha256(file.content).hexdigest()
        total.update(f"{file.path}\0{file.executable:d}\0{content}\n".encode())
    return total.hexdigest()


def named_path(name: str, folder: Path, own: Mapping[str, Path]) -> Path:
    """Return the path of a file or folder that a manifest names; it must be an image's."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute():
        raise ManifestError(f"image: build names '{name}', which is not inside docker/")
    path = own[parts[0]].joinpath(*parts[1:]) if parts[0] in own else folder / name
    if not path.exists():
        message = f"image: build names '{name}', which does not exist in {folder}"
        if parts[0] in own:
            message = f"image: build names '{name}', but there is no {path}"
        raise ManifestError(message)
    return path


def _walk(path: Path) -> Iterator[Path]:
    """Yield the files below a folder (or the file itself), without what tools leave behind."""
    if path.is_file():
        yield path
        return
    for inner in path.iterdir():
        if not inner.name.endswith(_LEFT_BEHIND):
            yield from _walk(inner)


def _read(path: Path, name: str) -> ContextFile:
    return ContextFile(
        path=name,
        executable=bool(path.stat().st_mode & stat.S_IXUSR),
        content=path.read_bytes(),
    )
