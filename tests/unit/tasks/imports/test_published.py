"""Published files are read whole and unchanged, or refused in one line with place and field."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.tasks.published_tasks import webarena_task

from arena_core.errors import TaskError, UnknownNameError, UsageError
from tasks.imports.formats import LARGEST_FILE, read_entries
from tasks.imports.suite_file import import_suite, suite_name, suite_text, write_suite
from tasks.loader import load_suite

Write = Callable[..., Path]


def test_entries_keep_their_record_their_place_and_the_digest_of_their_file(write: Write) -> None:
    path = write([webarena_task(), {"more": [1, 2.5, None]}])
    first, second = read_entries(path)
    assert first.record == webarena_task()
    assert second.at == "[1]"
    assert second.record == {"more": [1, 2.5, None]}
    assert len(first.file_sha256) == 64
    [alone] = read_entries(write(webarena_task(), "7.json"))
    assert alone.at == ""
    lines = write('{"a": 1}\n\n{"a": 2}\n', "tasks.jsonl")
    assert [one.at for one in read_entries(lines)] == ["line 1", "line 3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r":1: not valid JSON"),
        ("{", r":1: not valid JSON"),
        ('[{"a": 1},\n {"a": }]', r":2: not valid JSON: .* \(column 8\)"),
        ("[]", "holds no task"),
        ("[1]", r"\[0\]: must be an object, is a number"),
        ('"text"', "must hold a list of objects"),
        ('[{"a": NaN}]', "NaN is no number"),
        ('[{"a": 1e999}]', "a number that is too large"),
        ('[{"a": "\\ud800"}]', "not valid JSON"),
        ('[{"a": 1, "a": 2}]', "the name 'a' stands twice"),
        ("[" * 90 + "{}" + "]" * 90, "must be an object|nested"),
        ('[{"a":' * 5000, "nested too deep|not valid JSON"),
        ('[{"a": ' + "9" * 5000 + "}]", "not valid JSON"),
    ],
)
def test_what_is_no_list_of_objects_is_refused_in_one_line(
    text: str, message: str, write: Write
) -> None:
    path = write(text)
    with pytest.raises(TaskError, match=message) as refused:
        read_entries(path)
    assert str(path) in refused.value.message
    assert "\n" not in refused.value.message


def test_a_file_that_is_none_or_cannot_be_one_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot be read"):
        read_entries(tmp_path / "missing.json")
    with pytest.raises(TaskError, match="is no file"):
        read_entries(tmp_path)
    huge = tmp_path / "huge.json"
    huge.touch()
    os.truncate(huge, 1_000_000_000)
    with pytest.raises(TaskError, match=r"has 1,000 MB; a published task set has at most 67 MB"):
        read_entries(huge)
    assert LARGEST_FILE < 1_000_000_000
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TaskError, match=r"is not UTF-8 text \(byte 0\)"):
        read_entries(binary)


def test_a_field_that_is_wrong_is_named_with_its_place(write: Write) -> None:
    wrong = webarena_task({"eval_types": "url_match"}, sites=[])
    with pytest.raises(TaskError) as refused:
        import_suite("webarena", [write([webarena_task(), wrong])])
    assert "[1].sites: must have at least 1 entry" in refused.value.message
    assert "[1].eval.eval_types: must be a list" in refused.value.message


def test_a_foreign_file_or_format_is_refused(write: Write) -> None:
    with pytest.raises(TaskError, match=r"\[0\]\.sites: is required"):
        import_suite("webarena", [write([{"index": 0, "task": "x", "evaluation": []}])])
    with pytest.raises(UnknownNameError, match="no format of published task sets 'webarna'"):
        import_suite("webarna", [write([webarena_task()])])
    with pytest.raises(UsageError, match="names no file"):
        import_suite("webarena", [])


def test_two_tasks_of_one_id_are_refused_with_the_places_of_both(write: Write) -> None:
    first, second = write([webarena_task()], "a.json"), write([webarena_task()], "b.json")
    with pytest.raises(TaskError, match=r"b\.json: \[0\]: two tasks .* '7': .*a\.json: \[0\]"):
        import_suite("webarena", [first, second])


def test_a_suite_is_written_whole_and_read_back_the_same(tmp_path: Path, write: Write) -> None:
    odd = 'Say "yes: no" — {x} #1\n\ttab \u2028 \x07 ! end '
    deep = {"deep": [{"é": None}, True, 1.5, "1"]}
    record: dict[str, Any] = webarena_task(intent=odd, extra=deep)
    imported = import_suite("webarena", [write([record])])
    out = tmp_path / "mine.yaml"
    write_suite(suite_text(imported), out)
    [task] = load_suite(str(out)).tasks
    assert task == imported.tasks[0]
    assert task.original is not None
    assert task.original.record == json.loads(json.dumps(record))
    assert task.original.id == "7"
    assert task.original.template == "12"
    write_suite(suite_text(imported), out)  # an import replaces an import


def test_a_file_of_somebody_elses_is_not_replaced(tmp_path: Path, write: Write) -> None:
    out = tmp_path / "mine.yaml"
    out.write_text("suite: mine\n")
    with pytest.raises(UsageError, match="does not begin with '# Imported by"):
        write_suite(suite_text(import_suite("webarena", [write([webarena_task()])])), out)
    assert out.read_text() == "suite: mine\n"
    with pytest.raises(UsageError, match="cannot be written"):
        write_suite("", out / "below.yaml")


def test_the_suite_is_called_as_its_file() -> None:
    assert suite_name(Path("out/my-set.yaml")) == "my-set"
    with pytest.raises(UsageError, match="must end in"):
        suite_name(Path("out.json"))
    with pytest.raises(UsageError, match="names the suite 'My Set'"):
        suite_name(Path("My Set.yaml"))
