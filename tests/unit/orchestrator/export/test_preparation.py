"""`arena export`: which runs, in which form, where to; and what stands there when it fails."""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.agents.arena_process import Ended
from support.runs.made_run import make_run
from support.tasks.plugged import install

from arena_core.errors import PluginError, StoreError, UsageError
from arena_core.plugins import Group
from orchestrator import Arena
from orchestrator.runs.store.run_folder import RunFolder

Call = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "run")


def copied(run: RunFolder, path: Path, name: str) -> Path:
    """Return the folder of a run of its own that went as another one did."""
    shutil.copytree(run.path, path)
    lock = json.loads((path / "lock.json").read_text())
    (path / "lock.json").write_text(json.dumps(lock | {"run": name}))
    return path


def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> None:
    """Install an exporter, `module:EXPORTER`, under a name."""
    folder = tmp_path / "site-packages"
    module = f"plugged_{name.replace('-', '_')}"
    points = {Group.EXPORTERS: {name: f"{module}:EXPORTER"}}
    install(folder, f"plug-{name}", points, modules={module: source})
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()


def documents(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


BREAKING = """
class Breaking:
    suffix, is_folder = "", True
    def export(self, runs, path):
        path.mkdir()
        (path / "half").write_text("half")
        raise OSError(28, "No space left on device")
EXPORTER = Breaking()
"""

FOLDER = """
from orchestrator import LeftOut, Written
class Folder:
    suffix, is_folder = "", True
    def export(self, runs, path, *, least: int = 0):
        path.mkdir()
        (path / "runs").write_text("\\n".join(one.lock.run for one in runs))
        episodes = [(one, episode) for one in runs for episode in one.episodes]
        left = [LeftOut(run=a.folder.path, what=b.folder, why="too few steps")
                for a, b in episodes if b.score.steps < least]
        return Written(episodes=len(episodes) - len(left), left_out=tuple(left))
EXPORTER = Folder()
"""


@SLOW
def test_a_run_is_exported_as_one_json_document_a_line(call: Call, run: RunFolder) -> None:
    ended = call("export", "jsonl", run.path)
    assert ended.code == 0, ended.err
    assert ended.out.strip() == str(run.path / "export.jsonl")
    assert "11 episodes of 1 run written as jsonl, 0 left out" in ended.err
    assert "1 episode is not played yet" in ended.err
    written = documents(run.path / "export.jsonl")
    scored = json.loads(call("score", run.path, "--json").out)
    assert {one["run"] for one in written} == {run.lock().run}
    key = lambda one: (one["world"], one["task"], one["repeat"])  # noqa: E731
    shorn = [{name: one[name] for name in scored[0]} for one in sorted(written, key=key)]
    assert shorn == sorted(scored, key=key)


@ONE_QUICK
@pytest.mark.parametrize("words", [("--as", "jsonl"), ()])
def test_the_run_alone_is_exported_as_before(
    call: Call, run: RunFolder, tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert call("export", run.path, *words, "--out", tmp_path / "run.jsonl").code == 0
    assert len(documents(tmp_path / "run.jsonl")) == 11


@SLOW
def test_several_runs_go_into_one_file_in_their_order(
    call: Call, run: RunFolder, tmp_path: Path
) -> None:
    other = copied(run, tmp_path / "other", "another-run")
    ended = call("export", "jsonl", other, run.path)
    assert ended.code == 2
    assert "--out" in ended.err
    out = tmp_path / "new" / "both.jsonl"
    ended = call("export", "jsonl", other, run.path, "--out", out, "--json")
    assert ended.code == 0, ended.err
    assert [one["run"] for one in documents(out)] == ["another-run"] * 11 + [run.lock().run] * 11
    assert ended.document["episodes"] == 22
    assert ended.document["runs"] == 2
    assert ended.document["path"] == str(out)


@SLOW
def test_a_study_stands_for_its_runs(call: Call, run: RunFolder, tmp_path: Path) -> None:
    study = tmp_path / "study"
    for name in ("strong", "weak"):
        copied(run, study / "runs" / name, name)
    unbegun = copied(run, study / "runs" / "waits", "waits")
    (unbegun / "ledger.sqlite").unlink()
    shutil.rmtree(unbegun / "evidence")
    ended = call("export", "jsonl", study)
    assert ended.code == 0, ended.err
    runs = [one["run"] for one in documents(study / "export.jsonl")]
    assert list(dict.fromkeys(runs)) == ["strong", "weak"]
    assert f"{unbegun}: nothing was run yet" in ended.err


def test_a_study_without_a_run_and_a_folder_of_neither_are_refused(
    call: Call, tmp_path: Path
) -> None:
    (tmp_path / "study" / "runs").mkdir(parents=True)
    ended = call("export", "jsonl", tmp_path / "study")
    assert ended.code == 80
    assert "a study without a run" in ended.err
    ended = call("export", "jsonl", tmp_path)
    assert ended.code == 80
    assert "is not a run folder" in ended.err


@SLOW
def test_no_episode_counts_twice(run: RunFolder, tmp_path: Path) -> None:
    copy = shutil.copytree(run.path, tmp_path / "copy")
    out = tmp_path / "out.jsonl"
    with pytest.raises(UsageError, match="are both the run"):
        Arena().runs.export([run.path, copy], out=out)
    with pytest.raises(UsageError, match="is given twice"):
        Arena().runs.export([run.path, tmp_path / "copy" / ".." / "run"], out=out)
    assert not out.exists()


def test_an_exporter_that_is_not_installed_is_answered_with_those_that_are(
    call: Call, run: RunFolder
) -> None:
    for words in (("none-such", run.path), (run.path, "--as", "none-such")):
        ended = call("export", *words)
        assert ended.code == 6
        assert "there is no exporter 'none-such'" in ended.err
        assert "there are: " in ended.err
        assert "jsonl" in ended.err


def test_a_form_without_a_run_is_refused(call: Call) -> None:
    ended = call("export", "jsonl")
    assert ended.code == 2
    assert "of which run?" in ended.err


@SLOW
def test_what_is_left_out_is_said_with_its_reason(
    call: Call, run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugged(tmp_path, monkeypatch, "folder", FOLDER)
    ended = call("export", "folder", run.path, "--option", "least=2")
    assert ended.code == 0, ended.err
    assert "9 episodes of 1 run written as folder, 2 left out" in ended.err
    assert "left out: run/online-gone-r0-a1, run/offline-broken-r0-a3: too few steps" in ended.err
    ended = call("export", "folder", run.path, "--option", "least=many")
    assert ended.code == 2
    assert "least=many is not valid" in ended.err


@SLOW
def test_a_folder_replaces_an_earlier_export_and_nothing_else(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugged(tmp_path, monkeypatch, "folder", FOLDER)
    arena = Arena()
    assert arena.runs.export(run.path, "folder").path == run.path / "export-folder"
    assert arena.runs.export(run.path, "folder").episodes == 11
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    for form, out, why in (
        ("folder", mine, "holds something else"),
        ("folder", mine / "thesis.tex", "is a file"),
        ("jsonl", mine, "is a folder"),
        ("jsonl", run.path / "lock.json", "a part of the run"),
    ):
        with pytest.raises(UsageError, match=why):
            arena.runs.export(run.path, form, out)
    assert (mine / "thesis.tex").read_text() == "years of work"
    assert run.lock().run


@SLOW
def test_a_disk_that_is_full_leaves_the_earlier_export_and_no_half(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugged(tmp_path, monkeypatch, "breaking", BREAKING)
    before = sorted(one.name for one in run.path.iterdir())
    with pytest.raises(StoreError, match="No space left") as failed:
        Arena().runs.export(run.path, "breaking")
    assert failed.value.message.startswith(f"{run.path / 'export-breaking'}: ")
    assert sorted(one.name for one in run.path.iterdir()) == before


@ONE_QUICK
@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "atif"])
def test_a_place_that_cannot_be_written_is_named_as_the_user_named_it(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    real = Path.open

    def full(path: Path, mode: str = "r", *args: object, **options: object) -> object:
        if ".arena-export-" in str(path):
            raise OSError(28, "No space left on device")
        return real(path, mode, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", full)
    monkeypatch.setattr(Path, "mkdir", _refusing(Path.mkdir))
    with pytest.raises(StoreError, match="No space left") as failed:
        Arena().runs.export(run.path, form, tmp_path / "out")
    assert failed.value.message.startswith(str(tmp_path / "out"))
    assert ".arena-export-" not in failed.value.message
    assert not (tmp_path / "out").exists()


def _refusing(real: Callable[..., None]) -> Callable[..., None]:
    def mkdir(path: Path, *args: object, **options: object) -> None:
        if ".arena-export-" in str(path):
            raise OSError(28, "No space left on device")
        real(path, *args, **options)

    return mkdir


@SLOW
def test_an_exporter_that_does_not_say_what_it_wrote_is_named(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = FOLDER.replace("return Written(", "dict(")
    plugged(tmp_path, monkeypatch, "silent", source)
    with pytest.raises(PluginError, match="'silent' returns NoneType"):
        Arena().runs.export(run.path, "silent")


@SLOW
def test_what_an_export_replaces_is_said(call: Call, run: RunFolder) -> None:
    assert "is replaced" not in call("export", "jsonl", run.path).err
    again = call("export", "jsonl", run.path)
    assert again.code == 0
    assert f"{run.path / 'export.jsonl'}: was there, and is replaced" in again.err


@SLOW
@pytest.mark.parametrize("form", ["atif", "inspect"])
def test_pictures_are_not_asked_for_where_there_are_none(
    call: Call, run: RunFolder, form: str
) -> None:
    assert call("export", form, run.path, "--option", "images=true").code == 0
    for picture in run.path.glob("evidence/*/step-*.*"):
        picture.unlink()
    (run.path / f"export-{form}" / "kept").touch()
    ended = call("export", form, run.path, "--option", "images=true")
    assert ended.code == UsageError.exit_code
    assert "images=true has no effect" in ended.err
    assert (run.path / f"export-{form}" / "kept").exists()
