"""A run's files say which format they have: older ones are read, newer ones are one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from quick_cases import ONE_QUICK
from support.runs.made_run import keep_other_suite, make_run

from arena_core.errors import FormatError, StoreError
from evaluators.evidence import Evidence
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.wording import agent_note
from orchestrator.runs.agent_choice import agent_of_lock
from orchestrator.runs.store import formats
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder

URL = "http://127.0.0.1:9/v1"


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "run")


def rewrite(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def first_evidence(folder: RunFolder) -> Path:
    return folder.evidence_folder(folder.evidence_names()[0]) / "evidence.json"


@ONE_QUICK
@pytest.mark.parametrize("name", ["lock", "evidence"])
def test_a_newer_file_is_one_line_that_says_who_made_it_and_what_to_do(
    folder: RunFolder, name: str
) -> None:
    packages = json.loads((folder.path / "lock.json").read_text())["packages"]
    rewrite(folder.path / "lock.json", packages=packages | {"arena-orchestrator": "7.3.0"})
    path = folder.path / "lock.json" if name == "lock" else first_evidence(folder)
    rewrite(path, version=99, a_field_of_the_future=True)
    with pytest.raises(FormatError) as caught:
        rescore(RunFolder.open(folder.path))
    for part in (str(path), "format 99", "made by Arena 7.3.0", "this is Arena 0.1.0"):
        assert part in caught.value.message
    assert "\n" not in caught.value.message
    assert "pip install --upgrade" in caught.value.hint


def test_newer_evidence_is_not_taken_for_lost(folder: RunFolder) -> None:
    """What is lost is played again: a whole episode of a newer Arena must not be."""
    rewrite(first_evidence(folder), version=99)
    folder.ledger_path.unlink()
    with pytest.raises(FormatError), folder.reading():
        pass


@ONE_QUICK
@pytest.mark.parametrize("version", [0, "1", None, True])
def test_a_version_that_nobody_wrote_is_refused(folder: RunFolder, version: object) -> None:
    rewrite(folder.path / "lock.json", version=version)
    with pytest.raises(StoreError):
        folder.lock()


def of_format_1(folder: RunFolder, agent: dict[str, Any]) -> RunFolder:
    """Turn a run into one that Arena wrote when locks had format 1."""
    rewrite(folder.path / "lock.json", version=1, agent=agent)
    suite = json.loads((folder.path / "suite.json").read_text())
    for task in suite["tasks"]:
        task["parts"] = task.pop("expected_divergence")
    keep_other_suite(folder, suite)
    return folder


@ONE_QUICK
@pytest.mark.parametrize(
    ("name", "stands_for", "note"),
    [
        ("oracle", AgentClass.REFERENCE, "reference agent, not a contestant"),
        ("idle", AgentClass.BASELINE, "baseline agent, not a contestant"),
        ("random", AgentClass.BASELINE, "baseline agent, not a contestant"),
        ("chat", AgentClass.CONTESTANT, None),
    ],
)
@pytest.mark.parametrize("has_class", [True, False])
def test_the_agent_of_an_earlier_lock_is_read_labelled_and_made_again(
    folder: RunFolder, name: str, stands_for: AgentClass, note: str | None, *, has_class: bool
) -> None:
    of_format_1(
        folder,
        {
            "name": name,
            "options": {
                "kind": name,
                "seed": 3,
                "model": "m" if name == "chat" else None,
                "model_url": URL if name == "chat" else None,
                "model_deadline_s": 90.0,
                "temperature": 0.0,
                "given": "--model --temperature" if name == "chat" else "",
            },
            **({"agent_class": stands_for} if has_class else {}),
        },
    )
    lock = folder.lock().agent
    assert (lock.kind, lock.agent_class, agent_note(lock)) == (name, stands_for, note)
    again = agent_of_lock(lock)
    assert again.maker.name.startswith(name)
    kept = {name: lock.options[name] for name in lock.given}
    assert (
        kept
        == {
            "oracle": {},
            "idle": {},
            "random": {"seed": 3},
            "chat": {
                "model": "m",
                "temperature": 0.0,
                "seed": 3,
                "model_url": URL,
                "model_deadline": 90.0,
            },
        }[name]
    )


def test_a_run_of_format_1_scores_as_before(folder: RunFolder) -> None:
    before = [row.document() for row in rescore(folder)]
    of_format_1(folder, {"name": "oracle", "options": {"kind": "oracle"}})
    for name in folder.evidence_names():
        rewrite(folder.evidence_folder(name) / "evidence.json", version=1)
    assert [row.document() for row in rescore(folder)] == before


def test_what_is_written_names_the_format_that_is_read(folder: RunFolder) -> None:
    assert folder.lock().version == formats.LOCK.version
    assert RunLock.model_fields["version"].default == formats.LOCK.version
    assert Evidence.model_fields["version"].default == formats.EVIDENCE.version
    assert formats.SUITE.version == formats.LOCK.version


def test_evidence_of_todays_format_is_parsed_once(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = folder.evidence(folder.evidence_names()[0])
    (folder.path / "lock.json").unlink()  # it says who made what is older
    monkeypatch.setattr(json, "loads", lambda *_: pytest.fail("parsed into a document first"))
    assert folder.evidence(folder.evidence_names()[0]) == before


@pytest.mark.parametrize(
    ("written", "version"),
    [
        (b'{"steps": [{"version": 7}], "version": 2}', 2),
        (b'{"version": true}', None),
        (b'{"version": 2.5}', None),
        (b'{"steps": []}', None),
        (b"[2]", None),
        (b'{"version": 2', None),
    ],
)
def test_the_version_of_a_file_is_its_own(written: bytes, version: int | None) -> None:
    assert formats.version_in(written) == version
