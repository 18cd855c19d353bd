"""Replicas of the real stateful sites, and mutations of them."""

from __future__ import annotations

from random import Random

import pytest
from mutations.seeds import seeded
from mutations.subject import Accounts
from support.sites.kiosk_site import engine, kiosk

from sites.manifest import Site
from sites.registry import SiteRegistry, load_registry

__all__ = ["engine", "kiosk"]


@pytest.fixture
def dice(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Random:
    """Throws of this test's own; the seed is printed, whatever comes out."""
    with capsys.disabled():
        return seeded(request.node.name)


@pytest.fixture
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture
def sites(kiosk: Site) -> SiteRegistry:
    """The sites that Arena brings, and the kiosk."""
    return SiteRegistry({**load_registry().sites, kiosk.name: kiosk})
