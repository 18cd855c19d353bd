from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.json_path import JsonPathError, read_json_path

DOCUMENT = {"a": {"b": [{"c": 1}, {"c": 2}]}, "n": None, "list": [1, 2]}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b[0].c", [1]),
        ("a.b[*].c", [1, 2]),
        ("list[1]", [2]),
        ("n", [None]),
        ("list[*]", [1, 2]),
    ],
)
def test_a_path_leads_to_its_values(path: str, found: list[object]) -> None:
    assert read_json_path(DOCUMENT, path) == found


@pytest.mark.parametrize("path", ["x", "a.b[7]", "list.a", "a[0]", "a..b", "a[b]", "a b"])
def test_a_path_that_leads_nowhere_is_an_error_and_no_empty_result(path: str) -> None:
    with pytest.raises(JsonPathError):
        read_json_path(DOCUMENT, path)


@given(st.text(max_size=20))
def test_any_text_as_a_path_gives_values_or_its_own_error(path: str) -> None:
    with suppress(JsonPathError):
        assert isinstance(read_json_path(DOCUMENT, path), list)
