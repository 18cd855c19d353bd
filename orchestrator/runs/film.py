"""Pictures of all episodes that are played, while somebody looks; nothing otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

from orchestrator.episode.episode import Episode
from orchestrator.runs.steering import Steering, names_of

_LOOK_S: Final = 1.0


@dataclass(slots=True)
class Film:
    """Films the episodes of a run for one onlooker.

    Only the newest picture of each is kept: who reads slowly misses the others.
    """

    steering: Steering
    _newest: dict[str, str] = field(default_factory=dict)
    _fresh: asyncio.Event = field(default_factory=asyncio.Event)
    _cameras: dict[Episode, asyncio.Task[None]] = field(default_factory=dict)

    async def pictures(self) -> AsyncGenerator[tuple[str, str], None]:
        """Yield an episode's name and a picture of it, in base64, until nobody asks any more.

        Both are empty where nothing moved for a second: who has gone is noticed by that.
        """
        try:
            while True:
                self._follow()
                try:
                    async with asyncio.timeout(_LOOK_S):
                        await self._fresh.wait()
                except TimeoutError:
                    yield "", ""
                self._fresh.clear()
                while self._newest:
                    yield self._newest.popitem()
        finally:
            for camera in self._cameras.values():
                camera.cancel()
            await asyncio.gather(*self._cameras.values(), return_exceptions=True)

    def _follow(self) -> None:
        playing = {
            one.episode: names_of(one.job)[-1]
            for one in self.steering.under_way
            if one.episode is not None
        }
        for episode in [*self._cameras]:
            if episode not in playing:
                self._cameras[episode].cancel()
            if self._cameras[episode].done():  # or its browser is not there yet
                del self._cameras[episode]
        for episode in playing.keys() - self._cameras.keys():
            self._cameras[episode] = asyncio.create_task(self._take(episode, playing[episode]))

    async def _take(self, episode: Episode, name: str) -> None:
        async for picture in episode.film():
            self._newest[name] = picture
            self._fresh.set()
