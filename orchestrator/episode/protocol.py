"""How an episode starts on its first page, and whether that page ends it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Protocol

from arena_core.errors import BrowserError, TaskError
from evaluators.evidence import Ended, MiniWobRecord
from orchestrator.browser.session.context import DEFAULT_VIEWPORT
from orchestrator.episode.environment import EpisodeSession, PageDocument
from tasks.schema import MiniWobStart, Task

# A page ends an unfinished episode by its own clock, after ten seconds as it comes; the task's
# limits decide here. Above 2**31 - 1 ms a timer of the browser overflows and rings at once.
_LONGEST_MS = 2_000_000_000
# The seed must be a number: `Math.seedrandom("7")` draws another problem than `(7)`. What shows
# rewards, time and START is hidden by a style sheet of no element, so that the page's own code
# still finds it. `getUtterance` gives an object where the page has parts of its problem to tell.
_START = """async function (seed, mode, longest) {
  if (document.readyState !== "complete")
    await new Promise((done) => addEventListener("load", done, { once: true }));
  await new Promise((done) => setTimeout(done)); // the page's own handler of that event has run
  const hidden = new CSSStyleSheet();
  hidden.replaceSync(
    "#reward-display, #click-canvas, #sync-task-cover { display: none !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, hidden];
  Math.seedrandom(seed);
  if (mode !== null) core.setDataMode(mode);
  core.EPISODE_MAX_TIME = longest;
  core.startEpisodeReal();
  while (!WOB_TASK_READY) await new Promise(requestAnimationFrame);
  const asked = core.getUtterance();
  return typeof asked === "string" ? { utterance: asked, fields: null } : asked;
}"""
# Before the start `WOB_DONE_GLOBAL` is false as well: it is read only after.
_STATE = """function () {
  return {
    done: WOB_DONE_GLOBAL, raw: WOB_RAW_REWARD_GLOBAL, reward: WOB_REWARD_GLOBAL,
    reason: WOB_REWARD_REASON == null ? null : String(WOB_REWARD_REASON),
  };
}"""


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
    def record(self) -> MiniWobRecord | None:
        """What the page says of the episode, for the evidence; None where it says nothing."""

    async def start(self, session: EpisodeSession) -> None:
        """Start the episode on the page that the current tab holds."""

    async def look(self) -> None:
        """Ask the page whether it has ended the episode since."""

    async def reward(self) -> float | None:
        """Return the raw reward that the page gave; None where it has not ended the episode."""


class BrowsingProtocol:
    """The ordinary protocol: the task says what to do, and no page ends the episode."""

    viewport = DEFAULT_VIEWPORT
    shows_unnamed = False
    page_end: PageEnd | None = None
    record: MiniWobRecord | None = None

    def __init__(self, task: Task) -> None:
        self.intent = task.intent

    async def start(self, session: EpisodeSession) -> None:
        """Do nothing: an ordinary page is open and that is all."""

    async def look(self) -> None:
        """Do nothing: an ordinary page knows of no episode."""

    async def reward(self) -> float | None:
        """Refuse: an ordinary page gives no reward."""
        raise TaskError("the task starts no episode of a MiniWoB++ page")


class MiniwobProtocol:
    """An episode of a MiniWoB++ page: it starts from a seed, and says itself how it ended.

    After `html/core/core.js` of the `miniwob` package, 1.1.0. Only what the page's own document
    says counts.

    A tab more with the same page, or another load of it, is another document. Once the page has
    ended the episode, or is gone, nothing can change the record any more.

    Attributes:
        record: what the page says of the episode, as of the last look; None before the start.
    """

    # What the pages are made for: the task's area is its upper left, 160 by 210.
    viewport = (500, 320)
    shows_unnamed = True

    def __init__(self, start: MiniWobStart, intent: str) -> None:
        self._start = start
        self._intent = intent
        self._document: PageDocument | None = None
        self.record: MiniWobRecord | None = None

    @property
    def intent(self) -> str:
        """What the page asked for, in its words; the task's own words before the start."""
        return self.record.utterance if self.record else self._intent

    async def start(self, session: EpisodeSession) -> None:
        document = await session.pin()
        start = self._start
        asked = await document.call(_START, start.seed, start.mode, _LONGEST_MS)
        if asked is None:
            raise BrowserError(f"the page '{start.page}' was gone before its episode could start")
        fields = None if asked["fields"] is None else json.dumps(asked["fields"], sort_keys=True)
        self._document = document
        self.record = MiniWobRecord(
            page=start.page,
            seed=start.seed,
            mode=start.mode,
            utterance=asked["utterance"],
            fields=fields,
        )

    @property
    def page_end(self) -> PageEnd | None:
        """How the page ended the episode, or that it is gone; None while neither is so."""
        known = self.record
        if known is None:
            return None
        if known.was_left:
            because = "the page was left, reloaded or closed before it ended the episode"
            return PageEnd(Ended.PAGE_LEFT, because)
        if known.raw is None:
            return None
        reason = f": {known.reason}" if known.reason else ""
        because = f"the page ended the episode with a raw reward of {known.raw:g}{reason}"
        return PageEnd(Ended.PAGE_ENDED, because)

    async def look(self) -> None:
        """Ask the page whether it has ended the episode since."""
        if self._document is None or self.record is None or self.page_end is not None:
            return
        state = await self._document.call(_STATE)
        if state is None:
            self.record = self.record.model_copy(update={"was_left": True})
        elif state["done"]:
            ended = {name: state[name] for name in ("raw", "reward", "reason")}
            self.record = MiniWobRecord.model_validate({**self.record.model_dump(), **ended})

    async def reward(self) -> float | None:
        """Return the raw reward that the page gave; None where it has not ended the episode."""
        if self.record is None:
            raise TaskError(f"the episode of the page '{self._start.page}' is not started yet")
        await self.look()
        return self.record.raw


def protocol_of(task: Task) -> EpisodeProtocol:
    """Return how the episodes of a task run."""
    return MiniwobProtocol(task.miniwob, task.intent) if task.miniwob else BrowsingProtocol(task)
