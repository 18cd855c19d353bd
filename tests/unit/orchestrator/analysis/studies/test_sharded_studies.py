"""Shards of a study are merged to the study that was not sharded; else it is said why not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.runs.ledger_check import ledger_faults
from support.studies.registered_study import ANSWERS, STUDY, make_study, play

from arena_core.errors import ArenaError, StoreError, UsageError
from orchestrator.analysis.studies.adding import Addition, refuse_to_shard
from orchestrator.analysis.studies.merging import merge_study
from orchestrator.analysis.studies.new_study import NewStudy, registered_folder, study_path
from orchestrator.analysis.studies.progress import read_progress
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.analysis.studies.verification import Published, Verification, verify_study
from orchestrator.runs.shard import Shard
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store.rescoring import rescore

pytestmark = pytest.mark.usefixtures("plain")


def make_shards(root: Path, count: int = 2, text: bytes = STUDY) -> list[Path]:
    return [
        make_study(root / f"{number}of{count}", text, shard=f"{number}/{count}").path
        for number in range(1, count + 1)
    ]


def refused(shards: Iterable[Path], into: Path) -> str:
    """Merge, and return what refused it; nothing is left behind."""
    with pytest.raises(ArenaError) as said:
        merge_study(shards, into)
    assert not into.exists()
    assert list(into.parent.glob(f"*{into.name}*")) == []
    return f"{said.value.message}\n{said.value.hint}"


def verified(path: Path, **published: str) -> Verification:
    return verify_study(StudyFolder.open(path), Published(**published))


def verdicts(path: Path) -> Mapping[str, object]:
    return {
        f"{label}/{one.folder}": (one.score.outcome, one.score.verdicts, one.is_same)
        for label in ANSWERS
        for one in rescore(StudyFolder.open(path).run_folder(label))
    }


@pytest.mark.parametrize("count", [2, pytest.param(7, marks=pytest.mark.slow)])
def test_merged_shards_are_the_study_that_was_not_sharded(tmp_path: Path, count: int) -> None:
    """Of seven shards most are empty."""
    shards, alone = make_shards(tmp_path, count), make_study(tmp_path / "alone").path
    whole = merge_study(reversed(shards), tmp_path / "whole").path
    for label in ANSWERS:
        parts = [shard / "runs" / label for shard in shards]
        assert ledger_faults(parts, kept_in=whole / "runs" / label) == []
    assert verdicts(whole) == verdicts(alone)
    cells = [replace(one, seconds=0.0) for one in read_progress(whole).cells]
    assert cells == [replace(one, seconds=0.0) for one in read_progress(alone).cells]
    assert (verified(whole).differences, verified(whole).notes) == ((), ())


def test_a_shard_is_a_study_of_its_share(tmp_path: Path) -> None:
    shards = make_shards(tmp_path)
    totals = [read_progress(shard).total for shard in shards]
    assert sum(totals) == 2 * 3
    assert [read_progress(shard).done for shard in shards] == totals
    for shard in shards:
        assert verified(shard).differences == ()


@SLOW
def test_what_each_shard_published_beforehand_holds_of_the_whole(tmp_path: Path) -> None:
    shards = make_shards(tmp_path)
    whole = merge_study(shards, tmp_path / "whole").path
    for shard in shards:
        digest = StudyFolder.open(shard).registration().registered_digest
        assert verified(whole, registered=digest).differences == ()
    assert verified(whole, registered="0" * 64).differences != ()


@SLOW
def test_a_shard_of_the_whole_that_is_written_anew_is_found(tmp_path: Path) -> None:
    whole = merge_study(make_shards(tmp_path), tmp_path / "whole").path
    path = whole / "registration.json"
    document = json.loads(path.read_text())
    document["shards"][1]["runs"][0]["lock_sha256"] = "0" * 64
    path.write_text(json.dumps(document))
    found = [f"{one.where} {one.what}" for one in verified(whole).differences]
    assert any("not merged from the runs" in one for one in found)
    del document["shards"][1]
    path.write_text(json.dumps(document))
    found = [f"{one.where} {one.what}" for one in verified(whole).differences]
    assert any("which are not all of one" in one for one in found)


def test_a_missing_shard_one_given_twice_and_other_numbers_are_refused(tmp_path: Path) -> None:
    one, two = make_shards(tmp_path)
    third = make_shards(tmp_path, 3)[2]
    into = tmp_path / "whole"
    assert "of 2 shards 1 is missing: 2/2" in refused([one], into)
    copied = Path(shutil.copytree(one, tmp_path / "copied"))
    assert "are both shard 1/2" in refused([one, copied, two], into)
    assert "are both shard 1/2" in refused([one, one, two], into)
    assert "they are shards of 2 and of 3" in refused([one, two, third], into)
    assert "no study is named" in refused([], into)


@SLOW
def test_what_is_no_shard_is_refused(tmp_path: Path) -> None:
    shards = make_shards(tmp_path)
    merged = merge_study(shards, tmp_path / "merged").path
    alone = make_study(tmp_path / "alone").path
    assert "is merged already" in refused([merged], tmp_path / "into")
    assert "was run without --shard" in refused([alone], tmp_path / "into")
    with pytest.raises(StoreError, match="exists already"):
        merge_study(shards, alone)
    with pytest.raises(StoreError, match="is not a study's folder"):
        merge_study([*shards, tmp_path], tmp_path / "into")


def test_a_study_file_that_was_edited_is_refused(tmp_path: Path) -> None:
    """Whether before a shard was registered or after that."""
    one, two = make_shards(tmp_path)
    edited = STUDY + b"alpha: 0.1\n"
    other = make_study(tmp_path / "other", edited, shard="2/2").path
    assert "their study files have SHA-256" in refused([one, other], tmp_path / "whole")
    (two / "study.yaml").write_bytes(edited)
    assert "is not what was registered" in refused([one, two], tmp_path / "whole")


def test_another_run_under_the_name_of_a_registered_one_is_refused(tmp_path: Path) -> None:
    one, two = make_shards(tmp_path)
    shutil.rmtree(two / "runs" / "wrong")
    shutil.copytree(two / "runs" / "right", two / "runs" / "wrong")
    assert "is not the run that the shard was registered with" in refused(
        [one, two], tmp_path / "whole"
    )


@SLOW
def test_what_is_not_finished_is_named_with_what_finishes_it(tmp_path: Path) -> None:
    one = make_study(tmp_path / "1of2", shard="1/2", repeats=0)
    two = make_study(tmp_path / "2of2", shard="2/2")
    said = refused([one.path, two.path], tmp_path / "whole")
    assert "not finished: offline-one-r" in said
    assert f"arena study run {one.path}" in said
    for label, answer in ANSWERS.items():
        play(one.run_folder(label), answer, range(3))
    merge_study([one.path, two.path], tmp_path / "whole")


def test_evidence_that_was_changed_is_refused(tmp_path: Path) -> None:
    shards = make_shards(tmp_path)
    changed = next(shards[1].glob("runs/wrong/evidence/*/step-0.png"))
    changed.write_bytes(b"another picture")
    assert "not those that were saved" in refused(shards, tmp_path / "whole")


def test_a_share_of_a_study_has_a_folder_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(STUDY)
    file = NewStudy.read(path).file
    assert study_path(file, None, tmp_path, Shard(2, 4)) == tmp_path / "made-2-of-4"
    shard = make_study(tmp_path / "one", shard="1/2").path
    assert registered_folder(shard, None, tmp_path) is not None
    assert registered_folder(path, shard, tmp_path, Shard(1, 2)) is not None
    for named, out, asked in (
        (shard, None, Shard(2, 2)),
        (path, shard, Shard(2, 2)),
        (path, shard, None),
    ):
        with pytest.raises(UsageError, match="holds shard 1/2 of the study"):
            registered_folder(named, out, tmp_path, asked)


def test_the_shares_of_a_new_study_are_its_trials_each_once(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    text = STUDY.replace(b"suite: demo", b"suite: demo, sites: [wiki]")
    path.write_bytes(text)
    new = NewStudy.read(path)
    for at, whole in enumerate(new.runs):
        shares = [new.in_shard(Shard(number, 4)).runs[at].request for number in (1, 2, 3, 4)]
        for world in whole.request.worlds:
            keys = [key for one in shares for key in one.keys_in(world)]
            assert sorted(keys) == sorted(whole.request.keys_in(world))


def test_one_shard_alone_is_given_nothing_but_budget(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "one", shard="1/2")
    refuse_to_shard(folder, folder.study(), Addition(budget=SpendingLimits(max_usd=1)))
    with pytest.raises(UsageError, match="only budget is added"):
        refuse_to_shard(folder, folder.study(), Addition(repeats=9))
