"""The digest of a folder: names and contents of all files, whatever their size and depth."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from arena_core.errors import StoreError
from orchestrator.runs.store.digests import (
    digest_of_files,
    digest_of_folder,
    digests_of_folder,
    has_digest,
)

SIZES = (0, 1, 65_535, 65_536, 65_537, 3_000_000)


def test_a_folder_has_the_digest_of_its_files_as_they_were_saved(tmp_path: Path) -> None:
    files = {
        f"{size}.bin": bytes(range(256)) * (size // 256) + b"x" * (size % 256) for size in SIZES
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert digest_of_folder(tmp_path) == digest_of_files(files.items())
    assert digests_of_folder(tmp_path) == {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items()
    }


def test_files_below_count_by_their_path(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "d").write_bytes(b"deep")
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    assert list(digests_of_folder(tmp_path)) == ["a", "b/c/d"]


@pytest.mark.parametrize("name", ["changed", "gone", "more", "link", "of folder"])
def test_what_is_not_as_it_was_saved_has_another_digest_or_none(name: str, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "one", tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.mkdir()
    (folder / "file").write_bytes(b"content")
    saved = digest_of_folder(folder)
    assert has_digest(folder, saved)
    match name:
        case "changed":
            (folder / "file").write_bytes(b"contenT")
        case "gone":
            (folder / "file").unlink()
        case "more":
            (folder / "another").touch()
        case "link":
            (folder / "file").rename(elsewhere / "file")
            (folder / "file").symlink_to(elsewhere / "file")
        case _:
            (folder / "more").symlink_to(elsewhere)
    assert not has_digest(folder, saved)
    if name in {"link", "of folder"}:
        with pytest.raises(StoreError, match="is a link"):
            digest_of_folder(folder)
