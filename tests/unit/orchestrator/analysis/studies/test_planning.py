"""What a study takes and can show is reckoned from the past episodes that are like it alone."""

from __future__ import annotations

import pytest
from quick_cases import SLOW
from support.runs.tiny_run import SUITE, make_lock

from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.analysis.stats.design import PairedDesign
from orchestrator.analysis.stats.power import (
    Difference,
    Margin,
    Simulation,
)
from orchestrator.analysis.studies.planning import CellPlan, StudyPlan, carried_over, plan_cell
from orchestrator.analysis.studies.question_plans import (
    PastRun,
    PlannedPair,
    QuestionPlan,
    Sides,
    plan_question,
)
from orchestrator.analysis.studies.questions import QuestionKind
from orchestrator.runs.store.ledger import EpisodeKey, FinishedEpisode
from tasks.schema import Task

pytestmark = pytest.mark.usefixtures("_few_simulations")

OFF, ON = World.OFFLINE, World.ONLINE
CONTESTANT = AgentLock(
    name="chat", kind="chat", options={"model": "m"}, agent_class=AgentClass.CONTESTANT
)
SEEDED = CONTESTANT.model_copy(update={"options": {"model": "m", "seed": 4}})
OTHER = CONTESTANT.model_copy(update={"options": {"model": "n"}})
ORACLE = AgentLock(name="oracle", kind="oracle", options={}, agent_class=AgentClass.REFERENCE)


def episode(
    task: str,
    outcome: str = "success",
    *,
    world: World = OFF,
    seconds: float = 1.0,
    usd: float | None = 0.5,
    repeat: int = 0,
) -> FinishedEpisode:
    key = EpisodeKey(task, world, repeat)
    return FinishedEpisode(key=key, outcome=outcome, seconds=seconds, usd=usd)


def past(
    agent: AgentLock, *episodes: FinishedEpisode, suite: str = "tiny", **templates: str
) -> PastRun:
    lock = make_lock().model_copy(update={"agent": agent, "suite": suite})
    return PastRun(path="run", lock=lock, episodes=episodes, templates=templates)


def task(name: str, *worlds: World) -> Task:
    changes = {"id": name, "worlds": worlds or (OFF, ON)}
    return SUITE.tasks[0].model_copy(update=changes)


def cell(
    agent: AgentLock, *runs: PastRun, world: World = OFF, tasks: tuple[Task, ...] = ()
) -> CellPlan:
    chosen = tasks or (task("one"), task("two"))
    return plan_cell("a", agent, "label", world, chosen, named="tiny", repeats=3, past=runs)


def test_a_cell_takes_what_the_same_agents_episodes_of_its_tasks_took() -> None:
    found = cell(
        CONTESTANT,
        past(
            SEEDED,
            episode("one", seconds=2, usd=0.1),
            episode("two", "failure", seconds=6, usd=0.5),
            episode("two", world=ON, seconds=100, usd=9),
            episode("three", seconds=100, usd=9),
        ),
        past(CONTESTANT, episode("one", "unscored: infra", seconds=10, usd=0.0)),
        past(OTHER, episode("one", seconds=100, usd=9)),
        past(CONTESTANT, episode("one", seconds=100, usd=9), suite="other"),
    )
    assert (found.tasks, found.repeats, found.episodes) == (2, 3, 6)
    assert (found.known_from, found.seconds) == (3, 6)
    assert found.usd == pytest.approx(0.2)


def test_a_task_counts_only_in_the_worlds_that_it_runs_in() -> None:
    tasks = (task("one", OFF), task("two", OFF, ON), task("three", ON))
    assert [cell(ORACLE, world=world, tasks=tasks).episodes for world in (OFF, ON)] == [6, 6]
    assert cell(ORACLE, world=ON, tasks=tasks[:1]).episodes == 0


def test_what_nobody_played_is_unknown_and_only_agents_without_a_model_are_free() -> None:
    none = cell(CONTESTANT)
    assert (none.seconds, none.usd, none.known_from) == (None, None, 0)
    assert cell(ORACLE).usd == 0
    unpriced = cell(CONTESTANT, past(CONTESTANT, episode("one"), episode("two", usd=None)))
    assert (unpriced.seconds, unpriced.usd) == (1, None)


def planned(*cells: CellPlan, workers: int = 2) -> StudyPlan:
    return StudyPlan(name="s", cells=cells, workers=workers, questions=(), warnings=())


def a_cell(world: World, tasks: int, seconds: float | None, usd: float | None) -> CellPlan:
    return CellPlan(
        agent="a",
        suite="s",
        world=world,
        tasks=tasks,
        repeats=5,
        seconds=seconds,
        usd=usd,
        known_from=1,
    )


def test_worlds_are_played_side_by_side_and_the_longer_one_counts() -> None:
    # Offline 50 × 36 s + 25 × 72 s = 1 h of one worker, online 20 × 90 s = half an hour.
    plan = planned(a_cell(OFF, 10, 36, 0.01), a_cell(OFF, 5, 72, 0.02), a_cell(ON, 4, 90, 0.05))
    assert plan.episodes == 95
    assert plan.hours == pytest.approx(0.5)
    assert plan.usd == pytest.approx(50 * 0.01 + 25 * 0.02 + 20 * 0.05)
    document = plan.document()
    assert (document["hours"], document["usd"]) == (plan.hours, plan.usd)
    assert document["cells"][2]["seconds_with_waiting"] == 90


def test_one_unknown_cell_makes_the_sum_unknown() -> None:
    known, slow, dear = a_cell(OFF, 1, 1, 1), a_cell(ON, 1, None, 1), a_cell(ON, 1, 1, None)
    assert (planned(known, slow).hours, planned(known, slow).usd) == (None, 10)
    assert (planned(known, dear).hours, planned(known, dear).usd) == (5 / 2 / 3600, None)


def sides(*second: AgentLock, worlds: tuple[World, ...] = (OFF,), repeats: int = 4) -> Sides:
    """Return six pairs of tasks of three templates."""
    pairs = tuple(PlannedPair("tiny", f"t{n}", f"tiny/c{n // 2}") for n in range(6))
    return Sides(pairs=pairs, repeats=repeats, second=second, worlds=frozenset(worlds))


def question(
    asked: Sides,
    *runs: PastRun,
    kind: QuestionKind = QuestionKind.DIFFERENCE,
    margin: float | None = None,
    difference: float | None = None,
    family: int = 1,
) -> QuestionPlan:
    return plan_question(
        "q",
        kind,
        asked,
        runs,
        margin=margin,
        difference=difference,
        alpha=0.05,
        family=family,
        seed=3,
    )


def test_from_nothing_half_succeeds_and_the_templates_are_those_of_the_tasks() -> None:
    found = question(sides(CONTESTANT))
    assert found.measured_on == 0
    assert found.design == PairedDesign(tasks=6, repeats=4, rate=0.5, cluster_size=2)


@SLOW
def test_the_rate_is_that_of_the_second_side_where_it_will_play() -> None:
    played = [episode("t0", repeat=n) for n in range(4)]  # 4 of 4
    played += [episode("t1", "success" if n else "failure", repeat=n) for n in range(4)]  # 3 of 4
    played += [episode("t2", "failure", repeat=n) for n in range(4)]  # 0 of 4
    played += [episode("t2", "unscored: infra", repeat=4), episode("elsewhere", "failure")]
    online = [episode("t3", world=ON, repeat=n) for n in range(4)]
    wrong = [episode("t4", repeat=n) for n in range(4)]
    runs = (
        past(SEEDED, *played, *online, t0="c0", t1="c0", t2="c1", t3="c1"),
        past(OTHER, *wrong, t4="c2"),
        past(CONTESTANT, *wrong, suite="other", t4="c2"),
    )
    found = question(sides(CONTESTANT), *runs)
    assert found.measured_on == 12
    assert found.design.rate == pytest.approx((1 + 0.75 + 0) / 3)
    assert (found.design.tasks, found.design.repeats, found.design.cluster_size) == (6, 4, 2)
    everywhere = question(sides(CONTESTANT, worlds=(OFF, ON)), *runs)
    assert everywhere.design.rate == pytest.approx((1 + 0.75 + 0 + 1) / 4)
    both = question(sides(CONTESTANT, OTHER), *runs)
    assert both.measured_on == 16


@SLOW
def test_a_difference_is_held_to_the_level_after_holms_correction() -> None:
    asked = sides(CONTESTANT)
    found = question(asked, difference=0.4, family=2)
    design = found.design
    assert found.alpha == 0.025
    assert found.wanted == Simulation(seed=3, alpha=0.025).power(design, Difference(0.4))
    assert found.alone == Simulation(seed=3, alpha=0.05).power(design, Difference(0.4))
    assert found.least == Simulation(seed=3, alpha=0.025).detectable_difference(design)
    assert found.tasks == Simulation(seed=3, alpha=0.025).tasks_needed(design, Difference(0.4))
    assert found.repeats == Simulation(seed=3, alpha=0.025).repeats_needed(design, Difference(0.4))
    assert not found.is_hopeless  # it has no margin


@SLOW
def test_where_there_is_no_room_above_the_first_side_is_taken_as_worse() -> None:
    good = past(CONTESTANT, *(episode(f"t{n}") for n in range(6)))
    found = question(sides(CONTESTANT), good, difference=0.3)
    assert found.wanted is not None
    assert found.wanted.goal == Difference(-0.3)


@SLOW
@pytest.mark.parametrize(
    ("kind", "both"), [(QuestionKind.EQUIVALENCE, True), (QuestionKind.NON_INFERIORITY, False)]
)
def test_a_margin_is_planned_for_the_truth_of_no_difference(
    kind: QuestionKind, *, both: bool
) -> None:
    found = question(sides(CONTESTANT), kind=kind, margin=0.2, family=3)
    design, level = found.design, 0.05 / 3
    studies, margin = Simulation(seed=3, alpha=level), Margin(size=0.2, is_two_sided=both)
    assert found.wanted == studies.power(design, margin)
    assert found.alone == Simulation(seed=3, alpha=0.05).power(design, margin)
    assert found.least == studies.showable_margin(design, is_two_sided=both)
    assert found.tasks == studies.tasks_needed(design, margin)
    assert found.is_hopeless  # six tasks of three templates
    document = StudyPlan(name="s", cells=(), workers=1, questions=(found,), warnings=()).document()
    [said] = document["questions"]
    assert (said["kind"], said["margin"], said["power"]) == (kind, 0.2, found.wanted.value)
    assert (said["detectable_difference"], said["showable_margin"]) == (None, found.least.value)


def test_a_question_without_a_pair_says_nothing() -> None:
    none = Sides(pairs=(), repeats=2, second=(CONTESTANT,), worlds=frozenset({ON}))
    for margin in (None, 0.1):
        found = question(none, margin=margin, difference=0.1)
        assert (found.least, found.wanted, found.tasks, found.is_hopeless) == (
            None,
            None,
            None,
            False,
        )


def test_what_is_written_on_a_live_origin_is_there_in_the_next_episode() -> None:
    changes = {"live_writes": True}
    writes, offline = (
        task(name, *worlds).model_copy(update=changes)
        for name, worlds in (("writes", (OFF, ON)), ("offline", (OFF,)))
    )
    assert carried_over([task("reads"), writes, offline], 2) == ("writes",)
    assert carried_over([writes], 1) == ()
