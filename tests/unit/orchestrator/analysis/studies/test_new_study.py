"""A study's agents are named as `arena eval --agent` names them, the user's own classes too."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena_core.errors import ArenaError, InputError, UnknownNameError, UsageError
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.studies.new_study import NewStudy
from orchestrator.runs.agent_choice import choose_agent
from sites.registry import load_registry

OWN = """\
class Agent:
    def __init__(self, assignment, *, says: str = ""):
        self.says = says

    async def decide(self, observation):
        raise NotImplementedError


class Crew:
    Member = Agent
"""
STUDY = """\
name: own
agents:
  own: {{agent: "{named}", options: {{{options}}}}}
  idle: {{agent: idle}}
suites: [{{suite: demo, tasks: [wiki-bells-of-bruges]}}]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a module of agents that nobody installed."""
    (tmp_path / "study_agents.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    monkeypatch.delitem(sys.modules, "study_agents", raising=False)
    return tmp_path


def read(here: Path, named: str, options: str = "") -> NewStudy:
    (here / "study.yaml").write_text(STUDY.format(named=named, options=options))
    return NewStudy.read(here / "study.yaml")


@pytest.mark.parametrize("named", ["study_agents:Agent", "study_agents:Crew.Member"])
def test_an_import_path_is_the_agent_that_arena_eval_takes(here: Path, named: str) -> None:
    own, idle = read(here, named, "says: hello").runs
    lock = own.request.agent_lock
    assert lock == choose_agent(named, {"says": "hello"}).lock
    assert (lock.kind, lock.options, lock.agent_class) == (
        named,
        {"says": "hello"},
        AgentClass.CONTESTANT,
    )
    assert lock.source_hash is not None  # another file under that name would be another agent
    assert idle.request.agent_lock.kind == "idle"


@pytest.mark.parametrize(
    ("named", "options", "kind", "says"),
    [
        ("study_agents:Absent", "", UnknownNameError, "study_agents has no 'Absent'"),
        ("absent_agents:Agent", "", UnknownNameError, "there is no module 'absent_agents'"),
        ("study_agents:Agent", "loud: true", UsageError, "does not take it"),
    ],
)
def test_an_agent_that_is_not_there_is_refused_in_one_line(
    here: Path, named: str, options: str, kind: type[ArenaError], says: str
) -> None:
    with pytest.raises(kind) as caught:
        read(here, named, options)
    assert says in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("records", [True, False])
def test_a_study_records_the_requests_of_every_episode_where_it_says_so(
    here: Path, *, records: bool
) -> None:
    study = STUDY + ("record_requests: true\n" if records else "")
    (here / "study.yaml").write_text(study.format(named="idle", options=""))
    read = NewStudy.read(here / "study.yaml")
    read.refuse_without_effect(load_registry())
    assert {one.request.settings.record_requests for one in read.runs} == {records}


def with_arms(here: Path, variations: str, extra: str = "") -> NewStudy:
    study = STUDY.format(named="idle", options="")
    (here / "study.yaml").write_text(f"{study}variations: {variations}\n{extra}")
    return NewStudy.read(here / "study.yaml")


def test_each_agent_is_played_in_the_clean_arm_and_in_each_other_one(here: Path) -> None:
    both = "worlds: [offline, online]\nstaged: true\n"
    new = with_arms(here, "{dark: [look=dark], slow: [network=slow]}", both)
    assert [one.folder for one in new.runs] == [
        *("own", "own--dark", "own--slow"),
        *("idle", "idle--dark", "idle--slow"),
    ]
    clean, dark, slow, *_ = (one.request.settings for one in new.runs)
    assert clean.vary == ()
    assert len(clean.worlds) == 2
    assert (dark.vary, slow.vary) == (("look=dark@v1",), ("network=slow@400,seed=0,v1",))
    assert [world.value for world in (*dark.worlds, *slow.worlds)] == ["offline", "offline"]
    assert dark.repeats == clean.repeats
    new.refuse_without_effect(load_registry())


def test_an_arm_that_changes_nothing_of_a_task_is_refused_before_anything_starts(
    here: Path,
) -> None:
    new = with_arms(here, "{dark: [look=dark]}")
    [clean, dark, *_] = new.runs
    silent = dark.suite.tasks[0].model_copy(update={"recorded": "prompt"})
    request = replace(dark.request, tasks=(silent,))
    changed = replace(new, runs=(clean, replace(dark, request=request)))
    with pytest.raises(UsageError, match="the arm look=dark cannot be played on wiki-bells"):
        changed.refuse_without_effect(load_registry())


def test_a_content_that_the_suite_does_not_have_is_refused_before_anything_starts(
    here: Path,
) -> None:
    new = with_arms(here, "{long: [content=long]}")
    with pytest.raises(UsageError, match="its suite sets no content 'long' up on a site"):
        new.refuse_without_effect(load_registry())


def test_two_questions_that_ask_the_same_are_refused(here: Path) -> None:
    asked = "{{id: {}, kind: difference, of: arms, first: {}, second: {}}}"
    twins = ", ".join((asked.format("one", "dark", "clean"), asked.format("two", "clean", "dark")))
    with pytest.raises(InputError, match="two: asks the same as `one`"):
        with_arms(here, "{dark: [look=dark]}", f"questions: [{twins}]\n")


def test_labels_that_would_share_a_folder_are_refused(here: Path) -> None:
    study = STUDY.format(named="idle", options="").replace("  idle:", "  own--dark:")
    (here / "study.yaml").write_text(f"{study}variations: {{dark: [look=dark]}}\n")
    with pytest.raises(InputError, match="two runs would share a folder"):
        NewStudy.read(here / "study.yaml")
