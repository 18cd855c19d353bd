"""How an episode starts on its first page, and whether that page ends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from arena_core.errors import TaskError
from evaluators.evidence import Ended, WobRecord
from orchestrator.browser.context import DEFAULT_VIEWPORT
from orchestrator.episode.interfaces import EpisodeSession
from tasks.schema import Task


@dataclass(frozen=True, slots=True)
class PageEnd:
    """How a page ended the episode, with the reason in one sentence."""

    ended: Ended
    because: str


class EpisodeProtocol(Protocol):
    """What the start page has to do with the episode, from its start to its end."""

    @property
    def viewport(self) -> tuple[int, int]:
        """Width and height of the agent's window in CSS pixels."""

    @property
    def shows_unnamed(self) -> bool:
        """Whether observations hold what the page draws or lets be clicked without a name."""

    @property
    def intent(self) -> str:
        """What the agent is to do; final once the episode is started."""

    @property
    def page_end(self) -> PageEnd | None:
        """How the page ended the episode, as of the last look; None while it has not."""

    @property
    def record(self) -> WobRecord | None:
        """What the page says of the episode, for the evidence; None where it says nothing."""

    async def start(self, session: EpisodeSession) -> None:
        """Start the episode on the page that the current tab holds.

        Raises:
            BrowserError: the page did not start it.
        """

    async def look(self) -> None:
        """Ask the page whether it has ended the episode since.

        Raises:
            BrowserError: the browser does not answer.
        """

    async def reward(self) -> float | None:
        """Return the raw reward that the page gave; None where it has not ended the episode.

        Raises:
            TaskError: pages of this protocol give none.
        """


class BrowsingProtocol:
    """The ordinary protocol: the task says what to do, and no page ends the episode."""

    viewport = DEFAULT_VIEWPORT
    shows_unnamed = False
    page_end: PageEnd | None = None
    record: WobRecord | None = None

    def __init__(self, task: Task) -> None:
        self.intent = task.intent

    async def start(self, session: EpisodeSession) -> None:
        """Do nothing: an ordinary page is open and that is all."""

    async def look(self) -> None:
        """Do nothing: an ordinary page knows of no episode."""

    async def reward(self) -> float | None:
        """Refuse: an ordinary page gives no reward.

        Raises:
            TaskError: always.
        """
        message = "the task starts no episode of a MiniWoB++ page"
        raise TaskError(message)
