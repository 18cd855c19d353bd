"""Old plays are removed, but never what a task's status rests on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.canary.plays import gave_up, make_task, right_play

from orchestrator.authoring.canary.findings import finding_of
from orchestrator.authoring.canary.history import CanaryPlace, History, LookTerms, Origins
from orchestrator.authoring.canary.pruning import KEPT_FOR, MOST_KEPT, prune

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
PLACE = CanaryPlace(suite="small", origins=Origins.LIVE, browser="chromium")


def run(plays: Path, age: timedelta, number: int = 0) -> Path:
    """Make a run of plays as old as that."""
    path = plays / f"{NOW - age:%Y%m%d-%H%M%S}-{number:06x}"
    (path / "evidence" / "online-samovar-r0-a1").mkdir(parents=True)
    (path / "lock.json").write_text("{}", encoding="utf-8")
    return path


def days(count: float) -> timedelta:
    return timedelta(days=count)


def test_what_is_old_goes_and_what_a_status_rests_on_stays(tmp_path: Path) -> None:
    young, old, older = (run(tmp_path, days(count)) for count in (29, 31, 400))
    held = older / "evidence" / "online-samovar-r0-a1"
    assert prune(tmp_path, [str(held)], NOW) == (old,)
    assert young.is_dir()
    assert held.is_dir()


def test_of_young_ones_the_latest_stay_and_those_of_today_however_many(tmp_path: Path) -> None:
    of_today = {run(tmp_path, timedelta(hours=1), number) for number in range(3)}
    latest = {run(tmp_path, days(2), number) for number in range(MOST_KEPT - 3)}
    beyond = {run(tmp_path, days(3), number) for number in range(2)}
    assert set(prune(tmp_path, [], NOW)) == beyond
    assert set(tmp_path.iterdir()) == of_today | latest
    more = {run(tmp_path, timedelta(hours=2), number) for number in range(MOST_KEPT)}
    assert set(prune(tmp_path, [], NOW)) == latest
    assert set(tmp_path.iterdir()) == of_today | more


def test_nothing_else_in_the_folder_is_touched(tmp_path: Path) -> None:
    plays, elsewhere = tmp_path / "plays", tmp_path / "elsewhere"
    theirs = run(elsewhere, days(400))
    plays.mkdir()
    (plays / theirs.name).symlink_to(theirs)
    (plays / "notes").mkdir()
    (plays / "99999999-999999-abcdef").mkdir()
    (plays / "99999999-999999-abcdef" / "lock.json").write_text("{}", encoding="utf-8")
    unlocked = run(plays, days(401))
    (unlocked / "lock.json").unlink()
    before = set(plays.rglob("*"))
    assert prune(plays, ["/nowhere/at/all", "relative"], NOW) == ()
    assert set(plays.rglob("*")) == before
    assert theirs.is_dir()
    assert prune(tmp_path / "missing", [], NOW) == ()


@pytest.mark.parametrize("browser", ["chromium", "headed"])
def test_a_status_rests_on_its_last_look_and_the_last_valid_one_in_each_place(
    tmp_path: Path, browser: str
) -> None:
    task, place = make_task(), replace(PLACE, browser=browser)
    valid, drifted = finding_of(right_play()), finding_of(gave_up())
    with History.at(tmp_path / "history.sqlite") as history:
        for day, found in enumerate((valid, valid, drifted, drifted), start=1):
            for one in (place, replace(PLACE, origins=Origins.STAGED)):
                kept = f"/plays/{one.origins}-{day}"
                terms = LookTerms(
                    place=one, at=f"2026-01-0{day}", suite_version=1, images={}, browser=""
                )
                history.add(terms, [(task, replace(found, evidence=kept))])
        # A task that is changed begins anew, and its status rests on its own look.
        changed = make_task(intent="Open it, and count.")
        terms = LookTerms(place=place, at="2026-01-05", suite_version=2, images={}, browser="")
        history.add(terms, [(changed, replace(drifted, evidence="/plays/live-5"))])
        assert set(history.rests_on()) == {
            *("/plays/live-2", "/plays/live-5", "/plays/staged-2", "/plays/staged-4"),
        }


def test_a_month_is_thirty_days() -> None:
    assert days(30) == KEPT_FOR
