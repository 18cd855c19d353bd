"""What engines save becomes one OCI archive, the same for the same images."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arena_core.errors import ImageError, InputError
from orchestrator.sandbox.images.bill import SavedImage
from orchestrator.sandbox.images.oci_archive import write_oci_archive

BASE, TOP = b"layer of the base", b"\x1f\x8b layer of a site, compressed"
CONFIGURATIONS = {"arena/base:1": b'{"os": "linux"}', "arena/site:1": b'{"os":"linux" }'}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def tar(path: Path, files: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), 1_700_000_000
            archive.addfile(info, io.BytesIO(content))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return path


def images(*layers: str) -> list[SavedImage]:
    """Return how a listing has the base and a site above it."""
    return [
        SavedImage(
            tag=tag, configuration=f"{sha256(text)}.json", layers=layers[: 1 if at == 0 else 2]
        )
        for at, (tag, text) in enumerate(CONFIGURATIONS.items())
    ]


def saved_by_an_old_engine(folder: Path) -> tuple[Path, list[SavedImage]]:
    """It names layers at random, and links a site's first layer to the base's."""
    files = {f"{sha256(text)}.json": text for text in CONFIGURATIONS.values()}
    links = {"2/layer.tar": "../1/layer.tar"}
    path = tar(folder / "old.tar", {**files, "1/layer.tar": BASE, "3/layer.tar": TOP}, links)
    base, site = images("1/layer.tar"), images("2/layer.tar", "3/layer.tar")
    return path, [base[0], site[1]]


def saved_by_a_new_engine(folder: Path) -> tuple[Path, list[SavedImage]]:
    files = {f"{sha256(text)}.json": text for text in CONFIGURATIONS.values()}
    layers = {f"blobs/sha256/{sha256(one)}": one for one in (TOP, BASE)}
    path = tar(folder / "new.tar", {**layers, **files})
    return path, images(*(f"blobs/sha256/{sha256(one)}" for one in (BASE, TOP)))


def read(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        found = {one.name: archive.extractfile(one) for one in archive if one.isfile()}
        return {name: file.read() for name, file in found.items() if file is not None}


def test_the_same_images_are_the_same_file_whatever_engine_saved_them(tmp_path: Path) -> None:
    old = write_oci_archive(*saved_by_an_old_engine(tmp_path), tmp_path / "a.tar")
    new = write_oci_archive(*saved_by_a_new_engine(tmp_path), tmp_path / "b.tar")
    whole = (tmp_path / "a.tar").read_bytes()
    assert old == new == (sha256(whole), len(whole))
    assert whole == (tmp_path / "b.tar").read_bytes()


def test_it_is_a_layout_in_which_every_blob_is_named_by_its_digest(tmp_path: Path) -> None:
    write_oci_archive(*saved_by_an_old_engine(tmp_path), tmp_path / "images.tar")
    files = read(tmp_path / "images.tar")
    blobs = {name: content for name, content in files.items() if name.startswith("blobs/")}
    assert all(name == f"blobs/sha256/{sha256(content)}" for name, content in blobs.items())
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}

    def blob(described: Mapping[str, Any]) -> bytes:
        content = blobs[f"blobs/{described['digest'].replace(':', '/')}"]
        assert len(content) == described["size"]
        return content

    index = json.loads(files["index.json"])
    found = {
        one["annotations"]["org.opencontainers.image.ref.name"]: json.loads(blob(one))
        for one in index["manifests"]
    }
    assert {tag: blob(one["config"]) for tag, one in found.items()} == CONFIGURATIONS
    layers = found["arena/site:1"]["layers"]
    assert [blob(one) for one in layers] == [BASE, TOP]
    assert [one["mediaType"].rpartition(".")[2] for one in layers] == ["tar", "tar+gzip"]
    assert len(blobs) == len(CONFIGURATIONS) + len(found) + len({BASE, TOP})


def test_dockers_own_listing_names_the_same_blobs(tmp_path: Path) -> None:
    write_oci_archive(*saved_by_an_old_engine(tmp_path), tmp_path / "images.tar")
    files = read(tmp_path / "images.tar")
    base, site = json.loads(files["manifest.json"])
    assert (base["RepoTags"], site["RepoTags"]) == (["arena/base:1"], ["arena/site:1"])
    assert [files[name] for name in (site["Config"], *site["Layers"])] == [
        CONFIGURATIONS["arena/site:1"],
        BASE,
        TOP,
    ]
    assert base["Layers"] == site["Layers"][:1]


def test_what_is_not_whole_or_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    path, listed = saved_by_an_old_engine(tmp_path)
    new = tmp_path / "images.tar"
    with pytest.raises(ImageError, match="not whole"):
        write_oci_archive(path, images("1/layer.tar", "4/layer.tar"), new)
    cut = tmp_path / "cut.tar"
    cut.write_bytes(path.read_bytes()[:2_000])
    with pytest.raises(ImageError, match="not whole"):
        write_oci_archive(cut, listed, new)
    with pytest.raises(InputError, match="cannot be written"):
        write_oci_archive(path, listed, tmp_path / "gone" / "images.tar")
    assert not list(tmp_path.glob("images.tar*"))
