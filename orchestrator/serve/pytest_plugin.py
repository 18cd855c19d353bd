"""Agents as tests of pytest: `arena`, `arena_episode`, and the marker `arena(suite=…)`.

Every run of pytest imports this module by its entry point, so that nothing of Arena is imported
here before a test asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

if TYPE_CHECKING:
    from evaluators.scores import Score
    from orchestrator.api.sync import SyncArena, SyncEpisode

_MARKER: Final = (
    "arena(suite='demo', tasks=(), worlds=('offline',), repeats=1): play a test that takes"
    " arena_episode once for each task of an Arena suite; tasks are ids or patterns"
)
_OPTIONS: Final = frozenset({"suite", "tasks", "worlds", "repeats"})
_LONGEST: Final = 120
_UNSCORED: Final = "arena_unscored"


class ArenaCase(NamedTuple):
    """One task in one world, for one call of a test."""

    task: str
    world: str
    repeat: int


class UnscoredError(Exception):
    """An episode has no score: no failure of the agent, and no success."""


class ArenaEpisodes:
    """Opens episodes for one test, and judges them when the test has ended by itself."""

    def __init__(self, arena: SyncArena, case: ArenaCase | None, out: Path) -> None:
        self._arena = arena
        self._case = case
        self._out = out
        self._opened: list[tuple[SyncEpisode, Path]] = []

    def __call__(
        self, task: str | None = None, world: str | None = None, **options: Any
    ) -> SyncEpisode:
        """Return an episode that is reset; the test plays it until `is_over`.

        Args:
            task: `suite/task`; that of the marker where omitted.
            world: that of the marker where omitted, else `offline`.
            options: others of `Arena.episode`, such as `endpoint="cdp"`.
        """
        case = self._case
        name = task or (case.task if case else None)
        if name is None:
            raise pytest.UsageError("arena_episode: name a task, or mark the test with arena(...)")
        there = world or (case.world if case else "offline")
        folder = self._folder()
        episode = self._arena.episode(name, world=there, out=folder, **options)
        self._opened.append((episode, folder))
        episode.reset()
        return episode

    def judge(self) -> None:
        """Fail the test where an episode failed; raise `UnscoredError` where one has no score."""
        judged = [(episode, folder, _score(episode)) for episode, folder in self._opened]
        self.close()
        for episode, folder, score in judged:
            if score.outcome.kind != "success":
                report = self._arena.runs.report(self._arena.runs.read(folder))
                said = _in_words(episode, score, report)
                if score.outcome.kind == "unscored":
                    raise UnscoredError(said)
                pytest.fail(said, pytrace=False)

    def close(self) -> None:
        """Give back what the episodes hold, and write their evidence."""
        for episode, _ in self._opened:
            episode.close()

    def _folder(self) -> Path:
        names = (self._out.with_name(f"{self._out.name}-{count}") for count in range(2, 10_000))
        return next(one for one in (self._out, *names) if not one.exists())


def _score(episode: SyncEpisode) -> Score:
    """Score an episode as it stands: a test that ends early has given up."""
    if not episode.is_over:
        if episode.endpoint is not None:
            return episode.finish(status="gave_up", because="the test ended before the episode")
        episode.end("the test ended before the episode")
    return episode.score()


def _in_words(episode: SyncEpisode, score: Score, report: Path) -> str:
    from orchestrator.analysis.wording import action_in_words  # noqa: PLC0415  see the module

    unmet = (one for one in score.verdicts if one.decides and one.status == "unmet")
    first = next((f"{one.check}: {one.reason}" for one in unmet), score.because)
    acted = [step for step in episode.evidence().steps if step.action is not None]
    last = "no step was done"
    if acted and acted[-1].action is not None:
        done = action_in_words(acted[-1].action, acted[-1])
        last = f"last step {acted[-1].index}: {done}, on {acted[-1].logical or acted[-1].url}"
    because = score.because if score.outcome.reason is not None else f"first unmet check: {first}"
    head = f"{episode.task.id} ({episode.world}): {score.outcome}"
    return "\n  ".join((head, because, last, f"report: {report}"))


_EPISODES: Final = pytest.StashKey[ArenaEpisodes]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--arena-out`."""
    parser.getgroup("arena").addoption(
        "--arena-out",
        metavar="DIR",
        help="keep evidence and reports of Arena's episodes there; default: a folder of pytest's",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", _MARKER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Play a marked test once for each task, world and repeat."""
    marker = metafunc.definition.get_closest_marker("arena")
    if marker is None:
        return
    where = metafunc.definition.nodeid
    if "arena_case" not in metafunc.fixturenames:
        raise pytest.UsageError(f"{where}: marked with arena, but takes no arena_episode")
    if marker.args or (unknown := marker.kwargs.keys() - _OPTIONS):
        given = marker.args or sorted(unknown)
        raise pytest.UsageError(f"{where}: arena takes {', '.join(sorted(_OPTIONS))}, not {given}")
    cases = list(_cases(where, **marker.kwargs))
    ids = [f"{case.task.rpartition('/')[2]}-{case.world}" for case in cases]
    ids = [
        f"{name}-r{case.repeat}" if case.repeat else name
        for name, case in zip(ids, cases, strict=True)
    ]
    metafunc.parametrize("arena_case", cases, ids=ids, indirect=True)


def _cases(
    where: str,
    suite: str = "demo",
    tasks: str | tuple[str, ...] = (),
    worlds: str | tuple[str, ...] = ("offline",),
    repeats: int = 1,
) -> Iterator[ArenaCase]:
    from orchestrator import Arena, ArenaError  # noqa: PLC0415  see the module

    try:
        found = Arena().suites.tasks(suite, (tasks,) if isinstance(tasks, str) else tasks)
    except ArenaError as error:
        raise pytest.UsageError(f"{where}: {error.message}") from error
    for world in (worlds,) if isinstance(worlds, str) else worlds:
        there = [task for task in found if world in task.worlds]
        if not there or repeats < 1:
            raise pytest.UsageError(
                f"{where}: nothing of {suite} is played {world} {repeats} times"
            )
        for repeat in range(repeats):
            yield from (ArenaCase(f"{suite}/{task.id}", world, repeat) for task in there)


@pytest.fixture(scope="session")
def arena() -> Iterator[SyncArena]:
    """An open Arena, one a process of pytest; define your own for other sites or more workers."""
    from orchestrator import SyncArena  # noqa: PLC0415  see the module

    with SyncArena() as opened:
        yield opened


@pytest.fixture
def arena_case(request: pytest.FixtureRequest) -> ArenaCase | None:
    """The task, world and repeat that the marker gave this call of a test; None without one."""
    found: ArenaCase | None = getattr(request, "param", None)
    return found


@pytest.fixture
def arena_episode(
    request: pytest.FixtureRequest,
    arena: SyncArena,
    arena_case: ArenaCase | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ArenaEpisodes]:
    """Open episodes that are judged when the test ends: `arena_episode(task, world)`."""
    kept = request.config.getoption("--arena-out")
    base = request.config.invocation_params.dir / kept if kept else tmp_path_factory.getbasetemp()
    name = re.sub(r"[^\w.-]+", "-", request.node.nodeid)[-_LONGEST:].strip("-")
    episodes = ArenaEpisodes(arena, arena_case, base / "arena" / name)
    request.node.stash[_EPISODES] = episodes
    yield episodes
    episodes.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Judge the episodes of a test that raised nothing itself."""
    result = yield
    episodes = item.stash.get(_EPISODES, None)
    if episodes is not None:
        episodes.judge()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Mark the report of a test whose episode has no score."""
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, UnscoredError):
        report.longrepr = str(call.excinfo.value)
        report.user_properties.append((_UNSCORED, report.longrepr))
    return report


def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport,
) -> tuple[str, str, object] | None:
    """Count what is unscored apart from failures; it ends pytest with an error all the same."""
    if isinstance(report, pytest.TestReport) and _UNSCORED in dict(report.user_properties):
        return "unscored", "U", ("UNSCORED", {"yellow": True})
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say of each unscored episode why it is."""
    for report in terminalreporter.stats.get("unscored", ()):
        terminalreporter.write_line(f"UNSCORED {report.nodeid} - {report.longrepr}")
