from __future__ import annotations

from pathlib import Path

import pytest

from arena_core.errors import TaskError, UnknownNameError
from tasks.loader import load_source, load_suite

HEAD = """\
suite: mine
version: 1
title: A suite of several files
"""
ONE = """\
tasks:
  - id: {name}
    family: information
    intent: Say what a kettle costs.
    sites: [shop]
    start: ["shop:/"]
    checks:
      - {{name: price, when: end, locate: {{by: answer}}, match: {{how: number, value: 49}}}}
    reference:
      - {{do: stop, answer: "49"}}
"""
MANY = """\
templates:
  - id: price
    params:
      - {what: kettle, price: 49}
      - {what: pan, price: 12.5}
    task:
      family: information
      intent: What does a {what} cost?
      sites: [shop]
      start: ["shop:/{what}"]
      checks:
        - name: price
          when: end
          locate: {by: answer}
          match: {how: number, value: "{price}"}
      reference:
        - {do: stop, answer: "{price} pounds"}
"""


def _folder(tmp_path: Path, **parts: str) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in {"suite": HEAD, **parts}.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def _ids(path: Path) -> list[str]:
    return [task.id for task in load_suite(str(path)).tasks]


def test_the_files_of_a_folder_are_one_suite(tmp_path: Path) -> None:
    folder = _folder(tmp_path, b=ONE.format(name="second"), a=ONE.format(name="first"), t=MANY)
    suite = load_suite(str(folder))
    assert suite.suite == "mine"
    assert [task.id for task in suite.tasks] == ["first", "second", "price-1", "price-2"]


def test_instances_are_tasks_that_know_their_template(tmp_path: Path) -> None:
    _, second = load_suite(str(_folder(tmp_path, t=MANY))).tasks
    assert second.template == "price"
    assert second.start == ("shop:/pan",)
    assert second.checks[0].match.model_dump()["value"] == 12.5
    assert second.reference_actions[0].model_dump()["answer"] == "12.5 pounds"


def test_a_task_is_of_the_split_that_it_or_its_file_or_its_suite_says(tmp_path: Path) -> None:
    told = ONE.format(name="told").replace("family:", "split: test-shop\n    family:", 1)
    parts = {
        "one": ONE.format(name="one"),
        "told": f"split: validation\n{told}",
        "many": f"split: test\n{MANY}",
    }
    silent = load_suite(str(_folder(tmp_path, **parts)))
    splits = {task.id: task.split for task in silent.tasks}
    assert splits == {"price-1": "test", "price-2": "test", "one": None, "told": "test-shop"}
    (tmp_path / "mine" / "suite.yaml").write_text(f"{HEAD}split: train\n")
    whole = load_suite(str(tmp_path / "mine"))
    assert {task.id: task.split for task in whole.tasks} == {**splits, "one": "train"}


def test_a_task_is_of_the_tier_that_it_or_its_file_or_its_suite_says(tmp_path: Path) -> None:
    told = ONE.format(name="told").replace("family:", "tier: core\n    family:", 1)
    folder = _folder(tmp_path, one=ONE.format(name="one"), told=told, many=f"tier: broad\n{MANY}")
    tiers = {task.id: task.tier for task in load_suite(str(folder)).tasks}
    assert tiers == {"price-1": "broad", "price-2": "broad", "one": None, "told": "core"}
    (tmp_path / "mine" / "suite.yaml").write_text(f"{HEAD}tier: hard\n")
    whole = load_suite(str(tmp_path / "mine"))
    assert {task.id: task.tier for task in whole.tasks} == {**tiers, "one": "hard"}


def test_a_suite_without_splits_is_written_as_before(tmp_path: Path) -> None:
    plain = load_suite(str(_folder(tmp_path, one=ONE.format(name="one"))))
    assert '"split"' not in plain.model_dump_json()


@pytest.mark.parametrize("split", ["tests", "test-", "Train", "dev"])
def test_a_split_that_is_none_is_refused(tmp_path: Path, split: str) -> None:
    folder = _folder(tmp_path, one=f"split: {split}\n{ONE.format(name='one')}")
    with pytest.raises(TaskError, match=r"one\.yaml:1: split: must be 'train', 'validation'"):
        load_suite(str(folder))


def test_a_single_file_may_hold_templates_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(HEAD + MANY + ONE.format(name="alone"), encoding="utf-8")
    assert _ids(path) == ["alone", "price-1", "price-2"]


def test_a_file_of_a_folder_can_be_tried_alone(tmp_path: Path) -> None:
    folder = _folder(tmp_path, broken="tasks: [{id: 1}]", good=ONE.format(name="good"))
    assert _ids(folder / "good.yaml") == ["good"]
    with pytest.raises(TaskError, match=r"broken\.yaml:1: "):
        load_suite(str(folder))


def test_a_place_names_the_file_and_the_line_in_it(tmp_path: Path) -> None:
    folder = _folder(tmp_path, a=ONE.format(name="first"), t=MANY)
    source = load_source(str(folder))
    assert source.where(0, ("start", 0)) == f"{folder / 'a.yaml'}:6"
    assert source.where(2, ("checks", 0, "match")) == f"{folder / 't.yaml'}:15"


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("family: information", "family: sport", 7, "templates.0.task.family: must be"),
        ('{price}"}', '{cost}"}', 2, "'{cost}' names no parameter; there are: price, what"),
        ("price: 12.5", "price: cheap", 15, "in 'price-2'"),
        ("    task:", "    task:\n      color: red", 7, "color: unknown field"),
        ("    params:", "    param:", 3, "templates.0.param: unknown field"),
        ("id: price", "id: Price", 2, "templates.0.id: must be a name of"),
    ],
)
def test_a_mistake_in_a_template_names_file_line_and_field(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in MANY
    folder = _folder(tmp_path, t=MANY.replace(old, new, 1))
    with pytest.raises(TaskError) as caught:
        load_suite(str(folder))
    assert f"{folder / 't.yaml'}:{line}: " in caught.value.message
    assert says in caught.value.message
    assert "\n" not in caught.value.message


def test_a_mistake_in_every_instance_says_each(tmp_path: Path) -> None:
    folder = _folder(tmp_path, t=MANY.replace("do: stop", "do: halt"))
    with pytest.raises(TaskError) as caught:
        load_suite(str(folder))
    assert caught.value.message.count("reference.0") == 2


def test_two_tasks_of_one_name_are_refused_wherever_they_stand(tmp_path: Path) -> None:
    folder = _folder(tmp_path, a=ONE.format(name="price-2"), t=MANY)
    with pytest.raises(TaskError) as caught:
        load_suite(str(folder))
    assert f"{folder / 't.yaml'}:6: two tasks are called 'price-2'" in caught.value.message
    assert f"{folder / 'a.yaml'}:2" in caught.value.message


def test_only_the_head_names_the_suite(tmp_path: Path) -> None:
    folder = _folder(tmp_path, a=HEAD + ONE.format(name="first"))
    with pytest.raises(TaskError, match=r"a\.yaml:1: suite: unknown field"):
        load_suite(str(folder))


def test_a_suite_without_a_task_says_so(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    with pytest.raises(TaskError, match="holds no task"):
        load_suite(str(folder))


def test_a_folder_without_a_head_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"it has no suite\.yaml"):
        load_suite(str(tmp_path))


@pytest.mark.parametrize("twin", ["prise-of", "no-price-of"])
def test_a_twin_of_no_other_template_is_refused(tmp_path: Path, twin: str) -> None:
    """A slip would count its instances as those of a template that nobody has."""
    path = tmp_path / "prices.yaml"
    template = '    params: [{what: kettle}]\n    task: {intent: "{what}"}\n'
    path.write_text(
        "suite: prices\nversion: 1\ntitle: Prices\ntemplates:\n"
        f"  - id: price-of\n{template}  - id: no-price-of\n    twin_of: {twin}\n{template}"
    )
    with pytest.raises(TaskError, match=rf"yaml:9: templates.1.twin_of: .*called '{twin}'"):
        load_source(str(path))
