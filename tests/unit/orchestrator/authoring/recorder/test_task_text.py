"""A recording with checks is a task that the linter finds nothing wrong with."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.recorder.made_recording import event, looked_up, recording_of, step_of

from arena_core.errors import TaskError, UsageError
from evaluators.checks import Check
from orchestrator.authoring.recorder.proposals import of_end, of_step
from orchestrator.authoring.recorder.recording import Recording, RecordingFolder
from orchestrator.authoring.recorder.task_text import (
    Parameter,
    TaskDraft,
    kept_actions,
    missing_in,
    reworded,
    save,
    suite_of,
    tasks_of,
)
from sites.registry import load_registry
from tasks.instances import open_suite
from tasks.lint.linter import lint_suite
from tasks.loader import load_source
from tasks.reference import GotoPage, OnElement, StopWith, TypeInto, UploadTo

INTENT = "Which town is the chief town of the makers of samovars?"


def drafted(made: Recording, **more: object) -> TaskDraft:
    nodes = [of_step(step, made.head.start)[0].check for step in made.steps[1:]]
    (answer, *_) = of_end(made, "Tula")
    parts = {"id": "town", "intent": INTENT, "checks": (*nodes, answer.check), "answer": "Tula"}
    return TaskDraft(**(parts | more))  # type: ignore[arg-type]


def test_a_saved_task_lints(tmp_path: Path) -> None:
    made = looked_up()
    save(made, drafted(made), tmp_path / "town.yaml")
    source = load_source(str(tmp_path / "town.yaml"))
    found = lint_suite(source.suite, load_registry(), source)
    assert [one.message for one in found if one.is_error] == []
    (task,) = source.suite.tasks
    assert task.family.value == "information"
    click, stop = task.reference_actions
    assert isinstance(click, OnElement)
    assert (click.role, click.name, click.nth) == ("link", "Samovar", 0)
    assert isinstance(stop, StopWith)
    assert stop.answer == "Tula"


def uploading(folder: Path, content: bytes = b"leeks") -> Recording:
    """Somebody chose a file in a field."""
    chosen = event("input", "input", name="Picture", value="leek.txt")
    step = step_of(1, [chosen])
    upload = UploadTo(do="upload", role="button", name="Picture", files=("leek.txt",))
    action = step.actions[0].model_copy(update={"action": upload})
    made = recording_of(step.model_copy(update={"actions": (action,)}), folder=folder)
    assert RecordingFolder.create(folder, made.head).keep_file("leek.txt", content)
    return made


def test_a_file_that_was_chosen_is_saved_beside_the_task(tmp_path: Path) -> None:
    made = uploading(tmp_path / "it")
    save(made, drafted(made), tmp_path / "town.yaml")
    (task,) = load_source(str(tmp_path / "town.yaml")).suite.tasks
    assert [(one.name, one.content) for one in task.files] == [("leek.txt", b"leeks")]
    other = uploading(tmp_path / "other", b"other")
    with pytest.raises(UsageError, match="is another file than the one that was chosen"):
        save(other, drafted(other), tmp_path / "town.yaml")
    assert (tmp_path / "files" / "leek.txt").read_bytes() == b"leeks"
    (tmp_path / "it" / "files" / "leek.txt").unlink()
    with pytest.raises(TaskError, match=r"there is no file 'leek\.txt'"):
        save(made, drafted(made), tmp_path / "town.yaml")


@pytest.mark.parametrize("name", ["../leek.txt", "a/b", "", ".hidden", "x" * 101, "lé.txt", "."])
def test_a_name_that_no_task_may_have_is_not_kept(tmp_path: Path, name: str) -> None:
    folder = RecordingFolder.create(tmp_path / "it", looked_up().head)
    assert not folder.keep_file(name, b"x")
    assert folder.keep_file("x", b"x")
    assert not folder.keep_file("x", b"another")
    files = {one.name for one in tmp_path.rglob("*") if one.is_file()}
    assert files == {"x", "recording.json"}


def test_saving_again_takes_its_own_place_and_nobody_elses(tmp_path: Path) -> None:
    made, path = looked_up(), tmp_path / "town.yaml"
    save(made, drafted(made), path)
    save(made, drafted(made, id="other"), path)
    assert "id: other" in path.read_text()
    path.write_text("suite: mine\n")
    with pytest.raises(UsageError, match="is there, and does not begin with"):
        save(made, drafted(made), path)


def test_a_page_cannot_write_yaml_by_its_texts(tmp_path: Path) -> None:
    name = "x\nid: other\n- {do: stop} # \x1b[31m: &a *a !!python/object"
    click = event("click", "a", name=name)
    made = recording_of(step_of(1, [click], ["wiki:/article/Samovar"]))
    save(made, drafted(made), tmp_path / "town.yaml")
    (task,) = load_source(str(tmp_path / "town.yaml")).suite.tasks
    assert task.id == "town"
    first = task.reference_actions[0]
    assert isinstance(first, OnElement)
    assert first.name == name


def test_what_cannot_be_played_keeps_the_task_from_being_saved(tmp_path: Path) -> None:
    secret = event("input", "input", name="Password", value=None)
    made = recording_of(step_of(1, [secret, event("click", name="Log in")]))
    draft = drafted(made)
    assert "“Password” cannot be played: it is a password" in missing_in(made, draft)[0]
    with pytest.raises(TaskError, match="no task yet"):
        save(made, draft, tmp_path / "town.yaml")
    without = drafted(made, left_out=frozenset({(1, 0)}))
    assert missing_in(made, without) == ()
    assert len(kept_actions(made, without.left_out)) == 1


def test_a_task_without_an_end_check_or_answer_says_so() -> None:
    made = looked_up()
    assert "no end check" in missing_in(made, drafted(made, checks=()))[0]
    assert "there is none: say it" in missing_in(made, drafted(made, answer=None))[0]


def test_an_intent_that_is_too_short_is_named() -> None:
    made = looked_up()
    with pytest.raises(TaskError, match="intent"):
        suite_of(made, drafted(made, intent="Go"), "town")


def test_actions_say_what_they_were_reworded_to() -> None:
    typed = event("input", "input", name="Search", value="ketle")
    made = recording_of(step_of(1, [typed]), step_of(2, visits=["wiki:/article/Samovar"]))
    other = reworded(made, {(1, 0): "kettle", (2, 0): "wiki:/article/Tea", (9, 9): "no"})
    (first, second) = [one.action for one in kept_actions(other, frozenset())]
    assert isinstance(first, TypeInto)
    assert isinstance(second, GotoPage)
    assert (first.text, second.page) == ("kettle", "wiki:/article/Tea")


def test_checks_of_one_name_are_named_apart() -> None:
    made = looked_up()
    node = of_step(made.steps[1])[0].check
    (answer, *_) = of_end(made, "Tula")
    text = suite_of(made, drafted(made, checks=(node, node, answer.check)), "town")
    assert f"name: {node.name}-2" in text


WARES = Parameter(name="ware", values=("Samovar", "Teapot"))
TOWNS = Parameter(name="town", values=("Tula", "Delft"))
ASKS = "Which town is the chief town of the makers of Samovar?"


def test_a_value_that_differs_makes_a_template_that_lints_and_is_drawn(tmp_path: Path) -> None:
    made, path = looked_up(), tmp_path / "towns.yaml"
    save(made, drafted(made, id="towns", intent=ASKS, parameters=(WARES, TOWNS)), path)
    source = load_source(str(path))
    found = lint_suite(source.suite, load_registry(), source)
    assert [one.message for one in found if one.is_error] == []
    done, other = sorted(source.suite.tasks, key=lambda task: task.intent)
    click, stop = other.reference_actions
    assert isinstance(click, OnElement)
    assert isinstance(stop, StopWith)
    assert (click.name, stop.answer, other.template) == ("Teapot", "Delft", "towns")
    assert "Samovar" in done.intent
    assert "Samovar" not in other.model_dump_json()
    assert "wiki:/article/Teapot" in other.checks[0].model_dump_json()
    drawn = open_suite(str(path), 7).suite
    assert {task.id for task in drawn.tasks} == {"towns-s7-1", "towns-s7-2"}


def test_the_task_that_was_done_is_the_first_and_as_it_was_without_a_template() -> None:
    made = looked_up()
    alone = tasks_of(made, drafted(made, intent=ASKS))[0]
    first = tasks_of(made, drafted(made, intent=ASKS, parameters=(WARES, TOWNS)))[0]
    assert {**first, "id": "", "template": ""} == {**alone, "id": "", "template": ""}


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ((WARES, Parameter(name="town", values=("Tula", "Delft", "Bath"))), "as many values"),
        ((WARES, Parameter(name="ware", values=("Tula", "Delft"))), "a name of its own"),
        ((Parameter(name="ware", values=("Samovar", "Samovar")),), "the same values"),
        ((Parameter(name="ware", values=("Samovar",)),), "“ware” has one value"),
        ((Parameter(name="My ware", values=WARES.values), TOWNS), "lower-case letters"),
        ((TOWNS,), "what an agent is asked to do holds none"),
        ((WARES, Parameter(name="other", values=("nowhere", "there"))), "no placeholder uses"),
    ],
)
def test_what_makes_no_template_is_said(parameters: tuple[Parameter, ...], why: str) -> None:
    made = looked_up()
    with pytest.raises(TaskError, match=why):
        tasks_of(made, drafted(made, intent=ASKS, parameters=parameters))


def test_only_whole_words_are_values_and_braces_of_a_page_stay() -> None:
    click = event("click", "a", name="The {ware} of 1 in 12 {x}")
    made = recording_of(step_of(1, [click], ["wiki:/article/Samovar"]))
    one = Parameter(name="n", values=("1", "2"))
    intent = "Open the first link, number 1 of 12, and name its town."
    first, second = tasks_of(made, drafted(made, intent=intent, parameters=(one,)))
    assert first["reference"][0]["name"] == click.name
    assert second["reference"][0]["name"] == "The {ware} of 2 in 12 {x}"
    assert second["checks"][0]["name"] == first["checks"][0]["name"]


def test_a_value_that_an_address_writes_otherwise_is_no_parameter() -> None:
    made = recording_of(step_of(1, visits=["wiki:/article/Red%20kettle"]))
    red = Parameter(name="ware", values=("Red kettle", "Blue kettle"))
    with pytest.raises(TaskError, match="stands as “Red%20kettle” in wiki:/article/Red%20kettle"):
        tasks_of(made, drafted(made, intent="Where is the Red kettle made?", parameters=(red,)))


def test_a_value_cannot_end_a_text_of_a_query() -> None:
    made = looked_up()
    check = {
        "name": "row",
        "when": "end",
        "locate": {"by": "db", "site": "shop", "sql": "SELECT a FROM t WHERE b = 'Samovar'"},
        "match": {"how": "exact", "value": "1"},
    }
    bad = Parameter(name="ware", values=("Samovar", "x' OR ''='"))
    draft = drafted(made, intent=ASKS, checks=(Check.model_validate(check),), parameters=(bad,))
    with pytest.raises(TaskError, match="would end a text of a query"):
        tasks_of(made, draft)
