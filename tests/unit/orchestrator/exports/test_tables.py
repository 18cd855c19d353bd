"""Runs as tables: every figure as it was scored, what is unscored empty, columns as documented."""

from __future__ import annotations

import csv
import io
import re
import shutil
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from evidence_changes import change
from made_run import HOSTILE

from arena_core.errors import PrerequisiteError
from orchestrator import Arena
from orchestrator.exports.columns import Table, as_time, as_usd
from orchestrator.exports.tables import CHECKS, EPISODES, TABLES
from orchestrator.report.run_report import RunReport, read_run
from orchestrator.store.run_folder import RunFolder

DOCS = Path(__file__).parents[4] / "docs" / "exports.md"
UNSCORED = {"online-gone-r0-a1", "offline-broken-r0-a3"}


@pytest.fixture
def report(run: RunFolder) -> RunReport:
    return read_run(run)


def parquet(folder: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return rows


def documented(table: Table) -> str:
    lines = [
        f"### `{table.name}`: {table.rows}",
        "",
        "| column | type | unit | meaning |",
        "|---|---|---|---|",
        *(f"| `{one.name}` | {one.kind} | {one.unit} | {one.meaning} |" for one in table.columns),
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("table", TABLES, ids=lambda one: one.name)
def test_the_columns_are_those_of_the_documentation(table: Table) -> None:
    assert documented(table) in DOCS.read_text(encoding="utf-8")


def test_parquet_holds_what_was_scored(run: RunFolder, report: RunReport) -> None:
    written = Arena().export(run.path, "parquet")
    assert written.episodes == 11
    rows = parquet(written.path, "episodes")
    assert [one["episode"] for one in rows] == [one.folder for one in report.trials]
    for row, trial in zip(rows, report.trials, strict=True):
        score = trial.score
        assert row["outcome"] == score.outcome.kind
        assert row["reason"] == score.outcome.reason
        for name in ("completion", "alignment", "efficiency", "steps", "key_nodes_met", "because"):
            assert row[name] == getattr(score, name), name
        assert row["seconds"] == trial.outline.seconds
        assert row["started_at"] == datetime(2026, 11, 21, tzinfo=UTC)
        assert row["agent_class"] == "reference"


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_what_is_unscored_is_empty_and_never_false(run: RunFolder, form: str) -> None:
    folder = Arena().export(run.path, form).path
    if form == "parquet":
        episodes, checks = parquet(folder, "episodes"), parquet(folder, "checks")
        empty: object = None
    else:
        episodes, checks = (
            list(csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text())))
            for name in ("episodes", "checks")
        )
        empty = ""
    assert {one["episode"] for one in episodes if one["success"] == empty} == UNSCORED
    assert {one["episode"] for one in episodes if one["outcome"] == "unscored"} == UNSCORED
    of_unscored = [one for one in checks if one["episode"] in UNSCORED]
    assert of_unscored
    assert {one["met"] for one in of_unscored} == {empty}


def test_pandas_leaves_the_unscored_out_of_the_mean(run: RunFolder, report: RunReport) -> None:
    pandas = pytest.importorskip("pandas")
    folder = Arena().export(run.path, "parquet").path
    read = pandas.read_parquet(folder / "episodes.parquet", dtype_backend="numpy_nullable")
    for world, summary in report.summaries.items():
        mean = read[read["world"] == world.value]["success"].mean()
        assert mean == pytest.approx(summary.success.value)


def test_types_units_and_meanings_are_in_the_file(run: RunFolder) -> None:
    folder = Arena().export(run.path, "parquet").path
    for table in TABLES:
        schema = pq.read_schema(folder / f"{table.name}.parquet")
        assert schema.names == [one.name for one in table.columns]
    schema = pq.read_schema(folder / "episodes.parquet")
    assert schema.field("started_at").type == pa.timestamp("ms", tz="UTC")
    assert schema.field("usd").type == pa.decimal128(38, 9)
    assert schema.field("success").type == pa.bool_()
    assert schema.field("seconds").metadata[b"unit"] == b"s"


def test_csv_and_parquet_say_the_same(run: RunFolder) -> None:
    arena = Arena()
    change(run, "offline-agrees-r0-a1", usd=0.1, input_tokens=7)
    texts, types = arena.export(run.path, "csv").path, arena.export(run.path, "parquet").path
    for table in TABLES:
        with (texts / f"{table.name}.csv").open(encoding="utf-8", newline="") as file:
            read = list(csv.DictReader(file))
        expected = parquet(types, table.name)
        assert len(read) == len(expected)
        for one, other in zip(read, expected, strict=True):
            assert one == {name: _as_csv(value) for name, value in other.items()}


def _as_csv(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(value)


def test_an_empty_text_and_none_are_told_apart(run: RunFolder) -> None:
    change(run, "offline-agrees-r0-a1", answer="")
    change(run, "online-agrees-r0-a1", answer=None)
    folder = Arena().export(run.path, "csv").path
    lines = (folder / "episodes.csv").read_text().splitlines()
    at = [one.name for one in EPISODES.columns].index("answer") - len(EPISODES.columns)
    assert [line.split(",")[at] for line in lines[1:3]] == ['""', ""]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_hostile_texts_come_through(run: RunFolder, form: str) -> None:
    answer = 'a "quoted", \n two-line \0 text \U0001f600 \u2028 =1+1 ' + "x" * 300_000
    change(run, "offline-agrees-r0-a1", answer=answer)
    folder = Arena().export(run.path, form).path
    if form == "parquet":
        found = parquet(folder, "episodes")
    else:
        csv.field_size_limit(10_000_000)
        with (folder / "episodes.csv").open(encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
        answer = answer.replace("\0", "␀")
    by_episode = {one["episode"]: one["answer"] for one in found}
    assert by_episode["offline-agrees-r0-a1"] == answer
    assert HOSTILE in by_episode["online-hostile-r0-a1"]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_same_run_gives_the_same_bytes(run: RunFolder, tmp_path: Path, form: str) -> None:
    first, second = (Arena().export(run.path, form, tmp_path / name).path for name in "ab")
    for one in sorted(first.iterdir()):
        assert one.read_bytes() == (second / one.name).read_bytes()


def test_evidence_that_cannot_be_read_is_a_row_without_a_success(run: RunFolder) -> None:
    text = (run.evidence_folder("offline-agrees-r0-a1") / "evidence.json").read_text()
    broken = re.sub(r'"answer": "[^"]*"', r'"answer": "\\ud800"', text)
    assert broken != text
    (run.evidence_folder("offline-agrees-r0-a1") / "evidence.json").write_text(broken)
    written = Arena().export(run.path, "parquet")
    [row] = [
        one for one in parquet(written.path, "episodes") if one["episode"] == "offline-agrees-r0-a1"
    ]
    assert (row["outcome"], row["reason"], row["success"]) == ("unscored", "unreadable", None)
    assert written.episodes == 11


def test_a_folder_whose_name_is_no_utf_8_is_written(run: RunFolder, tmp_path: Path) -> None:
    odd = shutil.copytree(run.path, tmp_path / "run-\udcff")
    for form in ("parquet", "csv"):
        written = Arena().export(odd, form, tmp_path / form)
        assert written.episodes == 11
    assert parquet(tmp_path / "parquet", "episodes")[0]["run_folder"] == "run-\\xff"


def test_a_package_that_is_missing_is_named_with_what_installs_it(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(PrerequisiteError, match="needs pyarrow") as failed:
        Arena().export(run.path, "parquet")
    assert failed.value.hint == "pip install 'arena-orchestrator[parquet]'"


def test_money_is_exact_and_times_are_utc() -> None:
    assert as_usd(0.1) == Decimal("0.1")
    assert as_usd(None) is None
    assert as_usd(1e-7) == Decimal("0.0000001")
    assert as_time("2026-11-21T02:00:00+02:00") == datetime(2026, 11, 21, tzinfo=UTC)
    assert as_time("2026-11-21T00:00:00") is None
    assert as_time("yesterday") is None


def test_a_row_has_a_value_for_each_column() -> None:
    with pytest.raises(ValueError, match="1 values for"):
        CHECKS.row(["x"])
