from __future__ import annotations

import sys
from pathlib import Path

import pytest

from arena_core.user_cache import user_cache
from orchestrator.sandbox.golden import cache_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the paths are those of Linux")


def test_the_cache_lies_where_it_always_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert user_cache() == Path("/home/someone/.cache/arena")


def test_a_named_folder_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "arena"
    assert cache_folder() == tmp_path / "arena" / "golden"


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_what_is_no_full_path_is_none(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    assert user_cache() == Path("/home/someone/.cache/arena")


def test_nothing_is_made_by_asking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    user_cache()
    assert not list(tmp_path.iterdir())
