"""The check that `arena diff --as-check` writes: it asks for these changes, and holds again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.runs.make_changes import added, changed, removed

from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.changes import (
    Change,
    ChangeKind,
    FileChange,
    MoreChanges,
    OtherChange,
    TableChange,
    change_as_text,
)
from evaluators.checks import Check
from evaluators.matchers.delta import DeltaMatcher
from orchestrator.sandbox.delta.check import ByItself, Moments, check_of
from orchestrator.sandbox.delta.delta import Delta, NextId
from sites.manifest import Clock

WATCH_STARTED = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize("jump_s", [300, -300, 7200, -7200])
def test_the_moments_lie_between_both_ends_whichever_way_the_clock_was_set(jump_s: int) -> None:
    until = WATCH_STARTED + timedelta(seconds=jump_s)
    moments = Moments.between(WATCH_STARTED, until, Clock())
    assert moments.holds((WATCH_STARTED + timedelta(seconds=jump_s / 2)).isoformat())
    assert moments.holds(until.isoformat())
    assert not moments.holds((WATCH_STARTED + timedelta(seconds=abs(jump_s) + 60)).isoformat())


STARTED = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
NOW = STARTED + timedelta(minutes=5)
REAL = Moments.between(STARTED, NOW, Clock())
LINE_TABLE = (
    "CREATE TABLE `line` (\n CONSTRAINT `x` FOREIGN KEY (`basket_id`) REFERENCES `basket` (`id`)"
)


def written(*changes: Change, next_ids: tuple[NextId, ...] = (), **options: Any) -> Check:
    given = {"by_itself": ByItself(), "moments": REAL, "definitions": {}, **options}
    return Check.model_validate(check_of(Delta("shop", changes, next_ids), **given))


def is_met(check: Check, *changes: Change) -> bool:
    assert isinstance(check.match, DeltaMatcher)
    return check.match.match([change_as_text(change) for change in changes], World.OFFLINE).met


def row(number: int, basket: int, at: str, **columns: str | None) -> Change:
    return added("line", {"id": str(number)}, basket_id=str(basket), created=at, **columns)


def test_the_check_is_met_by_the_changes_that_it_was_made_of_and_by_no_others() -> None:
    changes = (
        added("note", {"id": "3"}, author="ada", text="third", extra=None),
        removed("note", {"id": "1"}, author="ada"),
        changed("product", {"id": "17"}, title=("Kettle", "Kettel"), price=("1.00", None)),
        FileChange(path="/srv/a[1]*.png", kind=ChangeKind.ADDED),
    )
    check = written(*changes)
    assert is_met(check, *changes)
    assert not is_met(check, *changes[1:])
    assert not is_met(check, *changes, added("note", {"id": "4"}))
    other = changed("product", {"id": "17"}, title=("Kettle", "Kettel"), price=("1.00", "2.00"))
    assert not is_met(check, *changes[:2], other, changes[3])
    assert not is_met(check, *changes[:3], FileChange(path="/srv/a1x.png", kind=ChangeKind.ADDED))


def test_ids_that_the_database_gave_and_times_of_the_change_may_be_others() -> None:
    ids = (NextId("basket", 40, 41), NextId("line", 7, 8))
    first = row(7, 40, "2026-11-22 10:03:00.5", product="40", due="2026-12-24 00:00:00")
    check = written(first, next_ids=ids, definitions={"line": LINE_TABLE})
    assert isinstance(check.match, DeltaMatcher)
    assert check.match.changes[0].columns == {"product": "40", "due": "2026-12-24 00:00:00"}
    later = row(9, 42, "2027-01-01 00:00:00", product="40", due="2026-12-24 00:00:00")
    assert is_met(check, later)


def test_an_id_of_a_row_that_was_there_before_is_asked_for() -> None:
    ids = (NextId("basket", 40, 41),)
    old = row(7, 39, "x")
    check = written(old, next_ids=ids, definitions={"line": LINE_TABLE})
    assert not is_met(check, row(7, 38, "x"))
    assert is_met(check, row(7, 39, "x"))


def test_a_time_that_a_changed_row_got_may_change_along() -> None:
    touched = changed(
        "product",
        {"id": "17"},
        title=("a", "b"),
        updated=("2026-01-01 00:00:00", "2026-11-22 10:04:59"),
        password=("(redacted)", "(redacted)"),
    )
    check = written(touched)
    assert isinstance(check.match, DeltaMatcher)
    assert check.match.changes[0].also == ("updated", "password")
    assert check.match.changes[0].columns == {"id": "17", "title": "b"}
    assert is_met(check, touched)


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("2026-11-22 10:00:00", True),
        ("2026-11-22T10:04:00Z", True),
        ("2026-11-22T12:04:00+02:00", True),
        ("2026-11-22", True),
        (str(int(NOW.timestamp())), True),
        (str(int(NOW.timestamp() * 1000)), True),
        ("2026-11-22 09:59:00", False),
        ("2026-11-22 10:06:00", False),
        ("2026-11-23", False),
        ("2026-13-45", False),
        ("1234567890", False),
        ("42", False),
        ("10:03", False),
        ("", False),
    ],
)
def test_a_moment_lies_between_the_start_of_the_replica_and_now(value: str, is_one: bool) -> None:  # noqa: FBT001
    assert REAL.holds(value) is is_one


def test_a_moment_by_the_sites_own_clock_and_zone_is_one_too() -> None:
    clock = Clock.model_validate({"now": "2026-03-02T09:00:00Z", "zone": "Europe/Berlin"})
    moments = Moments.between(STARTED, NOW, clock)
    assert moments.holds("2026-03-02 09:04:00")
    assert moments.holds("2026-03-02 10:04:00")  # as it is written in that zone
    assert not moments.holds("2026-03-02 11:04:00")
    assert not moments.holds("2026-03-02")  # the same day each time: it can be asked for


def test_what_changes_by_itself_is_ignored_or_allowed() -> None:
    by_itself = ByItself.of(
        [
            added("visit", {"id": "1"}),
            changed("visit", {"id": "0"}, n=("1", "2")),
            changed("account", {"id": "1"}, last_login=("a", "b")),
            changed("account", {"id": "2"}, seen=("a", "b")),
            FileChange(path="/srv/cache/x", kind=ChangeKind.ADDED),
        ]
    )
    cached = FileChange(path="/srv/cache/x", kind=ChangeKind.ADDED)
    check = written(cached, by_itself=by_itself)
    assert check.locate.model_dump(exclude_defaults=True) == {
        "site": "shop",
        "ignore": {"tables": ("visit",), "columns": {"account": ("last_login", "seen")}},
    }
    assert is_met(check, cached)
    assert is_met(check)


def test_equal_changes_are_counted() -> None:
    two = [added("log", {}, text="x"), added("log", {}, text="x")]
    check = written(*two)
    assert is_met(check, *two)
    assert not is_met(check, two[0])


@pytest.mark.parametrize(
    "change",
    [
        TableChange(table="t", kind=ChangeKind.ADDED, differs=("1 row",)),
        MoreChanges(table="t", count=2),
        OtherChange(what="view v: new"),
    ],
)
def test_what_no_check_can_ask_for_is_refused(change: Change) -> None:
    with pytest.raises(UsageError, match="no check can ask for this change"):
        written(change)
