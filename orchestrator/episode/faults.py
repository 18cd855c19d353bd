"""Which errors leave an episode without a score: faults of the world, and bugs of Arena's own."""

from __future__ import annotations

import logging

from arena_core.bugs import bug_in_words, is_bug, place_of
from arena_core.errors import (
    ArenaError,
    BrowserError,
    EngineError,
    GatewayError,
    InputError,
    LoginError,
    ModelError,
    ReplayMissError,
    SiteError,
)
from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.episode.logins import login_fault

_LOG = logging.getLogger(__name__)


def fault_of(error: Exception, environment: EpisodeEnvironment) -> EpisodeFault | None:
    """Return what an error makes of an episode; None where it is none of the world's."""
    if isinstance(error, LoginError):
        return login_fault(environment, error)
    if is_bug(error):
        _LOG.error("a bug broke the episode off", exc_info=error)
        message, place = bug_in_words(error), place_of(error)
        return EpisodeFault(reason=UnscoredReason.INTERNAL, message=message, place=place)
    reason = _reason(error)
    if reason is None or not isinstance(error, ArenaError):
        return None
    _LOG.debug("what broke the episode off", exc_info=error)
    return EpisodeFault(reason=reason, message=error.message)


def _reason(error: Exception) -> UnscoredReason | None:
    match error:
        case InputError():
            # The task does not fit its sites, and only playing it showed that.
            return UnscoredReason.CHECK_ERROR
        case ReplayMissError():
            return UnscoredReason.REPLAY_MISS
        case ModelError(is_permanent=False):
            return UnscoredReason.INFRA
        case SiteError() | EngineError() | GatewayError() | BrowserError():
            return UnscoredReason.INFRA
        case _:
            return None
