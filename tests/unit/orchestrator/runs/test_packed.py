"""A run's folder as bytes: what comes from another machine writes nothing outside its folder."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from arena_core.errors import StoreError
from orchestrator.runs.packed import pack, unpack


def made(folder: Path) -> dict[str, bytes]:
    files = {"lock.json": b"{}", "evidence/one/evidence.json": b"e" * 5000, "empty": b""}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return files


def held(folder: Path) -> dict[str, bytes]:
    there = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in there}


def tar(*entries: tarfile.TarInfo | tuple[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as file:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                file.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                file.addfile(info, io.BytesIO(entry[1]))
    return packed.getvalue()


def of_type(kind: bytes, to: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo("evidence")
    entry.type, entry.linkname = kind, to
    return entry


def test_what_is_unpacked_is_what_was_packed(tmp_path: Path) -> None:
    files = made(tmp_path / "run")
    unpack(pack(tmp_path / "run"), tmp_path / "other" / "run")
    assert held(tmp_path / "other" / "run") == files


FOREIGN = {
    "a parent": tar(("../out", b"x")),
    "a parent further in": tar(("evidence/../../out", b"x")),
    "the root": tar(("/out", b"x")),
    "no name": tar((".", b"x")),
    "far too deep": tar(("a/b/c/d/e/f", b"x")),
    "a link": tar(of_type(tarfile.SYMTYPE, "/etc")),
    "a link to write through": tar(of_type(tarfile.SYMTYPE, "/var"), ("evidence/out", b"x")),
    "a hard link": tar(of_type(tarfile.LNKTYPE, "/etc/passwd")),
    "a device": tar(of_type(tarfile.CHRTYPE)),
    "a pipe": tar(of_type(tarfile.FIFOTYPE)),
    "a file twice": tar(("lock.json", b"1"), ("lock.json", b"2")),
    "a file in place of a folder": tar(("evidence", b"1"), ("evidence/one", b"2")),
    "a cut end": tar(("lock.json", b"x" * 5000))[:3000],
    "no tar": b"PK" * 600,
}


@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_packed_run_is_refused_whole(tmp_path: Path, foreign: bytes) -> None:
    good = tar(("good", b"1"))[:1024]  # so that something was written when the wrong part comes
    for packed in (foreign, good + foreign):
        with pytest.raises(StoreError):
            unpack(packed, tmp_path / "in" / "run")
        assert held(tmp_path) == {}


def test_more_than_may_come_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "run")
    packed = pack(tmp_path / "run")
    with pytest.raises(StoreError, match="more than"):
        unpack(packed, tmp_path / "other", most=len(packed) - 1)
    with pytest.raises(StoreError, match="more than"):
        pack(tmp_path / "run", most=4000)


def test_a_header_that_claims_more_than_came_is_refused(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("lock.json")
    entry.size = 10**12
    with pytest.raises(StoreError):
        unpack(entry.tobuf() + b"x" * 1024, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_link_in_a_run_is_not_followed(tmp_path: Path) -> None:
    made(tmp_path / "run")
    (tmp_path / "run" / "secret").symlink_to("/etc/hostname")
    with pytest.raises(StoreError, match="link"):
        pack(tmp_path / "run")


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    files = made(tmp_path / "run")
    with pytest.raises(StoreError, match="cannot be written"):
        unpack(tar(("lock.json", b"other")), tmp_path / "run")
    assert held(tmp_path / "run") == files
