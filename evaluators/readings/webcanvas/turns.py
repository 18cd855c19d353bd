"""An episode as WebCanvas' loop sees it: a turn an action, with the page that is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from arena_core.actions import Click, MouseClick, Select, Type, Write
from evaluators.evidence import ActedElement, Evidence, StepEvidence

_LABELLED = (Click, MouseClick, Select)


@dataclass(frozen=True, slots=True)
class Turn:
    """One check of the key nodes.

    Attributes:
        urls: which pages are looked at.
        url: the page that the action's element is on.
        acted: the element of the action; None for an action on none, or that could not be done.
        value: what the action types, or the label of what it clicks or chooses in.
    """

    urls: tuple[str, ...]
    url: str
    acted: ActedElement | None
    value: str | None


def turns(evidence: Evidence, bases: Mapping[str, str], *, after: bool) -> Iterator[Turn]:
    """Yield a turn for each action.

    Args:
        evidence: of the episode.
        bases: the replicas' URLs by published host, which the published URLs are made of again.
        after: the pages that the action led to are looked at; else the one that the action before
            it left, as v0.0.3 does: it checks before it executes.
    """
    left = _published(evidence.steps[0].url, bases) if evidence.steps else ""
    for step in evidence.steps:
        if step.action is None:
            continue
        now = _published(step.url, bases)
        visited = tuple(_published(one.url, bases) for one in step.visits)
        acted = step.acted[0] if step.acted else None
        yield Turn(
            urls=(*visited, now) if after else (left,),
            url=left,
            acted=acted,
            value=_value(step, acted),
        )
        left = now


def _published(url: str, bases: Mapping[str, str]) -> str:
    for host, base in bases.items():
        rest = url.removeprefix(base)
        if rest != url and (not rest or rest[0] in "/?#"):
            return f"https://{host}{rest}"
    return url


def _value(step: StepEvidence, acted: ActedElement | None) -> str | None:
    """Return the text that was meant to be typed, never read back; else the element's label."""
    if isinstance(step.action, (Type, Write)):
        return step.action.text
    if isinstance(step.action, _LABELLED) and acted is not None:
        return acted.text or acted.name
    return None
