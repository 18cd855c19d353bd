"""What the live display counts, and how long it says the rest will take."""

from __future__ import annotations

import pytest
from support.runs.tiny_run import SUITE

from arena_core.work_events import WorkEnded, WorkOutput, WorkPlanned, WorkStep
from arena_core.worlds import World
from evaluators.evidence import Evidence
from orchestrator.api.opened import ArenaEvent, SitesStarting
from orchestrator.cli.console import Console
from orchestrator.cli.live import LiveDisplay, LiveState, duration
from orchestrator.runs.events import AttemptBegan, AttemptBroke, EpisodeEnded, EpisodesPlanned
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.scoring import score_task
from orchestrator.sandbox.pool.pool_context import Phase, PoolEvent

KETTLE = EpisodeKey("kettle", World.OFFLINE)


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def state_after(clock: Clock, *events: ArenaEvent) -> LiveState:
    state = LiveState(clock=clock)
    for event in events:
        state.apply(event)
    return state


def ended(done: int, total: int) -> EpisodeEnded:
    evidence = Evidence(
        suite="tiny",
        task=KETTLE.task,
        world=KETTLE.world,
        agent="oracle",
        repeat=0,
        attempt=1,
        started_at="2026-11-22T00:00:00Z",
        seconds=1.0,
    )
    score = score_task(SUITE.tasks[0], evidence)
    return EpisodeEnded(key=KETTLE, score=score, evidence=evidence, done=done, total=total)


def test_episodes_that_finished_earlier_say_nothing_of_the_speed() -> None:
    clock = Clock()
    state = state_after(clock, EpisodesPlanned(6, 10), AttemptBegan(key=KETTLE, number=1))
    assert (state.share(), state.seconds_left()) == (0.6, None)
    clock.now += 20
    state.apply(ended(7, 10))
    assert state.share() == 0.7
    assert state.seconds_left() == pytest.approx(60)
    assert state.units == {}


def test_an_attempt_that_broke_off_is_not_under_way_until_the_next_begins() -> None:
    clock = Clock()
    state = state_after(clock, EpisodesPlanned(0, 1), AttemptBegan(key=KETTLE, number=1))
    state.apply(AttemptBroke(key=KETTLE, number=1, reason="the container died"))
    assert state.units == {}
    state.apply(AttemptBegan(key=KETTLE, number=2))
    assert state.units["offline kettle"].text == "playing, attempt 2"


def test_an_image_counts_by_its_steps_until_it_is_done() -> None:
    clock = Clock()
    state = state_after(clock, WorkPlanned(2), WorkStep("shop", "step 3/12 RUN", 3, 12))
    assert state.share() == pytest.approx(0.125)
    state.apply(WorkStep("shop", "sealing"))
    assert state.share() == pytest.approx(0.125)
    state.apply(WorkEnded("shop"))
    assert state.share() == 0.5
    state.apply(WorkEnded("wiki"))  # it was current: no step of it began
    assert state.share() == 1.0


def test_replicas_show_what_they_wait_for_and_count_when_ready() -> None:
    clock = Clock()

    def of(phase: Phase, detail: str = "") -> PoolEvent:
        return PoolEvent(replica="shop", phase=phase, detail=detail)

    state = state_after(clock, SitesStarting(replicas=2), of(Phase.STARTING, "waits for /"))
    assert state.units["shop"].text == "starting waits for /"
    state.apply(of(Phase.HEALTHY))
    assert state.units["shop"].text == "logs its roles in"
    state.apply(of(Phase.READY))
    assert (state.done, state.total, state.units) == (1, 2, {})


def test_output_keeps_its_last_lines_without_what_moves_a_cursor() -> None:
    state = state_after(Clock(), *(WorkOutput("shop", f"\x1b[1A\rline {n}") for n in range(9)))
    assert [line.strip() for line in state.output] == [f"[1A line {n}" for n in range(3, 9)]


def test_the_display_is_no_higher_than_the_terminal() -> None:
    from rich.console import Console as RichConsole  # noqa: PLC0415

    display = LiveDisplay(Console())
    display.on_event(WorkPlanned(40))
    for number in range(40):
        display.on_event(WorkStep(f"site-{number}", "a step [bold]that is no markup"))
        display.on_event(WorkOutput("site", "x" * 400))
    terminal = RichConsole(width=60, height=16)
    drawn = terminal.render_lines(display.render(16), pad=False)
    assert len(drawn) <= 16
    text = "\n".join("".join(segment.text for segment in line) for line in drawn)
    assert "[bold]that" in text
    assert "and 33 more" in text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (59.6, "1:00"), (61, "1:01"), (3_725, "1:02:05")]
)
def test_durations_read_as_clocks_do(seconds: float, text: str) -> None:
    assert duration(seconds) == text
