"""The steps of a person: read off their events in the window, one for each action.

A step begins with an event that begins an action, and is written down when the page has settled.
Nobody makes a person wait: where they go on before that, both steps are written when the next page
has settled, and the first may lack its picture, its title and what key nodes look for on a page.
What no event explains, such as a history or an address that the browser's own bar opened, is a step
without an action.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from arena_core.actions import (
    Action,
    MouseClick,
    MouseDown,
    MouseDrag,
    MouseUp,
    Point,
    Press,
    Write,
)
from arena_core.foreign import cut
from evaluators.evidence import (
    ActedElement,
    ElementEvent,
    Located,
    RequestNote,
    StepEvidence,
    Timings,
    UnscoredReason,
    UrlVisit,
)
from orchestrator.browser.tabs.journal import Activity, NotedSoFar
from orchestrator.browser.tabs.watcher import EventReport, Hand
from orchestrator.browser.tabs.window_moves import WindowMove
from orchestrator.episode.episode import Episode
from orchestrator.episode.person.stopwatch import Stopwatch
from orchestrator.episode.steps import SETTLE_DEADLINE_S, timed
from orchestrator.episode.traffic import refuse_broken

# A person's events on pages, read as the actions that agents have for the same. One action may be
# several events: a field is clicked into, filled letter by letter and left; a label clicks the box
# that it belongs to; Enter in a form clicks its button. Only events that the browser made itself
# come here, so no page adds an action.
_MOST_TEXT: Final = 100_000
_MOST_PIXELS: Final = 100_000.0
_TICKED: Final = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_LABELLED: Final = frozenset({"input", "select", "textarea", "button"})


def goes_on(last: EventReport | None, new: EventReport) -> bool:
    """Return whether an event belongs to the action of the one before it."""
    if last is None:
        return False
    match new.event:
        case ElementEvent.INPUT:
            return (last.path, last.url) == (new.path, new.url)
        case ElementEvent.CHANGE:
            return True  # also said when a field is left: nobody does more for it
        case ElementEvent.SUBMIT | ElementEvent.DROP:
            wanted = ElementEvent.DRAG if new.event is ElementEvent.DROP else ElementEvent.CLICK
            return last.event is wanted
        case ElementEvent.CLICK:
            return last.event is ElementEvent.DROP or _is_by_label(last, new)
        case ElementEvent.DRAG | ElementEvent.CONTEXT_MENU:
            return False


def _is_by_label(last: EventReport, new: EventReport) -> bool:
    is_label = last.event is ElementEvent.CLICK and last.tag == "label"
    return is_label and new.tag in _LABELLED and new.name == last.name


def begun(new: EventReport) -> Action:
    """Return the action that an event begins."""
    match new.event:
        case ElementEvent.INPUT | ElementEvent.CHANGE:
            return _written(new)
        case ElementEvent.SUBMIT:
            return Press(keys="Enter")
        case ElementEvent.CLICK | ElementEvent.CONTEXT_MENU:
            return _clicked(new)
        case ElementEvent.DRAG | ElementEvent.DROP:
            point = None if new.hand is None else _point(new.hand)
            return MouseDown() if point is None else MouseDown(x=point.x, y=point.y)


def grown(action: Action, new: EventReport) -> Action:
    """Return an action with one more event of it."""
    if new.event is ElementEvent.DROP and isinstance(action, MouseDown):
        end = None if new.hand is None else _point(new.hand)
        if action.point is not None and end is not None:
            return MouseDrag(path=(action.point, end))
    is_filled = new.event is ElementEvent.INPUT and new.value is not None
    if isinstance(action, Write) or (is_filled and new.role not in _TICKED):
        return _written(new) if is_filled else action
    return action


def _written(new: EventReport) -> Write:
    """Return what a field holds now; nothing of a secret one."""
    return Write(text=cut(new.value or "", _MOST_TEXT))


def _clicked(new: EventReport) -> Action:
    if new.hand is None:
        return Press(keys="Enter" if new.event is ElementEvent.CLICK else "ContextMenu")
    is_menu = new.event is ElementEvent.CONTEXT_MENU
    button = "right" if is_menu else new.hand.button
    point = _point(new.hand)
    if point is None:
        return MouseUp(button=button)  # where the mouse is, in a frame that hides where it lies
    return MouseClick(x=point.x, y=point.y, button=button)


def _point(hand: Hand) -> Point | None:
    if hand.x is None or hand.y is None:
        return None
    return Point(x=min(max(hand.x, 0.0), _MOST_PIXELS), y=min(max(hand.y, 0.0), _MOST_PIXELS))


_MOST_UNEXPLAINED: Final = 500  # steps without an action; a page may change its address for ever


@dataclass(slots=True, kw_only=True)
class _Step:
    """An action and what it changed, as far as is known.

    Attributes:
        action: None where no event explains it; such a step counts as none.
        last: the latest event of it.
        start: what had been noted when it began.
        mark, end: where the gateway's journal stood before it, and before the next.
        url: of the current tab as the next action began; None while none has.
        seen: the page that settled last while it was the latest step; None where none did.
    """

    index: int
    action: Action | None
    last: EventReport | None
    start: NotedSoFar
    mark: int
    began: float
    idle_ms: float
    end: int | None = None
    url: str | None = None
    visits: tuple[UrlVisit, ...] = ()
    acted: tuple[ActedElement, ...] = ()
    refused: tuple[RequestNote, ...] = ()
    seen: _Seen | None = None

    def take(self, activity: Activity) -> None:
        """Add what was noted; successive inputs into one element are the last of them."""
        acted = [*self.acted]
        for one in activity.acted:
            if acted and one.event is ElementEvent.INPUT and _is_same_field(acted[-1], one):
                acted.pop()
            acted.append(one)
        self.visits += activity.visits
        self.acted = tuple(acted)
        self.refused += activity.refused


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The page that settled."""

    settled: bool
    title: str
    located: tuple[Located, ...]
    screenshot: str | None
    settle_ms: float
    locate_ms: float


class PersonSteps:
    """Writes the steps of a person who drives the episode's browser by hand.

    Args:
        episode: reset already, its browser shared.
        clock: of the person; an action ends a pause.

    Attributes:
        over: set when no further step can be done.
    """

    def __init__(self, episode: Episode, clock: Stopwatch) -> None:
        player, session = episode.shared_browser()
        self.over = asyncio.Event()
        self._player = player
        self._session = session
        self._episode = episode
        self._clock = clock
        self._step: _Step | None = None
        self._unwritten: list[_Step] = []
        self._writing: asyncio.Task[None] | None = None
        self._unexplained = 0
        self._last_s = 0.0
        self._is_closed = False
        session.listen_to(self._noticed, lambda: False, self._page_broke, self._acting)

    async def lost(self) -> None:
        """Return when the browser is gone."""
        await self._session.lost()

    @property
    def idle_ms(self) -> float:
        """How long ago, by the person's clock, their last action began or went on."""
        return round(max(0.0, self._clock.seconds - self._last_s) * 1000, 1)

    def record_times(self) -> None:
        """Write the person's times down."""
        self._player.record.person = self._clock.times

    async def finish(self) -> None:
        """Write down what is under way once its page has settled, and what nobody wrote down."""
        if self._writing is not None:
            await self._writing
        if self._player.record.is_over:
            return
        await self._session.bear_out()
        rest = self._session.drain()
        if rest.visits or rest.acted or rest.refused:
            self._open(None, None, NotedSoFar()).take(rest)
        self._is_closed = True
        await self._write_all()
        if not self._player.record.is_over:
            await self._session.title()  # a browser that is gone by now is asked nothing later

    async def close(self) -> None:
        """Note nothing more."""
        self._is_closed = True
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait([self._writing])

    def _acting(self, report: EventReport | WindowMove, so_far: NotedSoFar) -> None:
        """Begin or go on with an action; its event or visit is noted right after."""
        if self._is_closed or self._player.record.is_over:
            return
        if isinstance(report, EventReport):
            self._clock.go_on()
            self._take(report, so_far)
        elif not self._unwritten or self._unwritten[-1].action is None:
            self._clock.go_on()
            self._cut()
            self._open(report, None, so_far)
        # Where an action is under way, that may have led there: by a script, or from another tab.
        self._last_s = self._clock.seconds

    def _take(self, report: EventReport, so_far: NotedSoFar) -> None:
        step = self._step
        if step is not None and goes_on(step.last, report):
            step.last = report
            if step.action is not None:
                step.action = grown(step.action, report)
            if step not in self._unwritten:
                self._unwritten.append(step)
        else:
            self._cut()
            self._open(begun(report), report, so_far)

    def _noticed(self) -> None:
        """Write down what was noted when its page has settled."""
        if self._is_closed or self._player.record.is_over:
            return
        if not self._unwritten:
            if self._unexplained >= _MOST_UNEXPLAINED:
                return  # it stands with the next step
            self._unexplained += 1
            # Who types on while a page changes its address types no second text.
            typed = None if self._step is None else self._step.last
            is_text = typed is not None and typed.event in {ElementEvent.INPUT, ElementEvent.CHANGE}
            self._open(None, typed if is_text else None, NotedSoFar())
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_soon())

    def _open(self, action: Action | None, report: EventReport | None, start: NotedSoFar) -> _Step:
        index = len(self._player.record.steps)
        if self._unwritten:
            index = self._unwritten[-1].index + 1
        self._step = _Step(
            index=index,
            action=action,
            last=report,
            start=start,
            mark=self._player.resources.journal.mark(),
            began=time.monotonic(),
            idle_ms=self.idle_ms if action is not None else 0.0,
        )
        self._unwritten.append(self._step)
        return self._step

    def _cut(self) -> None:
        """Keep where the step under way led to: another one begins."""
        if self._unwritten:
            step = self._unwritten[-1]
            step.url = self._session.url
            step.end = self._player.resources.journal.mark()

    def _page_broke(self, why: str) -> None:
        self._episode.break_off(UnscoredReason.INFRA, why)
        self.over.set()

    async def _write_soon(self) -> None:
        try:
            await self._write_all()
        finally:
            self._writing = None

    async def _write_all(self) -> None:
        try:
            while self._unwritten and not self._player.record.is_over:
                await self._write()
        except Exception as error:
            if not self._episode.break_off_by(error):
                raise
        if self._player.record.is_over:
            self.over.set()

    async def _write(self) -> None:
        """Write down what has happened until the page settled, unless another action began."""
        player, session = self._player, self._session
        settled, settle_ms = await timed(session.settle(SETTLE_DEADLINE_S))
        pending = tuple(self._unwritten)
        found, locate_ms = await timed(player.locators.at_step(player.looks))
        pending[-1].seen = _Seen(
            settled=settled,
            title=await session.title(),
            located=found,
            screenshot=await player.screenshot(pending[-1].index),
            settle_ms=settle_ms,
            locate_ms=locate_ms,
        )
        # Last, and nothing waits from here on: a visit that nobody judged would not count.
        await session.bear_out()
        if self._unwritten[-1] is not pending[-1]:
            return
        activity, starts = session.drain(), [one.start for one in pending[1:]]
        for step, start, end in zip(pending, (NotedSoFar(), *starts), (*starts, None), strict=True):
            step.take(activity.between(start, end))
            step.start = NotedSoFar()
            player.record.steps[step.index :] = [self._evidence(step)]
        self._unwritten = []
        await self._episode.look_at_page()

    def _evidence(self, step: _Step) -> StepEvidence:
        player, session, seen = self._player, self._session, step.seen
        exchanges = player.resources.journal.since(step.mark)
        if step.end is not None:
            exchanges = exchanges[: step.end - step.mark]
        refuse_broken(exchanges)
        url = session.url if step.url is None else step.url
        spent_ms = (time.monotonic() - step.began) * 1000
        waited_ms = 0.0 if seen is None else seen.settle_ms + seen.locate_ms
        activity = Activity(visits=step.visits, acted=step.acted, refused=step.refused)
        return StepEvidence(
            index=step.index,
            action=step.action,
            url=url,
            logical=player.record.environment.registry.logical(url),
            title="" if seen is None else seen.title,
            visits=step.visits,
            acted=step.acted,
            requests=len(exchanges),
            notes=player.notes(activity, exchanges),
            located=() if seen is None else seen.located,
            timings=Timings(
                decide_ms=step.idle_ms,
                act_ms=round(max(0.0, spent_ms - waited_ms), 1),
                settle_ms=0.0 if seen is None else seen.settle_ms,
                locate_ms=0.0 if seen is None else seen.locate_ms,
            ),
            settled=seen is not None and seen.settled,
            screenshot=None if seen is None else seen.screenshot,
            login=session.login or None,
            status=session.status if seen is not None else None,
            is_forged=session.is_forged,
        )


def _is_same_field(one: ActedElement, other: ActedElement) -> bool:
    return (one.event, one.path, one.logical) == (other.event, other.path, other.logical)
