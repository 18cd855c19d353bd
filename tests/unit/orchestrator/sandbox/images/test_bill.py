"""The bill of materials of a file of images, made by hand as `docker save` writes it."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arena_core.errors import InputError
from orchestrator.sandbox.images.bill import (
    SavedImage,
    bill_beside,
    require_as_billed,
    write_bill,
)

RELEASE = 'PRETTY_NAME="Debian"\nID=debian\nVERSION_ID="12"\n'
STATUS = """Package: curl
Status: install ok installed
Architecture: amd64
Description: gets URLs
 Version: 9 is only said here
Version: 1:7.88+deb12~1

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1
"""
LAYERS: Mapping[str, Mapping[str, str]] = {
    "base/layer.tar": {"usr/lib/os-release": RELEASE, "var/lib/dpkg/status": STATUS},
    "app/layer.tar": {
        "./usr/lib/python3/dist-packages/Some_Thing-2.dist-info/METADATA": (
            "Metadata-Version: 2.1\nName: Some_Thing\nVersion: 2.0+local\n\nName: not this\n"
        ),
        "srv/node_modules/@scope/part/package.json": '{"name": "@scope/part", "version": "3.1.0"}',
        "srv/node_modules/old/package.json": '{"name": "old", "version": "1.0.0"}',
        "srv/node_modules/old/lib/package.json": '{"type": "module"}',
        "srv/node_modules/broken/package.json": "{",
        "srv/package.json": '{"name": "own", "version": "0"}',
    },
    "top/layer.tar": {"srv/node_modules/.wh.old": "", "opt/node_modules/.wh..wh..opq": ""},
}
CURL = "pkg:deb/debian/curl@1%3A7.88%2Bdeb12~1?arch=amd64&distro=debian-12"
PART = "pkg:npm/%40scope/part@3.1.0"
THING = "pkg:pypi/some-thing@2.0%2Blocal"
BASE = SavedImage(tag="arena/base:1", configuration="b" * 64, layers=("base/layer.tar",))
SITE = SavedImage(tag="arena/site:1", configuration="c" * 64, layers=tuple(LAYERS))


def tar(files: Mapping[str, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    layers = {
        name: tar({path: text.encode() for path, text in files.items()})
        for name, files in LAYERS.items()
    }
    path = tmp_path / "images.tar"
    path.write_bytes(tar(layers))
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def billed(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(write_bill(path, digest(path), [BASE, SITE]).read_bytes())
    return found


def test_each_image_has_the_packages_of_its_layers_and_not_what_a_layer_removed(
    saved: Path,
) -> None:
    bill = billed(saved)
    assert bill_beside(saved).name == "images.tar.cdx.json"
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    needs = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
    assert needs == {
        "images.tar": [BASE.tag, SITE.tag],
        BASE.tag: [CURL],
        SITE.tag: sorted([CURL, PART, THING]),
    }
    parts = {one["bom-ref"]: (one["name"], one["version"]) for one in bill["components"]}
    assert parts == {
        BASE.tag: ("arena/base", "1"),
        SITE.tag: ("arena/site", "1"),
        CURL: ("curl", "1:7.88+deb12~1"),
        PART: ("@scope/part", "3.1.0"),
        THING: ("Some_Thing", "2.0+local"),
    }
    [hashed] = bill["metadata"]["component"]["hashes"]
    assert hashed == {"alg": "SHA-256", "content": digest(saved)}


def test_the_same_file_has_the_same_bill(saved: Path) -> None:
    assert billed(saved) == billed(saved)


def test_a_file_that_is_as_its_bill_says_passes_and_one_without_a_bill_too(saved: Path) -> None:
    assert require_as_billed(saved, digest(saved), [SITE]) is None
    billed(saved)
    assert require_as_billed(saved, digest(saved), [SITE, BASE]) == bill_beside(saved)


def test_another_file_or_other_images_than_the_bill_names_are_refused(saved: Path) -> None:
    billed(saved)
    with pytest.raises(InputError, match=r"and images.tar.cdx.json says "):
        require_as_billed(saved, "d" * 64, [BASE, SITE])
    other = SavedImage(tag=SITE.tag, configuration="d" * 64, layers=())
    with pytest.raises(InputError, match=r"says otherwise what it holds: arena/site:1$"):
        require_as_billed(saved, digest(saved), [BASE, other])
    with pytest.raises(InputError, match=r"says otherwise what it holds: arena/site:1$"):
        require_as_billed(saved, digest(saved), [BASE])


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"metadata": {}, "components": [3]}', "\0"])
def test_what_is_no_bill_is_refused(saved: Path, text: str) -> None:
    bill_beside(saved).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is no bill of materials"):
        require_as_billed(saved, digest(saved), [BASE])
