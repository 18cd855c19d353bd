"""Whether a live site let the episode in at all."""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.episode.environment import EpisodeEnvironment
from sites.upstreams import is_visited_live

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
    for url, status in answers:
        if not _is_live(url, environment):
            continue
        if status in _BARRED:
            message = f"the live site answered {status} to the start page {url}"
            return EpisodeFault(reason=UnscoredReason.BLOCKED, message=message)
        if status in _GONE:
            message = f"the start page {url} is gone from the live site ({status})"
            return EpisodeFault(reason=UnscoredReason.DRIFTED, message=message)
    return None


def _is_live(url: str, environment: EpisodeEnvironment) -> bool:
    """Whether a start page is at a live origin, or was led away to a host of no site."""
    name, _, _ = (environment.atlas.logical(url) or "").partition(":")
    upstreams = environment.upstreams.by_site
    return any(map(is_visited_live, [upstreams[name]] if name in upstreams else upstreams.values()))
