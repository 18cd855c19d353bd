"""The episode protocol of MiniWoB++: a page starts from a seed, and says itself how it ended.

After `html/core/core.js` of the `miniwob` package, 1.1.0.
"""

from __future__ import annotations

import json

from arena_core.errors import BrowserError
from evaluators.evidence import WobRecord
from orchestrator.browser.pinned import PinnedDocument
from orchestrator.browser.session import Session
from tasks.schema import WobStart

# The window that the pages are made for: the task's area is its upper left, 160 by 210.
VIEWPORT = (500, 320)

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


class WobEpisode:
    """A started episode: only what its own document says counts.

    A tab more with the same page, or another load of it, is another document. Once the page has
    ended the episode, or is gone, nothing can change the record any more.

    Attributes:
        record: as it is known now.
    """

    def __init__(self, document: PinnedDocument, record: WobRecord) -> None:
        self._document = document
        self.record = record

    @property
    def is_over(self) -> bool:
        """Whether the page has ended the episode, or is gone."""
        return self.record.raw is not None or self.record.was_left

    async def look(self) -> None:
        """Read whether the page has ended the episode since.

        Raises:
            BrowserError: the browser does not answer.
        """
        if self.is_over:
            return
        state = await self._document.call(_STATE)
        if state is None:
            self.record = self.record.model_copy(update={"was_left": True})
        elif state["done"]:
            ended = {name: state[name] for name in ("raw", "reward", "reason")}
            self.record = WobRecord.model_validate({**self.record.model_dump(), **ended})

    def why(self) -> str:
        """Say how the episode ended, in words for the evidence."""
        if self.record.was_left:
            return "the page was left, reloaded or closed before it ended the episode"
        reason = f": {self.record.reason}" if self.record.reason else ""
        return f"the page ended the episode with a raw reward of {self.record.raw:g}{reason}"


async def start_wob(session: Session, start: WobStart) -> WobEpisode:
    """Start the episode on the page that the current tab holds.

    Raises:
        BrowserError: the page did not start it.
    """
    document = await session.pin()
    asked = await document.call(_START, start.seed, start.mode, _LONGEST_MS)
    if asked is None:
        message = f"the page '{start.page}' was gone before its episode could start"
        raise BrowserError(message)
    fields = None if asked["fields"] is None else json.dumps(asked["fields"], sort_keys=True)
    record = WobRecord(
        page=start.page,
        seed=start.seed,
        mode=start.mode,
        utterance=asked["utterance"],
        fields=fields,
    )
    return WobEpisode(document, record)
