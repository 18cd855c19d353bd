"""A look plays what can be played, asks a flake again, and writes down what it found."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.canary.plays import (
    CLICKED,
    KETTLE,
    OPENED,
    SAMOVAR,
    STOPPED,
    gave_up,
    make_evidence,
    make_step,
    make_task,
    right_play,
)
from support.runs.tiny_run import make_lock

from arena_core.errors import FormatError, StoreError
from arena_core.worlds import World
from evaluators.evidence import Ended, EpisodeFault, Evidence, UnscoredReason
from orchestrator.authoring.canary.findings import CanaryStatus, finding_of
from orchestrator.authoring.canary.history import CanaryPlace, History, LookTerms, Origins
from orchestrator.authoring.canary.looking import CanaryReport, Looking
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE, StepLines
from orchestrator.episode.page_view import PageView
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Suite, Task

PLACE = CanaryPlace(suite="small", origins=Origins.LIVE, browser="chromium")
RIGHT = (make_evidence(OPENED, CLICKED, STOPPED), (KETTLE, SAMOVAR))
RENAMED = PageView(KETTLE.url, "Kettle", 200, '[3] link "Samovars"')
DRIFTED = (make_evidence(OPENED, ended=Ended.AGENT_GAVE_UP, answer=None), (RENAMED,))
BROKEN = (
    make_evidence(ended=None, fault=EpisodeFault(reason=UnscoredReason.INFRA, message="no engine")),
    (),
)
NOT_PLAYED = None
Shown = tuple[Evidence, Sequence[PageView]] | None


@dataclass
class Player:
    """Plays tasks by a script: what each of their plays leaves, in turn."""

    folder: Path
    script: Mapping[str, Sequence[Shown]]
    played: list[tuple[str, ...]] = field(default_factory=list)
    _turns: dict[str, int] = field(default_factory=dict)

    async def play(self, tasks: tuple[Task, ...]) -> RunFolder:
        suite = Suite(suite="small", version=3, title="Small", tasks=tasks)
        run = RunFolder.create(self.folder / f"run-{len(self.played)}", make_lock(), suite)
        self.played.append(tuple(task.id for task in tasks))
        for task in tasks:
            turn = self._turns.get(task.id, 0)
            self._turns[task.id] = turn + 1
            shown = self.script[task.id][turn]
            if shown is not None:
                evidence, pages = shown
                named = evidence.model_copy(update={"task": task.id})
                run.save_evidence(f"online-{task.id}-r0-a1", named, observations(pages))
        return run


def observations(pages: Sequence[PageView]) -> Mapping[str, bytes]:
    lines = StepLines(())
    for step, page in enumerate(pages):
        parts = {"axtree": {"text": page.tree}}
        lines.add({"step": step, "url": page.url, "title": page.title, "parts": parts})
    return {OBSERVATIONS_FILE: lines.packed(), f"step-{len(pages):03d}.webp": b"picture"}


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with History.at(tmp_path / "data" / "history.sqlite") as opened:
        yield opened


async def look(
    history: History, folder: Path, *tasks: Task, **script: Sequence[Shown]
) -> tuple[CanaryReport, Player]:
    player = Player(folder, script)
    suite = Suite(suite="small", version=3, title="Small", tasks=tasks)
    looking = Looking(suite=suite, place=PLACE, history=history, play=player.play, runs=[])
    return await looking.look(tasks), player


def statuses(report: CanaryReport) -> dict[str, CanaryStatus]:
    return {one.finding.task: one.finding.status for one in report.tasks}


async def test_what_is_valid_is_played_once(history: History, tmp_path: Path) -> None:
    report, player = await look(history, tmp_path / "a", make_task(), samovar=[RIGHT])
    assert statuses(report) == {"samovar": CanaryStatus.VALID}
    assert player.played == [("samovar",)]
    assert report.tasks[0].before is None
    assert not report.tasks[0].is_flaky


async def test_what_would_turn_bad_is_played_again_and_bad_only_where_both_are(
    history: History, tmp_path: Path
) -> None:
    tasks = [make_task(id=name) for name in ("flake", "gone", "half", "late")]
    report, player = await look(
        history,
        tmp_path / "a",
        *tasks,
        flake=[DRIFTED, RIGHT],
        gone=[DRIFTED, DRIFTED],
        half=[DRIFTED, BROKEN],
        late=[BROKEN, DRIFTED],
    )
    assert statuses(report) == {
        "flake": CanaryStatus.VALID,
        "gone": CanaryStatus.DRIFTED,
        "half": CanaryStatus.UNKNOWN,
        "late": CanaryStatus.UNKNOWN,
    }
    assert player.played == [("flake", "gone", "half", "late")] * 2
    assert [one.is_flaky for one in report.tasks] == [True, False, False, False]
    assert "one play of two" in report.tasks[2].finding.because


@pytest.mark.parametrize(
    ("said", "pauses", "status"),
    [
        ("90", [90.0], CanaryStatus.VALID),
        ("garbage", [], CanaryStatus.VALID),
        ("121", None, CanaryStatus.BLOCKED),
        ("1000000000", None, CanaryStatus.BLOCKED),
    ],
)
async def test_a_site_is_not_asked_again_before_it_wants_that(
    history: History, tmp_path: Path, said: str, pauses: list[float] | None, status: CanaryStatus
) -> None:
    refused = make_step(0, KETTLE.url, status=429).model_copy(update={"retry_after": said})
    page = PageView(KETTLE.url, "Too many requests", 429, "")
    limited = (make_evidence(refused, ended=Ended.AGENT_GAVE_UP, answer=None), (page,))
    player, task = Player(tmp_path / "a", {"samovar": [limited, RIGHT]}), make_task()
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    report = await Looking(
        suite=Suite(suite="small", version=3, title="Small", tasks=(task,)),
        place=PLACE,
        history=history,
        play=player.play,
        runs=[],
        clock=lambda: datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC),  # as the play ends
        pause=pause,
    ).look([task])
    assert statuses(report) == {"samovar": status}
    assert waited == (pauses or [])
    assert len(player.played) == (1 if pauses is None else 2)


async def test_what_was_as_bad_before_is_not_played_again(history: History, tmp_path: Path) -> None:
    first, _ = await look(history, tmp_path / "a", make_task(), samovar=[DRIFTED, DRIFTED])
    second, player = await look(history, tmp_path / "b", make_task(), samovar=[DRIFTED])
    assert player.played == [("samovar",)]
    assert second.tasks[0].before is CanaryStatus.DRIFTED
    assert second.tasks[0].since == first.tasks[0].since


async def test_a_task_without_a_reference_is_unknown_and_nobody_plays_it(
    history: History, tmp_path: Path
) -> None:
    report, player = await look(history, tmp_path / "a", make_task(reference=None))
    assert statuses(report) == {"samovar": CanaryStatus.UNKNOWN}
    assert player.played == []


async def test_what_a_run_left_unplayed_is_played_in_another_as_long_as_one_leads_on(
    history: History, tmp_path: Path
) -> None:
    tasks = [make_task(id="one"), make_task(id="two")]
    report, player = await look(
        history,
        tmp_path / "a",
        *tasks,
        one=[RIGHT],
        two=[NOT_PLAYED, NOT_PLAYED, NOT_PLAYED],
    )
    assert statuses(report) == {"one": CanaryStatus.VALID, "two": CanaryStatus.UNKNOWN}
    assert player.played == [("one", "two"), ("two",), ("two",)]


async def test_a_task_of_the_other_world_is_named_and_not_judged(
    history: History, tmp_path: Path
) -> None:
    task = make_task(worlds=["offline"])
    report, _ = await look(history, tmp_path / "a", task)
    assert (report.tasks, report.not_there) == ((), ("samovar",))
    assert PLACE.world is World.ONLINE


async def test_evidence_that_cannot_be_read_shows_nothing(history: History, tmp_path: Path) -> None:
    class Damaging(Player):
        async def play(self, tasks: tuple[Task, ...]) -> RunFolder:
            run = await super().play(tasks)
            for name in run.evidence_names():
                (run.evidence_folder(name) / OBSERVATIONS_FILE).write_bytes(b"no gzip")
            return run

    player = Damaging(tmp_path / "a", {"samovar": [RIGHT, RIGHT]})
    suite = Suite(suite="small", version=3, title="Small", tasks=(make_task(),))
    looking = Looking(suite=suite, place=PLACE, history=history, play=player.play, runs=[])
    report = await looking.look(suite.tasks)
    assert statuses(report) == {"samovar": CanaryStatus.UNKNOWN}


async def test_an_answer_that_left_the_page_since_the_last_valid_look_is_drift(
    history: History, tmp_path: Path
) -> None:
    await look(history, tmp_path / "a", make_task(), samovar=[RIGHT])
    changed = PageView(SAMOVAR.url, "Samovar", 200, SAMOVAR.tree.replace("47", "52"))
    now = (RIGHT[0], (KETTLE, changed))
    report, _ = await look(history, tmp_path / "b", make_task(), samovar=[now, now])
    assert statuses(report) == {"samovar": CanaryStatus.DRIFTED}
    assert report.tasks[0].before is CanaryStatus.VALID


async def test_the_history_keeps_each_place_and_each_version_of_a_task_apart(
    history: History, tmp_path: Path
) -> None:
    await look(history, tmp_path / "a", make_task(), samovar=[RIGHT])
    [entry] = history.entries(PLACE)
    assert (entry.status, entry.since, entry.sites) == (CanaryStatus.VALID, entry.at, ("wiki",))
    assert entry.evidence == str(tmp_path / "a/run-0/evidence/online-samovar-r0-a1")
    staged = CanaryPlace(suite="small", origins=Origins.STAGED, browser="chromium")
    other = replace(PLACE, browser="headed")
    assert history.entries(staged) == history.entries(other) == ()
    assert history.last(other, make_task()) is None
    assert history.document(other, make_task()) is None
    assert history.last(staged, make_task()) is None
    assert history.last(PLACE, make_task()) == entry
    assert history.last(PLACE, make_task(intent="Open the samovar, now and here.")) is None
    assert history.places() == (PLACE,)


def test_a_status_holds_since_the_first_of_the_looks_that_found_it_one_after_the_other(
    history: History,
) -> None:
    task, valid, drifted = make_task(), finding_of(right_play()), finding_of(gave_up())
    since: list[str] = []
    for day, found in enumerate((valid, valid, drifted, drifted, valid), start=1):
        terms = LookTerms(place=PLACE, at=f"2026-01-0{day}", suite_version=1, images={}, browser="")
        since.append(history.add(terms, [(task, found)])["samovar"].since[-1])
    assert since == ["1", "1", "3", "3", "5"]
    last = history.last(PLACE, task, valid=True)
    assert last is not None
    assert last.at == "2026-01-05"


def test_a_history_of_a_later_version_or_none_at_all_is_refused(tmp_path: Path) -> None:
    later = tmp_path / "later.sqlite"
    with sqlite3.connect(later) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(FormatError, match="99"), History.at(later):
        pass
    other = tmp_path / "other.sqlite"
    other.write_text(json.dumps({"no": "history"}) * 100, encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be used"), History.at(other):
        pass


def test_a_history_of_an_earlier_version_knows_its_browsers_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    task, found = make_task(), finding_of(right_play())
    with History.at(path) as history:
        for browser in ("131.0.1 (headless shell)", "131.0.1"):
            at = f"2026-01-0{len(browser) % 7 + 1}"
            terms = LookTerms(place=PLACE, at=at, suite_version=1, images={}, browser=browser)
            history.add(terms, [(task, found)])
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE look DROP COLUMN chosen")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    for _ in range(2):
        with History.at(path) as history:
            shell = replace(PLACE, browser="headless-shell")
            assert history.places() == (shell, PLACE)
            assert [len(history.entries(one)) for one in (shell, PLACE)] == [1, 1]
            assert history.last_place("small", Origins.LIVE) == PLACE


def test_the_last_place_is_that_of_the_browser_that_looked_last(history: History) -> None:
    task, found = make_task(), finding_of(right_play())
    headed = replace(PLACE, browser="headed")
    for day, place in enumerate((PLACE, headed, PLACE, headed), start=1):
        terms = LookTerms(place=place, at=f"2026-01-0{day}", suite_version=1, images={}, browser="")
        history.add(terms, [(task, found)])
    assert history.last_place("small", Origins.LIVE) == headed
    assert history.last_place("small", Origins.STAGED) is None
