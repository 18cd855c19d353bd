"""What a lock says of the upstreams, and how reports head a world's figures by it."""

from __future__ import annotations

import pytest
from support.runs.tiny_run import make_lock

from arena_core.worlds import World
from orchestrator.runs.store.lock import RunLock
from sites.registry import load_registry

ATLAS = load_registry(())


def lock(**more: object) -> RunLock:
    """Return a lock as it is read from its file."""
    document = make_lock().model_copy(update=more).model_dump_json()
    return RunLock.model_validate_json(document)


@pytest.mark.parametrize(
    ("staged", "online"), [(False, "online"), (True, "online (staged)")], ids=["live", "staged"]
)
def test_a_world_is_headed_as_staged_where_a_stand_in_answered(
    *, staged: bool, online: str
) -> None:
    worlds = [ATLAS.upstreams(["shop", "tools"], world, staged=staged) for world in World]
    written = lock(upstreams={one.world: one.kinds for one in worlds})
    assert (written.label(World.OFFLINE), written.label(World.ONLINE)) == ("offline", online)
    answered = "staged" if staged else "live"
    assert written.upstreams[World.ONLINE] == {"shop": answered, "tools": "replica"}
    assert set(written.upstreams[World.OFFLINE].values()) == {"replica"}


def test_a_lock_of_an_earlier_version_says_by_its_staged_sites_what_was_staged() -> None:
    assert lock(staged=("wiki",)).label(World.ONLINE) == "online (staged)"
    assert lock(staged=("wiki",)).label(World.OFFLINE) == "offline"
    assert lock().label(World.ONLINE) == "online"
