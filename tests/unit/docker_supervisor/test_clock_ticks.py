"""What a file's times do not show is not trusted: a change within one tick, a folder in memory.

The kernel's clock is too fine to wait for such a moment, so it is made: every mark looks alike, as
it does when a file is changed in the very tick in which it was looked at.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

SUPERVISOR = Path(__file__).parents[3] / "docker" / "supervisor"
LATER = 1 << 62
Load = Callable[[str, int], ModuleType]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Load a module of the supervisor for which it is a given time, and no mark ever moves."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(SUPERVISOR))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def loaded(name: str, now: int) -> ModuleType:
        module = importlib.import_module(name)
        monkeypatch.setattr(module, "now_ns", lambda: now)
        monkeypatch.setattr(module, "mark_of", lambda _: (0,))
        monkeypatch.setattr(module, "tells_changes", lambda _: True)
        return module

    yield loaded
    for name in ("restore", "listing", "tree", "failure"):
        if name not in known:
            sys.modules.pop(name, None)


@pytest.fixture
def state(tmp_path: Path) -> tuple[Path, Path]:
    pristine, live = tmp_path / "pristine", tmp_path / "live"
    pristine.mkdir()
    (pristine / "a").write_bytes(b"alpha")
    return live, pristine


def rewound(module: ModuleType, state: tuple[Path, Path]) -> bytes:
    """Change a file between two restores in a way that its mark does not show."""
    live, pristine = state
    restorer = module.Restorer(str(live), str(pristine))
    restorer.restore()
    (live / "a").write_bytes(b"ALPHA")
    restorer.restore()
    return (live / "a").read_bytes()


def test_a_file_that_was_restored_in_this_very_tick_is_copied_again(
    load: Load, state: tuple[Path, Path]
) -> None:
    assert rewound(load("restore", 0), state) == b"alpha"


def test_a_file_whose_mark_did_not_move_since_an_earlier_tick_is_left_alone(
    load: Load, state: tuple[Path, Path]
) -> None:
    """So the two other tests would see it if their rules were gone."""
    assert rewound(load("restore", LATER), state) == b"ALPHA"


def test_a_folder_in_memory_is_copied_each_time(
    load: Load, state: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load("restore", LATER)
    monkeypatch.setattr(module, "tells_changes", lambda _: False)
    assert rewound(module, state) == b"alpha"


@pytest.mark.parametrize(("now", "is_trusted"), [(0, False), (LATER, True)])
def test_a_stamp_of_this_very_tick_never_comes_back(
    load: Load, tmp_path: Path, now: int, *, is_trusted: bool
) -> None:
    listing = load("listing", now).Listing(str(tmp_path), ())
    assert (listing.stamp() == listing.stamp()) is is_trusted


def test_a_file_is_read_anew_for_every_answer(load: Load, tmp_path: Path) -> None:
    """A page that was mapped and written to before can be written to again; no mark moves."""
    listing = load("listing", LATER).Listing(str(tmp_path), ())
    file = tmp_path / "a"

    def content() -> str:
        return str(next(e["content"] for e in listing.files([str(tmp_path)]) if e["kind"] == "f"))

    file.write_bytes(b"one")
    old = content()
    file.write_bytes(b"two")
    assert content() != old
