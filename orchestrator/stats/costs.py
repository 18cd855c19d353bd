"""What a success costs: money, time and tokens, failures included."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.stats.rates import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PerSuccess:
    """All that was spent on scored episodes ÷ their successes.

    Attributes:
        per_episode: mean over scored episodes; `value`: per success.
        successes, episodes: scored ones; `spent_unscored`: what the unscored took beside it.
        interval: of `value`, by a clustered bootstrap; None where undefined.
        undefined: why there is no value (nobody succeeded, no price is known).
    """

    value: float | None
    per_episode: float | None
    total: float | None
    spent_unscored: float | None
    successes: int
    episodes: int
    interval: Interval | None
    undefined: str | None = None
