"""Files of others are opened where they are regular ones, and read within bounds."""

from __future__ import annotations

import gzip
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW

from arena_core.regular_files import (
    open_regular,
    read_regular,
    require_regular,
    unpacked_lines,
)

MOST = 1_000_000


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def inner_link(path: Path) -> None:
    (path.parent / "other").write_text("x")
    path.symlink_to("other")


def folder(path: Path) -> None:
    path.mkdir()


def endless(path: Path) -> None:
    """It takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(MOST + 1)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (fifo, "is no regular file"),
        (device, "is a link"),
        (link, "is a link"),
        (inner_link, "is a link"),
        (folder, "Is a directory"),
        (endless, "has more than 1 MB"),
        (listening, "is no regular file"),
    ],
)
def test_what_is_no_file_of_this_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "file"
    make(path)
    for read in (read_regular, open_regular, require_regular):
        with pytest.raises(OSError, match=says):
            read(path, most=MOST)
    with pytest.raises(OSError, match=says):
        list(unpacked_lines(path, most=MOST))


def test_a_link_that_a_person_named_is_followed_to_a_regular_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    inner_link(path)
    assert read_regular(path, follow=True) == b"x"
    path.unlink()
    device(path)
    with pytest.raises(OSError, match="is no regular file"):
        read_regular(path, follow=True)


def test_a_file_that_does_not_say_its_size_is_read_within_the_bound() -> None:
    assert read_regular(Path("/proc/self/status"))
    with pytest.raises(OSError, match="has more than"):
        read_regular(Path("/proc/self/status"), most=10)


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none")
    require_regular(tmp_path / "none")


@SLOW
def test_lines_are_unpacked_up_to_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "lines.gz"
    path.write_bytes(gzip.compress(b"a\nb\n") + gzip.compress(b"c"))
    assert list(unpacked_lines(path)) == [b"a\n", b"b\n", b"c"]
    for content in (b"\0" * (MOST + 1), b"\n" * (MOST + 1)):
        path.write_bytes(gzip.compress(content))
        with pytest.raises(OSError, match="unpacks to more than 1 MB"):
            list(unpacked_lines(path, most=MOST))
    path.write_bytes(gzip.compress(b"a\n")[:-4])
    with pytest.raises(EOFError):
        list(unpacked_lines(path))
