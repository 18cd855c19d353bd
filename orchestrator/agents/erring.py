"""Mistakes that a reference agent makes on purpose: an agent of known strength, for trying studies.

Which episodes go wrong is decided by a hash of seed, task, world and repeat alone, so that a run
that goes on, or is made again, goes wrong in the same ones. The repeats of one task in one world
are spread evenly (steps of the golden ratio: Weyl's equidistributed sequence), so that their share
of mistakes is as near to the one asked for as their number allows; tasks, worlds and seeds are
independent of each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from math import sqrt
from typing import Final

from orchestrator.agent_interface import Assignment
from tasks.schema import GiveUp, ReferenceAction, StopWith

_GOLDEN: Final = (sqrt(5) - 1) / 2
_WRONG: Final = "not found"

Script = tuple[tuple[int, ReferenceAction], ...]  # numbered as in the task's file


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistakes:
    """How often an agent is wrong, and in which episodes.

    Attributes:
        share: of episodes, from 0 to 1.
        seed: parts agents that are wrong equally often; those of one seed are wrong in the same
            episodes, the better one in fewer of them.
    """

    share: float
    seed: int

    def strike(self, assignment: Assignment) -> bool:
        """Whether an episode goes wrong."""
        began = _drawn("errs", self.seed, assignment.task, assignment.world)
        return (began + assignment.repeat * _GOLDEN) % 1.0 < self.share

    def made_in(self, assignment: Assignment, script: Script) -> Script:
        """Return what is done instead of a script in an episode that goes wrong.

        At most half of the actions before the ending, and then the end without an answer; or, of
        some episodes whose script answers, all of them and a wrong answer. What cannot be done is
        claimed to be done.
        """
        work = [one for one in script if not isinstance(one[1], StopWith | GiveUp)]
        drawn = _drawn("how", self.seed, assignment.task, assignment.world, assignment.repeat)
        ending = script[-1][1] if script else None
        number = len(script) + 1
        if isinstance(ending, GiveUp):
            return (*work, (number, StopWith(do="stop")))
        if isinstance(ending, StopWith) and ending.answer is not None and drawn < 1 / 2:
            return (*work, (number, StopWith(do="stop", answer=_WRONG)))
        kept = int((2 * drawn % 1.0) * (len(work) + 1) / 2)
        return (*work[:kept], (number, StopWith(do="stop")))


def _drawn(*parts: object) -> float:
    """Return a number from 0 up to 1 that nothing but its parts decides."""
    digest = sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
