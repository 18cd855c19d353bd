"""A recording is on disk as it grows, and is read by whoever does not trust it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.recorder.made_recording import HEAD, event, looked_up, step_of, write

from arena_core.errors import StoreError
from orchestrator.authoring.recorder.recording import (
    HEAD_FILE,
    STEPS_FILE,
    RecordingFolder,
    open_recording,
)


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = looked_up()
    read = open_recording(write(made, tmp_path / "it"))
    assert (read.head, read.steps, read.end) == (made.head, made.steps, made.end)


def test_what_was_written_before_a_crash_is_there(tmp_path: Path) -> None:
    folder = write(looked_up(), tmp_path / "it", ended=False)
    whole = (folder / STEPS_FILE).read_bytes()
    (folder / STEPS_FILE).write_bytes(whole + whole[: len(whole) // 3])
    read = open_recording(folder)
    assert read.steps == looked_up().steps
    assert read.end is None


def test_a_step_that_goes_on_takes_its_own_place(tmp_path: Path) -> None:
    kept = RecordingFolder.create(tmp_path / "it", HEAD)
    for text in ("Ket", "Kettle"):
        kept.keep(step_of(0, [event("input", "input", name="Title", value=text)]), None)
    read = open_recording(tmp_path / "it")
    assert [step.evidence.acted[0].value for step in read.steps] == ["Kettle"]
    assert read.steps == kept.recording.steps


def test_a_folder_is_never_written_over(tmp_path: Path) -> None:
    write(looked_up(), tmp_path / "it")
    with pytest.raises(StoreError, match="is there already"):
        RecordingFolder.create(tmp_path / "it", HEAD)


def test_what_is_no_recording_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=f"has no {HEAD_FILE}"):
        open_recording(tmp_path)
    folder = write(looked_up(), tmp_path / "it")
    (folder / HEAD_FILE).write_text('{"version": 2}')
    with pytest.raises(StoreError, match="version"):
        open_recording(folder)


def test_a_line_that_was_changed_is_named(tmp_path: Path) -> None:
    folder = write(looked_up(), tmp_path / "it")
    lines = (folder / STEPS_FILE).read_text().splitlines()
    (folder / STEPS_FILE).write_text("\n".join([lines[0], '{"evidence": 7}', ""]))
    with pytest.raises(StoreError, match=r"steps.jsonl:2: "):
        open_recording(folder)


def test_a_step_names_no_other_file_than_its_picture(tmp_path: Path) -> None:
    folder = write(looked_up(), tmp_path / "it")
    text = (folder / STEPS_FILE).read_text().replace("step-001.webp", "../../secret")
    (folder / STEPS_FILE).write_text(text)
    with pytest.raises(StoreError, match="a picture that is not its own"):
        open_recording(folder)
