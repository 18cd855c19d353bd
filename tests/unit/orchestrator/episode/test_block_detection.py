from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.episode.block_detection import detect_block
from sites.atlas import Atlas, load_atlas

LIVE = "https://en.wikipedia.org/wiki/Kettle"


@dataclass
class SmallEnvironment:
    """What of a stage the door looks at."""

    world: World = World.ONLINE
    atlas: Atlas = field(default_factory=load_atlas)
    replicas: dict[str, object] = field(default_factory=dict)


@pytest.mark.parametrize("status", [401, 403, 429, 451, 503])
def test_a_live_start_page_that_bars_the_browser_is_blocked(status: int) -> None:
    fault = detect_block(SmallEnvironment(), [(LIVE, status)])  # type: ignore[arg-type]
    assert fault is not None
    assert fault.reason is UnscoredReason.BLOCKED
    assert str(status) in fault.message
    assert LIVE in fault.message


@pytest.mark.parametrize("status", [404, 410])
def test_a_live_start_page_that_is_gone_has_drifted(status: int) -> None:
    fault = detect_block(SmallEnvironment(), [(LIVE, 200), (LIVE, status)])  # type: ignore[arg-type]
    assert fault is not None
    assert fault.reason is UnscoredReason.DRIFTED


@pytest.mark.parametrize("status", [200, 304, 500, None])
def test_other_answers_let_the_agent_in(status: int | None) -> None:
    assert detect_block(SmallEnvironment(), [(LIVE, status)]) is None  # type: ignore[arg-type]


def test_a_replica_never_blocks() -> None:
    page = "http://wiki.arena.test/"
    assert detect_block(SmallEnvironment(world=World.OFFLINE), [(page, 403)]) is None  # type: ignore[arg-type]
    assert detect_block(SmallEnvironment(replicas={"wiki": None}), [(page, 403)]) is None  # type: ignore[arg-type]
