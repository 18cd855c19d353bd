"""How a reference gets past what an arm puts in its way: the arm's translation, as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from orchestrator.gateway.variations import Variation, VariationKind

# What the arm's own elements are called: its scripts and its detours know them by these names.
WALL: Final = "Before you continue"
ACCEPT: Final = "Accept all"
UNAVAILABLE: Final = "Service unavailable"
AGAIN: Final = "Try again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detour:
    """A click that the player of a reference does besides, before it goes on.

    Attributes:
        sign: role and name of the element that stands in the way; None where the click is due only
            when the page lacks what the reference wants.
        role, names: of what is clicked.
        state: that it is in.
    """

    sign: tuple[str, str] | None
    role: str
    names: re.Pattern[str]
    state: str | None = None


_DETOURS: Final = {
    # Narrow pages put their navigation behind such buttons.
    VariationKind.LOOK_MOBILE: Detour(
        sign=None,
        role="button",
        names=re.compile(r".*\b(?:menu|navigation)\b.*", re.IGNORECASE | re.DOTALL),
        state="expanded=false",
    ),
    VariationKind.NETWORK_FLAKY: Detour(
        sign=("heading", UNAVAILABLE), role="link", names=re.compile(re.escape(AGAIN))
    ),
    VariationKind.PAGE_WALL: Detour(
        sign=("dialog", WALL), role="button", names=re.compile(re.escape(ACCEPT))
    ),
}


def detours_of(variations: Iterable[Variation]) -> Iterator[Detour]:
    """Yield the detours of an arm; none for the clean one."""
    for one in variations:
        if one.kind in _DETOURS:
            yield _DETOURS[one.kind]
