"""When the agent ends its episode: by Arena's rules, the published code's, or the paper's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

# `task`: the task's own step limit, and the final answer ends it.
# `code`: version 0.0.3 of the published code. `paper`: arXiv 2406.12373.
Rules = Literal["task", "code", "paper"]

_LEAST: Final = 10
_MOST: Final = 25
_CODE_FACTOR: Final = 1.5
_PAPER_FACTOR: Final = 1.2
_MORE_ON_ERRORS: Final = 5
_ERROR: Final = "error"


@dataclass(slots=True)
class Limits:
    """How many steps an agent takes; never more than its task allows.

    Args:
        length: how many steps the reference takes; None where the rules do not ask.
    """

    rules: Rules
    length: int | None
    has_reward: bool
    _saw_error: bool = False

    def see(self, url: str) -> None:
        """Note a page: for the first whose address speaks of an error the code grants steps."""
        self._saw_error |= _ERROR in url

    @property
    def steps(self) -> int | None:
        """How many steps there are; None where the task's limit alone counts.

        The code: 1.5 times the reference, at least 10 and at most 25. The paper: 1.2 times the
        reference where there is no reward module to end it.
        """
        if self.rules == "task" or self.length is None:
            return None
        if self.rules == "paper":
            return None if self.has_reward else max(1, math.ceil(_PAPER_FACTOR * self.length))
        granted = max(_LEAST, math.ceil(_CODE_FACTOR * self.length))
        return min(_MOST, granted + (_MORE_ON_ERRORS if self._saw_error else 0))

    def is_reached(self, done: int) -> bool:
        """Whether so many steps were the last."""
        return self.steps is not None and done >= self.steps

    @property
    def answer_ends(self) -> bool:
        """Whether the final answer ends the episode: in the code the loop goes on after it."""
        return self.rules != "code"

    @property
    def forgives_planning(self) -> bool:
        """Whether a step without a plan is a step lost, and not the end."""
        return self.rules == "code"
