"""One seed a run of the tests: printed, and given back in ARENA_TEST_SEED to repeat it."""

from __future__ import annotations

import os
import secrets
import sys
from random import Random
from typing import Final

VARIABLE: Final = "ARENA_TEST_SEED"


def seeded(purpose: str) -> Random:
    """Return dice for one purpose, and print the seed that makes the same throws again.

    The seed is ARENA_TEST_SEED where that is set. Every purpose has throws of its own, so that a
    test repeats them whatever ran before it.
    """
    seed = os.environ.get(VARIABLE) or secrets.token_hex(4)
    sys.stdout.write(f"{purpose}: {VARIABLE}={seed}\n")
    return Random(f"{seed} {purpose}")


def word(dice: Random) -> str:
    """Return a word that no site holds."""
    return "zq" + "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=10))
