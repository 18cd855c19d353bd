"""What an episode that a program plays has from its reset on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena_core.held import Held
    from orchestrator.episode.environment import EpisodeEnvironment
    from orchestrator.episode.episode import Episode
    from orchestrator.episode.external.episode import ExternalEpisode
    from orchestrator.runs.single_episode import EpisodeFolder


class Begun:
    """What an episode has from its reset on: its environment, itself, and its folder."""

    def __init__(
        self,
        held: Held[EpisodeEnvironment],
        episode: Episode,
        folder: EpisodeFolder | None,
    ) -> None:
        self.outside: Held[ExternalEpisode] | None = None
        self.held = held
        self.episode = episode
        self.folder = folder

    async def end(self) -> None:
        """Close the episode, and give replicas and browser back.

        Where a call was under way, nobody knows what it has written.
        """
        was_idle = False
        try:
            if self.outside is not None:
                await self.outside.leave()
            was_idle = await self.episode.close()
        finally:
            await self.held.leave(broke_off=not was_idle)
