"""What is told of each step beside the evidence: compressed, whole, without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_core.errors import StoreError
from orchestrator.store.step_lines import StepLines, read_lines


def test_lines_are_read_as_they_were_added_and_more_may_follow(tmp_path: Path) -> None:
    lines = StepLines()
    path = tmp_path / "some.jsonl.gz"
    lines.add({"step": 0, "text": "Käse\n" * 500})
    path.write_bytes(lines.packed())
    assert list(read_lines(path)) == [{"step": 0, "text": "Käse\n" * 500}]
    assert path.stat().st_size < 200
    lines.add({"step": 1})
    path.write_bytes(lines.packed())
    assert [line["step"] for line in read_lines(path)] == [0, 1]


def test_values_of_secret_variables_are_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", 'a"very"secret')
    lines = StepLines()
    lines.add({"asked": 'the key is a"very"secret indeed'})
    (tmp_path / "x.gz").write_bytes(lines.packed())
    assert list(read_lines(tmp_path / "x.gz")) == [{"asked": "the key is [redacted] indeed"}]


def test_a_run_of_an_earlier_version_has_no_lines_and_a_damaged_file_is_one_error(
    tmp_path: Path,
) -> None:
    assert list(read_lines(tmp_path / "none.gz")) == []
    lines = StepLines()
    lines.add({"step": 0})
    (tmp_path / "cut.gz").write_bytes(lines.packed()[:-9])
    with pytest.raises(StoreError, match=r"cut\.gz: cannot be read"):
        list(read_lines(tmp_path / "cut.gz"))
