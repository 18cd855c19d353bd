"""Which episodes go into a pack for a leaderboard, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.agents.arena_process import Ended as Called
from support.runs.published_run import evidence, published, run, step, task

from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.barred_sites import BarredSite
from evaluators.evidence import Ended, EpisodeFault, UnscoredReason
from orchestrator import Arena
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Task

Call = Callable[..., Called]
ROW = {"web_name": "Wiki", "id": "Wiki--1", "ques": "When was it invented?", "web": "http://w.test"}
INFRA = EpisodeFault(reason=UnscoredReason.INFRA, message="the container was removed")


def voyage(name: str, number: str) -> Task:
    return task(name, published("webvoyager", ROW, number))


@pytest.fixture
def mixed(tmp_path: Path) -> RunFolder:
    """Episodes that ended, that broke off, of another set, and of none."""
    tasks = [
        voyage("a", "Wiki--1"),
        voyage("b", "Wiki--2"),
        voyage("c", "Wiki--3"),
        voyage("d", "../../etc--4"),
        task("e", published("webarena", {}, "7")),
        task("f"),
    ]
    episodes = [
        evidence("a", "1766"),
        evidence("b", None, fault=INFRA, ended=None),
        evidence("c", None, ended=Ended.NOT_STARTED),
        evidence("d"),
        evidence("e"),
        evidence("f"),
    ]
    return run(tmp_path / "run", tasks, episodes)


def test_what_has_no_end_or_is_none_of_the_set_is_left_out_and_named(mixed: RunFolder) -> None:
    done = Arena().runs.export(mixed.path, "webvoyager")
    assert done.episodes == 1
    assert [one.name for one in done.path.glob("task*")] == ["taskWiki--1"]
    why = {one.what: one.why for one in done.left_out}
    assert why["offline-b-r0-a1"] == "unscored: infra: the container was removed"
    assert why["offline-c-r0-a1"].startswith("unscored: ")
    assert "cannot be the name of a folder there" in why["offline-d-r0-a1"]
    assert why["offline-e-r0-a1"] == "its task did not come from WebVoyager"
    assert why["offline-f-r0-a1"] == "its task did not come from WebVoyager"
    assert len(why) == 5


def test_whom_a_live_site_shut_out_is_left_out_and_never_judged_a_failure(tmp_path: Path) -> None:
    limit = BarredSite(
        site="wiki",
        step=2,
        url="https://wiki.test/wiki/Kettle",
        sign="status 429",
        status=429,
        is_last=True,
        most_per_minute=30,
    )
    episodes = [
        evidence("a", "1891", world=World.ONLINE),
        evidence("b", "none", world=World.ONLINE, barred=(limit,)),
    ]
    folder = run(tmp_path / "run", [voyage("a", "Wiki--1"), voyage("b", "Wiki--2")], episodes)
    done = Arena().runs.export(folder.path, "webvoyager")
    assert done.episodes == 1
    [left] = done.left_out
    assert left.why.startswith("unscored: blocked: the live site 'wiki' let the agent in no more")


def test_tasks_of_other_sets_go_in_where_that_is_asked_for_and_said(
    call: Call, mixed: RunFolder
) -> None:
    ended = call("export", "webvoyager", mixed.path, "--option", "any_suite=true")
    assert ended.code == 0, ended.err
    assert "2 tasks are none of WebVoyager: this is nothing for its leaderboard" in ended.err
    names = {one.name for one in (mixed.path / "export-webvoyager").glob("task*")}
    assert names == {"taskWiki--1", "taske", "taskf"}


@ONE_QUICK
@pytest.mark.parametrize(
    "form", ["online-mind2web", "webvoyager", "webharbor", "webarena-verified"]
)
def test_a_run_of_another_set_is_refused(call: Call, tmp_path: Path, form: str) -> None:
    folder = run(tmp_path / "run", [task("a")], [evidence("a")])
    ended = call("export", form, folder.path)
    assert ended.code == UsageError.exit_code
    assert "its task did not come from" in ended.err
    assert "any_suite=true" in ended.err or form == "webarena-verified"
    assert not (folder.path / f"export-{form}").exists()


@SLOW
def test_one_of_several_repeats_is_the_users_choice_and_not_that_of_their_outcomes(
    call: Call, tmp_path: Path
) -> None:
    """The one that broke off is a repeat as well: what is left is not simply taken."""
    episodes = [
        evidence("a", "1766", repeat=0),
        evidence("a", None, repeat=1, fault=INFRA, ended=None),
    ]
    folder = run(tmp_path / "run", [voyage("a", "Wiki--1")], episodes)
    ended = call("export", "webvoyager", folder.path)
    assert ended.code == UsageError.exit_code
    assert "task 'Wiki--1' was played 2 times" in ended.err
    assert "--option repeat=0 (there are 0 or 1)" in ended.err
    ended = call("export", "webvoyager", folder.path, "--option", "repeat=0")
    assert ended.code == 0, ended.err
    assert "repeat 0 was asked for" in ended.err
    ended = call("export", "webvoyager", folder.path, "--option", "repeat=1")
    assert ended.code == UsageError.exit_code
    assert "the container was removed" in ended.err


def test_one_of_two_worlds_is_the_users_choice(tmp_path: Path) -> None:
    episodes = [evidence("a"), evidence("a", world=World.ONLINE)]
    folder = run(tmp_path / "run", [voyage("a", "Wiki--1")], episodes)
    with pytest.raises(UsageError) as refused:
        Arena().runs.export(folder.path, "webvoyager")
    assert "--option world=offline, or world=online" in (refused.value.hint or "")
    done = Arena().runs.export(folder.path, "webvoyager", options={"world": "online"})
    assert [one.what for one in done.left_out] == ["offline-a-r0-a1"]


def test_a_pack_is_of_one_agent(tmp_path: Path) -> None:
    runs = [
        run(tmp_path / name, [voyage(name, f"Wiki--{name}")], [evidence(name)], agent=name).path
        for name in ("one", "two")
    ]
    with pytest.raises(UsageError, match="the runs are of one, two"):
        Arena().runs.export(runs, "webvoyager", tmp_path / "pack")


def vary(folder: RunFolder, *what: str) -> None:
    """Say of a run that it was played in an arm."""
    lock = folder.lock().model_copy(update={"vary": what})
    (folder.path / "lock.json").write_text(lock.model_dump_json())


def test_a_pack_is_of_the_sites_as_they_are(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", [voyage("a", "Wiki--1")], [evidence("a")])
    vary(folder, "look=dark@v1")
    with pytest.raises(UsageError, match="was played in the arm look=dark"):
        Arena().runs.export(folder.path, "webvoyager", tmp_path / "pack")


@SLOW
@pytest.mark.parametrize("names", [("clean", "dark"), ("dark", "clean")])
def test_of_a_study_with_arms_the_clean_run_goes_in_and_the_arms_are_named(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    tasks = [voyage("a", "Wiki--1"), voyage("b", "Wiki--2")]
    runs = {name: run(tmp_path / name, tasks, [evidence("a"), evidence("b")]) for name in names}
    vary(runs["dark"], "look=dark@v1")
    alone = Arena().runs.export(runs["clean"].path, "webvoyager", tmp_path / "alone")
    done = Arena().runs.export([runs[name].path for name in names], "webvoyager", tmp_path / "pack")
    assert done.episodes == 2
    assert {(one.run.name, one.what) for one in done.left_out} == {
        ("dark", "offline-a-r0-a1"),
        ("dark", "offline-b-r0-a1"),
    }
    assert {one.why for one in done.left_out} == {
        "it was played in the arm look=dark, and WebVoyager takes the sites as they are"
    }
    for one in alone.path.rglob("*"):
        if one.is_file():
            written = done.path / one.relative_to(alone.path)
            assert written.read_bytes() == one.read_bytes(), one.name


def test_a_clean_run_of_another_agent_is_still_refused_beside_an_arm(tmp_path: Path) -> None:
    runs = [
        run(tmp_path / name, [voyage("a", "Wiki--1")], [evidence("a")], agent=name)
        for name in ("one", "two", "three")
    ]
    vary(runs[2], "look=dark@v1")
    with pytest.raises(UsageError, match="the runs are of one, two"):
        Arena().runs.export([one.path for one in runs], "webvoyager", tmp_path / "pack")


@SLOW
def test_an_episode_without_its_screenshots_is_left_out(tmp_path: Path) -> None:
    blind = [step(0, None, screenshot=None), *evidence("b").steps[1:]]
    abroad = [step(0, None, screenshot="../../lock.json"), *evidence("c").steps[1:]]
    tasks = [voyage(name, f"Wiki--{name}") for name in ("a", "b", "c", "d")]
    episodes = [
        evidence("a"),
        evidence("b", steps=blind),
        evidence("c", steps=[*evidence("c").steps]),
        evidence("d"),
    ]
    folder = run(tmp_path / "run", tasks, episodes)
    damaged = folder.evidence_folder("offline-d-r0-a1") / "step-001.png"
    damaged.write_bytes(damaged.read_bytes()[:30])
    path = folder.evidence_folder("offline-c-r0-a1") / "evidence.json"
    path.write_text(path.read_text().replace('"step-000.png"', f'"{abroad[0].screenshot}"'))
    done = Arena().runs.export(folder.path, "webvoyager")
    assert done.episodes == 1
    why = {one.what: one.why for one in done.left_out}
    assert "step 0 has no screenshot" in why["offline-b-r0-a1"]
    assert "step 0 has no screenshot" in why["offline-c-r0-a1"]
    assert "the screenshot step-001.png cannot be read" in why["offline-d-r0-a1"]
    assert [one.name for one in done.path.glob("task*")] == ["taskWiki--a"]


def test_tasks_of_any_suite_are_not_asked_for_where_all_are_the_sets_own(
    call: Call, tmp_path: Path
) -> None:
    own = run(tmp_path / "run", [voyage("a", "Wiki--1")], [evidence("a", "1766")])
    ended = call("export", "webvoyager", own.path, "--option", "any_suite=true")
    assert ended.code == UsageError.exit_code
    assert "any_suite=true has no effect" in ended.err
