"""The scorer `verified` against webarena-verified itself, on thousands of drawn pairs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.tasks.verified_peer import peer_python

REPOSITORY = Path(__file__).parents[4]
PROGRAM = Path(__file__).with_name("verified_pairs.py")
PAIRS = 3000
# Pairs on which both differ for a reason; none is known.
LISTED: frozenset[int] = frozenset()


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return peer_python(tmp_path_factory.mktemp("webarena-verified"))


@pytest.mark.slow(minutes=4)
@pytest.mark.parametrize("seed", [1, 2])
def test_no_pair_is_scored_otherwise(peer: Path, seed: int) -> None:
    assert sys.version_info >= (3, 11)
    ended = subprocess.run(
        [peer, PROGRAM, str(seed), str(PAIRS)],
        check=True,
        capture_output=True,
        text=True,
        timeout=500,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    found: dict[str, Any] = json.loads(ended.stdout)
    assert set(found["counts"]) == {"0.0", "1.0", "crash"}
    assert min(found["counts"].values()) > PAIRS // 50
    assert [one for one in found["differing"] if one[0] not in LISTED] == []
