"""What a login that fails makes of an episode: the site's matter here, drift on the web."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from arena_core.errors import LoginError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.episode.logins import login_fault
from sites.atlas import load_atlas

ATLAS = load_atlas(())


@pytest.mark.parametrize(
    ("world", "site", "reason"),
    [
        (World.OFFLINE, "shop", UnscoredReason.INFRA),
        (World.ONLINE, "shop", UnscoredReason.DRIFTED),
        (World.ONLINE, "tools", UnscoredReason.INFRA),
        (World.ONLINE, "", UnscoredReason.INFRA),
    ],
)
def test_a_login_that_fails_is_drift_only_at_a_live_origin(
    world: World, site: str, reason: UnscoredReason
) -> None:
    environment: Any = SimpleNamespace(upstreams=ATLAS.upstreams(["shop", "tools"], world))
    fault = login_fault(environment, LoginError("could not log in", site=site))
    assert (fault.reason, fault.message) == (reason, "could not log in")
