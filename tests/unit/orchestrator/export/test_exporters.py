"""What every registered exporter of Arena's keeps to, whatever it writes; none is left out.

Each has a run that it has something to say of: packs one of tasks that their publisher wrote, `har`
one whose requests were recorded, training data one of an agent that asks a model.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.runs.made_run import SUITE, make_run
from support.runs.played_episode import ANSWER, NODE
from support.runs.published_run import SITE, published
from support.runs.sampled_runs import RIGHT, TO_KETTLE, TO_TEAPOT, WRONG, Sampled, sampled_run
from support.tasks.published_tasks import verified_task
from support.worlds.fake_world import browsing_task

from arena_core.errors import ArenaError, UsageError
from evaluators.network import RequestRecord
from orchestrator import Arena, Exported
from orchestrator.analysis.run_report.extension_points import EXPORTERS
from orchestrator.runs.store.evidence_files import network_files
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.run_folder import RunFolder

FORMS = tuple(one.name for one in EXPORTERS.plugins() if one.is_own)
SECRET = "sk-0123456789-not-to-be-seen"

_MADE_FOR_MODELS: Final = {"dpo", "rft", "sft"}
_OF_REQUESTS: Final = {"har", "webarena-verified"}


def _verified(number: int) -> dict[str, Any]:
    said = {"type": "array", "items": {"type": "string"}}
    return verified_task(said, ["39.99"]) | {"task_id": number}


# A task as its publisher wrote it, by its number.
_PACKS: Final[Mapping[str, Callable[[int], dict[str, Any]]]] = {
    "online-mind2web": lambda number: {
        "task_id": str(number),
        "confirmed_task": "Find out what the kettle costs.",
        "website": "https://shop.test/",
        "reference_length": 6,
    },
    "webarena-verified": _verified,
    "webharbor": lambda number: {
        "web_name": "Shop",
        "id": f"Shop--{number}",
        "ques": "What does the kettle cost?",
        "web": "http://localhost:40009/",
        "upstream_url": "https://shop.test/",
        "verifier_path": "sites/shop/verify/verify_3.py",
        "judge_rubric": "MUST name a price",
    },
    "webvoyager": lambda number: {
        "web_name": "Shop",
        "id": f"Shop--{number}",
        "ques": "What does the kettle cost?",
        "web": "https://shop.test/",
    },
}
# A pack holds one episode of each task: which world is the user's choice.
_OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {form: {"world": "offline"} for form in _PACKS}
# There is nothing in them that could be unscored: where nothing can be read, there is no export.
_OF_WHAT_IS_THERE: Final = {"har", *_PACKS}


@pytest.fixture(scope="module", params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    """Each of Arena's own exporters."""
    return str(request.param)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which a model is asked the same twice, and answers rightly and wrongly."""
    path = tmp_path_factory.mktemp("sampled") / "run"
    task = browsing_task(checks=[NODE, ANSWER])
    ways = ((TO_KETTLE, RIGHT), (TO_KETTLE, WRONG), (TO_TEAPOT, WRONG))
    asyncio.run(sampled_run(path, [Sampled(task, replies) for replies in ways]))
    return path


@pytest.fixture
def run(tmp_path: Path, exportable: Path) -> RunFolder:
    """A run that the exporter has something to say of, to be changed at will."""
    shutil.copytree(exportable, tmp_path / "run")
    return RunFolder.open(tmp_path / "run")


@pytest.fixture(scope="module")
def exportable(
    form: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """The same run, made once for each exporter."""
    if form in _MADE_FOR_MODELS:
        return Path(request.getfixturevalue("sampled"))
    originals = {}
    if form in _PACKS:
        for number, task in enumerate(SUITE.tasks, 5):
            record = _PACKS[form](number)
            name = str(record.get("task_id", record.get("id")))
            bases = {"__REDDIT__": SITE, "http://localhost:40009": SITE}
            originals[task.id] = published(form, record, name, bases)
    made = make_run(tmp_path_factory.mktemp(form) / "run", originals)
    if form in _OF_REQUESTS:
        _record_requests(made)
    return made.path


def _record_requests(run: RunFolder) -> None:
    visit = RequestRecord(index=0, step=0, method="GET", url=f"{SITE}/f/tea", status=200)
    for name in run.evidence_names():
        evidence = run.evidence(name).model_copy(update={"network": (visit,)})
        for file, content in network_files(evidence).items():
            (run.evidence_folder(name) / file).write_bytes(content)


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


@cache
def passwords() -> set[str]:
    """Return every password in the manifests of Arena's sites."""
    open_ones: list[object] = [
        one.model_dump(mode="json") for one in Arena().registry.sites.values()
    ]
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
    """Export a run as a user would."""
    return Arena().runs.export(run.path, form, out, options=_OPTIONS.get(form, {}))


@SLOW
def test_every_episode_is_written_or_left_out_with_a_reason(
    run: RunFolder, tmp_path: Path, form: str
) -> None:
    found = exported(run, form, tmp_path / "out")
    assert found.episodes > 0
    assert files(found.path)
    assert all(one.why and one.what for one in found.left_out)
    names = [one.what for one in found.left_out]
    assert len(set(names)) == len(names)
    assert set(names) <= set(run.evidence_names())
    assert found.episodes + len(names) == len(run.evidence_names())


@SLOW
def test_the_same_run_gives_the_same_export(run: RunFolder, tmp_path: Path, form: str) -> None:
    first, second = (files(exported(run, form, tmp_path / name).path) for name in "ab")
    assert first.keys() == second.keys()
    for name, content in first.items():
        assert content.replace(b"/a", b"/b") == second[name].replace(b"/a", b"/b"), name


@ONE_QUICK
def test_no_secret_of_the_lock_the_sites_or_the_environment_is_in_it(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    lock = json.loads((run.path / "lock.json").read_text())
    lock["agent"]["options"] = {"api_key": "(redacted)", "model": "tiny"}
    (run.path / "lock.json").write_text(json.dumps(lock))
    content = b"".join(files(exported(run, form, tmp_path / "out").path).values())
    assert content
    for secret in {SECRET, *passwords()}:
        assert secret.encode() not in content


@ONE_QUICK
def test_a_run_of_which_nothing_was_played_is_refused_in_one_line(
    run: RunFolder, tmp_path: Path, form: str
) -> None:
    (run.path / "ledger.sqlite").unlink()
    for path in sorted((run.path / "evidence").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(ArenaError) as failed:
        exported(run, form, tmp_path / "out")
    assert "\n" not in failed.value.message
    assert not (tmp_path / "out").exists()


@ONE_QUICK
def test_a_run_of_which_all_is_unreadable_is_unscored_in_it_or_refused(
    run: RunFolder, tmp_path: Path, form: str
) -> None:
    for name in run.evidence_names():
        (run.evidence_folder(name) / "evidence.json").write_bytes(b"\xff\x00 no JSON")
    if form in _OF_WHAT_IS_THERE:
        with pytest.raises(UsageError) as failed:
            exported(run, form, tmp_path / "out")
        assert "\n" not in failed.value.message
        assert not (tmp_path / "out").exists()
        return
    text = b"".join(files(exported(run, form, tmp_path / "out").path).values())
    assert b'"reward": 0' not in text


@SLOW
def test_a_run_that_is_being_written_is_exported_as_far_as_it_is(
    run: RunFolder, tmp_path: Path, form: str
) -> None:
    whole = exported(run, form, tmp_path / "whole").episodes
    lock = run.lock()
    run.add_repeats(lock.repeats + 1)
    left = EpisodeKey(lock.tasks[-1], lock.worlds[-1], lock.repeats)
    with run.writing() as ledger:
        ledger.start(left)
        (run.path / "evidence" / f"{left.folder(1)}.partial").mkdir()
        found = exported(run, form, tmp_path / "out")
    assert found.episodes == whole
    assert any("not played yet" in note for note in found.notes)
