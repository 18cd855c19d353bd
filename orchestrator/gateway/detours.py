"""How a reference gets past what an arm puts in its way: the arm's translation, as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.gateway.variations import Variation, VariationKind

_NO_LABELS: Final[Mapping[str, str]] = {}

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


def detours_of(
    variations: Iterable[Variation], labels: Mapping[str, str] = _NO_LABELS
) -> Iterator[Detour]:
    """Yield the detours of an arm; none for the clean one.

    `labels` is what the arm calls elements besides: a new name by the site's own.
    """
    for one in variations:
        if one.kind in _DETOURS:
            yield _renamed(_DETOURS[one.kind], labels)


def _renamed(detour: Detour, labels: Mapping[str, str]) -> Detour:
    """Return a detour that knows what it clicks by its new names too."""
    new = [re.escape(new) for old, new in labels.items() if detour.names.fullmatch(old)]
    names = re.compile("|".join([detour.names.pattern, *new]), detour.names.flags)
    return replace(detour, names=names)
