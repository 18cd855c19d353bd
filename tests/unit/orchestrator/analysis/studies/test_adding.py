"""What is added to a study is played with it and told apart; what does not fit is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.runs.tiny_run import SUITE
from support.studies.registered_study import lock_of, make_study, play

from arena_core.errors import ArenaError, InputError, StoreError, UsageError
from orchestrator.analysis.studies.progress import read_progress
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.analysis.studies.verification import verify_study
from orchestrator.api.arena import Arena
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("plain")


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    return make_study(tmp_path / "study")


def other_run(path: Path, **changes: object) -> RunFolder:
    lock: RunLock = lock_of("other").model_copy(update=changes)
    run = RunFolder.create(path / "other", lock, SUITE)
    play(run, "1891", range(lock.repeats))
    return run


async def test_more_repeats_are_open_in_every_run_and_the_first_ones_stay_registered(
    study: StudyFolder,
) -> None:
    progress = await Arena().studies.add(study.path, repeats=5)
    assert (progress.done, progress.total) == (6, 10)
    later = study.study()
    assert (later.repeats, later.file.repeats) == (5, 3)
    assert study.run_folder("right").lock().repeats == 5
    found = verify_study(study)
    assert (found.differences, [one.open for one in found.agents]) == ((), [2, 2])
    assert found.current != found.registered


@SLOW
async def test_answers_of_what_was_registered_stay_whatever_the_added_repeats_bring(
    study: StudyFolder, tmp_path: Path
) -> None:
    before = Arena().studies.report(study.path).analysis
    run = other_run(tmp_path)
    await Arena().studies.add(study.path, repeats=5, runs={"third": run.path})
    for name, answer in (("right", "1892"), ("wrong", "1891")):
        play(study.run_folder(name), answer, range(3, 5))

    after = Arena().studies.report(study.path).analysis

    registered, again = after.answers
    [was] = before.answers
    assert (registered.question.id, again.question.id) == ("q", "q+added")
    assert (registered.question.registered, again.question.registered) == (True, False)
    assert (registered.first_rate, registered.second_rate) == (was.first_rate, was.second_rate)
    assert (registered.first_rate, registered.second_rate, registered.episodes) == (1, 0, 6)
    assert (again.first_rate, again.second_rate, again.episodes) == (0.6, 0.4, 10)
    notes = {one.cell.agent: one.agent_note or "" for one in after.cells}
    added = "added after the study was registered"
    assert [added in notes[name] for name in ("right", "wrong", "third")] == [False, False, True]
    said = "\n".join(after.notes)
    assert "Registered questions use only what was registered" in said
    assert "Registered questions" not in "\n".join(before.notes)
    assert verify_study(study).differences == ()


@SLOW
async def test_a_run_that_was_played_before_becomes_a_cell(
    study: StudyFolder, tmp_path: Path
) -> None:
    run = other_run(tmp_path)
    await Arena().studies.add(study.path, runs={"third": run.path})
    cells = {cell.agent: cell for cell in read_progress(study.path).cells}
    assert (cells["third"].done, cells["third"].succeeded) == (3, 3)
    assert (cells["third"].registered, cells["right"].registered) == (False, True)
    found = verify_study(study)
    assert found.differences == ()
    assert found.notes == ("third was played before it was added to the study",)


async def test_shards_become_a_cell_when_they_are_merged_and_not_before(
    study: StudyFolder, tmp_path: Path
) -> None:
    """Their evidence names the run of its shard: that is verified too."""
    shards = []
    for number in (1, 2):
        lock = lock_of(f"shard-{number}").model_copy(update={"shard": f"{number}/2"})
        shard = RunFolder.create(tmp_path / str(number), lock, SUITE)
        play(shard, "1891", [key.repeat for key in lock.trials(SUITE.tasks)])
        shards.append(shard.path)
    with pytest.raises(UsageError, match="is shard 1/2"):
        await Arena().studies.add(study.path, runs={"third": shards[0]})
    merged = Arena().merge(shards, tmp_path / "merged")
    await Arena().studies.add(study.path, runs={"third": merged.path})
    cells = {cell.agent: cell for cell in read_progress(study.path).cells}
    assert (cells["third"].done, cells["third"].succeeded) == (3, 3)
    assert verify_study(study).differences == ()


@ONE_QUICK
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tasks": ("two",)}, "was not played on the study's tasks"),
        ({"suite_hash": "0"}, "was not played on the study's tasks"),
        ({"staged": ("wiki",)}, "was played with staged sites"),
        ({"browser": "another"}, "was played with browser"),
        ({"vary": ("look=dark@v1",)}, "with arm look=dark, but the study has clean"),
        ({"repeats": 4}, "has 4 repeats, but the study has 3"),
    ],
)
async def test_a_run_that_does_not_fit_is_refused(
    study: StudyFolder, tmp_path: Path, changes: dict[str, object], says: str
) -> None:
    run = other_run(tmp_path, **changes)
    with pytest.raises(StoreError, match=says):
        await Arena().studies.add(study.path, runs={"third": run.path})
    assert verify_study(study).differences == ()


async def test_a_question_that_comes_later_is_told_apart(
    study: StudyFolder, tmp_path: Path
) -> None:
    more = tmp_path / "more.yaml"
    more.write_text(
        "questions: [{id: later, kind: non_inferiority, of: agents, first: right, second: wrong,"
        " margin: 0.1}]"
    )
    await Arena().studies.add(study.path, more)
    assert {one.id: one.registered for one in study.study().questions} == {
        "q": True,
        "later": False,
    }


@ONE_QUICK
@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("repeats: 2", UsageError, "already has 3 repeats: 2 adds none"),
        ("agents: {right: {agent: idle}}", InputError, "has an agent 'right' already"),
        (
            "questions: [{id: q, kind: difference, of: agents, first: wrong, second: right}]",
            InputError,
            "has a question 'q' already",
        ),
        (
            "questions: [{id: r, kind: difference, of: agents, first: wrong, second: nobody}]",
            InputError,
            "questions.r.second: the study has no 'nobody'",
        ),
        ("name: other", InputError, "unknown field"),
        ("{}", UsageError, "nothing is added"),
    ],
)
async def test_what_does_not_fit_is_refused_in_one_line(
    study: StudyFolder, tmp_path: Path, text: str, kind: type[ArenaError], says: str
) -> None:
    before = study.registration()
    more = tmp_path / "more.yaml"
    more.write_text(text)
    with pytest.raises(kind) as caught:
        await Arena().studies.add(study.path, more)
    assert says in caught.value.message
    assert "\n" not in caught.value.message
    assert study.registration() == before


async def test_a_study_that_is_played_now_is_left_alone(study: StudyFolder) -> None:
    with study.writing(), pytest.raises(StoreError, match="another `arena study`"):
        await Arena().studies.add(study.path, repeats=5)
