"""Writes down which live sites let the agent in no more, for `evaluators.barred_sites`.

It looks at the end of an episode, once all checks have looked. A site whose page was barred is
asked for it once more, in the agent's browser: only so is it known whether that stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from arena_core.errors import ArenaError
from arena_core.worlds import World
from evaluators.barred_sites import BarredSite
from evaluators.checks import Check, match
from evaluators.evidence import StepEvidence, UrlVisit
from evaluators.fields import in_world
from evaluators.locators.page import PageLocator
from evaluators.locators.url import UrlLocator
from evaluators.values.logical_urls import parse_logical_url
from orchestrator.browser.observation import AXTREE, AxTree
from orchestrator.browser.observations.forms import load_form
from orchestrator.episode.faults import login_name
from orchestrator.episode.page_view import PageView
from orchestrator.episode.record import EpisodeRecord
from orchestrator.episode.steps import StepPlayer
from orchestrator.episode.walls import Wall, WallKind, wall_on
from sites.manifest import Live
from sites.upstreams import LiveUpstream, StagedUpstream
from tasks.reference import GotoPage
from tasks.schema import Task

# What walls, rate limits, regional bars and gateways before a site that is down answer with. 500 is
# not among it: a site's own page may fail at what an agent typed.
BARRED: Final = frozenset({401, 403, 429, 451, 502, 503, 504})
# What an agent brings about that logs itself out, or changes a page so that it is shut.
_REFUSED: Final = frozenset({401, 403, 451})
_LEFT: Final = re.compile(r"/[^?#]*(?:log|sign)[-_]?(?:out|off)", re.IGNORECASE)
_WALLS: Final = frozenset({WallKind.BOT_WALL, WallKind.RATE_LIMIT, WallKind.GEO})
# A site whose manifest names no pace must bear a page every other second.
USUAL_PAGES_PER_MINUTE: Final = 30
_MINUTE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class BarredPage:
    """The page of a site that did not let the agent in; see `BarredSite`."""

    step: int
    url: str
    status: int | None
    is_of_task: bool
    is_last: bool


class TaskPages:
    """The pages that a task hangs on in a world: where it starts, goes to, or looks."""

    def __init__(self, task: Task, world: World) -> None:
        self._world = world
        self._ways = [way for one in task.checks_in(world) for way in one.ways]
        goes = [one.page for one in task.reference_actions if isinstance(one, GotoPage)]
        pages = [in_world(one, world) for one in goes]
        self._named = frozenset(map(_full, (*task.start_pages, *pages, *self._of_checks())))

    def _of_checks(self) -> Iterator[str]:
        for way in self._ways:
            if isinstance(way.locate, PageLocator) and isinstance(way.locate.at, str):
                yield way.locate.at
            if isinstance(way.locate, UrlLocator) and way.locate.are_urls:
                here = [one for one in way.match.whole_texts() if one.world in {None, self._world}]
                yield from (one.text for one in here)

    def has(self, step: StepEvidence, visit: UrlVisit) -> bool:
        """Whether a visit, had it been answered, was one to such a page.

        A check often fits many pages. Where the agent gave the address itself, which may be made
        up, only a page counts that the task names.
        """
        if visit.logical is None:
            return False
        if _full(visit.logical) in self._named:
            return True
        is_given = getattr(step.action, "url", None) == visit.url
        return not is_given and any(self._would_meet(way, step, visit) for way in self._ways)

    def _would_meet(self, way: Check, step: StepEvidence, visit: UrlVisit) -> bool:
        if not isinstance(way.locate, UrlLocator):
            return False
        answered = visit.model_copy(update={"status": HTTPStatus.OK.value})
        found = way.locate.at_step(way.name, step.model_copy(update={"visits": (answered,)}))
        return bool(found.values) and match(way, found.values, self._world).met


def barred_page(steps: Sequence[StepEvidence], site: str, pages: TaskPages) -> BarredPage | None:
    """Return the page of a site that was barred when it was last asked for; None where none was.

    It is the last document of the episode, or else the last of the task's pages that never came
    back. What an outside program made up is no document of a site.
    """
    documents = [
        (step, visit)
        for step in steps
        for visit in step.visits
        if visit.counts and not visit.same_document and visit.status is not None
    ]
    answered = set[str]()
    for number, (step, visit) in enumerate(reversed(documents)):
        place = _full(visit.logical or "")
        if place.partition(":")[0] == site and visit.status in BARRED and place not in answered:
            is_of_task = pages.has(step, visit)
            if is_of_task or number == 0:
                return BarredPage(step.index, visit.url, visit.status, is_of_task, number == 0)
        answered.add(place)
    return None


def _full(logical: str) -> str:
    return parse_logical_url(logical.partition("#")[0]).full


def most_pages_per_minute(live: Live) -> int:
    """Return how many pages a site must bear: as its manifest says, or a usual pace."""
    told = [] if live.requests_per_minute is None else [live.requests_per_minute]
    if live.pace_s:
        told.append(int(_MINUTE_S / live.pace_s) + 1)
    return min(told, default=USUAL_PAGES_PER_MINUTE)


def pages_per_minute(record: EpisodeRecord) -> Mapping[str, int]:
    """Return by site how fast the episode loaded pages until now."""
    live, found = record.live, record.environment.upstreams.by_site.items()
    paced = {name: one.live.host for name, one in found if isinstance(one, _Visited)}
    return {} if live is None else {n: live.pages_per_minute(host) for n, host in paced.items()}


async def note_barred(
    task: Task, record: EpisodeRecord, player: StepPlayer, paces: Mapping[str, int]
) -> None:
    """Write down which live sites let the agent in no more; replicas bar nobody.

    Args:
        paces: how fast the agent loaded pages, see `pages_per_minute`.
    """
    pages = TaskPages(task, record.environment.world)
    for name in task.sites:
        upstream = record.environment.upstreams.of(name)
        if not isinstance(upstream, _Visited):
            continue
        look = _Look(task, record, player, name, pages)
        told = {
            "pages_per_minute": paces.get(name, 0),
            "most_per_minute": most_pages_per_minute(upstream.live),
        }
        found = (look.of_checks(), await look.of_agent())
        record.barred += [one.model_copy(update=told) for one in found if one is not None]


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at whether one live site still lets the agent in."""

    task: Task
    record: EpisodeRecord
    player: StepPlayer
    site: str
    pages: TaskPages

    def of_checks(self) -> BarredSite | None:
        """Return the first page that checks opened and that was barred, with all such checks."""
        barred = [
            one
            for one in self.player.locators.fresh_pages.opened
            if one.site == self.site
            and one.status in BARRED
            and not self._may_be_own(one.status)
            and (one.status not in _REFUSED or self.site not in self.task.roles)
        ]
        if not barred:
            return None
        first, last = barred[0], max(0, len(self.record.steps) - 1)
        page = BarredPage(last, first.url, first.status, is_of_task=True, is_last=True)
        written = self._written(page, None, asked=first.url, again=_sign(first.status))
        names = tuple(dict.fromkeys(one.check.partition("/")[0] for one in barred))
        return written.model_copy(update={"checks": names})

    async def of_agent(self) -> BarredSite | None:
        """Return the page that was barred to the agent when it was last asked for."""
        page = barred_page(self.record.steps, self.site, self.pages)
        view = await self._seen()
        wall = None if view is None else wall_on(view)
        if page is None or not page.is_last:
            worded = self._by_words(view, wall)
            if worded is not None:
                return worded
        if page is None or (page.status is not None and await self._is_own(page.status)):
            return None
        known = wall if view is not None and view.url == page.url else None
        if page.is_last and page.status == HTTPStatus.TOO_MANY_REQUESTS:
            return self._written(page, known)  # it said not to ask
        asked = page.url if page.is_of_task else self._entrance()
        again = await self._asked_again(asked)
        return self._written(page, known, asked=asked, again=again)

    def _by_words(self, view: PageView | None, wall: Wall | None) -> BarredSite | None:
        """Return the task's page that the agent was left on, where it is nothing but a wall."""
        if view is None or wall is None or wall.kind not in _WALLS:
            return None
        last = self.record.steps[-1]
        logical = self.record.environment.registry.logical(view.url)
        visit = UrlVisit(tab=0, url=view.url, logical=logical, status=view.status)
        if not self.pages.has(last, visit):
            return None
        page = BarredPage(last.index, view.url, view.status, is_of_task=True, is_last=True)
        return self._written(page, wall)

    async def _seen(self) -> PageView | None:
        """Return this site's page as it was seen last; None where the agent was elsewhere.

        An outside program may write into its pages what it likes: nothing is read there.
        """
        record, session = self.record, self.player.resources.session
        url = session.url
        logical = record.environment.registry.logical(url) or ""
        is_forgeable = record.environment.is_shared and record.person is None
        if is_forgeable or not record.steps or logical.partition(":")[0] != self.site:
            return None
        shown = record.shown
        if shown is None or shown.url != url or AXTREE not in shown.parts:
            try:
                shown = await session.observe(len(record.steps), None, {AXTREE: load_form(AXTREE)})
            except ArenaError:
                return None
        tree = shown.parts.get(AXTREE)
        text = tree.text if isinstance(tree, AxTree) else ""
        return PageView(shown.url, shown.title, session.status, text)

    def _may_be_own(self, status: int) -> bool:
        """Whether the agent may have shut a page by what it wrote, or by leaving its login."""
        if status not in _REFUSED:
            return False
        visited = [visit.url for step in self.record.steps for visit in step.visits]
        has_left = any(map(_LEFT.search, visited))
        return self.task.live_writes or self.record.changed_cookies or has_left

    async def _is_own(self, status: int) -> bool:
        if self._may_be_own(status):
            return True
        if status not in _REFUSED or self.site not in self.task.roles:
            return False
        for role in self.task.roles_of(self.site):
            login = login_name(self.task, self.site, role)
            cookies = await self.player.resources.session.cookies(login)
            if await self.record.environment.accounts.is_logged_out(self.site, role, cookies):
                return True
        return False

    def _entrance(self) -> str:
        """Return the site's page that the task starts on; its root where it has none."""
        starts = [page for page in self.task.start_pages if page.startswith(f"{self.site}:")]
        return self.record.environment.upstreams.url((*starts, f"{self.site}:/")[0])

    async def _asked_again(self, url: str) -> str | None:
        """Return what bars a page now; None where nothing does, or where nobody knows."""
        try:
            fetched = await self.player.resources.session.fetch_text(url)
        except ArenaError:
            return None
        return _sign(fetched.status) if fetched.status in BARRED else None

    def _written(
        self,
        page: BarredPage,
        wall: Wall | None,
        *,
        asked: str | None = None,
        again: str | None = None,
    ) -> BarredSite:
        return BarredSite(
            site=self.site,
            step=page.step,
            url=page.url,
            sign=f"{wall.kind}: {wall.sign}" if wall else _sign(page.status),
            status=page.status,
            is_of_task=page.is_of_task,
            is_last=page.is_last,
            asked_again=asked,
            again=again,
            most_per_minute=USUAL_PAGES_PER_MINUTE,
        )


def _sign(status: int | None) -> str:
    return f"status {status}"


_Visited = LiveUpstream | StagedUpstream
