"""`how: length`: a value of at least so many letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from orchestrator.plugins import Form, Matched, Matcher, World


class LengthMatcher(Matcher):
    """Met where one value has at least `least` letters."""

    how: Literal["length"] = "length"
    least: int = Field(ge=1)

    def match(
        self,
        values: Sequence[str],
        world: World,  # noqa: ARG002 - the same in both
        form: Form = str,  # noqa: ARG002 - no text is expected
    ) -> Matched:
        """Measure the values."""
        longest = max((len(value) for value in values), default=0)
        return Matched(
            met=longest >= self.least,
            reason=f"the longest value has {longest} letters",
            expected=f"at least {self.least} letters",
        )
