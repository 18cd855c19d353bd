"""`by: wob`: the reward that a MiniWoB++ page gave."""

from __future__ import annotations

from typing import ClassVar, Literal

from evaluators.episode_view import EpisodeView
from evaluators.locators.base import Found, LookingLocator, Need, Subject


class WobLocator(LookingLocator):
    """Yields the raw reward that a MiniWoB++ page ended the episode with; nothing before that.

    Raw: as the page gave it, without the decay by time.
    """

    subject: ClassVar[Subject] = Subject.REWARD

    by: Literal["wob"] = "wob"

    @property
    def needs(self) -> frozenset[Need]:
        """The page's own judgement."""
        return frozenset({Need.REWARD})

    def requirement_fault(self) -> str:
        """Say that there is no reward before the agent starts."""
        return "before the agent starts no page has given a reward"

    async def look(self, episode: EpisodeView) -> Found:
        """Ask the page."""
        raw = await episode.reward()
        return Found(() if raw is None else (repr(raw),))

    def absence(self) -> str:
        """Say that the page had not judged yet."""
        return "the page had not ended the episode"
