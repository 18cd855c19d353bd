from __future__ import annotations

import os
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK

from arena_core.errors import TaskError, UnknownNameError
from tasks.loader import load_source, load_suite, suite_names, suite_path

SUITE = """\
suite: mine
version: 1
title: A suite of one
tasks:
  - id: first
    family: information
    intent: Say what a kettle costs.
    sites: [shop]
    start: ["shop:/"]
    checks:
      - name: price
        when: end
        locate: {by: answer}
        match: {how: number, value: 49}
    reference:
      - {do: stop, answer: "49"}
"""


def _written(folder: Path, text: str = SUITE, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_shipped_templates_have_a_name_that_a_folder_here_may_have_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = suite_path("templates/arena-broad")
    assert (shipped / "suite.yaml").is_file()
    mine = tmp_path / "templates" / "arena-broad"
    mine.mkdir(parents=True)
    _written(mine, name="suite.yaml")
    monkeypatch.chdir(tmp_path)
    assert suite_path("templates/arena-broad").resolve() == mine
    with pytest.raises(UnknownNameError, match="does not exist"):
        suite_path("templates/of-nobody")


def test_a_suite_is_read_by_its_path(tmp_path: Path) -> None:
    suite = load_suite(str(_written(tmp_path)))
    assert suite.suite == "mine"
    assert [task.id for task in suite.tasks] == ["first"]


def test_a_path_is_known_by_its_ending_its_slash_or_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _written(tmp_path)
    _written(tmp_path, name="bare")
    assert suite_path("mine.yaml") == Path("mine.yaml")
    assert load_suite(f"{tmp_path}/bare").suite == "mine"
    assert load_suite("bare").suite == "mine"
    (tmp_path / "picture").write_bytes(b"\x89PNG\xff")
    with pytest.raises(TaskError, match="picture: cannot be read: is not UTF-8 text"):
        load_suite("picture")
    with pytest.raises(UnknownNameError):
        suite_path("absent")


@ONE_QUICK
@pytest.mark.parametrize("name", suite_names())
def test_every_shipped_suite_is_read_by_its_name(name: str) -> None:
    assert load_suite(name).suite == name
    assert suite_path(name).stem == name


def test_an_unknown_suite_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError) as caught:
        load_suite("nowhere")
    assert caught.value.message.startswith("unknown suite 'nowhere'; there are: ")
    for name in suite_names()[:10]:  # of more, it says how many
        assert name in caught.value.message
    assert "path" in caught.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"nowhere\.yaml' does not exist"):
        load_suite(str(tmp_path / "nowhere.yaml"))


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("version: 1", "version: 0", 2, "version: must be at least 1"),
        ("family: information", "family: sport", 6, "tasks.0.family: must be 'information'"),
        ("by: answer", "by: guess", 13, "tasks.0.checks.0.locate: `by` must be one of"),
        (
            "by: answer",
            "by: guess",
            13,
            "not 'guess': install the package that adds such a locator",
        ),
        ("{by: answer}", "{answer: x}", 13, "tasks.0.checks.0.locate: needs `by`"),
        ("{by: answer}", "answer", 13, "tasks.0.checks.0.locate: must be a mapping of fields"),
        (
            "how: number, value: 49",
            "how: include, parts: true, value: 49",
            14,
            "tasks.0.checks.0.match.parts: unknown field",
        ),
        ("how: number", "how: number, typo: 1", 14, "typo: unknown field"),
        ("value: 49", "value: .nan", 14, "finite"),
        ("do: stop", "do: dance", 16, "tasks.0.reference.0"),
        ("    intent:", "   intent:", 7, "not valid YAML"),
        ("when: end", "when: step", 11, "a key node (`when: step`) locates by"),
    ],
)
def test_a_mistake_is_one_line_with_file_line_and_field(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    path = _written(tmp_path, SUITE.replace(old, new))
    with pytest.raises(TaskError) as caught:
        load_suite(str(path))
    assert caught.value.message.startswith(f"{path}:{line}: ")
    assert says in caught.value.message
    assert "\n" not in caught.value.message


def test_two_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = SUITE + SUITE.split("tasks:\n")[1]
    with pytest.raises(TaskError, match="two tasks are called 'first'"):
        load_suite(str(_written(tmp_path, twice)))


def test_a_suite_that_never_ends_is_refused(tmp_path: Path) -> None:
    fifo, device = tmp_path / "fifo.yaml", tmp_path / "device.yaml"
    os.mkfifo(fifo)
    device.symlink_to("/dev/zero")
    for path in (fifo, device):
        with pytest.raises(TaskError, match="cannot be read: is no regular file"):
            load_source(str(path))


def test_a_whole_text_in_place_of_a_suites_name_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        load_suite("a" * 70_000)
    with pytest.raises(UnknownNameError):
        load_suite("a" * 70_000 + "@7")
