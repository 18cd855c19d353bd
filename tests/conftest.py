"""What all tests have in common: how they are compiled, tried, grouped; fixtures of many.

Property tests run without a clock or a die: a busy machine fails none, and each run tries the same.
`--hypothesis-profile=full`, as `make properties` has it, tries thirty times as many examples;
`--hypothesis-profile=explore` looks further, at random. A test that wants more than others asks
for a multiple of `settings().max_examples`, never for a number.
"""

from __future__ import annotations

import compiled  # noqa: F401 - before what it compiles

# isort: split
import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from quick_cases import mark_all_but_one
from shards import Shard
from support.agents.scripted_model import Script, ScriptedModel
from two_workers import GroupScheduling

for name, examples in (("steady", 5), ("full", 150)):
    settings.register_profile(
        name,
        deadline=None,
        derandomize=True,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.register_profile(
    "explore", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")

MOST_RERUNS = 4  # of about 900 tests with containers and browsers on two busy cores

StartModel = Callable[[Script], ScriptedModel]


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Let commands that tests start be interrupted, however these tests were started themselves.

    A shell's background job ignores Ctrl-C, and so would every process that it starts.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def scripted_model() -> Iterator[StartModel]:
    """Start model endpoints that answer by script; they are closed when the test is over."""
    with ExitStack() as open_models:
        yield lambda script: open_models.enter_context(ScriptedModel(script))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shard",
        metavar="K/N",
        help="play one of N parts of about equal time, as far as ARENA_TESTS_UNTIL allows",
    )


def pytest_configure(config: pytest.Config) -> None:
    if shard := config.getoption("--shard"):
        config.pluginmanager.register(Shard.read(shard))


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_all_but_one(items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a few tests of a run pass at the second try, each of them named, and no more."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    again = len(reporter.stats.get("rerun", ()))
    if again > MOST_RERUNS and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"{again} tests were tried again, more than {MOST_RERUNS}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later search for garbage: a tenth of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling | None:
    """With `--dist loadgroup`, keep tests together that share what is started for the first."""
    if config.getoption("dist") != "loadgroup":
        return None
    return GroupScheduling(config, log)
