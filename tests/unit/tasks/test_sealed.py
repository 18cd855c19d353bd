"""A sealed suite is read by its key alone, and says nothing of its tasks without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.tasks.small_suites import bells, write_suite

from arena_core.errors import TaskError, UsageError
from orchestrator import SyncArena
from tasks.loader import load_suite
from tasks.sealed import KEY, sealed

SECRET = "correct horse battery staple"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, bells("bells"))


@pytest.fixture
def kept(suite: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(KEY, SECRET)
    path = suite.with_suffix(".sealed")
    path.write_text(sealed(suite.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def test_with_its_key_it_is_the_suite(suite: Path, kept: Path) -> None:
    assert load_suite(str(kept)) == load_suite(str(suite))


def test_nothing_of_its_tasks_can_be_read_and_two_sealings_differ(suite: Path, kept: Path) -> None:
    first = kept.read_text(encoding="utf-8")
    assert "bells" not in first
    assert SECRET not in first
    assert sealed(suite.read_text(encoding="utf-8")) != first


def test_without_a_key_it_says_which_variable_is_missing(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY)
    with pytest.raises(TaskError, match="is sealed, and ARENA_SUITE_KEY is not set"):
        load_suite(str(kept))


def test_another_key_is_refused_and_neither_key_is_said(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "another key, as long")
    with pytest.raises(TaskError, match="cannot be unsealed") as refused:
        load_suite(str(kept))
    assert "another key, as" not in str(refused.value)


@pytest.mark.parametrize("place", range(1, 3))
def test_a_file_that_was_changed_is_refused(kept: Path, place: int) -> None:
    lines = kept.read_text(encoding="utf-8").split("\n")
    middle = len(lines[place]) // 2
    other = "A" if lines[place][middle] != "A" else "B"
    lines[place] = lines[place][:middle] + other + lines[place][middle + 1 :]
    kept.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(TaskError, match="cannot be unsealed"):
        load_suite(str(kept))


@pytest.mark.parametrize(
    "text", ["", "suite: small\n", "# Sealed by `arena tasks seal`\nx\ny\n", "\xff"]
)
def test_what_is_no_sealed_suite_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "my.sealed"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TaskError, match=r"my.sealed: is no sealed suite"):
        load_suite(str(path))


@pytest.mark.parametrize("key", [None, "", "short"])
def test_without_a_good_key_nothing_is_sealed(
    suite: Path, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    if key is not None:
        monkeypatch.setenv(KEY, key)
    with pytest.raises(UsageError, match=KEY):
        sealed(suite.read_text(encoding="utf-8"))


def test_no_other_file_is_written_over(suite: Path, kept: Path) -> None:
    taken = kept.with_name("notes.sealed")
    taken.write_text("my notes", encoding="utf-8")
    with SyncArena() as arena:
        with pytest.raises(UsageError, match="is there"):
            arena.suites.seal(suite, taken)
        with pytest.raises(UsageError, match=r"must end in \.sealed"):
            arena.suites.seal(suite, suite)
        assert arena.suites.read(str(arena.suites.seal(suite, kept))) == load_suite(str(suite))
