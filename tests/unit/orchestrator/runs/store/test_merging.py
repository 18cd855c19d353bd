"""Merged shards are a run like any other, with every trial once; else it is said why."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.runs.sharded_runs import SUITE, TASKS, lock_of, play_run, play_shards, trials

from arena_core.errors import ArenaError, StoreError, UsageError
from arena_core.worlds import World
from evaluators.judgements import Judgement
from orchestrator.agents.model_exchange import Spent
from orchestrator.analysis.run_report.run_report import read_run
from orchestrator.runs.attempts import AttemptRunner, Progress
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store.browser_lock import BrowserLock
from orchestrator.runs.store.evidence_files import add_judgements, read_judgements
from orchestrator.runs.store.ledger import AttemptState
from orchestrator.runs.store.lock import HostEnvelope, NodeClock, RunLock, lock_digest
from orchestrator.runs.store.merging import merge
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder
from sites.upstreams import UpstreamKind


def verdicts(path: Path) -> Mapping[str, object]:
    return {
        one.folder: (one.score.outcome, one.score.verdicts, one.is_same)
        for one in rescore(RunFolder.open(path))
    }


def contents(path: Path) -> Mapping[str, bytes]:
    return {
        one.relative_to(path).as_posix(): one.read_bytes()
        for one in path.rglob("*")
        if one.is_file()
    }


def merged_or_said(runs: list[Path], into: Path, allow: tuple[str, ...] = ()) -> str:
    """Merge, and return what refused it with its hint; nothing is left behind by a refusal."""
    before = {path: contents(path) for path in runs if path.is_dir()}
    with pytest.raises(ArenaError) as refused:
        merge(runs, into, allow)
    assert not into.exists()
    assert list(into.parent.glob(f".{into.name}*")) == []
    assert {path: contents(path) for path in before} == before
    return f"{refused.value.message}\n{refused.value.hint}"


@pytest.mark.parametrize("count", [1, 2, 4, 30])
def test_merged_shards_are_the_run_that_was_not_sharded(tmp_path: Path, count: int) -> None:
    """Of 30 shards most are empty."""
    whole = play_run(tmp_path / "whole", None)
    merged = merge(play_shards(tmp_path, count), tmp_path / "merged")
    assert (merged.trials, merged.attempts) == (15, 18)
    assert verdicts(merged.path) == verdicts(whole.path)
    report, other = read_run(RunFolder.open(merged.path)), read_run(whole)
    assert (report.pending, report.recovered, report.edited) == (0, 0, ())
    assert report.summaries == other.summaries
    assert [one.folder for one in report.attempts] == [one.folder for one in other.attempts]
    pictures = merged.path.glob("evidence/*/step-000.webp")
    assert sorted(one.read_bytes() for one in pictures) == sorted(
        b"picture of " + key.name.encode() for key in trials(lock_of(None))
    )
    assert (merged.path / "arena.log").read_text().count("\n") == count


def test_nothing_is_left_to_play_and_the_ledger_is_in_step(tmp_path: Path) -> None:
    merged = merge(play_shards(tmp_path, 3), tmp_path / "merged")
    folder = RunFolder.open(merged.path)
    with folder.writing() as ledger:
        head = ledger.head()
        runner = AttemptRunner(
            folder=folder,
            ledger=ledger,
            limit=2,
            progress=Progress(total=15),
            on_event=lambda _: None,
        )
        runner.recover({task.id: task for task in SUITE.tasks})
        assert ledger.head() == head
        journal = ledger.read_journal()
        assert journal is not None
        assert journal.broken is None
        assert (journal.run, journal.lock) == (merged.lock.run, lock_digest(merged.lock))
        assert all(rows[0]["state"] == AttemptState.STARTED for rows in journal.rows.values())
        assert {key: rows[-1] for key, rows in journal.rows.items()} == ledger.rows()


def test_the_order_in_which_shards_are_named_changes_no_byte(tmp_path: Path) -> None:
    runs = play_shards(tmp_path, 4)
    for path in runs:
        _judge(path, "q", path.name, allowed=True)
    first = contents(merge(runs, tmp_path / "a", ["judgements"]).path)
    random.Random(4).shuffle(runs)
    assert contents(merge(runs, tmp_path / "b", ["judgements"]).path) == first
    assert contents(merge(runs[::-1], tmp_path / "c", ["judgements"]).path) == first


def _judge(path: Path, key: str, reply: str, *, allowed: bool = False) -> None:
    usd = 0.5 if allowed else None
    one = Judgement(key=key, prompt="p", version=1, model="m", replies=(reply,), usd=usd)
    add_judgements(path, [one])


def test_what_it_was_made_of_is_in_the_lock(tmp_path: Path) -> None:
    merged = merge(play_shards(tmp_path, 2), tmp_path / "merged").lock
    assert merged.shard is None
    assert merged.merged is not None
    assert [(one.shard, one.run) for one in merged.merged.shards] == [
        ("1/2", "20261126-100000-small-1of2"),
        ("2/2", "20261126-100000-small-2of2"),
    ]
    assert merged.merged.allowed == ()
    named = {
        key: {json.loads(path.read_text())["run"] for path in (tmp_path / "merged").glob(key)}
        for key in ("evidence/*-r0-a1/evidence.json",)
    }
    assert set().union(*named.values()) == {one.run for one in merged.merged.shards}
    assert all(len(merged.recorded_by(key)) == 2 for key in trials(merged))


def test_each_shard_has_a_budget_of_its_own_and_the_whole_has_their_sum(tmp_path: Path) -> None:
    runs = play_shards(tmp_path, 3, budget=SpendingLimits(max_usd=2.0))
    RunFolder.open(runs[0]).change_limits(SpendingLimits(max_usd=5.0, max_tokens=100))
    with RunFolder.open(runs[0]).writing() as ledger:
        one = ledger.attempts()[0]
        ledger.spend(one.key, one.number, Spent.reported(10, 20, 0.5))
    merged = merge(runs, tmp_path / "merged")
    assert merged.lock.budget == SpendingLimits(max_usd=9.0)
    with RunFolder.open(merged.path).reading() as ledger:
        assert ledger.spent().usd == 0.5


def test_the_same_shard_twice_is_refused(tmp_path: Path) -> None:
    one, two = play_shards(tmp_path, 2)
    assert "is given twice" in merged_or_said([one, one, two], tmp_path / "m")
    shutil.copytree(one, tmp_path / "copy")
    assert "are both the run" in merged_or_said([one, tmp_path / "copy", two], tmp_path / "m")
    again = play_run(tmp_path / "again", "1/2", run="another").path
    assert "are both shard 1/2" in merged_or_said([one, again, two], tmp_path / "m")


def test_a_shard_that_is_missing_is_named(tmp_path: Path) -> None:
    runs = play_shards(tmp_path, 4)
    said = merged_or_said([runs[0], runs[3]], tmp_path / "m")
    assert "of 4 shards 2 are missing: 2/4, 3/4" in said
    with pytest.raises(UsageError):
        merge([], tmp_path / "m")


def test_shards_of_other_numbers_whole_runs_and_merged_ones_are_refused(tmp_path: Path) -> None:
    one, two = play_shards(tmp_path, 2)
    other = play_run(tmp_path / "other", "2/3").path
    whole = play_run(tmp_path / "whole", None).path
    assert "shards of 2 and of 3" in merged_or_said([one, other], tmp_path / "m")
    assert "is no shard" in merged_or_said([one, whole], tmp_path / "m")
    merge([one, two], tmp_path / "done")
    assert "a merged run is not merged again" in merged_or_said([tmp_path / "done"], tmp_path / "m")
    with pytest.raises(StoreError, match="exists already"):
        merge([one, two], tmp_path / "done")


OTHERS: Mapping[str, Any] = {
    "suite": {"suite": "other"},
    "suite_hash": {"suite_hash": "0" * 64},
    "version": {"suite_version": 2},
    "tasks": {"tasks": TASKS[:4]},
    "repeats": {"repeats": 2},
    "agent": {"agent": lock_of(None).agent.model_copy(update={"name": "b"})},
    "seed": {"agent": lock_of(None).agent.model_copy(update={"options": {"seed": 7}})},
    "vary": {"vary": ("look=dark",)},
    "budget": {"budget": SpendingLimits(max_usd=1.0)},
    "staged": {"staged": ("shop",)},
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_shard_of_another_run_is_refused_whatever_is_allowed(tmp_path: Path, what: str) -> None:
    one = play_run(tmp_path / "one", "1/2").path
    two = play_run(tmp_path / "two", "2/2", only=(), **OTHERS[what]).path
    said = merged_or_said([one, two], tmp_path / "m", ("hardware", "images", "packages", "browser"))
    assert "were not asked for the same" in said
    assert what.removeprefix("seed") in said


def test_how_fast_each_was_played_does_not_matter(tmp_path: Path) -> None:
    one = play_run(tmp_path / "one", "1/2", workers=4, memory=9, created_at="2026-11-27").path
    two = play_run(tmp_path / "two", "2/2").path
    assert merge([one, two], tmp_path / "m").lock.created_at == "2026-11-26T10:00:00+00:00"


MACHINES: Mapping[str, Any] = {
    "hardware": {"host": HostEnvelope(platform="Linux", python="3.11", cpus=8, memory_mb=24000)},
    "browser": {"browser": "140.0"},
    "images": {"images": {"arena/shop:1": "sha256:" + "cd" * 32}},
    "packages": {"packages": {"playwright": "1.50", "more": "1"}},
}


@pytest.mark.parametrize(("kind", "where"), [*zip(MACHINES, ("cpus", "", "", "more"), strict=True)])
def test_other_machines_are_named_and_kept_where_they_are_allowed(
    tmp_path: Path, kind: str, where: str
) -> None:
    one = play_run(tmp_path / "one", "1/2").path
    two = play_run(tmp_path / "two", "2/2", **MACHINES[kind]).path
    said = merged_or_said([one, two], tmp_path / "m")
    assert "the shards differ: " in said
    assert f"--allow {kind} " in said
    others = tuple({*MACHINES, "judgements"} - {kind})
    assert f"--allow {kind} " in merged_or_said([one, two], tmp_path / "m", others)
    merged = merge([two, one], tmp_path / "m", [kind]).lock.merged
    assert merged is not None
    assert any(where in one.what for one in merged.allowed)
    assert all(set(one.values) == {"1/2", "2/2"} for one in merged.allowed)
    assert read_run(RunFolder.open(tmp_path / "m")).shard_note is not None


def test_shards_that_began_on_other_golden_states_are_refused_whatever_is_allowed(
    tmp_path: Path,
) -> None:
    one = play_run(tmp_path / "one", "1/2", goldens={"arena/shop:1": "g"}).path
    two = play_run(tmp_path / "two", "2/2", goldens={"arena/shop:1": "other"}).path
    said = merged_or_said([one, two], tmp_path / "m", tuple(MACHINES))
    assert "the golden state of arena/shop:1 is 'g' in 1/2, 'other' in 2/2" in said


def test_the_clock_of_each_shard_is_kept_and_may_be_another(tmp_path: Path) -> None:
    clocks = [NodeClock(synchronised=is_held, engine_ahead_s=0.0) for is_held in (True, False)]
    runs = [
        play_run(tmp_path / str(number), f"{number}/2", clock=clock).path
        for number, clock in enumerate(clocks, 1)
    ]
    merged = merge(runs, tmp_path / "m").lock.merged
    assert merged is not None
    assert [one.clock for one in merged.shards] == clocks


def test_what_cannot_be_allowed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be allowed to differ in 'agent'"):
        merge(play_shards(tmp_path, 2), tmp_path / "m", ["agent"])


def test_live_scores_of_two_browsers_are_never_put_together(tmp_path: Path) -> None:
    live: Any = {"upstreams": {World.OFFLINE: {}, World.ONLINE: {"shop": UpstreamKind.LIVE}}}
    agent = BrowserLock(kind="chromium", product="Chrome/131.0", user_agent="x")
    newer = agent.model_copy(update={"product": "Chrome/140.0"})
    one = play_run(tmp_path / "one", "1/2", browser_used=agent, **live).path
    two = play_run(tmp_path / "two", "2/2", browser_used=newer, **live).path
    assert "never put together" in merged_or_said([one, two], tmp_path / "m", ("browser",))


def test_trials_that_are_not_finished_are_named_with_what_finishes_them(tmp_path: Path) -> None:
    one, two, three = play_shards(tmp_path, 3)
    shutil.rmtree(two)
    share = trials(lock_of("2/3"))
    folder = play_run(two, "2/3", only=share[1:])
    with folder.writing() as ledger:
        ledger.start(share[0])
    shutil.rmtree(three)
    RunFolder.create(three, lock_of("3/3"), SUITE)
    said = merged_or_said([one, two, three], tmp_path / "m")
    assert f"shard 2/3 ({two}): 1 trial is not finished: {share[0].name};" in said
    assert f"shard 3/3 ({three}): {len(trials(lock_of('3/3')))} trials are not finished" in said
    assert f"arena eval --resume {two}; arena eval --resume {three}" in said


def test_a_finished_trial_that_is_played_again_is_not_finished(tmp_path: Path) -> None:
    one, two = play_shards(tmp_path, 2)
    with RunFolder.open(two).writing() as ledger:
        ledger.start(trials(lock_of("2/2"))[0])
    assert "1 trial is not finished" in merged_or_said([one, two], tmp_path / "m")


def test_a_retried_trial_counts_once_by_its_last_attempt(tmp_path: Path) -> None:
    """As `--again infra` leaves it: the attempt that had finished it is abandoned."""
    one, two = play_shards(tmp_path, 2)
    folder, key = RunFolder.open(two), trials(lock_of("2/2"))[0]
    with folder.writing() as ledger:
        before = next(one for one in ledger.finished() if one.key == key)
        ledger.end(key, before.number, AttemptState.ABANDONED, None)
        number = ledger.start(key)
        evidence = folder.evidence(before.folder).model_copy(update={"attempt": number})
        digest = folder.save_evidence(key.folder(number), evidence, {})
        ledger.end(key, number, AttemptState.FINISHED, before.outcome, digest)
    merged = merge([one, two], tmp_path / "m")
    assert (merged.trials, merged.attempts) == (15, 19)
    assert key.folder(number) in verdicts(merged.path)
    assert before.folder not in verdicts(merged.path)
    assert (merged.path / "evidence" / before.folder / "step-000.webp").is_file()


def first_evidence(run: Path) -> Path:
    return next(one for one in sorted((run / "evidence").iterdir()) if one.name.endswith("a1"))


def test_evidence_that_was_changed_or_taken_away_is_named(tmp_path: Path) -> None:
    one, two = play_shards(tmp_path, 2)
    folder = first_evidence(two)
    (folder / "step-000.webp").write_bytes(b"another picture")
    said = merged_or_said([one, two], tmp_path / "m")
    assert f"shard 2/2 ({two}): evidence/{folder.name}: its files are not those" in said
    shutil.rmtree(folder)
    assert f"evidence/{folder.name}: the evidence is missing" in merged_or_said(
        [one, two], tmp_path / "m"
    )


def test_a_ledger_or_a_lock_that_was_changed_by_hand_is_refused(tmp_path: Path) -> None:
    one, two, _ = play_shards(tmp_path, 3)
    with closing(sqlite3.connect(two / "ledger.sqlite")) as ledger:
        ledger.execute("UPDATE attempt SET outcome = 'success'")
        ledger.commit()
    three = tmp_path / "shard-3"
    assert "do not say the same" in merged_or_said([one, two, three], tmp_path / "m")
    shutil.rmtree(two)
    two = play_run(two, "2/3").path
    lock = json.loads((two / "lock.json").read_text()) | {"created_at": "2026-11-28"}
    (two / "lock.json").write_text(json.dumps(lock))
    assert "belongs to another run or lock" in merged_or_said([one, two, three], tmp_path / "m")


def test_a_trial_of_another_share_is_refused(tmp_path: Path) -> None:
    one, two = play_shards(tmp_path, 2)
    foreign = trials(lock_of("1/2"))[0]
    with RunFolder.open(two).writing() as ledger:
        ledger.start(foreign)
    assert f"'{foreign.name}' is no trial of its share" in merged_or_said(
        [one, two], tmp_path / "m"
    )


def test_a_ledger_that_lost_entries_is_resumed_first(tmp_path: Path) -> None:
    one, two = play_shards(tmp_path, 2)
    (two / "ledger.sqlite").unlink()
    assert f"arena eval --resume {two}" in merged_or_said([one, two], tmp_path / "m")


@pytest.mark.parametrize("name", ["../../out", "a\nb", "\x1b[2J", "step-000.webp"])
def test_what_is_no_file_of_an_attempt_is_never_followed(tmp_path: Path, name: str) -> None:
    one, two = play_shards(tmp_path, 2)
    secret = tmp_path / "secret"
    secret.write_text("key")
    place = first_evidence(two) / name.replace("/", "\u2215")
    place.unlink(missing_ok=True)
    place.symlink_to(secret)
    said = merged_or_said([one, two], tmp_path / "m")
    assert "is no regular file" in said
    assert "\x1b" not in said
    place.unlink()
    os.mkfifo(place)
    assert "is no regular file" in merged_or_said([one, two], tmp_path / "m")


def test_an_added_file_is_no_evidence_whatever_its_name(tmp_path: Path) -> None:
    one, two = play_shards(tmp_path, 2)
    (first_evidence(two) / "\x1b]0;x\x07\n.webp").write_bytes(b"")
    assert "its files are not those" in merged_or_said([one, two], tmp_path / "m")


def test_links_out_of_the_folder_beside_the_evidence_are_refused(tmp_path: Path) -> None:
    one, two = play_shards(tmp_path, 2)
    (two / "looks.jsonl").symlink_to("/etc/hostname")
    assert "is a link" in merged_or_said([one, two], tmp_path / "m")


def test_a_folder_with_a_hostile_name_is_quoted_in_what_to_type(tmp_path: Path) -> None:
    one = play_run(tmp_path / "1; rm -rf x", "1/1", only=()).path
    assert f"arena eval --resume '{one}'" in merged_or_said([one], tmp_path / "m")


def test_a_merge_that_is_broken_off_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, link, left = play_shards(tmp_path, 2), os.link, iter(range(9))

    def breaks_off(source: Path, target: Path, *, follow_symlinks: bool) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        link(source, target, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "link", breaks_off)
    with pytest.raises(KeyboardInterrupt):
        merge(runs, tmp_path / "m")
    monkeypatch.undo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shard-1", "shard-2"]
    assert merge(runs, tmp_path / "m").trials == 15


def test_a_disk_without_links_gets_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "another disk")

    runs = play_shards(tmp_path, 2)
    linked = merge(runs, tmp_path / "linked").path
    monkeypatch.setattr(os, "link", refuses)
    copied = merge(runs, tmp_path / "copied").path
    assert contents(copied) == contents(linked)
    some = "evidence/offline-lamp-r0-a1/evidence.json"
    assert (linked / some).stat().st_nlink == 2
    assert (copied / some).stat().st_nlink == 1


def test_a_shard_that_is_written_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, link = play_shards(tmp_path, 2), os.link

    def writes(source: Path, target: Path, *, follow_symlinks: bool) -> None:
        link(source, target, follow_symlinks=follow_symlinks)
        with closing(sqlite3.connect(runs[1] / "ledger.sqlite", timeout=60)) as ledger:
            ledger.execute("INSERT OR IGNORE INTO entry VALUES (1000, '{}', 'x')")
            ledger.commit()

    monkeypatch.setattr(os, "link", writes)
    with pytest.raises(StoreError, match=r"shard 2/2 .* was written meanwhile"):
        merge(runs, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_judges_that_disagree_are_named_and_the_first_shards_counts(tmp_path: Path) -> None:
    one, two = play_shards(tmp_path, 2)
    _judge(one, "same", "yes")
    _judge(two, "same", "yes")
    assert len(read_judgements(merge([one, two], tmp_path / "agreed").path)) == 2
    _judge(one, "other", "yes")
    _judge(two, "other", "no")
    assert "1 question differently" in merged_or_said([one, two], tmp_path / "m")
    merged = merge([one, two], tmp_path / "m", ["judgements"])
    assert read_judgements(merged.path)[-1].replies == ("yes",)
    assert merged.lock.merged is not None
    assert [one.what for one in merged.lock.merged.allowed] == ["judgements.other"]


def test_locks_of_runs_without_shards_are_as_they_were() -> None:
    written = json.loads(lock_of(None).model_dump_json())
    assert not {"shard", "merged"} & written.keys()
    assert RunLock.model_validate(written) == lock_of(None)
