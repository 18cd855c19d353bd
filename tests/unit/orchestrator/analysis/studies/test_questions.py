"""A question is as far as the episodes that it compares, and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from quick_cases import SLOW
from support.runs.planted_results import planted, runs_of

from arena_core.worlds import World
from orchestrator.analysis.stats.results import Compared, EpisodeTable
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.questions import Question, QuestionKind, stages_of

OF_AGENTS = Question(
    id="agents", kind=QuestionKind.DIFFERENCE, of=Compared.AGENTS, first="errs10", second="errs25"
)
OF_WORLDS = Question(
    id="worlds", kind=QuestionKind.DIFFERENCE, of=Compared.WORLDS, first="offline", second="online"
)
ROWS = planted(tasks=10, repeats=3)


@pytest.mark.parametrize(
    ("question", "planned"),
    [
        (OF_AGENTS, 2 * 2 * 30),
        (replace(OF_AGENTS, world=World.ONLINE), 2 * 30),
        (replace(OF_AGENTS, suite="another"), 0),
        (replace(OF_AGENTS, repeats=2), 2 * 2 * 20),
        (OF_WORLDS, 3 * 2 * 30),
        (replace(OF_WORLDS, agent="errs30"), 2 * 30),
        (replace(OF_WORLDS, agents=("errs10", "errs25")), 2 * 2 * 30),
    ],
)
def test_what_a_question_compares_is_what_is_planned_of_it(
    question: Question, planned: int
) -> None:
    runs = runs_of(ROWS)

    stage = stages_of([question], EpisodeTable(ROWS), runs)[question.id]
    begun = stages_of([question], EpisodeTable([one for one in ROWS if one.repeat < 1]), runs)[
        question.id
    ]

    assert (stage.ended, stage.planned, stage.is_interim) == (planned, planned, False)
    assert begun.is_interim is bool(planned)


@SLOW
def test_another_agent_that_is_not_done_makes_no_answer_interim() -> None:
    rows = [one for one in ROWS if one.agent != "errs30" or one.repeat < 1]
    runs = runs_of(ROWS)

    found = analyse([OF_AGENTS, OF_WORLDS], EpisodeTable(rows), runs, title="x")

    assert [one.is_interim for one in found.answers] == [False, True]
    document = found.document()
    assert [one["is_interim"] for one in document["answers"]] == [False, True]
    assert document["answers"][1]["stage"]["ended"] == 140
