"""The files of a task: named in its suite, read from the folder beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from arena_core.errors import TaskError
from sites.registry import load_registry
from tasks.lint.linter import lint_suite
from tasks.loader import load_suite
from tasks.schema import Suite

TASK = {
    "id": "photo",
    "family": "content",
    "intent": "Upload the photo of the kettle.",
    "sites": ["shop"],
    "start": ["shop:/"],
    "checks": [
        {
            "name": "said",
            "when": "end",
            "locate": {"by": "answer"},
            "match": {"how": "exact", "value": "done"},
        }
    ],
    "reference": [
        {"do": "upload", "role": "button", "name": "Photo", "files": ["kettle.png"]},
        {"do": "stop", "answer": "done"},
    ],
}


def suite(folder: Path, *names: object, **changes: object) -> Path:
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / "kettle.png").write_bytes(b"\x89PNG\x00")
    path = folder / "mine.yaml"
    task = {**TASK, "files": list(names), **changes}
    document = {"suite": "mine", "version": 1, "title": "Mine", "tasks": [task]}
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


def test_files_are_read_and_travel_with_the_suite(tmp_path: Path) -> None:
    read = load_suite(str(suite(tmp_path, "kettle.png")))
    (tmp_path / "files" / "kettle.png").unlink()
    again = Suite.model_validate_json(read.model_dump_json())
    assert again == read
    assert [(one.name, one.content) for one in again.tasks[0].files] == [
        ("kettle.png", b"\x89PNG\x00")
    ]


def test_a_task_without_files_is_written_as_before() -> None:
    demo = load_suite("demo")
    assert all("files" not in task.model_dump() for task in demo.tasks)
    assert '"button":' not in demo.model_dump_json()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../kettle.png", "'../kettle.png' must be a file's name, without any folder"),
        ("/etc/passwd", "must be a file's name, without any folder"),
        ("..", "must be a file's name, without any folder"),
        ("", "must be a file's name, without any folder"),
        ("pan.png", "there is no file 'pan.png' in"),
        (7, "files"),
    ],
)
def test_other_names_are_refused_with_their_place(
    tmp_path: Path, name: object, reason: str
) -> None:
    with pytest.raises(TaskError, match=r"mine\.yaml:") as caught:
        load_suite(str(suite(tmp_path, name)))
    assert reason in caught.value.message


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = suite(tmp_path, "kettle.png")
    (tmp_path / "files" / "kettle.png").write_bytes(bytes(4_000_001))
    with pytest.raises(TaskError, match="more than 4 MB"):
        load_suite(str(path))


def test_a_reference_that_uploads_what_the_task_lacks_is_a_finding(tmp_path: Path) -> None:
    found = lint_suite(load_suite(str(suite(tmp_path))), load_registry())
    assert any("uploads 'kettle.png', but the task's files are: none" in str(one) for one in found)
