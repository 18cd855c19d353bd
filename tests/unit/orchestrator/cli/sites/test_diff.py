"""The picture that `arena diff` draws of what changed."""

from __future__ import annotations

from collections.abc import Callable

from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.runs.make_changes import added, changed, removed

from evaluators.changes import ChangeKind, FileChange, MoreChanges, OtherChange, TableChange
from orchestrator.cli.sites.diff import picture
from orchestrator.sandbox.delta.delta import Delta, NextId

Call = Callable[..., Ended]


def drawn(delta: Delta) -> str:
    return "\n".join(picture(delta))


def test_a_golden_site_has_changed_nothing() -> None:
    assert drawn(Delta("shop")) == "shop: nothing changed"


def test_every_table_has_its_rows_and_every_row_its_line() -> None:
    delta = Delta(
        "shop",
        (
            added("line", {"id": "5"}, product="7", note=None),
            removed("line", {"id": "6"}, product="8", note="x"),
            MoreChanges(table="line", count=12),
            changed("log", {}, text=("a", "b")),
            changed("product", {"id": "17"}, title=("Kettle", "Kettel"), price=("1.00", "2.00")),
            TableChange(table="t", kind=ChangeKind.ADDED, differs=("1 row",)),
            TableChange(table="u", kind=ChangeKind.CHANGED, differs=("with `x` int(11)",)),
            FileChange(path="/srv/a", kind=ChangeKind.ADDED),
            FileChange(path="/srv/b", kind=ChangeKind.CHANGED, differs=("other content",)),
            OtherChange(what="view v: new"),
        ),
        (NextId("line", 5, 6), NextId("quiet", 1, 2)),
    )
    assert (
        drawn(delta)
        == """\
line  (next id 5 -> 6)
  + id=5: product 7, note NULL
  - id=6: product 8, note 'x'
  … and 12 more; --limit shows more
log
  ~ a row: text 'a' -> 'b'
product
  ~ id=17: title 'Kettle' -> 'Kettel', price 1.00 -> 2.00
t
  + new table: 1 row
u
  ~ other definition: with `x` int(11)
files
  + /srv/a
  ~ /srv/b: other content
besides
  ~ view v: new
quiet  (next id 1 -> 2; same rows)"""
    )


@SLOW
def test_delta_checks_are_linted_where_no_engine_answers(call: Call) -> None:
    linted = call("tasks", "lint", "demo")
    assert linted.code == 0, linted.err


def test_long_values_are_cut() -> None:
    assert (
        len(drawn(Delta("shop", (changed("t", {"id": "1"}, body=("x" * 500, "y" * 500)),)))) < 220
    )
