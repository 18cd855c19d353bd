"""Which packages the images in a file have, read from their layers: no container is started.

A package manager keeps in files what it installed. Of a path, the last layer that has it counts; a
layer also says what it removes from those below (`.wh.NAME`, `.wh..wh..opq`, as the OCI image
specification has it). Debian's packages, Python's and npm's are found; what was copied or compiled
without a package manager is not.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.parser import HeaderParser
from pathlib import PurePosixPath
from typing import IO, Final
from urllib.parse import quote

_DPKG: Final = "var/lib/dpkg/status"
_RELEASE: Final = re.compile(r"(etc|usr/lib)/os-release")
_PYTHON: Final = re.compile(r"(.*/)?[^/]+\.(dist-info/METADATA|egg-info/PKG-INFO|egg-info)")
_NPM: Final = re.compile(r"(.*/)?node_modules/(@[^/]+/)?[^/@.][^/]*/package\.json")
_REMOVED: Final = ".wh."
_EMPTIED: Final = ".wh..wh..opq"
_MOST_BYTES: Final = 20_000_000


@dataclass(frozen=True, slots=True, order=True)
class Package:
    """One package of an image, as its package URL names it.

    Attributes:
        url: such as `pkg:deb/debian/curl@7.88.1-10?arch=amd64` (github.com/package-url/purl-spec).
    """

    name: str
    version: str
    url: str


@dataclass(frozen=True, slots=True)
class _Layer:
    """What one layer changes among the files of package managers."""

    files: dict[str, bytes] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)

    def over(self, below: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the files as they are with this layer above others."""
        kept = {
            path: text
            for path, text in below.items()
            if not any(one in self.removed for one in _with_parents(path))
        }
        return kept | self.files


class LayerReader:
    """Reads the packages of the images in one open file; a layer that several share once."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._known: dict[str, _Layer] = {}

    def packages(self, layers: list[str]) -> tuple[Package, ...]:
        """Return the packages of an image, sorted.

        Args:
            layers: the names of its layers in the file, the lowest first.
        """
        files: dict[str, bytes] = {}
        for name in layers:
            if name not in self._known:
                self._known[name] = self._read(name)
            files = self._known[name].over(files)
        return tuple(sorted(set(_found(files))))

    def _read(self, name: str) -> _Layer:
        layer = _Layer()
        with tarfile.open(fileobj=self._archive.extractfile(name)) as archive:
            for member in archive:
                path = member.name.removeprefix("./").strip("/")
                folder, _, base = path.rpartition("/")
                if base == _EMPTIED:
                    layer.removed.add(folder)
                elif base.startswith(_REMOVED):
                    layer.removed.add(f"{folder}/{base.removeprefix(_REMOVED)}".lstrip("/"))
                elif member.isfile() and member.size <= _MOST_BYTES and _is_kept(path):
                    layer.files[path] = _bytes_of(archive.extractfile(member))
        return layer


def _bytes_of(file: IO[bytes] | None) -> bytes:
    return b"" if file is None else file.read()


def _with_parents(path: str) -> Iterator[str]:
    yield path
    yield from map(str, PurePosixPath(path).parents)


def _is_kept(path: str) -> bool:
    if path == _DPKG:
        return True
    return any(pattern.fullmatch(path) for pattern in (_RELEASE, _PYTHON, _NPM))


def _found(files: Mapping[str, bytes]) -> Iterator[Package]:
    """Yield the packages that these files name; what cannot be read names none."""
    system = next((text for path, text in files.items() if _RELEASE.fullmatch(path)), b"")
    for path, content in files.items():
        text = content.decode(errors="replace")
        if path == _DPKG:
            yield from _of_dpkg(text, _distribution(system.decode(errors="replace")))
        elif _PYTHON.fullmatch(path):
            yield from _of_python(text)
        elif _NPM.fullmatch(path):
            yield from _of_npm(text)


def _distribution(text: str) -> tuple[str, str]:
    """Return the name of the distribution, and its name with the version."""
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    name = fields.get("ID", "debian").strip('"')
    version = fields.get("VERSION_ID", "").strip('"')
    return name, f"{name}-{version}" if version else name


def _of_dpkg(text: str, distribution: tuple[str, str]) -> Iterator[Package]:
    vendor, distro = distribution
    for paragraph in text.split("\n\n"):
        fields = HeaderParser().parsestr(paragraph)
        name, version = fields["Package"], fields["Version"]
        if name and version and str(fields["Status"]).split()[-1:] == ["installed"]:
            arch = fields["Architecture"] or "all"
            more = f"?arch={quote(arch)}&distro={quote(distro)}"
            yield Package(name, version, f"pkg:deb/{vendor}/{name}@{quote(version, safe='')}{more}")


def _of_python(text: str) -> Iterator[Package]:
    fields = HeaderParser().parsestr(text)
    name, version = fields["Name"], fields["Version"]
    if name and version:
        known_as = re.sub(r"[-_.]+", "-", name).lower()
        yield Package(name, version, f"pkg:pypi/{known_as}@{quote(version, safe='')}")


def _of_npm(text: str) -> Iterator[Package]:
    try:
        found = json.loads(text)
        name, version = found["name"], found["version"]
    except (ValueError, KeyError, TypeError):
        return  # a folder of a package may have a package.json that only says how it is loaded
    if isinstance(name, str) and isinstance(version, str):
        yield Package(name, version, f"pkg:npm/{quote(name)}@{quote(version, safe='')}")
