"""Whatever is done to the folder, a rewind brings back the pristine copy."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quick_cases import ONE_QUICK, SLOW
from supervised import MEMORY, Supervised, supervised
from supervised.folders import CHANGES, apply, change, fill, seen


@SLOW
@given(changes=st.lists(change, max_size=12))
@settings(max_examples=2 * settings().max_examples)
def test_any_mix_of_changes_is_undone(
    running: Supervised, changes: list[tuple[str, str, str]]
) -> None:
    running.rewind()
    apply(changes, running.folder)
    running.rewind()
    assert seen(running.folder) == seen(running.pristine)


@ONE_QUICK
@pytest.mark.parametrize("name", sorted(CHANGES))
def test_each_change_is_undone(running: Supervised, name: str) -> None:
    """And each is one: or the test above would undo nothing."""
    running.rewind()
    path, other = {"move": ("a", "new"), "link hard": ("new", "a")}.get(name, ("b.txt", "a"))
    if name in {"make folder", "link", "make pipe"}:
        path = "new"
    apply([(name, path, other)], running.folder)
    assert seen(running.folder) != seen(running.pristine)
    running.rewind()
    assert seen(running.folder) == seen(running.pristine)


def test_two_names_for_one_file_do_not_get_the_content_of_the_last(running: Supervised) -> None:
    running.rewind()
    (running.folder / "b.txt").unlink()
    (running.folder / "b.txt").hardlink_to(running.folder / "a")
    running.rewind()
    assert seen(running.folder) == seen(running.pristine)


def test_what_a_link_leads_to_is_not_touched(running: Supervised, tmp_path: Path) -> None:
    running.rewind()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "er").mkdir()
    (outside / "er" / "d").write_text("mine")
    shutil.rmtree(running.folder / "deep")
    (running.folder / "deep").symlink_to(outside)
    running.rewind()
    assert (outside / "er" / "d").read_text() == "mine"
    assert seen(running.folder) == seen(running.pristine)


@SLOW
@pytest.mark.parametrize("parent", [None, MEMORY], ids=["on disk", "in memory"])
def test_an_equal_file_is_copied_again_only_where_times_tell_nothing(
    tmp_path: Path, parent: str | None
) -> None:
    """All it takes is a tick of the clock after its copy: here another file takes that long."""
    (tmp_path / "pristine").mkdir()
    (tmp_path / "pristine" / "early").write_text("text")
    (tmp_path / "pristine" / "late").touch()
    os.truncate(tmp_path / "pristine" / "late", 1 << 26)
    with (
        tempfile.TemporaryDirectory(dir=parent) as live,
        supervised(tmp_path, state=Path(live) / "state") as running,
    ):
        with running.listen() as listener:
            listener.until_ready(1)
        before = (running.folder / "early").lstat().st_ctime_ns
        (running.folder / "late").unlink()
        running.rewind()
        assert ((running.folder / "early").lstat().st_ctime_ns == before) is (parent is None)


def test_scratch_folders_are_emptied(running: Supervised) -> None:
    (running.scratch / "inner").mkdir()
    (running.scratch / "inner" / "left").write_text("over")
    running.rewind()
    assert list(running.scratch.iterdir()) == []


GET_FLAGS, SET_FLAGS, NO_DUMP, NO_TIMES = 0x80086601, 0x40086602, 0x40, 0x80
OWNERS_ACL = "system.posix_acl_default"
# Version 2; user rwx, a user of ours rwx, group r-x, mask rwx, others r-x: as setfacl(1) writes it.
ACL = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, permissions, who)
    for tag, permissions, who in (
        (1, 7, 2**32 - 1),
        (2, 7, 12345),
        (4, 5, 2**32 - 1),
        (16, 7, 2**32 - 1),
        (32, 5, 2**32 - 1),
    )
)


def flags(path: Path, extra: int = 0) -> int:
    """Read an entry's inode flags, and set more of them."""
    opened = os.open(path, os.O_RDONLY)
    try:
        found = bytearray(8)
        fcntl.ioctl(opened, GET_FLAGS, found)
        if extra:
            now = int.from_bytes(found, sys.byteorder) | extra
            fcntl.ioctl(opened, SET_FLAGS, now.to_bytes(8, sys.byteorder))
        return int.from_bytes(found, sys.byteorder)
    finally:
        os.close(opened)


@pytest.fixture(scope="module")
def with_attributes() -> Iterator[Supervised]:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "pristine").mkdir()
        fill(Path(place) / "pristine")
        with supervised(Path(place)) as running:
            yield running


@pytest.fixture
def on_disk(with_attributes: Supervised) -> Supervised:
    with_attributes.rewind()  # so that every file has been left alone once
    return with_attributes


@pytest.mark.parametrize("name", ["a", "deep", "deep/er/d", "empty", "."])
@pytest.mark.parametrize("attribute", ["user.note", "system.posix_acl_access", OWNERS_ACL])
def test_extended_attributes_and_acls_are_undone(
    on_disk: Supervised, name: str, attribute: str
) -> None:
    path = on_disk.folder / name
    if attribute == OWNERS_ACL and not path.is_dir():
        pytest.skip("only a folder has one")
    before = os.listxattr(path), path.lstat().st_mode
    os.setxattr(path, attribute, b"left" if attribute == "user.note" else ACL)
    assert attribute in os.listxattr(path)
    on_disk.rewind()
    assert (os.listxattr(path), path.lstat().st_mode) == before
    assert seen(on_disk.folder) == seen(on_disk.pristine)


def test_a_pristine_attribute_comes_back(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    (tmp_path / "pristine" / "a").write_text("alpha")
    os.setxattr(tmp_path / "pristine" / "a", "user.note", b"golden")
    with supervised(tmp_path) as running:
        running.rewind()
        path = running.folder / "a"
        assert os.getxattr(path, "user.note") == b"golden"
        os.setxattr(path, "user.note", b"dirty")
        running.rewind()
        assert os.getxattr(path, "user.note") == b"golden"


@pytest.mark.parametrize("name", ["a", "deep", "deep/er/d", "."])
def test_inode_flags_are_undone_and_not_inherited(on_disk: Supervised, name: str) -> None:
    path = on_disk.folder / name
    flags(path, NO_DUMP | NO_TIMES)
    assert flags(path) & (NO_DUMP | NO_TIMES)
    on_disk.rewind()
    assert not any(
        flags(entry) & (NO_DUMP | NO_TIMES)
        for entry in (on_disk.folder, *on_disk.folder.rglob("*"))
        if not entry.is_symlink()
    )
    assert seen(on_disk.folder) == seen(on_disk.pristine)


def test_the_mode_of_a_scratch_folder_is_undone(on_disk: Supervised) -> None:
    before = on_disk.scratch.lstat().st_mode
    on_disk.scratch.chmod(0o777)
    on_disk.rewind()
    assert on_disk.scratch.lstat().st_mode == before


@SLOW
def test_a_scratch_folder_that_became_a_link_does_not_lead_to_what_is_emptied(
    on_disk: Supervised, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").touch()
    on_disk.scratch.rmdir()
    on_disk.scratch.symlink_to(outside)
    on_disk.rewind()
    assert (outside / "mine").exists()
    assert not on_disk.scratch.is_symlink()


@SLOW
def test_a_state_that_grows_beyond_its_room_ends_everything(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    with supervised(tmp_path, extra="room_mb = 80") as running:
        with running.listen() as listener:
            listener.until_ready(1)
        (running.folder / "large").write_bytes(bytes(100 << 20))
        assert running.end() == 1
        # How much of the file was there when the size was looked at is chance.
        assert "MB of the 80 MB it may take" in running.last_words()


@SLOW
def test_a_removed_file_that_is_open_still_takes_room(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    with supervised(tmp_path, extra="room_mb = 80") as running:
        with running.listen() as listener:
            listener.until_ready(1)
        with (running.folder / "large").open("wb") as file:
            (running.folder / "large").unlink()
            file.write(bytes(100 << 20))
            file.flush()
            assert running.end() == 1
        assert "of the 80 MB it may take" in running.last_words()
