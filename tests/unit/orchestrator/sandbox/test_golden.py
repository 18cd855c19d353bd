from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from quick_cases import SLOW

from arena_core.errors import ImageError
from orchestrator.sandbox.golden import cache_folder, find_kept, keep, packed

CONTENT = b"golden rows " * 50_000
DIGEST = hashlib.sha256(CONTENT).hexdigest()

KEEP_IT = f"""
import gzip, sys
from orchestrator.sandbox.golden import find_kept, keep
sys.stdin.readline()
for _ in range(20):
    keep({DIGEST!r}, gzip.compress({CONTENT[:12]!r} * 50_000))
    assert find_kept({DIGEST!r}) is not None
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return cache_folder()


def test_what_is_kept_is_found_again(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.write_bytes(CONTENT)
    assert find_kept(DIGEST) is None
    kept = keep(DIGEST, packed(file))
    assert kept.is_relative_to(cache)
    assert kept.read_bytes() == CONTENT
    assert find_kept(DIGEST) == kept
    assert oct(cache.stat().st_mode)[-3:] == "700"


def test_packing_the_same_gives_the_same(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(CONTENT)
    other.write_bytes(CONTENT)
    os.utime(other, (0, 0))
    assert packed(one) == packed(other)
    assert len(packed(one)) < len(CONTENT) / 50


@pytest.mark.parametrize(
    "spoilt", [CONTENT[:-1], CONTENT + b"x", b""], ids=["shorter", "longer", "empty"]
)
def test_a_file_that_was_spoilt_is_not_taken(spoilt: bytes) -> None:
    keep(DIGEST, gzip.compress(CONTENT)).write_bytes(spoilt)
    assert find_kept(DIGEST) is None
    keep(DIGEST, gzip.compress(CONTENT))
    assert find_kept(DIGEST) is not None


@pytest.mark.parametrize(
    ("compressed", "says"),
    [
        (
            gzip.compress(b"others", mtime=0),
            f"has the digest {hashlib.sha256(b'others').hexdigest()}",
        ),
        (gzip.compress(CONTENT, mtime=0)[:-9], "cannot be kept in"),
        (b"no gzip", "cannot be kept in"),
    ],
    ids=["others", "cut", "not packed"],
)
def test_an_image_that_carries_something_else_leaves_nothing_behind(
    cache: Path, compressed: bytes, says: str
) -> None:
    with pytest.raises(ImageError, match=says):
        keep(DIGEST, compressed)
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(cache: Path) -> None:
    cache.parent.write_text("a file in the way")
    assert find_kept(DIGEST) is None
    with pytest.raises(ImageError, match="cannot be kept in") as refused:
        keep(DIGEST, gzip.compress(CONTENT))
    assert "XDG_CACHE_HOME" in refused.value.hint


@SLOW
def test_processes_that_keep_the_same_at_once_do_not_disturb_each_other(cache: Path) -> None:
    argv = [sys.executable, "-c", KEEP_IT]
    running = [subprocess.Popen(argv, stdin=subprocess.PIPE) for _ in range(3)]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.close()
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert [file.name for file in cache.iterdir()] == [DIGEST]


def test_what_was_not_used_for_long_goes_when_there_is_much(cache: Path) -> None:
    cache.mkdir(parents=True)
    for age in range(30):
        old = cache / f"old-{age}"
        old.touch()
        os.utime(old, (time.time() - 100 - age,) * 2)
    left = cache / "killed.part"
    left.touch()
    os.utime(left, (0, 0))
    under_way = cache / "fresh.part"
    under_way.touch()
    keep(DIGEST, gzip.compress(CONTENT))
    names = {file.name for file in cache.iterdir()}
    assert names == {DIGEST, "fresh.part", *(f"old-{age}" for age in range(23))}


@pytest.mark.parametrize("years", [-10, 10])
def test_a_clock_that_was_set_takes_neither_what_is_kept_nor_what_is_being_written(
    cache: Path, years: int
) -> None:
    """By their dates, others were used years after this, or what is under way years ago."""
    cache.mkdir(parents=True)
    then = time.time() - years * 365 * 24 * 3600
    for number in range(30):
        other = cache / f"other-{number}"
        other.touch()
        os.utime(other, (then, then))
    under_way = cache / "another-process.part"
    with under_way.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        os.utime(under_way, (then, then))
        kept = keep(DIGEST, gzip.compress(CONTENT))
    assert kept.read_bytes() == CONTENT
    assert under_way.exists()
    assert len(list(cache.iterdir())) == 25


def test_a_cache_home_that_is_no_full_path_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert cache_folder() == Path.home() / ".cache" / "arena" / "golden"
