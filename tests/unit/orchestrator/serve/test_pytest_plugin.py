"""Agents as tests of pytest: what the plug-in plays, and what it says of failures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.runs.small_runs import small_suite

from orchestrator import Arena

pytest_plugins = ["pytester"]

# An Arena whose episodes end as the test's agent says, without engine and browser.
CONFTEST = """
import types
from pathlib import Path
import pytest
from arena_core.actions import Stop
from arena_core.worlds import World
from orchestrator import Arena
from support.runs.small_runs import RIGHT, _evidence
from evaluators.scores import score
from orchestrator.runs.store.ledger import EpisodeKey

class Episode:
    endpoint = None

    def __init__(self, log, name, world, out):
        self.task = Arena().suites.task(name)
        self.log, self.world, self.out, self.is_over = log, World(world), out, False
        self.success = False

    def reset(self):
        self.log.append(f"begin {self.task.id}")

    def end_as(self, success):
        self.success, self.is_over = success, True

    def end(self, because):
        self.is_over = True

    def evidence(self):
        key = EpisodeKey(self.task.id, self.world, 0)
        return _evidence("demo", "mine", key, success=self.success)

    def score(self):
        check = self.task.checks[-1].model_dump()
        from support.runs.small_runs import small_suite
        return score(small_suite(["one"]).tasks[0].checks, self.evidence())

    def close(self):
        self.out.mkdir(parents=True, exist_ok=True)
        self.log.append(f"end {self.task.id}")

class Arenas:
    def __init__(self):
        self.log = []
        self.runs = types.SimpleNamespace(read=Path, report=lambda path: path / "report.html")

    def episode(self, name, *, world, out, **options):
        return Episode(self.log, name, world, out)

@pytest.fixture(scope="session")
def arena():
    yield Arenas()
"""
MARKED = "@pytest.mark.arena(suite='demo', tasks=('wiki-samovar', 'wiki-bells-*'){more})\n"
TEST = "import pytest\n" + MARKED + "def test_mine(arena_episode):\n    {body}\n"


@pytest.fixture
def made(pytester: pytest.Pytester) -> pytest.Pytester:
    # What is imported by now need not be imported again in each run below.
    assert small_suite(["one"]).tasks
    assert Arena().suites.task("demo/wiki-samovar").checks
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    pytester.makeconftest(CONFTEST)
    return pytester


def write(made: pytest.Pytester, body: str, more: str = "") -> None:
    made.makepyfile(test_it=TEST.format(body=body, more=more))


def test_a_marked_test_is_played_once_for_each_task_world_and_repeat(
    made: pytest.Pytester,
) -> None:
    more = ", worlds=('offline', 'online'), repeats=2"
    write(made, "arena_episode().end_as(True)", more)
    result = made.runpytest_inprocess("-v", "--strict-markers", "--basetemp", "kept")
    result.assert_outcomes(passed=8)
    result.stdout.fnmatch_lines(
        [
            "*test_mine[[]wiki-bells-of-bruges-offline] PASSED*",
            "*[[]wiki-samovar-online-r1] PASSED*",
        ]
    )


def test_a_failure_names_the_first_unmet_check_the_last_step_and_the_report(
    made: pytest.Pytester,
) -> None:
    write(made, "arena_episode().end_as(False)")
    result = made.runpytest_inprocess("--basetemp", "kept")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*wiki-bells-of-bruges (offline): failure*",
            "*first unmet check: price: *",
            "*last step 1: *on shop:/*",
            "*report: *kept/arena/test_it.py-test_mine-wiki-bells-of-bruges-offline*/report.html*",
        ]
    )


def test_an_episode_that_the_test_leaves_is_scored_as_it_stands(made: pytest.Pytester) -> None:
    """A test that does nothing does not pass."""
    write(made, "arena_episode()")
    made.runpytest_inprocess("--basetemp", "kept").assert_outcomes(failed=2)


def test_an_unscored_episode_is_neither_passed_nor_failed_and_ends_pytest_with_an_error(
    made: pytest.Pytester,
) -> None:
    write(made, "arena_episode().end_as(None)")
    result = made.runpytest_inprocess("--basetemp", "kept")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert result.parseoutcomes() == {"unscored": 2}
    result.stdout.fnmatch_lines(["UNSCORED test_it.py::test_mine*unscored: infra*"])
    result.stdout.fnmatch_lines(["*the container was removed*"])


def test_what_the_test_itself_raises_comes_first_and_its_episodes_end(
    made: pytest.Pytester,
) -> None:
    write(made, "arena_episode(); raise RuntimeError('my agent broke')")
    made.makepyfile(test_log="def test_log(arena):\n    assert arena.log[-1].startswith('end ')\n")
    result = made.runpytest_inprocess("test_it.py", "test_log.py", "--basetemp", "kept")
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(["*RuntimeError: my agent broke*"])
    result.stdout.no_fnmatch_line("*first unmet check*")


def test_a_test_without_the_marker_names_its_task(made: pytest.Pytester) -> None:
    made.makepyfile(
        test_it="""
        def test_named(arena_episode):
            arena_episode('demo/wiki-samovar').end_as(True)

        def test_none(arena_episode):
            arena_episode()
        """
    )
    result = made.runpytest_inprocess("--basetemp", "kept")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*name a task, or mark the test*"])


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("@pytest.mark.arena(suit='demo')\ndef test_it(arena_episode): pass", "arena takes "),
        ("@pytest.mark.arena('demo')\ndef test_it(arena_episode): pass", "arena takes "),
        ("@pytest.mark.arena(suite='dem')\ndef test_it(arena_episode): pass", "unknown suite"),
        ("@pytest.mark.arena(tasks='x-*')\ndef test_it(arena_episode): pass", "no task 'x-*'"),
        ("@pytest.mark.arena(worlds='mars')\ndef test_it(arena_episode): pass", "played mars"),
        ("@pytest.mark.arena(repeats=0)\ndef test_it(arena_episode): pass", "0 times"),
        ("@pytest.mark.arena()\ndef test_it(): pass", "takes no arena_episode"),
    ],
)
def test_a_marker_that_plays_nothing_is_an_error(
    made: pytest.Pytester, test: str, said: str
) -> None:
    made.makepyfile(test_it=f"import pytest\n{test}\n")
    result = made.runpytest_inprocess("--basetemp", "kept")
    assert result.ret not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    assert said in result.stdout.str() + result.stderr.str()


@SLOW
def test_it_works_on_several_workers_of_xdist(
    made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))  # of `support`
    write(made, "arena_episode().end_as(None if 'bells' in request.node.name else True)")
    path = made.path / "test_it.py"
    path.write_text(path.read_text().replace("(arena_episode)", "(arena_episode, request)"))
    result = made.runpytest_subprocess("-n", "2")
    assert {**result.parseoutcomes(), "warnings": 0} == {"passed": 1, "unscored": 1, "warnings": 0}
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@SLOW
def test_a_run_of_pytest_that_does_not_use_it_imports_nothing_of_arena() -> None:
    ours = "('orchestrator', 'arena_core', 'tasks', 'evaluators', 'sites', 'pydantic')"
    code = (
        "import sys, arena_pytest\n"
        f"print(sorted(name for name in sys.modules if name.split('.')[0] in {ours}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert done == "[]\n"
