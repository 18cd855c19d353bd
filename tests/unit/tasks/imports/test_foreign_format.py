"""A package's own format of published task sets, registered by entry point."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.runs.make_evidence import make_evidence, make_step
from support.tasks.plugged import install

from arena_core.actions import Stop
from arena_core.errors import PluginError, TaskError, UnknownNameError
from arena_core.plugins import Group
from evaluators.scores import score
from tasks.imports.suite_file import import_suite

Write = Callable[..., Path]

FORMAT = """
from tasks.imports.formats import Translation

class Bells:
    name = "bells"
    title = "Questions about bells"

    def translate(self, entries, sites):
        for entry in entries:
            number = entry.record.get("bells")
            if not isinstance(number, int):
                raise entry.fault("must be a number", field="bells")
            yield Translation(
                entry=entry,
                published_id=str(number),
                task={
                    "id": f"bells-{number}",
                    "family": "information",
                    "intent": f"How many bells are there, {number} or more?",
                    "sites": ["wiki"],
                    "start": ["wiki:/"],
                    "limits": {"steps": 9, "seconds": 60},
                    "checks": [{"name": "said", "when": "end", "locate": {"by": "answer"},
                                "match": {"how": "number", "value": number}}],
                },
                template="bells",
            )

BELLS = Bells()
"""


@pytest.fixture(autouse=True)
def bells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    points = {Group.FORMATS: {"bells": "acme_bells:BELLS", "broken": "acme_bells:Missing"}}
    install(folder, "acme-bells", points, modules={"acme_bells": FORMAT})
    importlib.invalidate_caches()
    yield
    sys.modules.pop("acme_bells", None)


def test_its_tasks_are_imported_with_their_originals_and_scored(write: Write) -> None:
    found = import_suite("bells", [write([{"bells": 47, "by": "acme"}])])
    [task] = found.tasks
    assert task.original is not None
    assert (task.original.format, task.original.id) == ("bells", "47")
    assert task.original.record == {"bells": 47, "by": "acme"}
    last = make_step(1).model_copy(update={"action": Stop(answer="47")})
    assert str(score(task.checks, make_evidence(make_step(0), last, answer="47")).outcome) == (
        "success"
    )


def test_a_fault_that_it_finds_is_told_with_file_and_place(write: Write) -> None:
    with pytest.raises(TaskError, match=r"published\.json: \[1\]\.bells: must be a number"):
        import_suite("bells", [write([{"bells": 1}, {"bells": "x"}])])


def test_one_that_cannot_be_loaded_is_named_and_hides_no_other(write: Write) -> None:
    path = write([{"bells": 1}])
    with pytest.raises(PluginError, match="acme_bells:Missing"):
        import_suite("broken", [path])
    with pytest.raises(UnknownNameError) as unknown:
        import_suite("gongs", [path])
    assert "bells" in unknown.value.hint
    assert len(import_suite("bells", [path]).tasks) == 1
