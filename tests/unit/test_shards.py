"""Slow tests in shards: every module in one shard, and the shards about equally long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW
from shards import shards

pytest_plugins = ("pytester",)

SUITE = """
import pytest
pytestmark = pytest.mark.slow(minutes=2)

def test_first(): pass
def test_second(): pass
"""


@given(
    st.dictionaries(st.text(max_size=3), st.floats(0, 60), max_size=20),
    st.integers(1, 8),
)
def test_every_module_is_in_one_shard(minutes: dict[str, float], count: int) -> None:
    found = shards(minutes, count)
    assert len(found) == count
    assert sorted(name for shard in found for name in shard) == sorted(minutes)


def test_the_longest_module_has_a_shard_of_its_own() -> None:
    assert shards({"a": 10, "b": 3, "c": 3, "d": 4}, 2) == [{"a"}, {"b", "c", "d"}]


@SLOW
def test_the_shards_of_a_suite_play_each_test_once(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_TESTS_UNTIL", raising=False)
    pytester.makeini(f"[pytest]\nmarkers = slow\npythonpath = {_tests()}\n")
    pytester.makeconftest(
        "from shards import Shard\n"
        "def pytest_addoption(parser): parser.addoption('--shard')\n"
        "def pytest_configure(config):\n"
        "    config.pluginmanager.register(Shard.read(config.getoption('--shard')))\n"
    )
    pytester.makepyfile(test_a=SUITE, test_b=SUITE, test_c=SUITE)
    played = [pytester.runpytest("--shard", f"{one}/2").parseoutcomes() for one in (1, 2)]
    assert [one["passed"] for one in played] == [4, 2]
    assert [one["deselected"] for one in played] == [2, 4]

    monkeypatch.setenv("ARENA_TESTS_UNTIL", str(time.time() + 90))  # each may take two minutes
    assert pytester.runpytest("--shard", "1/2").parseoutcomes()["skipped"] == 4


@SLOW
def test_tests_of_a_site_without_an_image_are_skipped(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_TESTS_UNTIL", raising=False)
    pytester.makeini(f"[pytest]\nmarkers = slow\npythonpath = {_tests()}\n")
    pytester.makeconftest(
        "from shards import Shard\n"
        "def pytest_configure(config): config.pluginmanager.register(Shard.read('1/1'))\n"
    )
    pytester.makepyfile(
        test_office="def test_it(): pass",
        test_sites="import pytest\n"
        "@pytest.mark.parametrize('site', ['hub-member', 'shop'])\n"
        "def test_of(site): pass\n"
        "def test_hubs(): pass\n",
    )
    monkeypatch.setenv("ARENA_TESTS_WITHOUT", " hub office")
    assert pytester.runpytest().parseoutcomes() == {"passed": 2, "skipped": 2}


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "a/b", "-1/2"])
def test_a_shard_that_there_is_not_is_refused(text: str) -> None:
    from shards import Shard  # noqa: PLC0415

    with pytest.raises(pytest.UsageError, match="expected K/N"):
        Shard.read(text)


def _tests() -> str:
    import shards as module  # noqa: PLC0415

    return str(module.__file__).removesuffix("/shards.py")
