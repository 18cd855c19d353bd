"""What a suite file holds under an importer's key becomes tasks; importers are plug-ins."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from support.tasks.plugged import install
from support.tasks.small_suites import bells

from arena_core.errors import PluginError, TaskError
from arena_core.plugins import Group
from tasks.loader import load_suite
from tasks.miniwob import MiniWobPages
from tasks.sources import IMPORTERS, read_source

# The sites that `make test` builds (QUICK_SITES in the Makefile).
QUICK = {"shop", "wiki", "tools", "home", "miniwob"}

IMPORTER = """
from tasks.sources import Importer

class Questions(Importer):
    about: str
    count: int = 1

    def tasks(self, seeds=None):
        if self.count > 3:
            raise ValueError("no more than 3 of them")
        for number in seeds or range(1, self.count + 1):
            yield {
                "id": f"{self.about}-{number}",
                "family": "information",
                "intent": f"Question {number} about {self.about}.",
                "sites": ["wiki"],
                "start": ["wiki:/"],
                "checks": [{"name": "said", "when": "end", "locate": {"by": "answer"},
                            "match": {"how": "number", "value": number}}],
            }
"""


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    points = {
        Group.IMPORTERS: {"questions": "acme_questions:Questions", "bad": "acme_questions:Missing"}
    }
    install(folder, "acme-questions", points, modules={"acme_questions": IMPORTER})
    importlib.invalidate_caches()
    yield
    sys.modules.pop("acme_questions", None)


def write(folder: Path, **more: object) -> Path:
    path = folder / "mine.yaml"
    document = {"suite": "mine", "version": 1, "title": "Mine", **more}
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


def test_an_installed_importer_fills_a_suite_by_its_key(tmp_path: Path, questions: None) -> None:
    path = write(tmp_path, questions=[{"about": "bells", "count": 2}, {"about": "kettles"}])
    source = read_source(path)
    assert [task.id for task in source.suite.tasks] == ["bells-1", "bells-2", "kettles-1"]
    assert source.where(2, ()).startswith(f"{path}:")
    [task] = read_source(write(tmp_path, questions=[{"about": "bells"}]), (7,)).suite.tasks
    assert task.id == "bells-7"


def test_a_mistake_in_an_entry_is_one_line_with_file_line_and_field(
    tmp_path: Path, questions: None
) -> None:
    with pytest.raises(TaskError, match=r"mine\.yaml:5: questions\.0\.abuot: unknown field"):
        read_source(write(tmp_path, questions=[{"abuot": "bells"}]))
    with pytest.raises(TaskError, match=r"mine\.yaml:5: questions\.0: no more than 3 of them"):
        read_source(write(tmp_path, questions=[{"about": "bells", "count": 4}]))


def test_a_broken_importer_is_reported_where_its_key_is_used_and_nowhere_else(
    tmp_path: Path, questions: None
) -> None:
    assert read_source(write(tmp_path, questions=[{"about": "bells"}])).suite.tasks
    with pytest.raises(PluginError, match=r"plug-in 'bad' of arena\.importers"):
        read_source(write(tmp_path, bad=[{"about": "bells"}]))


def test_a_key_that_no_importer_has_is_no_field(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="questions: unknown field"):
        read_source(write(tmp_path, questions=[{"about": "bells"}]))


def test_miniwob_is_an_importer_like_any_other() -> None:
    assert IMPORTERS.load("wob") is MiniWobPages


def test_a_suite_knows_the_importers_that_made_its_tasks(questions: None, tmp_path: Path) -> None:
    path = write(tmp_path, tasks=[bells("own")], questions=[{"about": "tea", "count": 2}])
    assert read_source(path).importers == ("questions",)
    assert read_source(write(tmp_path, tasks=[bells("own")])).importers == ()


def test_included_tasks_are_those_of_their_suite_to_the_last_letter() -> None:
    there = {
        one.id: one for name in ("demo", "arena-120", "miniwob") for one in load_suite(name).tasks
    }
    smoke = load_suite("smoke").tasks
    assert len(smoke) == 10
    assert {site for task in smoke for site in task.sites} == QUICK
    for task in smoke:
        twin = there[task.id]
        assert (task.checks, task.reference, task.intent) == (
            twin.checks,
            twin.reference,
            twin.intent,
        )
        if task.miniwob is None:
            assert task == twin
    assert len({task.template or task.id for task in smoke}) == 10  # each a cluster of its own


def test_an_included_task_that_is_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    one = {"suite": "demo", "tasks": ["wiki-samovr"]}
    with pytest.raises(TaskError, match=r"mine\.yaml:5: include\.0: no task 'wiki-samovr' in"):
        read_source(write(tmp_path, include=[one]))
    with pytest.raises(TaskError, match=r"include\.0: no shipped suite 'dem'"):
        read_source(write(tmp_path, include=[{**one, "suite": "dem"}]))
    with pytest.raises(TaskError, match="no seed changes tasks that are included"):
        read_source(write(tmp_path, include=[{**one, "tasks": ["wiki-samovar"]}]), (7,))
