"""A study on tapes plays the live face of its tasks, on one tape, and its report says which."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.runs.planted_results import result, runs_of
from support.studies.registered_study import STUDY, make_study
from support.tapes.making import made, page

from arena_core.errors import ArenaError, InputError, UnknownNameError, UsageError
from arena_core.worlds import World
from orchestrator.analysis.studies.methods import tapes_in_words
from orchestrator.analysis.studies.new_study import NewStudy
from orchestrator.analysis.studies.verification import verify_study
from orchestrator.api.arena import Arena
from orchestrator.gateway.tapes.named import TapeLock
from orchestrator.runs.store.lock import RunLock, hash_suite
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.tapes import require_same_tapes
from sites.registry import load_registry
from sites.upstreams import TapeUpstream
from tasks.schema import Task

ON_TAPES = """\
name: taped
agents: {{oracle: {{agent: oracle}}, idle: {{agent: idle}}}}
suites: [{{suite: demo, tasks: ["{tasks}"]}}]
tape: [{tape}]
"""
ATLAS = load_registry(())


def read(folder: Path, tape: str, tasks: str = "wiki-*", more: str = "") -> NewStudy:
    (folder / "study.yaml").write_text(ON_TAPES.format(tape=tape, tasks=tasks) + more)
    return NewStudy.read(folder / "study.yaml")


@pytest.fixture
def study(tmp_path: Path) -> NewStudy:
    """A study whose tape lies beside its file, wherever one is."""
    made(tmp_path, page("/wiki/Kettle", "Kettle"))
    return read(tmp_path, "wiki=tape.wacz@frozen")


def faces(tasks: tuple[Task, ...]) -> set[tuple[World, ...]]:
    return {tuple(sorted(task.worlds)) for task in tasks}


def test_its_tasks_have_their_live_face_and_its_tape_is_found_beside_its_file(
    study: NewStudy, tmp_path: Path
) -> None:
    taped = study.on_tapes(ATLAS)
    for run in taped.runs:
        assert run.request.settings.tape == (f"wiki={tmp_path / 'tape.wacz'}@frozen",)
        assert set(run.request.online_faces) >= {task.id for task in run.request.tasks}
        assert run.request.tasks != study.runs[0].request.tasks
        assert run.suite.registered.sha256 == hash_suite(run.request.suite)
        upstreams = run.request.upstreams(ATLAS, World.OFFLINE)
        assert isinstance(upstreams.of("wiki"), TapeUpstream)
    taped.refuse_without_effect(ATLAS)
    assert taped.on_tapes(ATLAS) == taped


def test_what_a_suite_lacks_another_one_visits(tmp_path: Path) -> None:
    made(tmp_path, page("/wiki/Kettle", "Kettle"))
    text = ON_TAPES.format(tape="wiki=tape.wacz", tasks="shop-kettle-price")
    shop = "{suite: demo, name: wiki, tasks: [wiki-samovar]}"
    (tmp_path / "study.yaml").write_text(text.replace("suites: [", f"suites: [{shop}, "))

    runs = NewStudy.read(tmp_path / "study.yaml").on_tapes(ATLAS).runs

    assert [len(one.request.tasks) for one in runs] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("tape", "tasks", "more", "kind", "why"),
    [
        ("wiki", "wiki-*", "", InputError, "expected SITE=FILE"),
        ("wiki=absent.wacz", "wiki-*", "", InputError, "absent.wacz: there is no such tape"),
        ("wikki=tape.wacz", "wiki-*", "", UnknownNameError, "wikki"),
        ("wiki=tape.wacz", "shop-kettle-price", "", UsageError, "no chosen task visits wiki"),
        ("wiki=tape.wacz", "wiki-*", "worlds: [online]\n", InputError, "has no effect online"),
        (
            "wiki=tape.wacz",
            "wiki-*",
            "variations: {dark: [look=dark]}\n",
            InputError,
            "vary replicas",
        ),
    ],
)
def test_a_tape_that_cannot_be_played_is_refused_in_one_line(
    tmp_path: Path, *, tape: str, tasks: str, more: str, kind: type[ArenaError], why: str
) -> None:
    made(tmp_path, page("/wiki/Kettle", "Kettle"))
    with pytest.raises(kind, match=why) as refused:
        read(tmp_path, tape, tasks, more).on_tapes(ATLAS)
    assert "\n" not in refused.value.message


def test_a_plan_refuses_what_could_not_be_played(tmp_path: Path) -> None:
    made(tmp_path, page("/wiki/Kettle", "Kettle"))
    read(tmp_path, "wiki=tape.wacz")
    assert Arena().studies.plan(tmp_path / "study.yaml").cells
    read(tmp_path, "wiki=absent.wacz")
    with pytest.raises(InputError, match="there is no such tape"):
        Arena().studies.plan(tmp_path / "study.yaml")


def relock(run: RunFolder, **changes: object) -> RunLock:
    lock = run.lock().model_copy(update=changes)
    (run.path / "lock.json").write_text(lock.model_dump_json())
    return run.lock()


def taped(sha256: str) -> dict[str, object]:
    return {"tape": ("wiki=there.wacz",), "tapes": {"wiki": TapeLock(file="x", sha256=sha256)}}


def test_runs_on_two_tapes_and_on_one_that_was_not_registered_differ(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", STUDY + b"tape: [wiki=tapes/there.wacz]\n")
    relock(study.run_folder("right"), **taped("a" * 64))
    relock(study.run_folder("wrong"), **taped("b" * 64))

    said = "\n".join(f"{one.where}: {one.what}" for one in verify_study(study).differences)

    assert f"wrong/lock.json: tape of wiki is {'b' * 12}, but {'a' * 12} in other runs" in said
    assert "tapes: wiki" not in said  # the file of that name was registered, wherever it lies
    relock(study.run_folder("wrong"), tape=(), tapes={})
    said = "\n".join(f"{one.where}: {one.what}" for one in verify_study(study).differences)
    assert "wrong/lock.json: tapes: none, but wiki=there.wacz registered" in said


def test_a_tape_that_is_another_one_now_plays_no_further(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    path = made(tmp_path, page("/wiki/Kettle", "Kettle"))
    changes = taped("a" * 64) | {"tape": (f"wiki={path}",)}

    with pytest.raises(InputError, match="is another one now"):
        require_same_tapes(relock(study.run_folder("right"), **changes))


def test_its_report_says_which_tape_it_was_and_how_far_that_carries() -> None:
    [run] = runs_of([result("a", World.OFFLINE, 0, 0, success=True)])
    lock = run.lock.model_copy(update=taped("a" * 64))

    [said] = tapes_in_words([replace(run, lock=lock)])

    assert f"for wiki: recorded traffic of the live site (x, SHA-256 {'a' * 12})" in said
    assert "fidelity unknown" in said
