"""Shares of a run's trials: disjoint, whole, and the same on every machine."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_core.errors import UsageError
from orchestrator.runs.shard import Shard
from orchestrator.runs.spec import RunSpec

NAMES = st.sets(st.text(min_size=1, max_size=30), max_size=60)


def shards(count: int) -> list[Shard]:
    return [Shard(number, count) for number in range(1, count + 1)]


@settings(max_examples=60, deadline=None)
@given(names=NAMES, count=st.integers(1, 40))
def test_shares_of_any_trials_are_disjoint_and_make_up_the_whole(
    names: set[str], count: int
) -> None:
    assert Counter(name for one in shards(count) for name in names if one.has(name)) == Counter(
        names
    )


def test_a_trial_is_where_it_was_on_every_machine_and_in_every_version() -> None:
    """The shards of one run may be played by two versions of Python on two kinds of machines."""
    names = [f"offline-task-{number}-r0" for number in range(12)]
    assert [[int(name[13:-3]) for name in names if one.has(name)] for one in shards(3)] == [
        [0, 1, 2, 5, 11],
        [7, 9, 10],
        [3, 4, 6, 8],
    ]


def test_large_runs_are_shared_out_about_evenly() -> None:
    names = [f"offline-task-{task}-r{repeat}" for task in range(120) for repeat in range(10)]
    sizes = [sum(map(one.has, names)) for one in shards(4)]
    assert sum(sizes) == 1200
    assert all(240 < size < 360 for size in sizes)


@pytest.mark.parametrize(
    "text",
    [
        "0/4",
        "5/4",
        "1/0",
        "1",
        "",
        "/",
        "a/b",
        "1/4 ",
        "01/4",
        "-1/4",
        "1/4/4",
        "1/100001",
        "\uff11/\uff14",
    ],
)
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no shard: it is I/N"):
        Shard.parse(text)
    with pytest.raises(UsageError, match="is no shard"):
        RunSpec.of(shard=text)


def test_a_runs_file_and_its_settings_keep_the_shard() -> None:
    spec = RunSpec.of(shard="2/4")
    assert spec.settings().shard == "2/4"
    assert RunSpec.of().model_dump().get("shard") is None
    assert str(Shard.parse("100000/100000")) == "100000/100000"
