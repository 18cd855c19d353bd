"""One seed per episode, so that repeats differ and a repeated run does not."""

from __future__ import annotations

from hashlib import sha256

from orchestrator.agent_interface import Assignment


def episode_seed(seed: int, assignment: Assignment) -> int:
    """Return a seed of 31 bits (what most endpoints take) for one task, world and repeat.

    Hashed, not added up: with sums, repeat 1 of seed 0 would be repeat 0 of seed 1.
    """
    name = f"{seed}/{assignment.task}/{assignment.world}/{assignment.repeat}"
    return int.from_bytes(sha256(name.encode()).digest()[:4], "big") >> 1
