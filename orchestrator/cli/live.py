"""One live display on a terminal while long work goes on, and lines of text everywhere else."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TextIO, assert_never

from arena_core.work_events import WorkEnded, WorkLine, WorkOutput, WorkPlanned, WorkStep
from orchestrator.api.opened import ArenaEvent, RunBegan, SitesStarting, StudyBegan, WarningNote
from orchestrator.cli.console import Console
from orchestrator.cli.progress import show_event
from orchestrator.runs.events import (
    AttemptBegan,
    AttemptBroke,
    EpisodeEnded,
    EpisodesPlanned,
    ProgressNote,
)
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.sandbox.pool.pool_context import Phase, PoolEvent

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live


OUTPUT_LINES: Final = 6


@dataclass(slots=True)
class Unit:
    """One thing that is under way.

    Attributes:
        step, steps: how far it is, where that is counted; 0 of 0 elsewhere.
        began: when, as the clock says.
    """

    name: str
    text: str
    began: float
    step: int = 0
    steps: int = 0


@dataclass(slots=True)
class LiveState:
    """Counts what is done, and knows what is under way.

    Attributes:
        what: what is counted: images, replicas, episodes; empty before anything is planned.
        total, done: how many there are, and how many of them are done.
        resumed: how many were done before this process began: they say nothing of its speed.
        output: the last lines of a program that works for the unit that is under way.
    """

    clock: Callable[[], float] = time.monotonic
    what: str = ""
    total: int = 0
    done: int = 0
    resumed: int = 0
    began: float = 0.0
    units: dict[str, Unit] = field(default_factory=dict)
    output: deque[str] = field(default_factory=lambda: deque(maxlen=OUTPUT_LINES))

    def __post_init__(self) -> None:
        self.began = self.clock()

    def apply(self, event: ArenaEvent) -> None:  # noqa: C901 - a case each
        """Take one event in."""
        match event:
            case EpisodesPlanned(done, total):
                self._plan("episodes", total, done)
            case AttemptBegan():
                again = f", attempt {event.number}" if event.number > 1 else ""
                self._set(_episode(event.key, event.agent), f"playing{again}")
            case AttemptBroke():
                self.units.pop(_episode(event.key, event.agent), None)
            case EpisodeEnded():
                self.units.pop(_episode(event.key, event.agent), None)
                self.done, self.total = event.done, event.total
            case SitesStarting(replicas=replicas):
                self._plan("replicas", replicas, 0)
            case PoolEvent():
                self._replica(event)
            case WorkPlanned(units):
                self._plan("units", units, 0)
            case WorkStep(unit, text, step, steps):
                self._set(unit, text, step, steps)
            case WorkOutput(_, line):
                self.output.append(_printable(line))
            case WorkEnded(unit):
                self._end(unit)
            case RunBegan() | StudyBegan() | ProgressNote() | WarningNote() | WorkLine():
                pass
            case _:
                assert_never(event)

    def share(self) -> float | None:
        """Return how much is done, from 0 to 1; None where nothing is counted."""
        if not self.total:
            return None
        part = sum(one.step / one.steps for one in self.units.values() if one.steps)
        return min(1.0, (self.done + part) / self.total)

    def seconds_left(self) -> float | None:
        """Return how long the rest takes at the speed so far; None where that is not known yet."""
        share = self.share()
        if share is None or not self.total:
            return None
        before = self.resumed / self.total
        gained = share - before
        if gained <= 0 or self.done <= self.resumed:
            return None
        return (self.clock() - self.began) / gained * (1 - share)

    def _plan(self, what: str, total: int, done: int) -> None:
        self.what, self.total, self.done, self.resumed = what, total, done, done
        self.began = self.clock()

    def _replica(self, event: PoolEvent) -> None:
        match event.phase:
            case Phase.READY:
                self._end(event.replica)
            case Phase.FAILED | Phase.LOST:
                self.units.pop(event.replica, None)
            case Phase.HEALTHY | Phase.KEPT:
                self._set(event.replica, "logs its roles in")
            case Phase.STARTING | Phase.RESETTING | Phase.GOLDEN:
                self._set(event.replica, f"{event.phase} {event.detail}".rstrip())

    def _set(self, name: str, text: str, step: int = 0, steps: int = 0) -> None:
        known = self.units.get(name)
        if known is None:
            self.units[name] = Unit(name, _printable(text), self.clock(), step, steps)
            return
        known.text, known.step, known.steps = (
            _printable(text),
            step or known.step,
            steps or known.steps,
        )

    def _end(self, name: str) -> None:
        if self.units.pop(name, None) is not None or self.what == "replicas":
            self.output.clear()
        if self.what in {"units", "replicas"}:
            self.done = min(self.total, self.done + 1)


def _episode(key: EpisodeKey, agent: str) -> str:
    repeat = f" repeat {key.repeat}" if key.repeat else ""
    return f"{key.world} {key.task}{repeat} {agent}".rstrip()


def _printable(text: str) -> str:
    """Return a text without what moves a terminal's cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


REFRESHES_A_SECOND: Final = 4
_ROWS: Final = 12
_BAR: Final = 30
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600

OnEvent = Callable[[ArenaEvent], None]


def shows_live(console: Console, stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether a live display fits: a terminal that can move its cursor, and nobody else reads."""
    is_plain = console.as_json or console.quiet
    refused = any(environment.get(name) for name in ("NO_COLOR", "CI"))
    return not (is_plain or refused) and stream.isatty() and environment.get("TERM") != "dumb"


@contextmanager
def progress_on(console: Console, plain: OnEvent | None = None) -> Iterator[OnEvent]:
    """Show events until the block ends, and leave the terminal as it was.

    Args:
        console: where lines of text go.
        plain: shows events where there is no live display; by default as lines.
    """
    if not shows_live(console, sys.stderr, os.environ):
        yield plain or (lambda event: show_event(event, console))
        return
    display = LiveDisplay(console)
    with display.running():
        yield display.on_event


class LiveDisplay:
    """Draws what is under way below the lines that stay.

    Events come in the event loop, and a thread of rich's draws: a lock parts them.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._state = LiveState()
        self._lock = threading.Lock()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Draw until the block ends; then the display is gone, and the cursor back."""
        with self._live():
            yield

    def on_event(self, event: ArenaEvent) -> None:
        """Take an event in, and write it as a line where it is worth keeping."""
        with self._lock:
            self._state.apply(event)
        match event:
            case WarningNote() | ProgressNote() | AttemptBroke() | EpisodeEnded():
                show_event(event, self._console)
            case RunBegan() | StudyBegan():
                show_event(event, self._console)
            case PoolEvent() | SitesStarting() | EpisodesPlanned() | AttemptBegan():
                pass
            case WorkPlanned() | WorkStep() | WorkOutput() | WorkEnded() | WorkLine():
                pass
            case _:
                assert_never(event)

    def render(self, height: int) -> RenderableType:
        """Return the display as it is now, no higher than `height`."""
        from rich.console import Group

        with self._lock:
            state, now = self._state, self._state.clock()
            parts: list[RenderableType] = []
            if (share := state.share()) is not None:
                parts.append(_head(state, share, now))
            room = max(1, min(_ROWS, height - len(state.output) - 3))
            if state.units:
                parts.append(_rows(list(state.units.values()), room, now))
            parts += [_one_line(f"  │ {line}", "dim") for line in state.output]
        return Group(*parts)

    def _live(self) -> Live:
        from rich.console import Console as RichConsole
        from rich.live import Live

        terminal = RichConsole(file=sys.stderr, highlight=False, emoji=False)
        return Live(
            console=terminal,
            get_renderable=lambda: self.render(terminal.height),
            refresh_per_second=REFRESHES_A_SECOND,
            transient=True,
            redirect_stdout=False,  # results are nobody's progress
            vertical_overflow="crop",
        )


def _head(state: LiveState, share: float, now: float) -> RenderableType:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    left = state.seconds_left()
    line = Table.grid(padding=(0, 1))
    line.add_row(
        Text(state.what if state.what != "units" else "done", style="bold"),
        ProgressBar(
            total=1.0,
            completed=share,
            width=_BAR,
            complete_style="green",
            finished_style="green",
        ),
        Text(f"{state.done}/{state.total}"),
        Text(duration(now - state.began), style="dim"),
        Text("" if left is None else f"{duration(left)} left", style="dim"),
    )
    return line


def _rows(units: list[Unit], room: int, now: float) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True, overflow="ellipsis")
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column(no_wrap=True, justify="right")
    shown = units[:room]
    for unit in shown:
        took = Text(duration(now - unit.began), style="dim")
        table.add_row(Text(f"  {unit.name}"), Text(unit.text, style="cyan"), took)
    if len(units) > room:
        table.add_row(Text(f"  and {len(units) - room} more", style="dim"), Text(), Text())
    return table


def _one_line(text: str, style: str) -> RenderableType:
    from rich.text import Text

    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def duration(seconds: float) -> str:
    """Return seconds as minutes and seconds, or hours and minutes."""
    whole = max(0, round(seconds))
    if whole >= _HOUR_S:
        return f"{whole // _HOUR_S}:{whole % _HOUR_S // _MINUTE_S:02}:{whole % _MINUTE_S:02}"
    return f"{whole // _MINUTE_S}:{whole % _MINUTE_S:02}"
