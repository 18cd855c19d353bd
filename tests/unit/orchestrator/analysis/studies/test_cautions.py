"""What the data themselves show to beware of is said; what is as it should be is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from quick_cases import SLOW
from support.runs.planted_results import planted, runs_of

from arena_core.worlds import World
from orchestrator.analysis.stats.results import Compared, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.questions import Question, QuestionKind

pytestmark = pytest.mark.usefixtures("plain")

AGENTS = Question(id="a", kind=QuestionKind.DIFFERENCE, of=Compared.AGENTS, first="x", second="y")
WORLDS = replace(AGENTS, id="w", of=Compared.WORLDS, first="offline", second="online", agent="x")
ROWS = planted({"x": 0.2, "y": 0.2}, tasks=24, repeats=2)


def noted(rows: tuple[EpisodeResult, ...], *questions: Question) -> str:
    return "\n".join(analyse(questions, EpisodeTable(rows), runs_of(rows), title="x").notes)


def test_sides_that_were_played_side_by_side_on_many_templates_need_no_caution() -> None:
    said = noted(ROWS, AGENTS, WORLDS)

    assert not any(word in said for word in ("side by side", "different shares", "templates"))


def test_agents_and_worlds_that_were_played_days_apart_are_noted() -> None:
    later = "2026-11-25T09:00:00+00:00"
    agents = tuple(replace(one, started_at=later) if one.agent == "y" else one for one in ROWS)
    worlds = tuple(
        replace(one, started_at=later) if one.world is World.ONLINE else one for one in ROWS
    )

    of_agents, of_worlds = noted(agents, AGENTS, WORLDS), noted(worlds, AGENTS, WORLDS)

    assert "x and y were not played side by side, but around 2026-11-22 and 2026-11-25" in of_agents
    assert "offline and online were not" not in of_agents
    assert "offline and online were not played side by side" in of_worlds
    assert "x and y were not" not in of_worlds


def test_one_who_started_hours_later_or_at_no_known_time_is_not_noted() -> None:
    for start in ("2026-11-22T20:00:00+00:00", ""):
        rows = tuple(replace(one, started_at=start) if one.agent == "y" else one for one in ROWS)
        assert "side by side" not in noted(rows, AGENTS)


def test_a_side_that_lost_more_episodes_is_noted_and_sides_that_lost_alike_are_not() -> None:
    def lost(*agents: str) -> tuple[EpisodeResult, ...]:
        return tuple(
            replace(one, success=None) if one.agent in agents and one.repeat == 1 else one
            for one in ROWS
        )

    assert "different shares of unscored episodes (x 0%, y 50%)" in noted(lost("y"), AGENTS)
    assert "different shares" not in noted(lost("x", "y"), AGENTS)


@SLOW
def test_a_rate_of_templates_that_are_won_or_lost_as_a_whole_is_noted_where_few_are_won() -> None:
    def whole(won: int, *, of_one: bool = False) -> tuple[EpisodeResult, ...]:
        rows = planted({"x": 0.2}, tasks=48, a_template=1 if of_one else 2)
        return tuple(replace(one, success=int(one.task.split("-")[1]) < 2 * won) for one in rows)

    said = "each of 24 templates was won or lost as a whole, and only"
    assert f"x on demo, offline: {said} 3 were won" in noted(whole(3))
    assert f"{said} 1 was lost" in noted(whole(23))
    for rows in (whole(12), whole(0), whole(24), whole(3, of_one=True)):
        assert "as a whole" not in noted(rows)
    unlike = tuple(
        replace(one, success=True) if (one.task, one.repeat) == ("task-47", 0) else one
        for one in whole(3)
    )
    assert "as a whole" not in noted(unlike)


def test_few_templates_are_noted() -> None:
    rows = planted({"x": 0.2, "y": 0.2}, tasks=24, repeats=2, a_template=2)

    assert "1 of 1 answer rests on fewer than 20 templates" in noted(rows, AGENTS)
