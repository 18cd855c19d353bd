"""Whether a live site let the episode in at all."""

from __future__ import annotations

from collections.abc import Iterable

from arena_core.worlds import World
from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.episode.environment import EpisodeEnvironment

# What bot walls, rate limits and regional bars answer with; a start page is open to everybody else.
_BARRED = frozenset({401, 403, 429, 451, 503})
_GONE = frozenset({404, 410})


def detect_block(
    environment: EpisodeEnvironment, answers: Iterable[tuple[str, int | None]]
) -> EpisodeFault | None:
    """Return why a start page at a live origin did not let the episode in; None where all did.

    Only start pages are looked at: what an agent runs into later is its own doing, and must not be
    a way out of a failure.

    Args:
        environment: where the episode is played.
        answers: URL and HTTP status of each tab.
    """
    if environment.world is not World.ONLINE:
        return None
    for url, status in answers:
        site, _, _ = (environment.atlas.logical(url) or "").partition(":")
        if site in environment.replicas:
            continue
        if status in _BARRED:
            message = f"the live site answered {status} to the start page {url}"
            return EpisodeFault(reason=UnscoredReason.BLOCKED, message=message)
        if status in _GONE:
            message = f"the start page {url} is gone from the live site ({status})"
            return EpisodeFault(reason=UnscoredReason.DRIFTED, message=message)
    return None
