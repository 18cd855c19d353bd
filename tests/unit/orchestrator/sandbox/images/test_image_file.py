"""What a file of images must be before any of it reaches the engine."""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
from pathlib import Path
from typing import Any, cast

import pytest

from arena_core.errors import ArenaError, ImageError, InputError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.images.image_file import load_images
from sites.registry import load_registry


def archive(path: Path, listing: object) -> Path:
    text = json.dumps(listing).encode()
    with tarfile.open(path, "w") as file:
        info = tarfile.TarInfo("manifest.json")
        info.size = len(text)
        file.addfile(info, io.BytesIO(text))
    return path


def refused(path: Path, sha256: str | None = None) -> ArenaError:
    no_engine = cast("Engine", None)  # nothing of the file may reach it
    loading: Any = load_images(
        no_engine, load_registry(), path, sha256=sha256, on_line=lambda _: None
    )
    with pytest.raises(ArenaError) as caught:
        asyncio.run(loading)
    return caught.value


def test_an_image_of_no_site_is_never_loaded(tmp_path: Path) -> None:
    listing = [{"RepoTags": ["debian:bookworm-slim", "arena/shop:1"]}, {"RepoTags": ["sshd:1"]}]
    error = refused(archive(tmp_path / "images.tar", listing))
    assert isinstance(error, ImageError)
    assert error.message.endswith("holds images of no site here: sshd:1")


def test_a_file_with_another_digest_is_never_loaded(tmp_path: Path) -> None:
    path = archive(tmp_path / "images.tar", [{"RepoTags": ["arena/shop:1"]}])
    error = refused(path, sha256="0" * 64)
    assert isinstance(error, InputError)
    assert f"not {'0' * 64}" in error.message


@pytest.mark.parametrize(
    "listing", [[], [{"RepoTags": None}], {"RepoTags": ["arena/shop:1"]}, [{"RepoTags": [1]}], "x"]
)
def test_a_listing_that_names_no_image_is_refused(tmp_path: Path, listing: object) -> None:
    assert isinstance(refused(archive(tmp_path / "images.tar", listing)), InputError)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    whole = archive(tmp_path / "whole.tar", [{"RepoTags": ["arena/shop:1"]}]).read_bytes()
    files = {"absent": None, "text": b"images", "empty": b"", "cut": whole[:600]}
    for name, content in files.items():
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        assert isinstance(refused(path), InputError), name
