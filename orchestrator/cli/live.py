"""One live display on a terminal while long work goes on, and lines of text everywhere else."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO, assert_never

from orchestrator.api.arena import Arena
from orchestrator.api.events import ArenaEvent, RunBegan, SitesStarting, StudyBegan, WarningNote
from orchestrator.cli.console import Console
from orchestrator.cli.live_state import LiveState, Unit
from orchestrator.cli.progress import show_event
from orchestrator.pool.events import PoolEvent
from orchestrator.runner.events import (
    AttemptBegan,
    AttemptBroke,
    EpisodesPlanned,
    ProgressNote,
    TrialEnded,
)
from orchestrator.work_events import WorkEnded, WorkLine, WorkOutput, WorkPlanned, WorkStep

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

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


@asynccontextmanager
async def arena_with_progress(
    console: Console, sites: Sequence[Path] | None = None
) -> AsyncIterator[Arena]:
    """Open an Arena whose progress is shown on a console; `sites` as of `Arena`."""
    with progress_on(console) as on_event:
        async with Arena(sites=sites, on_event=on_event) as arena:
            yield arena


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
            case WarningNote() | ProgressNote() | AttemptBroke() | TrialEnded():
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
