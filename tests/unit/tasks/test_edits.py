"""Single values of suites are changed in their files, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_core.errors import TaskError
from tasks.edits import ValueChange, edits_of, is_written_out
from tasks.loader import load_source

SUITE = """\
# A comment that stays.
suite: small
version: 3
title: Small
tasks:
  # of the kettle
  - id: block
    family: navigation
    intent: >-
      Open the article on
      the samovar.
    sites: [wiki]
    start: ["wiki:/article/Kettle"]
    checks:
      - {name: open, when: end, locate: {by: url}, match: {how: exact, value: "wiki:/Sämovar"}}
    reference:
      - {do: click, role: link, name: Samovar}  # the link
      - {do: stop}
  - {id: flow, family: navigation, intent: Open the samovar again., sites: [wiki],
     start: ["wiki:/"],
     checks: [{name: open, when: end, locate: {by: url}, match: {how: exact, value: "wiki:/x"}}],
     reference: [{do: click, role: link, name: {offline: A, online: B}}, {do: stop}]}
"""
NAME = ("reference", 0, "name")


def written(path: Path, text: str = SUITE) -> Path:
    path.write_bytes(text.encode())
    return path


def test_only_the_value_revision_and_version_change(tmp_path: Path) -> None:
    path = written(tmp_path / "small.yaml")
    change = ValueChange(at=NAME, old="Samovar", new='The "Samovar": a #1')
    [edit] = edits_of(load_source(str(path)), {0: [change]})
    assert edit.old == SUITE
    assert edit.new == SUITE.replace("version: 3", "version: 4").replace(
        "name: Samovar}", 'name: "The \\"Samovar\\": a #1"}'
    ).replace("- id: block\n", "- id: block\n    revision: 2\n")
    again = load_source(str(written(path, edit.new))).suite
    assert (again.version, again.tasks[0].revision, again.tasks[1].revision) == (4, 2, 1)
    assert getattr(again.tasks[0].reference_actions[0], "name", None) == 'The "Samovar": a #1'
    back = ValueChange(at=NAME, old='The "Samovar": a #1', new="C")
    [twice] = edits_of(load_source(str(path)), {0: [back]})
    assert "revision: 3\n" in twice.new
    assert "version: 5\n" in twice.new


def test_a_task_in_flow_style_and_a_value_of_one_world(tmp_path: Path) -> None:
    path = written(tmp_path / "small.yaml")
    changes = [ValueChange(at=(*NAME, "online"), old="B", new="Bö")]
    [edit] = edits_of(load_source(str(path)), {1: changes})
    assert "{id: flow, revision: 2, family" in edit.new
    assert '{offline: A, online: "Bö"}' in edit.new


def test_a_value_may_become_one_of_each_world(tmp_path: Path) -> None:
    path = written(tmp_path / "small.yaml")
    value = ("checks", 0, "match", "value")
    new = {"offline": "wiki:/Sämovar", "online": "wiki:/b"}
    [edit] = edits_of(
        load_source(str(path)), {0: [ValueChange(at=value, old="wiki:/Sämovar", new=new)]}
    )
    again = load_source(str(written(path, edit.new))).suite
    assert again.tasks[0].checks[0].match.model_dump()["value"] == new


def test_line_ends_stay(tmp_path: Path) -> None:
    text = SUITE.replace("\n", "\r\n")
    path = written(tmp_path / "small.yaml", text)
    [edit] = edits_of(load_source(str(path)), {0: [ValueChange(at=NAME, old="Samovar", new="S")]})
    assert edit.old == text
    assert edit.new.count("\r\n") == text.count("\r\n")
    assert load_source(str(written(path, edit.new))).suite.tasks[0].revision == 2


@pytest.mark.parametrize(
    ("at", "old"), [(NAME, "Kettle"), (("reference", 7, "name"), "x"), (("reference", 0), "x")]
)
def test_what_does_not_stand_there_is_refused(
    tmp_path: Path, at: tuple[str | int, ...], old: str
) -> None:
    source = load_source(str(written(tmp_path / "small.yaml")))
    with pytest.raises(TaskError, match=r"small\.yaml"):
        edits_of(source, {0: [ValueChange(at=at, old=old, new="y")]})


def test_a_folder_has_its_version_in_its_first_file(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    head, _, tasks = SUITE.partition("tasks:\n")
    written(folder / "suite.yaml", head)
    written(folder / "wiki.yaml", f"tasks:\n{tasks}")
    source = load_source(str(folder))
    edits = edits_of(source, {0: [ValueChange(at=NAME, old="Samovar", new="S")]})
    assert {edit.path.name for edit in edits} == {"suite.yaml", "wiki.yaml"}
    assert is_written_out(source, 0)


def test_what_a_template_makes_is_not_written_out() -> None:
    source = load_source("miniwob")
    assert not is_written_out(source, 0)
