"""Build contexts: which files of docker/ an image is built from, as one deterministic tar."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from sites.errors import ManifestError, PrerequisiteError
from sites.manifest import Build

CA_BUNDLE: Final = "ca-bundle.crt"
CA_VARIABLE: Final = "ARENA_CA_BUNDLE"
_LEFT_BEHIND: Final = ("__pycache__", ".pyc", ".mypy_cache", ".ruff_cache", ".pytest_cache")
_USUAL_VARIABLES: Final = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")


def docker_folder() -> Path:
    """Return the folder of image folders: inside an installed wheel, or beside the packages.

    Raises:
        PrerequisiteError: neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_docker", package.parent / "docker"):
        if (folder / "base" / "build.sh").is_file():
            return folder
    message = f"the image folders are in neither {package / '_docker'} nor beside {package}"
    raise PrerequisiteError(message, hint="install Arena from its wheel or run it in a checkout")


def ca_bundle() -> bytes:
    """Return the CA bundle that pip needs behind a TLS-inspecting proxy; empty where none is named.

    ARENA_CA_BUNDLE names it; where it is unset, what this machine's own pip and requests are told
    to use holds for builds too.

    Raises:
        PrerequisiteError: the file cannot be read.
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


def context_files(build: Build, folder: Path) -> tuple[ContextFile, ...]:
    """Return the files that an image is built from, sorted by path, without the CA bundle.

    Raises:
        ManifestError: the Dockerfile or a folder of the context is not in `folder`.
    """
    paths = {path for name in build.context for path in _walk(_inside(folder, name))}
    paths.add(_inside(folder, build.dockerfile))
    return tuple(_read(path, folder) for path in sorted(paths))


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
    """Return one SHA-256 over paths, modes and contents, as hex."""
    total = hashlib.sha256()
    for file in files:
        content = hashlib.sha256(file.content).hexdigest()
        total.update(f"{file.path}\0{file.executable:d}\0{content}\n".encode())
    return total.hexdigest()


def _inside(folder: Path, name: str) -> Path:
    """Return the path of a file or folder that a manifest names; it must be inside docker/."""
    path = folder / name
    if ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
        message = f"image: build names '{name}', which is not inside docker/"
        raise ManifestError(message)
    if not path.exists():
        message = f"image: build names '{name}', which does not exist in {folder}"
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


def _read(path: Path, folder: Path) -> ContextFile:
    return ContextFile(
        path=path.relative_to(folder).as_posix(),
        executable=bool(path.stat().st_mode & stat.S_IXUSR),
        content=path.read_bytes(),
    )
