"""An agent that drives its episode's browser with Playwright over CDP, as a user's program does.

It sees pages by Playwright's own snapshot, and acts by what that names; of Arena it has the address
and the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page, Playwright

from arena_core.actions import Action, Click, FocusTab, Goto, Select, Type
from evaluators.scores import Score
from orchestrator import Arena, OpenEpisode
from orchestrator.serve.results import reward_of
from support.agents.reference_player import Seen, Verdict


@dataclass
class PlaywrightClient:
    """One client of one episode's endpoint."""

    arena: Arena
    playwright: Playwright
    episode: OpenEpisode | None = None
    page: Page | None = None
    tabs: list[Page] = field(default_factory=list)
    steps: int = 0
    refs: list[str] = field(default_factory=list)

    async def begin(self, task: str) -> Seen:
        self.episode = self.arena.episode(task, endpoint="cdp")
        opened = await self.episode.reset()
        browser = await self.playwright.chromium.connect_over_cdp(self.episode.cdp_url)
        (context,) = browser.contexts
        # Clients list pages in no order of Arena's: tasks that open several say their addresses.
        pages = {page.url: page for page in context.pages}
        self.tabs = [pages[tab.url] for tab in opened.tabs]
        context.on("page", self._opened)
        self.page = self.tabs[0]
        return await self._seen(None)

    async def act(self, action: Action) -> Seen | Verdict:
        assert self.episode is not None
        self.steps += 1
        error: str | None = None
        try:
            await self._do(action)
        except PlaywrightError as failed:
            error = failed.message
        if self.episode.is_over:
            return verdict_of(await self.episode.score())
        return await self._seen(error)

    async def finish(self, answer: str | None) -> Verdict:
        assert self.episode is not None
        return verdict_of(await self.episode.finish(answer))

    async def _do(self, action: Action) -> None:
        page = self._current
        match action:
            case Goto():
                await page.goto(action.url)
            case FocusTab():
                self.page = self.tabs[action.index]
            case Click():
                await self._element(action.element).click()
            case Select():
                await self._element(action.element).select_option(label=list(action.options))
            case Type():
                await self._element(action.element).fill(action.text)
                if action.submit:
                    await self._element(action.element).press("Enter")
            case _:
                message = f"this client does not '{action.kind}'"
                raise NotImplementedError(message)

    def _element(self, number: int) -> Locator:
        return self._current.locator(f"aria-ref={self.refs[number]}")

    async def _seen(self, error: str | None) -> Seen:
        page = self._current
        await page.wait_for_load_state()
        text = re.sub(r"\[ref=(\w+)\]", self._numbered, await page.aria_snapshot(mode="ai"))
        return Seen(step=self.steps, url=page.url, text=text, error=error)

    def _numbered(self, ref: re.Match[str]) -> str:
        """Give a ref a number: Playwright's name the document too, as in `f1e12`."""
        self.refs.append(ref[1])
        return f"[ref=e{len(self.refs) - 1}]"

    def _opened(self, page: Page) -> None:
        self.tabs.append(page)
        self.page = page

    @property
    def _current(self) -> Page:
        assert self.page is not None
        return self.page


def verdict_of(score: Score) -> Verdict:
    """Return the verdict of a score."""
    reason = score.outcome.reason
    return Verdict(
        outcome=str(score.outcome.kind),
        reason=None if reason is None else str(reason),
        reward=reward_of(score.outcome.kind),
    )
