"""What every registered exporter of Arena's keeps to, whatever it writes."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_core.errors import ArenaError
from arena_core.worlds import World
from orchestrator import Arena, Exported
from orchestrator.report.seams import EXPORTERS
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.trials import Trial

FORMS = tuple(one.name for one in EXPORTERS.plugins() if one.is_own)
SECRET = "sk-0123456789-not-to-be-seen"
UNSCORED = {"online-gone-r0-a1", "offline-broken-r0-a3"}


def files(path: Path) -> dict[str, bytes]:
    """Return the files of an export by name, those in archives unpacked."""
    found = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return dict(item for one in found for item in _unpacked(one, path))


def _unpacked(one: Path, root: Path) -> Iterator[tuple[str, bytes]]:
    name = str(one.relative_to(root))
    if zipfile.is_zipfile(one):
        with zipfile.ZipFile(one) as archive:
            for inner in archive.namelist():
                yield f"{name}/{inner}", archive.read(inner)
    elif one.suffix == ".gz":
        yield name, gzip.decompress(one.read_bytes())
    else:
        yield name, one.read_bytes()


def passwords() -> set[str]:
    """Return every password in the manifests of Arena's sites."""
    open_ones: list[object] = [one.model_dump(mode="json") for one in Arena().atlas.sites.values()]
    found: set[str] = set()
    while open_ones:
        one = open_ones.pop()
        if isinstance(one, dict):
            open_ones += one.values()
            found |= {str(value) for key, value in one.items() if "password" in key and value}
        elif isinstance(one, list):
            open_ones += one
    telling = {one for one in found if any(letter.isdigit() for letter in one)}
    assert telling
    return telling


def exported(run: RunFolder, form: str, out: Path) -> Exported:
    """Export a run; skip where the form has nothing to say of runs like these."""
    try:
        return Arena().export(run.path, form, out)
    except ArenaError as refused:
        pytest.skip(f"{form} does not take this run: {refused.message}")


@pytest.mark.parametrize("form", FORMS)
def test_every_episode_is_written_or_left_out_with_a_reason(
    run: RunFolder, tmp_path: Path, form: str
) -> None:
    found = exported(run, form, tmp_path / "out")
    assert found.episodes + len(found.left_out) >= 11 or form in _TRAINING
    assert all(one.why and one.what for one in found.left_out)
    names = set(run.evidence_names()) | {"offline-broken-r0-a3"}
    assert {one.what for one in found.left_out if one.what.endswith("-a1")} <= names


@pytest.mark.parametrize("form", FORMS)
def test_the_same_run_gives_the_same_export(run: RunFolder, tmp_path: Path, form: str) -> None:
    first, second = (files(exported(run, form, tmp_path / name).path) for name in "ab")
    assert first.keys() == second.keys()
    for name, content in first.items():
        assert content.replace(b"/a", b"/b") == second[name].replace(b"/a", b"/b"), name


@pytest.mark.parametrize("form", FORMS)
def test_no_secret_of_the_lock_the_sites_or_the_environment_is_in_it(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    lock = json.loads((run.path / "lock.json").read_text())
    lock["agent"]["options"] = {"api_key": "(redacted)", "model": "tiny"}
    (run.path / "lock.json").write_text(json.dumps(lock))
    content = b"".join(files(exported(run, form, tmp_path / "out").path).values())
    for secret in {SECRET, *passwords()}:
        assert secret.encode() not in content


@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_which_nothing_was_played_is_refused_in_one_line(
    run: RunFolder, tmp_path: Path, form: str
) -> None:
    (run.path / "ledger.sqlite").unlink()
    for path in sorted((run.path / "evidence").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(ArenaError) as failed:
        Arena().export(run.path, form, tmp_path / "out")
    assert "\n" not in failed.value.message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_which_all_is_unreadable_is_unscored_in_it(
    run: RunFolder, tmp_path: Path, form: str
) -> None:
    for name in run.evidence_names():
        (run.evidence_folder(name) / "evidence.json").write_bytes(b"\xff\x00 no JSON")
    found = exported(run, form, tmp_path / "out")
    text = b"".join(files(found.path).values())
    assert b'"reward": 0' not in text


@pytest.mark.parametrize("form", FORMS)
def test_a_run_that_is_being_written_is_exported_as_far_as_it_is(
    run: RunFolder, tmp_path: Path, form: str
) -> None:
    with run.writing() as ledger:
        ledger.start(Trial("left", World.ONLINE))
        (run.path / "evidence" / "online-left-r0-a1.partial").mkdir()
        found = exported(run, form, tmp_path / "out")
    assert any("not played yet" in note for note in found.notes)


_TRAINING = {"sft", "dpo", "rft", "rewards"}
