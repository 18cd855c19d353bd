"""Tests that share a replica or an owner are played by one worker, others by any."""

from __future__ import annotations

from pathlib import Path

import pytest
from quick_cases import SLOW
from two_workers import group_of

pytest_plugins = ("pytester",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "tests/contract/test_strategies.py::test_x[tools]",
            "tests/contract/test_roles.py::test_y[tools-emma]",
        ),
        (
            "tests/docker/pool/test_commands.py::test_x",
            "tests/docker/docs/test_code_blocks.py::test_y[a:1]",
        ),
        (
            "tests/docker/faults/test_parts.py::test_x[a]",
            "tests/docker/faults/test_runs.py::test_y",
        ),
        (
            "tests/docker/reset/test_ladder.py::test_x",
            "tests/docker/reset/test_ladder.py::test_y[1]",
        ),
    ],
)
def test_what_shares_something_keeps_together(one: str, other: str) -> None:
    assert group_of(one) == group_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "tests/contract/test_strategies.py::test_x[tools]",
            "tests/contract/test_strategies.py::test_x[wiki]",
        ),
        ("tests/docker/reset/test_ladder.py::test_x", "tests/docker/reset/test_rewind.py::test_x"),
    ],
)
def test_what_shares_nothing_does_not(one: str, other: str) -> None:
    assert group_of(one) != group_of(other)


@SLOW
def test_one_worker_plays_what_shares_an_engine_to_be_broken(pytester: pytest.Pytester) -> None:
    """By modules alone, either of two workers would be given one."""
    pytester.makeini(
        f"[pytest]\npythonpath = {Path(__file__).parents[1]}\n"
        "asyncio_default_fixture_loop_scope = function\n"
    )
    pytester.makeconftest(
        "import two_workers\n"
        "def pytest_xdist_make_scheduler(config, log):\n"
        "    return two_workers.GroupScheduling(config, log)\n"
    )
    faults = pytester.path / "tests" / "docker" / "faults"
    faults.mkdir(parents=True)
    for name in ("one", "two"):
        (faults / f"test_{name}.py").write_text(
            "import os\nfrom pathlib import Path\n"
            "def note():\n"
            "    Path(f\"worker-{os.environ['PYTEST_XDIST_WORKER']}\").touch()\n"
            "def test_a(): note()\ndef test_b(): note()\ndef test_c(): note()\n"
        )
    done = pytester.runpytest_subprocess("-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=6)
    assert len(list(pytester.path.glob("worker-*"))) == 1
