"""`how: reason`: why a task cannot be done, by what the agent found or missed, in its own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, Self

from pydantic import model_validator

from arena_core.worlds import World
from evaluators.matchers.answer import Words
from evaluators.matchers.base import Form, Matched, Matcher, found_or_wanted, listed
from evaluators.values.text import normalise, shown

_CLAUSE: Final = re.compile(r"[.;:!?\n](?=\s|$)|\n")
# "I cannot approve it" says that somebody gave up, not what the site lacks: only looking counts.
_ABILITY: Final = re.compile(
    r"\b(?:(?:can|could|will|would|may|might|am|is|are|was|were|be)(?:not| not|n't)(?: able)?"
    r"|can't|won't|unable|impossible|not possible|infeasible|no way)\b"
    r"(?: to\b)?(?! (?:be )?(?:find|found|see|seen|locate|located|spot|discover"
    r"|list|listed|show|shown|state|stated|give|given|mention|mentioned|name|named|say|said"
    r"|offer|offered|include|included|sell|sold|display|displayed|available|published|recorded"
    r"|provided?|stocked|specified|indicated|there|on|in|among|part|known|kept|supported?)\b)"
)
_ABSENCE: Final = re.compile(
    r"\b(?:no|not|never|nowhere|nothing|nobody|none|neither|nor|without|lack(?:s|ed|ing)?"
    r"|missing|absent|absence|unavailable|unlisted|unstated|unspecified|omits?|omitted|only"
    r"|cannot|\w+n't)\b"
)


class ReasonMatcher(Matcher):
    """Met where a reason names what is missing and says that it is, or names what was found.

    The reason is read clause by clause. One of `missing` counts only in a clause that says that
    something is not there ("no …", "does not mention …", "could not find …"): the intent repeated,
    also behind "It cannot be done:", says no such thing. One of `found` counts by itself.

    Attributes:
        missing: what the site lacks, each the beginning of words: `guarant` is `guarantee` too.
        found: what the site shows instead and the intent does not say, likewise.
    """

    how: Literal["reason"] = "reason"
    missing: Words = ()
    found: Words = ()

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        texts = (*self.missing, *self.found)
        if not texts or not all(normalise(one) for one in texts):
            raise ValueError("`missing` or `found` must name something that a reason says")
        return self

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - a reason has one form
        """Look for what is missing, or found, in each reason."""
        wanted = listed((*self.missing, *self.found))
        for value in values:
            said = self._said(value)
            if said is not None:
                return Matched(met=True, reason=f"names {shown(said)}", expected=wanted)
        return found_or_wanted(values, f"a reason that says what is missing: {wanted}", met=False)

    def _said(self, reason: str) -> str | None:
        """Return what a reason names; None where it names nothing."""
        for clause in (normalise(one) for one in _CLAUSE.split(reason)):
            found = _first(self.found, clause)
            if found is not None:
                return found
            missing = _first(self.missing, clause)
            if missing is not None and _ABSENCE.search(_ABILITY.sub(" ", clause)):
                return missing
        return None


def _first(beginnings: Sequence[str], clause: str) -> str | None:
    """Return the first of some beginnings of words that a normalised clause holds."""
    return next(
        (one for one in beginnings if re.search(rf"\b{re.escape(normalise(one))}", clause)), None
    )
