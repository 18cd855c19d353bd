from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.errors import ImageError
from orchestrator.sandbox.reset.state import (
    ROWS_ELSEWHERE,
    FileState,
    Fingerprint,
    ObjectState,
    ProbeState,
    TableState,
)

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
tables = st.builds(
    TableState,
    name=names,
    rows=st.integers(0, 5),
    content=st.sampled_from(["0", "a1", "ff"]),
    auto_increment=st.none() | st.integers(1, 9),
    definition=st.sampled_from(["d1", "d2"]),
)
files = st.builds(
    FileState,
    path=names,
    kind=st.sampled_from("fdl"),
    mode=st.sampled_from(["644", "755"]),
    owner=st.sampled_from(["0:0", "10001:10001"]),
    content=st.sampled_from(["", "aa", "bb"]),
)
objects = st.builds(
    ObjectState,
    kind=st.sampled_from(["trigger", "view", "setting"]),
    name=names,
    definition=st.sampled_from(["d1", "d2"]),
)
probes = st.builds(ProbeState, name=names, value=names)
fingerprints = st.builds(
    Fingerprint,
    tables=st.lists(tables, max_size=4, unique_by=lambda part: part.name).map(tuple),
    files=st.lists(files, max_size=4, unique_by=lambda part: part.path).map(tuple),
    objects=st.lists(objects, max_size=2, unique_by=lambda part: (part.kind, part.name)).map(tuple),
    probes=st.lists(probes, max_size=2, unique_by=lambda part: part.name).map(tuple),
    scratch=st.lists(files, max_size=2, unique_by=lambda part: part.path).map(tuple),
)

NOTE = TableState(name="note", rows=2, content="a1", auto_increment=3, definition="d1")
PICTURE = FileState(path="/f/x.png", kind="f", mode="644", owner="1:1", content="aa")
GOLDEN = Fingerprint(tables=(NOTE,), files=(PICTURE,))


@given(fingerprints, fingerprints)
def test_two_states_have_one_digest_exactly_when_nothing_differs(
    one: Fingerprint, other: Fingerprint
) -> None:
    assert (one.digest == other.digest) == (one.differences(other) == ())


@given(fingerprints)
def test_order_is_no_state(found: Fingerprint) -> None:
    turned = Fingerprint(
        tables=found.tables[::-1],
        files=found.files[::-1],
        objects=found.objects[::-1],
        probes=found.probes[::-1],
        scratch=found.scratch[::-1],
    )
    assert turned.digest == found.digest


@given(fingerprints)
def test_a_stored_fingerprint_reads_back_the_same(found: Fingerprint) -> None:
    read = Fingerprint.from_json(found.to_json())
    assert read.digest == found.digest
    assert read.differences(found) == ()


@given(fingerprints, fingerprints)
def test_every_difference_is_one_printable_line(one: Fingerprint, other: Fingerprint) -> None:
    assert all(line.isprintable() for line in one.differences(other))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": 5, "content": "b"}, "table note: 3 rows more"),
        ({"rows": 1, "content": "b"}, "table note: 1 row fewer"),
        ({"content": "b"}, "table note: same number of rows, other content"),
        ({"auto_increment": 7}, "table note: next id 7 instead of 3"),
        ({"definition": "d2"}, "table note: other definition"),
        (
            {"rows": 3, "content": "b", "auto_increment": 4},
            "table note: 1 row more, next id 4 instead of 3",
        ),
    ],
)
def test_a_table_says_what_changed(change: dict[str, object], said: str) -> None:
    found = Fingerprint(tables=(replace(NOTE, **change),), files=GOLDEN.files)  # type: ignore[arg-type]  # a table of changes
    assert found.differences(GOLDEN) == (said,)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"content": "bb"}, "file /f/x.png: other content"),
        ({"mode": "600"}, "file /f/x.png: mode 600 instead of 644"),
        ({"owner": "0:0"}, "file /f/x.png: owner 0:0 instead of 1:1"),
        ({"kind": "l"}, "file /f/x.png: type l instead of f"),
    ],
)
def test_a_file_says_what_changed(change: dict[str, str], said: str) -> None:
    found = Fingerprint(tables=GOLDEN.tables, files=(replace(PICTURE, **change),))
    assert found.differences(GOLDEN) == (said,)


def test_new_and_removed_parts_are_named() -> None:
    found = Fingerprint(
        tables=(replace(NOTE, name="added"),), files=(replace(PICTURE, path="/f/y\n.png"),)
    )
    assert found.differences(GOLDEN) == (
        "table added: new",
        "table note: removed",
        "file /f/x.png: removed",
        r"file '/f/y\n.png': new",
    )


def test_what_is_no_table_and_no_file_says_what_changed_too() -> None:
    golden = Fingerprint(
        objects=(ObjectState("view", "v", "d1"), ObjectState("trigger", "t", "d1")),
        probes=(ProbeState("orders", "7"),),
    )
    found = Fingerprint(
        objects=(ObjectState("view", "v", "d2"), ObjectState("setting", "SQL_MODE", "d1")),
        probes=(ProbeState("orders", "8"),),
    )
    assert found.differences(golden) == (
        "setting SQL_MODE: new",
        "trigger t: removed",
        "view v: other definition",
        "probe orders: '8' instead of '7'",
    )


def test_a_seal_of_an_older_version_says_so() -> None:
    with pytest.raises(ImageError, match="has version 1, not 3") as caught:
        Fingerprint.from_json(b'{"version": 1, "tables": [], "files": []}')
    assert caught.value.hint == "arena build --force"


@pytest.mark.parametrize("stored", [b"", b"{}", b'{"version": 9, "tables": [], "files": []}'])
def test_a_golden_state_that_cannot_be_read_says_how_to_make_it_anew(stored: bytes) -> None:
    with pytest.raises(ImageError) as caught:
        Fingerprint.from_json(stored)
    assert caught.value.hint == "arena build --force"


def test_what_a_warm_up_left_in_memory_is_not_what_a_container_starts_with() -> None:
    fresh = Fingerprint(scratch=(replace(PICTURE, path="/run/site/app.sock", kind="s"),))
    warmed = replace(GOLDEN, scratch=(replace(PICTURE, path="/run/site/cache/1"),))
    assert warmed.with_scratch_of(fresh) == replace(GOLDEN, scratch=fresh.scratch)


def test_rows_of_other_schemas_are_compared_where_both_know_them() -> None:
    mysql, other, changed = (
        ObjectState(ROWS_ELSEWHERE, *told)
        for told in (("mysql", "1"), ("other", "1"), ("mysql", "2"))
    )
    was = GOLDEN.with_objects((mysql,))
    assert GOLDEN.differences(was) == was.differences(GOLDEN) == ()
    assert GOLDEN.digest == was.own_digest != was.digest
    now = GOLDEN.with_objects((changed, other))
    assert now.differences(was) == ("rows of mysql: other content", "rows of other: new")
