"""Runs as tables: every figure as it was scored, what is unscored empty, columns as documented."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic_core import to_json
from quick_cases import SLOW
from support.runs.evidence_changes import change
from support.runs.made_run import HOSTILE
from support.studies.registered_study import make_study as make_registered_study
from support.studies.registered_study import play

from arena_core.errors import PrerequisiteError
from orchestrator import Arena
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.analysis.run_report.tables import CHECKS, EPISODES, TABLES, Table, as_time, as_usd
from orchestrator.analysis.studies.registration import Amendment
from orchestrator.runs.store.run_folder import RunFolder

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


@SLOW
def test_parquet_holds_what_was_scored(run: RunFolder, report: RunReport) -> None:
    written = Arena().runs.export(run.path, "parquet")
    assert written.episodes == 11
    rows = parquet(written.path, "episodes")
    assert [one["episode"] for one in rows] == [one.folder for one in report.episodes]
    for row, episode in zip(rows, report.episodes, strict=True):
        score = episode.score
        assert row["outcome"] == score.outcome.kind
        assert row["reason"] == score.outcome.reason
        for name in ("completion", "alignment", "efficiency", "steps", "key_nodes_met", "because"):
            assert row[name] == getattr(score, name), name
        assert row["seconds"] == episode.outline.seconds
        assert row["started_at"] == datetime(2026, 11, 21, tzinfo=UTC)
        assert row["agent_class"] == "reference"


@SLOW
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_what_is_unscored_is_empty_and_never_false(run: RunFolder, form: str) -> None:
    folder = Arena().runs.export(run.path, form).path
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


@SLOW
def test_pandas_leaves_the_unscored_out_of_the_mean(run: RunFolder, report: RunReport) -> None:
    pandas = pytest.importorskip("pandas")
    folder = Arena().runs.export(run.path, "parquet").path
    read = pandas.read_parquet(folder / "episodes.parquet", dtype_backend="numpy_nullable")
    for world, summary in report.summaries.items():
        mean = read[read["world"] == world.value]["success"].mean()
        assert mean == pytest.approx(summary.success.value)


@SLOW
def test_types_units_and_meanings_are_in_the_file(run: RunFolder) -> None:
    folder = Arena().runs.export(run.path, "parquet").path
    for table in TABLES:
        schema = pq.read_schema(folder / f"{table.name}.parquet")
        assert schema.names == [one.name for one in table.columns]
    schema = pq.read_schema(folder / "episodes.parquet")
    assert schema.field("started_at").type == pa.timestamp("ms", tz="UTC")
    assert schema.field("usd").type == pa.decimal128(38, 9)
    assert schema.field("success").type == pa.bool_()
    assert schema.field("seconds").metadata[b"unit"] == b"s"


@SLOW
def test_csv_and_parquet_say_the_same(run: RunFolder) -> None:
    arena = Arena()
    change(run, "offline-agrees-r0-a1", usd=0.1, input_tokens=7)
    texts, types = (
        arena.runs.export(run.path, "csv").path,
        arena.runs.export(run.path, "parquet").path,
    )
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
    folder = Arena().runs.export(run.path, "csv").path
    lines = (folder / "episodes.csv").read_text().splitlines()
    at = [one.name for one in EPISODES.columns].index("answer") - len(EPISODES.columns)
    assert [line.split(",")[at] for line in lines[1:3]] == ['""', ""]


@SLOW
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_hostile_texts_come_through(run: RunFolder, form: str) -> None:
    answer = 'a "quoted", \n two-line \0 text \U0001f600 \u2028 =1+1 ' + "x" * 300_000
    change(run, "offline-agrees-r0-a1", answer=answer)
    folder = Arena().runs.export(run.path, form).path
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


@SLOW
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_same_run_gives_the_same_bytes(run: RunFolder, tmp_path: Path, form: str) -> None:
    first, second = (Arena().runs.export(run.path, form, tmp_path / name).path for name in "ab")
    for one in sorted(first.iterdir()):
        assert one.read_bytes() == (second / one.name).read_bytes()


@SLOW
def test_evidence_that_cannot_be_read_is_a_row_without_a_success(run: RunFolder) -> None:
    text = (run.evidence_folder("offline-agrees-r0-a1") / "evidence.json").read_text()
    broken = re.sub(r'"answer": "[^"]*"', r'"answer": "\\ud800"', text)
    assert broken != text
    (run.evidence_folder("offline-agrees-r0-a1") / "evidence.json").write_text(broken)
    written = Arena().runs.export(run.path, "parquet")
    [row] = [
        one for one in parquet(written.path, "episodes") if one["episode"] == "offline-agrees-r0-a1"
    ]
    assert (row["outcome"], row["reason"], row["success"]) == ("unscored", "unreadable", None)
    assert written.episodes == 11


@SLOW
def test_a_folder_whose_name_is_no_utf_8_is_written(run: RunFolder, tmp_path: Path) -> None:
    odd = shutil.copytree(run.path, tmp_path / "run-\udcff")
    for form in ("parquet", "csv"):
        written = Arena().runs.export(odd, form, tmp_path / form)
        assert written.episodes == 11
    assert parquet(tmp_path / "parquet", "episodes")[0]["run_folder"] == "run-\\xff"


def test_a_package_that_is_missing_is_named_with_what_installs_it(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(PrerequisiteError, match="needs pyarrow") as failed:
        Arena().runs.export(run.path, "parquet")
    assert failed.value.hint == "pip install 'arena-orchestrator[parquet]'"


@SLOW
def test_an_episode_says_what_it_is_in_its_study_and_what_it_was_played_with(
    tmp_path: Path,
) -> None:
    folder = make_registered_study(tmp_path / "made")
    registration = folder.registration()
    added = registration.model_copy(
        update={
            "runs": registration.runs[:1],
            "amendments": (
                Amendment(
                    at="2026-11-23T00:00:00+00:00",
                    by="me",
                    previous=registration.model_copy(
                        update={"runs": registration.runs[:1]}
                    ).registered_digest,
                    repeats=4,
                    runs=registration.runs[1:],
                ),
            ),
        }
    )
    folder.amend(added)
    play(folder.run_folder("right"), "1891", range(3, 4))

    rows = parquet(Arena().runs.export(folder.path, "parquet").path, "episodes")
    alone = parquet(
        Arena().runs.export(folder.path / "runs" / "right", "parquet", tmp_path / "alone").path,
        "episodes",
    )

    said = [(one["study"], one["label"], one["repeat"], one["registered"]) for one in rows]
    assert said == [
        *(("made", "right", repeat, repeat < 3) for repeat in range(4)),
        *(("made", "wrong", repeat, False) for repeat in range(3)),
    ]
    assert alone == rows[:4]
    lock = folder.run_folder("right").lock()
    assert {one["suite_hash"] for one in rows} == {lock.suite_hash}
    images = ",".join(f"{tag}={digest}" for tag, digest in sorted(lock.images.items()))
    assert {one["site_images"] for one in rows} == {images}


def test_an_episode_says_how_long_the_reference_is_and_what_diverges_on_purpose(
    run: RunFolder,
) -> None:
    suite = run.path / "suite.json"
    document = json.loads(suite.read_text())
    for task in document["tasks"]:
        if task["id"] == "parts":
            task["reference"] = [
                {"do": "goto", "page": "shop:/"},
                {"do": "goto", "page": "shop:/a", "only": "online"},
                {"do": "stop", "answer": "1"},
            ]
            diverges = {"outcome": "unscored: blocked", "at": None, "why": "A wall stands there."}
            task["expected_divergence"] = diverges
    suite.write_text(json.dumps(document))
    lock = run.path / "lock.json"
    changed = json.loads(lock.read_text())
    changed["suite_hash"] = sha256(to_json(document)).hexdigest()
    changed["agent"]["options"] = {"seed": 7}
    lock.write_text(json.dumps(changed))

    rows = parquet(Arena().runs.export(run.path, "parquet").path, "episodes")

    found = {
        one["world"]: (one["reference_length"], one["expected_divergence"], one["run_seed"])
        for one in rows
        if one["task"] == "parts"
    }
    assert found == {"offline": (2, None, 7), "online": (3, "unscored: blocked", 7)}
    assert {one["registered"] for one in rows} == {None}


@SLOW
def test_a_stated_confidence_is_a_number_and_empty_where_none_was_stated(run: RunFolder) -> None:
    name = "offline-agrees-r0-a1"
    steps = [one.model_dump(mode="json") for one in run.evidence(name).steps]
    steps[-1]["action"] |= {"kind": "stop", "answer": "39.99", "confidence": 0.0}
    before = parquet(Arena().runs.export(run.path, "parquet").path, "episodes")
    change(run, name, steps=steps)
    rows = parquet(Arena().runs.export(run.path, "parquet").path, "episodes")
    assert {one["episode"]: one["confidence"] for one in rows if one["confidence"] is not None} == {
        name: 0.0
    }
    assert {one["confidence"] for one in before} == {None}
    assert [one["outcome"] for one in rows] == [one["outcome"] for one in before]


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
