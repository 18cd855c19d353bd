"""The bill of materials beside a file of images: what is in it, by digest and by package.

It is CycloneDX 1.6 as JSON (https://cyclonedx.org/docs/1.6/json/), the part of it that says this.
The same file of images always has the same bill: it names no moment.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena_core.errors import InputError
from orchestrator.sandbox.images.packages import LayerReader, Package

_TOOL: Final = "arena images save"
_SHA256: Final = "SHA-256"
_MOST_BYTES: Final = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedImage:
    """An image as a file of images lists it.

    Attributes:
        configuration: its name in the file, after its digest; its layers are in it by digest.
        layers: their names in the file, the lowest first.
    """

    tag: str
    configuration: str
    layers: tuple[str, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of the configuration, which is the image's id."""
        return self.configuration.rpartition("/")[2].removesuffix(".json")


def bill_beside(path: Path) -> Path:
    """Return where the bill of materials of a file of images lies."""
    return path.with_name(f"{path.name}.cdx.json")


def write_bill(path: Path, sha256: str, images: Sequence[SavedImage]) -> Path:
    """Write the bill of materials of a file of images, and return where.

    Args:
        path: the file of images.
        sha256: its digest.
        images: what it lists.
    """
    with tarfile.open(path) as archive:
        reader = LayerReader(archive)
        packages = {one.tag: reader.packages(list(one.layers)) for one in images}
    beside = bill_beside(path)
    text = json.dumps(_document(path.name, sha256, images, packages), indent=1)
    try:
        beside.write_text(f"{text}\n", encoding="utf-8")
    except OSError as cause:
        raise InputError(f"{beside}: cannot be written: {cause.strerror or cause}") from cause
    return beside


def require_as_billed(path: Path, sha256: str, images: Sequence[SavedImage]) -> Path | None:
    """Refuse a file of images that is not what the bill beside it names; return the bill.

    Raises:
        InputError: file, images or digests differ, or the bill cannot be read.
    """
    beside = bill_beside(path)
    if not beside.is_file():
        return None
    bill = _read(beside)
    hint = "fetch both again, or remove the bill of materials"
    if bill.metadata.component.sha256 != sha256:
        said = bill.metadata.component.sha256
        raise InputError(
            f"{path}: its SHA-256 is {sha256}, and {beside.name} says {said}", hint=hint
        )
    billed = {one.reference: one.sha256 for one in bill.components if one.type == "container"}
    listed = {one.tag: one.digest for one in images}
    if billed != listed:
        other = sorted(tag for tag, _ in billed.items() ^ listed.items())
        names = ", ".join(dict.fromkeys(other))
        raise InputError(f"{path}: {beside.name} says otherwise what it holds: {names}", hint=hint)
    return beside


def _document(
    name: str,
    sha256: str,
    images: Sequence[SavedImage],
    packages: Mapping[str, tuple[Package, ...]],
) -> dict[str, Any]:
    every = sorted({one for found in packages.values() for one in found})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'sha256:{sha256}')}",
        "version": 1,
        "metadata": {
            "tools": {"components": [{"type": "application", "name": _TOOL}]},
            "component": {"type": "file", "bom-ref": name, "name": name, **_hashes(sha256)},
        },
        "components": [
            *(_container(one) for one in images),
            *(
                {
                    "type": "library",
                    "bom-ref": one.url,
                    "name": one.name,
                    "version": one.version,
                    "purl": one.url,
                }
                for one in every
            ),
        ],
        "dependencies": list(_dependencies(name, images, packages)),
    }


def _container(image: SavedImage) -> dict[str, Any]:
    name, _, version = image.tag.rpartition(":")
    what = {"type": "container", "bom-ref": image.tag, "name": name, "version": version}
    return what | _hashes(image.digest)


def _hashes(sha256: str) -> dict[str, Any]:
    return {"hashes": [{"alg": _SHA256, "content": sha256}]}


def _dependencies(
    name: str, images: Sequence[SavedImage], packages: Mapping[str, tuple[Package, ...]]
) -> Iterator[dict[str, Any]]:
    yield {"ref": name, "dependsOn": [one.tag for one in images]}
    for one in images:
        yield {"ref": one.tag, "dependsOn": sorted({found.url for found in packages[one.tag]})}


class _Hash(BaseModel):
    alg: str
    content: str


class _Component(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    type: str
    reference: str = Field(default="", alias="bom-ref")
    hashes: list[_Hash] = Field(default_factory=list)

    @property
    def sha256(self) -> str:
        return next((one.content for one in self.hashes if one.alg == _SHA256), "")


class _Metadata(BaseModel):
    component: _Component


class _Bill(BaseModel):
    metadata: _Metadata
    components: list[_Component]


def _read(path: Path) -> _Bill:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path}: is too large for a bill of materials")
        return _Bill.model_validate_json(path.read_bytes())
    except OSError as cause:
        raise InputError(f"{path}: cannot be read: {cause.strerror or cause}") from cause
    except ValidationError as cause:
        wrong = cause.errors()[0]["msg"]
        raise InputError(f"{path}: is no bill of materials of CycloneDX: {wrong}") from cause
