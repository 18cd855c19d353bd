"""The file of a state: what is written is read, and what is not its own is refused."""

from __future__ import annotations

import asyncio
import json
import os
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW

from arena_core.errors import StateError
from orchestrator.sandbox.reset.state import Fingerprint, TableState, TakenState
from orchestrator.sandbox.states.state_file import SavedState, read_state, write_state

MADE = datetime(2026, 10, 1, 9, 0, 30, tzinfo=UTC)


def taken(site: str, packed: bytes = b"blocks", rows: int = 1) -> TakenState:
    return TakenState(
        site=site,
        image_id=f"sha256:{'a' * 64}",
        packed=packed,
        fingerprint=Fingerprint(tables=(TableState("t", rows, "c", 2, "d"),)),
        clock=MADE,
    )


def saved() -> SavedState:
    return SavedState(MADE, {name: taken(name) for name in ("shop", "tools")})


@given(packed=st.binary(), rows=st.integers(0, 10**9))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, packed: bytes, rows: int
) -> None:
    path = tmp_path_factory.mktemp("state") / "one.arena-state"
    state = SavedState(MADE, {"shop": taken("shop", packed, rows)})
    write_state(state, path)
    assert read_state(path) == state
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_its_target_is_the_fingerprint() -> None:
    one = taken("shop")
    assert one.digest == one.fingerprint.digest
    assert asyncio.run(one.parts()) == one.fingerprint


def rewritten(path: Path, change: Callable[[dict[str, bytes]], object]) -> None:
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)


def in_manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, bytes]], None]:
    def changed(parts: dict[str, bytes]) -> None:
        document = json.loads(parts["state.json"])
        change(document)
        parts["state.json"] = json.dumps(document).encode()

    return changed


FORGED: dict[str, Callable[[dict[str, bytes]], object]] = {
    "a part is another": lambda parts: parts.update({"shop/taken": b"other"}),
    "a fingerprint is another": lambda parts: parts.update({"shop/fingerprint": b"{}"}),
    "a part is missing": lambda parts: parts.pop("shop/taken"),
    "no manifest": lambda parts: parts.pop("state.json"),
    "a manifest that is no JSON": lambda parts: parts.update({"state.json": b"{"}),
    "a later version": in_manifest(lambda one: one.update(version=2)),
    "another format": in_manifest(lambda one: one.update(format="zip")),
    "no sites": in_manifest(lambda one: one.update(sites={})),
    "a site that leads out": in_manifest(
        lambda one: one["sites"].update({"../shop": one["sites"].pop("shop")})
    ),
    "an image that is none": in_manifest(lambda one: one["sites"]["shop"].update(image_id="shop")),
    "a clock without zone": in_manifest(
        lambda one: one["sites"]["shop"].update(clock="2026-10-01T09:00:00")
    ),
    "an unknown key": in_manifest(lambda one: one.update(surprise=1)),
}


@pytest.mark.parametrize("name", sorted(FORGED))
def test_a_forged_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "one.arena-state"
    write_state(saved(), path)
    rewritten(path, FORGED[name])
    with pytest.raises(StateError) as caught:
        read_state(path)
    assert str(path) in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_part_packed_in_another_way_is_refused(tmp_path: Path, method: int) -> None:
    path = tmp_path / "one.arena-state"
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("state.json", "{}")
    with pytest.raises(StateError, match="not packed as Arena packs it"):
        read_state(path)


def test_an_encrypted_part_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.arena-state"
    write_state(saved(), path)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flags of the first part
    path.write_bytes(content)
    with pytest.raises(StateError, match="not packed as Arena packs it"):
        read_state(path)


@given(at=st.integers(0, 2000), end=st.booleans())
def test_a_damaged_file_is_refused_or_says_the_same(
    tmp_path_factory: pytest.TempPathFactory, at: int, *, end: bool
) -> None:
    path = tmp_path_factory.mktemp("state") / "one.arena-state"
    write_state(saved(), path)
    content = bytearray(path.read_bytes())
    at %= len(content)
    if end:
        del content[at:]
    else:
        content[at] ^= 0x55
    path.write_bytes(content)
    try:
        found = read_state(path)
    except StateError:
        return
    assert found == saved()


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(StateError, match=r"regular file|cannot be read"):
            read_state(path)
    with pytest.raises(StateError, match="No such file"):
        read_state(tmp_path / "missing")


@SLOW
def test_a_file_of_endless_zeros_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.arena-state"
    write_state(saved(), path)
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file,
        file.open("state.json", "w") as manifest,
    ):
        for _ in range(300):
            manifest.write(bytes(1 << 20))
    assert parts
    assert path.stat().st_size < 1 << 20
    with pytest.raises(StateError, match="more than"):
        read_state(path)


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match="cannot be written"):
        write_state(saved(), tmp_path / "file" / "one.arena-state")
