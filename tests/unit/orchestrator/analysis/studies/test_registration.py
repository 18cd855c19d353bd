"""What was registered stays as it was; what came later is told apart."""

import json
from pathlib import Path

import pytest

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.analysis.studies.registration import (
    Amendment,
    RegisteredRun,
    Registration,
    Study,
    StudyFolder,
    sha256,
)
from orchestrator.analysis.studies.study_file import QuestionEntry, StudyAgent

TEXT = b"""\
name: small
agents: {a: {agent: oracle}, b: {agent: idle}}
suites: [{suite: demo}]
repeats: 2
questions: [{id: q, kind: difference, of: agents, first: a, second: b}]
"""
LATER = QuestionEntry.model_validate(
    {"id": "later", "kind": "difference", "of": "agents", "first": "b", "second": "c"}
)


def run(agent: str) -> RegisteredRun:
    return RegisteredRun(
        folder=f"{agent}--demo",
        run=f"run-{agent}",
        agent=agent,
        suite="demo",
        tasks={World.OFFLINE: 20},
        lock_sha256="0" * 64,
    )


def made(path: Path) -> StudyFolder:
    registration = Registration(
        study="s-1",
        name="small",
        registered_at="2026-01-01T00:00:00+00:00",
        by="me",
        study_sha256=sha256(TEXT),
        packages={},
        suites=(),
        runs=(run("a"), run("b")),
    )
    with StudyFolder.creating(path) as folder:
        folder.register(TEXT, registration)
    return StudyFolder.open(path)


def amend(folder: StudyFolder) -> None:
    before = folder.registration()
    addition = Amendment(
        at="2026-01-02T00:00:00+00:00",
        by="me",
        previous=before.digest,
        repeats=3,
        agents={"c": StudyAgent(agent="random")},
        questions=(LATER,),
        runs=(run("c"),),
    )
    folder.amend(before.amended(addition))


def test_what_was_added_is_played_and_told_apart(tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    assert folder.study().repeats == 2
    amend(folder)
    study = folder.study()
    assert (study.repeats, study.file.repeats) == (3, 2)
    assert list(study.agents) == ["a", "b", "c"]
    asked = [(one.id, one.registered, one.repeats) for one in study.questions]
    assert asked == [("q", True, 2), ("q+added", False, None), ("later", False, None)]
    assert [one.agent for one in study.runs] == ["a", "b", "c"]


def test_a_question_over_all_agents_stays_one_of_those_that_were_registered(
    tmp_path: Path,
) -> None:
    registered = made(tmp_path / "study").study()
    worlds = QuestionEntry.model_validate(
        {"id": "w", "kind": "difference", "of": "worlds", "first": "offline", "second": "online"}
    )
    asking = registered.file.model_copy(update={"questions": (worlds,)})
    added = Amendment(at="later", by="me", previous="", agents={"c": StudyAgent(agent="random")})

    def questions(registration: Registration) -> list[tuple[str, tuple[str, ...], int | None]]:
        study = Study(file=asking, registration=registration)
        return [(one.id, one.agents, one.repeats) for one in study.questions]

    assert questions(registered.registration) == [("w", (), None)]
    assert questions(registered.registration.amended(added)) == [
        ("w", ("a", "b"), None),
        ("w+added", (), None),
    ]


def test_a_changed_study_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    folder.study_path.write_bytes(TEXT.replace(b"repeats: 2", b"repeats: 3"))
    with pytest.raises(StoreError, match="is not what was registered at 2026-01-01") as caught:
        folder.study()
    assert "arena study add" in caught.value.hint


@pytest.mark.parametrize("field", ["registered_at", "study", "by"])
def test_an_addition_holds_what_stood_before_it(tmp_path: Path, field: str) -> None:
    folder = made(tmp_path / "study")
    amend(folder)
    written = json.loads(folder.registration_path.read_text())
    written[field] = "2025-01-01"
    folder.registration_path.write_text(json.dumps(written))
    with pytest.raises(StoreError, match="addition 1 does not match what came before it"):
        folder.study()


def test_a_folder_that_is_not_filled_leaves_nothing(tmp_path: Path) -> None:
    broken = RuntimeError("in the middle")
    with pytest.raises(RuntimeError), StudyFolder.creating(tmp_path / "study"):
        raise broken
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a study's folder"):
        StudyFolder.open(tmp_path)


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    refused = pytest.raises(StoreError, match="another `arena study` is writing")
    with folder.writing(), refused, StudyFolder.open(folder.path).writing():
        pass
