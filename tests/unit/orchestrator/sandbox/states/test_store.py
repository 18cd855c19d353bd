"""States are kept under names, one file each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena_core.errors import StateError, UnknownNameError, UsageError
from orchestrator import Arena
from orchestrator.sandbox.reset.state import Fingerprint, TableState, TakenState
from orchestrator.sandbox.states import store
from orchestrator.sandbox.states.state_file import SavedState
from orchestrator.sandbox.states.store import differences


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "arena" / "states"


def saved(site: str = "shop", rows: int = 1) -> SavedState:
    one = TakenState(
        site=site,
        image_id=f"sha256:{'a' * 64}",
        packed=b"blocks",
        fingerprint=Fingerprint(tables=(TableState("t", rows, "c", None, "d"),)),
    )
    return SavedState(datetime(2026, 10, 1, tzinfo=UTC), {site: one})


def test_a_state_is_found_by_its_name_until_it_is_removed(folder: Path) -> None:
    assert store.every() == ()
    kept = store.keep("half-full", saved())
    assert kept.path == folder / "half-full.arena-state"
    assert store.kept("half-full") == saved()
    assert [one.name for one in store.every()] == ["half-full"]
    store.remove("half-full")
    with pytest.raises(UnknownNameError, match="no state is called 'half-full'"):
        store.kept("half-full")


@pytest.mark.parametrize("name", ["", "../out", "a/b", ".hidden", "a b", "-x", "ä", "x" * 65])
def test_a_name_that_could_lead_elsewhere_is_refused(name: str, folder: Path) -> None:
    with pytest.raises(UsageError, match="cannot be called"):
        store.keep(name, saved())
    for work in (store.kept, store.remove, store.find):
        with pytest.raises(UsageError):
            work(name)


def test_a_name_that_is_taken_is_not_overwritten_unless_it_is_asked_for() -> None:
    store.keep("one", saved())
    with pytest.raises(UsageError, match="already"):
        store.require_free("one", replace=False)
    store.require_free("one", replace=True)
    store.require_free("other", replace=False)


def test_a_similar_name_is_offered() -> None:
    store.keep("half-full", saved())
    with pytest.raises(UnknownNameError, match="half-full"):
        store.kept("halffull")


def test_a_damaged_file_is_listed_with_what_is_wrong(folder: Path) -> None:
    store.keep("good", saved())
    (folder / "bad.arena-state").write_bytes(b"nothing")
    (folder / "note.txt").write_text("no state")
    bad, good = store.every()
    assert (bad.name, bad.state) == ("bad", None)
    assert "not the file of a state" in bad.fault
    assert good.state == saved()


def test_a_state_is_exported_and_added_under_another_name(tmp_path: Path) -> None:
    states = Arena().states
    store.keep("one", saved())
    path = states.export("one", tmp_path / "out" / "carried.arena-state")
    assert states.add(path).name == "carried"
    assert states.add(path, "third").state == saved()
    assert [one.name for one in states.list()] == ["carried", "one", "third"]
    with pytest.raises(UsageError, match="already"):
        states.add(path)
    states.add(path, replace=True)
    states.remove("one")
    with pytest.raises(StateError, match="No such file"):
        states.add(tmp_path / "missing.arena-state")


def test_two_states_are_compared_site_by_site() -> None:
    assert differences(saved(rows=3), saved(rows=1)) == {"shop": ("table t: 2 rows more",)}
    assert differences(saved(), saved()) == {"shop": ()}
    with pytest.raises(StateError, match="no site in common"):
        differences(saved(), saved("tools"))
