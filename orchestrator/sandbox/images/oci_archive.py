"""What an engine saved, written as an OCI archive: podman, containerd and skopeo read it too.

An OCI image layout 1.1 (https://github.com/opencontainers/image-spec/blob/main/image-layout.md) in
one tar, with `docker save`'s listing beside its index, so that `docker load` of any version takes
it. The same images always give the same file, whatever engine saved them and when.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from arena_core.errors import ImageError, InputError
from orchestrator.sandbox.images.bill import SavedImage

LISTING: Final = "manifest.json"  # as the Docker image specification 1.2 has it
_CONFIGURATION: Final = "application/vnd.oci.image.config.v1+json"
_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_INDEX: Final = "application/vnd.oci.image.index.v1+json"
_LAYER: Final = "application/vnd.oci.image.layer.v1.tar"
# How layers begin that an engine keeps compressed.
_COMPRESSED: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}


def write_oci_archive(saved: Path, images: Sequence[SavedImage], path: Path) -> tuple[str, int]:
    """Write the images of a file that an engine saved to a new file; return its SHA-256 and size.

    Raises:
        InputError: the new file cannot be written.
        ImageError: what the engine saved is not whole.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with tarfile.open(saved) as source, part.open("wb") as file:
            digesting = _Digesting(file)
            _write(source, images, digesting)
        part.replace(path)
    except (tarfile.TarError, KeyError, EOFError) as cause:
        raise ImageError(f"saving images: what the engine sent is not whole: {cause}") from cause
    except OSError as cause:
        raise InputError(f"{path}: cannot be written: {cause.strerror or cause}") from cause
    finally:
        part.unlink(missing_ok=True)
    return digesting.sha256.hexdigest(), digesting.size


@dataclass(frozen=True, slots=True)
class _Blob:
    """A part of the layout that is named by its digest.

    Attributes:
        kind: its media type.
        saved_as: where the engine's file has it; None where it is made here.
    """

    kind: str
    sha256: str
    size: int
    saved_as: str | None = None
    content: bytes = b""

    @classmethod
    def made(cls, kind: str, document: Mapping[str, Any]) -> _Blob:
        text = _json(document)
        return cls(kind, hashlib.sha256(text).hexdigest(), len(text), content=text)

    @classmethod
    def saved(cls, source: tarfile.TarFile, name: str, kind: str) -> _Blob:
        file = _member(source, name)
        if kind == _LAYER:
            compressed = _COMPRESSED.get(file.read(2))
            kind = f"{kind}+{compressed}" if compressed else kind
        file.seek(0)
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(kind, sha256, file.tell(), saved_as=name)

    @property
    def path(self) -> str:
        return f"blobs/sha256/{self.sha256}"

    def described(self, **annotations: str) -> dict[str, Any]:
        """Return the blob's descriptor (OCI content descriptors)."""
        described = {
            "mediaType": self.kind,
            "digest": f"sha256:{self.sha256}",
            "size": self.size,
        }
        return {**described, "annotations": annotations} if annotations else described


@dataclass(frozen=True, slots=True)
class _Image:
    tag: str
    manifest: _Blob
    configuration: _Blob
    layers: tuple[_Blob, ...]


class _Digesting(io.RawIOBase):
    """A file that is written once, and what its digest and size are."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: Any) -> int:
        self._file.write(data)
        self.sha256.update(data)
        self.size += len(data)
        return len(data)


def _write(source: tarfile.TarFile, images: Sequence[SavedImage], to: io.RawIOBase) -> None:
    known: dict[str, _Blob] = {}
    laid_out = [_image(source, image, known) for image in images]
    blobs = {
        blob.path: blob
        for image in laid_out
        for blob in (image.manifest, image.configuration, *image.layers)
    }
    with tarfile.open(fileobj=to, mode="w|") as target:
        for name, document in _documents(laid_out):
            text = _json(document)
            target.addfile(_info(name, len(text)), io.BytesIO(text))
        for path, blob in sorted(blobs.items()):
            content = _member(source, blob.saved_as) if blob.saved_as else io.BytesIO(blob.content)
            target.addfile(_info(path, blob.size), content)


def _image(source: tarfile.TarFile, image: SavedImage, known: dict[str, _Blob]) -> _Image:
    """Lay out an image; `known` keeps what several share."""

    def blob(name: str, kind: str) -> _Blob:
        if name not in known:
            known[name] = _Blob.saved(source, name, kind)
        return known[name]

    configuration = blob(image.configuration, _CONFIGURATION)
    layers = tuple(blob(name, _LAYER) for name in image.layers)
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": configuration.described(),
        "layers": [one.described() for one in layers],
    }
    return _Image(image.tag, _Blob.made(_MANIFEST, manifest), configuration, layers)


def _documents(images: Sequence[_Image]) -> Iterator[tuple[str, Any]]:
    yield "oci-layout", {"imageLayoutVersion": "1.0.0"}
    manifests = [
        image.manifest.described(
            **{
                "io.containerd.image.name": f"docker.io/{image.tag}",
                "org.opencontainers.image.ref.name": image.tag,
            }
        )
        for image in images
    ]
    yield "index.json", {"schemaVersion": 2, "mediaType": _INDEX, "manifests": manifests}
    yield (
        LISTING,
        [
            {
                "Config": image.configuration.path,
                "RepoTags": [image.tag],
                "Layers": [one.path for one in image.layers],
            }
            for image in images
        ],
    )


def _member(source: tarfile.TarFile, name: str) -> io.BufferedReader:
    """Return a file of an archive, whose layers older engines link to one another."""
    file = source.extractfile(name)
    if not isinstance(file, io.BufferedReader):
        raise KeyError(name)
    return file


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    return info


def _json(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
