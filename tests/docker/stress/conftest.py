"""Replicas of the real stateful sites, and mutations of them."""

from __future__ import annotations

from random import Random

import pytest
from kiosk_site import engine, kiosk
from mutations.seeds import seeded
from mutations.subject import Accounts

from sites.atlas import Atlas, load_atlas
from sites.manifest import Site

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
def sites(kiosk: Site) -> Atlas:
    """The sites that Arena brings, and the kiosk."""
    return Atlas({**load_atlas().sites, kiosk.name: kiosk})
