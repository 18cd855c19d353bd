from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs.make_changes import added, changed, removed

from evaluators.changes import (
    REDACTED,
    Change,
    ChangeKind,
    FileChange,
    IgnoredChanges,
    MoreChanges,
    OtherChange,
    RowChange,
    TableChange,
    change_as_text,
    is_secret,
    kept,
    read_change,
    said,
)

CELLS = st.dictionaries(st.text(max_size=4), st.none() | st.text(max_size=9), max_size=3)
GONE = ChangeKind.REMOVED
KINDS = st.sampled_from(ChangeKind)
CHANGES = st.one_of(
    st.builds(
        RowChange,
        table=st.text(),
        kind=KINDS,
        key=CELLS,
        before=st.none() | CELLS,
        after=st.none() | CELLS,
        changed=st.tuples(st.text()),
    ),
    st.builds(FileChange, path=st.text(), kind=KINDS, differs=st.tuples(st.text())),
    st.builds(TableChange, table=st.text(), kind=KINDS),
    st.builds(MoreChanges, table=st.text(), count=st.integers(1)),
    st.builds(OtherChange, what=st.text()),
)


@given(CHANGES)
def test_a_change_is_read_as_it_was_written(change: Change) -> None:
    assert read_change(change_as_text(change)) == change


@given(CHANGES, CHANGES)
def test_texts_are_equal_where_changes_are(one: Change, other: Change) -> None:
    assert (change_as_text(one) == change_as_text(other)) == (one == other)


@given(st.text())
def test_other_text_is_no_change(text: str) -> None:
    assert read_change(text) is None


@given(CHANGES)
def test_every_change_is_said_in_one_line_or_so(change: Change) -> None:
    assert len(said(change)) < 2000


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            changed("catalogue_product", {"id": "17"}, title=("Kettle", "Kettel")),
            "table catalogue_product, row id=17: title 'Kettle' -> 'Kettel'",
        ),
        (
            changed("stock", {"id": "3"}, price=("39.99", None), note=(None, "")),
            "table stock, row id=3: price 39.99 -> NULL, note NULL -> ''",
        ),
        (
            added("line", {"basket": "1", "product": "2"}, basket="1", product="2", quantity="3"),
            "table line, row basket=1, product=2 added: quantity 3",
        ),
        (removed("log", {}, text="a\n b"), "table log, a row removed: text 'a b'"),
        (
            changed("user", {"id": "1"}, password=(REDACTED, REDACTED)),
            "table user, row id=1: password (redacted)",
        ),
        (
            added("wide", {"id": "1"}, **{f"c{n}": "0" for n in range(10)}),
            (
                "table wide, row id=1 added: c0 0, c1 0, c2 0, c3 0, c4 0, c5 0, c6 0, c7 0"
                " and 2 more columns"
            ),
        ),
        (FileChange(path="/srv/a", kind=ChangeKind.ADDED), "file /srv/a added"),
        (
            FileChange(path="/srv/a\nb", kind=ChangeKind.CHANGED, differs=("other content",)),
            r"file '/srv/a\nb': other content",
        ),
        (TableChange(table="t", kind=GONE, differs=("2 rows",)), "table t removed: 2 rows"),
        (MoreChanges(table="t", count=1), "table t: 1 more row differs"),
        (OtherChange(what="view v: new"), "view v: new"),
    ],
)
def test_a_change_is_said_with_table_and_row(change: Change, sentence: str) -> None:
    assert said(change) == sentence


@pytest.mark.parametrize(
    "column",
    ["password", "Passwd", "reset_token", "client_secret", "session_key", "api_key", "apikey"],
)
def test_columns_named_like_secrets_are_not_kept(column: str) -> None:
    assert is_secret(column)
    assert kept(column, "hunter2") == REDACTED
    assert kept(column, None) is None


@pytest.mark.parametrize("column", ["title", "key", "pass_mark", "product_id"])
def test_other_columns_are_kept_as_they_are(column: str) -> None:
    assert kept(column, "hunter2") == "hunter2"


def test_long_texts_are_cut_and_still_distinguished() -> None:
    one, other = kept("body", "x" * 9000), kept("body", "x" * 8999 + "y")
    assert one is not None
    assert len(one) < 4200
    assert "9000 characters" in one
    assert one != other


def test_ignored_tables_may_be_named_by_pattern() -> None:
    ignored = IgnoredChanges(tables=("analytics_*", "log"))
    assert ignored.has_table("analytics_user")
    assert ignored.has_table("log")
    assert not ignored.has_table("logs")
