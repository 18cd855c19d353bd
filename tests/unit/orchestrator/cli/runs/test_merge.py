"""`arena merge` and `--shard` on the command line: one clear line, one JSON document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.runs.sharded_runs import play_run, play_shards
from support.studies.registered_study import make_study

from arena_core.errors import StoreError, UsageError

Call = Callable[..., Ended]


def test_shards_are_merged_and_the_whole_is_reported(call: Call, tmp_path: Path) -> None:
    runs = play_shards(tmp_path, 3)
    merged = call("merge", *runs, "--into", tmp_path / "whole", "--json")
    assert merged.code == 0, merged.err
    document = merged.document
    assert (document["trials"], document["attempts"], document["allowed"]) == (15, 18, [])
    assert [one["shard"] for one in document["shards"]] == ["1/3", "2/3", "3/3"]
    report = call("report", tmp_path / "whole", "--json").document
    assert (report["pending"], report["shard"]) == (0, None)
    assert len(report["merged"]["shards"]) == 3


@SLOW
def test_other_images_are_refused_until_they_are_allowed(call: Call, tmp_path: Path) -> None:
    one = play_run(tmp_path / "one", "1/2").path
    two = play_run(tmp_path / "two", "2/2", images={"arena/shop:1": "sha256:x"}).path
    words = ("merge", two, one, "--into", tmp_path / "whole")
    refused = call(*words)
    assert (refused.code, refused.out) == (StoreError.exit_code, "")
    assert "images.arena/shop:1 is 'sha256:abab" in refused.err
    assert "--allow images" in refused.err
    merged = call(*words, "--allow", "images,hardware")
    assert merged.code == 0, merged.err
    assert "2 shards, 15 trials" in merged.out
    assert "which differ in images.arena/shop:1" in call("report", tmp_path / "whole").out


def test_shards_of_a_study_are_merged_to_a_study(call: Call, tmp_path: Path) -> None:
    shards = [make_study(tmp_path / one, shard=f"{one}/2").path for one in "12"]
    merged = call("merge", *shards, "--into", tmp_path / "whole", "--json")
    assert merged.code == 0, merged.err
    assert (merged.document["done"], merged.document["episodes"]) == (6, 6)
    again = call("merge", *shards, "--into", tmp_path / "whole")
    assert (again.code, again.out) == (StoreError.exit_code, "")
    assert "exists already" in again.err


def test_a_shard_goes_on_as_itself_alone(call: Call, tmp_path: Path) -> None:
    run = play_run(tmp_path / "one", "1/2").path
    other = call("eval", "--resume", run, "--shard", "2/2")
    assert other.code == UsageError.exit_code
    assert "is shard 1/2, and continues as that, not as shard 2/2" in other.err


@SLOW
def test_a_shards_figures_are_said_to_be_of_its_share_and_are_not_compared(
    call: Call, tmp_path: Path
) -> None:
    one, two = play_shards(tmp_path, 2)
    assert "shard 1/2: the figures are of its share" in call("report", one).out
    compared = call("compare", one, two)
    assert compared.code == UsageError.exit_code
    assert "is shard 1/2" in compared.err
    assert "arena merge" in compared.err


@SLOW
def test_what_is_no_shard_is_refused_before_anything_is_played(call: Call) -> None:
    refused = call("eval", "--shard", "5/4")
    assert refused.code == UsageError.exit_code
    assert "'5/4' is no shard" in refused.err
