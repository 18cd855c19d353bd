from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.sandbox.delta.comparison import _differing

KEYED = st.dictionaries(st.text("a19", max_size=3), st.sampled_from("xyz"), max_size=6)
LOOSE = st.lists(st.sampled_from("xyz"), max_size=6)


def entries(rows: dict[str, str]) -> Counter[str]:
    return Counter(content + key for key, content in rows.items())


@given(KEYED, KEYED)
def test_of_each_row_with_a_key_it_is_said_what_became_of_it(
    before: dict[str, str], after: dict[str, str]
) -> None:
    found = _differing(entries(before), entries(after), lambda entry: entry[1:])
    expected = {
        key: (before.get(key), after.get(key))
        for key in {*before, *after}
        if before.get(key) != after.get(key)
    }
    assert {
        one.key: (one.before and one.before[0], one.after and one.after[0]) for one in found
    } == expected
    assert len(found) == len(expected)


@given(LOOSE, LOOSE)
def test_rows_without_a_key_are_counted(before: list[str], after: list[str]) -> None:
    found = _differing(Counter(before), Counter(after), None)
    gone = Counter(one.before for one in found if one.before is not None)
    come = Counter(one.after for one in found if one.after is not None)
    assert Counter(before) - gone + come == Counter(after)
    assert len(found) == (gone + come).total()
    assert not gone & come


def test_numbers_are_sorted_as_numbers_and_before_text() -> None:
    after = Counter(["x10", "x9", "xb", "x-1", "x"])
    found = _differing(Counter(), after, lambda entry: entry[1:])
    assert [one.key for one in found] == ["9", "10", "", "-1", "b"]
