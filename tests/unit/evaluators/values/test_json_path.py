import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.values.json_path import JsonPathError, json_path_fault, read_json_path

DOCUMENT = {
    "a": {"b": [{"c": 1}, {"c": 2}]},
    "n": None,
    "list": [1, 2],
    "none": [],
    "x-y": {"z": 3},
}

# The bookstore of the standard's introduction, and the values of its other examples.
STORE = {
    "store": {
        "book": [
            {"author": "Rees", "title": "Sayings", "price": 8.95},
            {"author": "Waugh", "title": "Sword", "price": 12.99},
            {"author": "Melville", "title": "Moby", "isbn": "0-553", "price": 8.99},
            {"author": "Tolkien", "title": "Rings", "isbn": "0-395", "price": 22.99},
        ],
        "bicycle": {"color": "red", "price": 399},
    }
}
NESTED = {"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}
SERIES = ["a", "b", "c", "d", "e", "f", "g"]
FILTERED = {
    "a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}],
    "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}},
    "e": "f",
}
NULLS: dict[str, object] = {"a": None, "b": [None], "c": [{}], "null": 1}
QUOTES = {"o": {"j j": {"k.k": 3}}, "'": {"@": 2}}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b[0].c", [1]),
        ("a.b[*].c", [1, 2]),
        ("list[1]", [2]),
        ("n", [None]),
        ("list[*]", [1, 2]),
        ("none[*]", []),
        ("none[*].c", []),
        ("x-y.z", [3]),
        (".a.b[1].c", [2]),
        ("a.b[?@.c > 1].c", [2]),
        ("a.b[-1].c", [2]),
    ],
)
def test_a_path_leads_to_its_values(path: str, found: list[object]) -> None:
    assert read_json_path(DOCUMENT, path) == found


@pytest.mark.parametrize(
    ("document", "path", "found"),
    [
        (STORE, "$.store.book[*].author", ["Rees", "Waugh", "Melville", "Tolkien"]),
        (STORE, "$..author", ["Rees", "Waugh", "Melville", "Tolkien"]),
        (STORE, "$.store..price", [8.95, 12.99, 8.99, 22.99, 399]),
        (STORE, "$..book[2].author", ["Melville"]),
        (STORE, "$..book[2].publisher", JsonPathError),
        (STORE, "$..book[-1].title", ["Rings"]),
        (STORE, "$..book[0,1].title", ["Sayings", "Sword"]),
        (STORE, "$..book[:2].title", ["Sayings", "Sword"]),
        (STORE, "$..book[?@.isbn].title", ["Moby", "Rings"]),
        (STORE, "$..book[?@.price<10].title", ["Sayings", "Moby"]),
        (STORE, "$.store.book[?@.price > $.store.bicycle.price]", []),
        ({"k": "v"}, "$", [{"k": "v"}]),
        (QUOTES, "$.o['j j']", [{"k.k": 3}]),
        (QUOTES, "$.o['j j']['k.k']", [3]),
        (QUOTES, '$.o["j j"]["k.k"]', [3]),
        (QUOTES, r"""$['\'']['@']""", [2]),
        (NESTED, "$[*]", [NESTED["o"], NESTED["a"]]),
        (NESTED, "$.o[*, *]", [1, 2, 1, 2]),
        (SERIES, "$[1]", ["b"]),
        (SERIES, "$[-2]", ["f"]),
        (SERIES, "$[7]", JsonPathError),
        (SERIES, "$[1:3]", ["b", "c"]),
        (SERIES, "$[5:]", ["f", "g"]),
        (SERIES, "$[1:5:2]", ["b", "d"]),
        (SERIES, "$[5:1:-2]", ["f", "d"]),
        (SERIES, "$[::-1]", ["g", "f", "e", "d", "c", "b", "a"]),
        (SERIES, "$[9:]", []),
        (SERIES, "$[0, 3]", ["a", "d"]),
        (SERIES, "$[0:2, 5]", ["a", "b", "f"]),
        (SERIES, "$[0, 0]", ["a", "a"]),
        (FILTERED, "$.a[?@.b == 'kilo']", [{"b": "kilo"}]),
        (FILTERED, "$.a[?(@.b == 'kilo')]", [{"b": "kilo"}]),
        (FILTERED, "$.a[?@>3.5]", [5, 4, 6]),
        (FILTERED, "$.a[?@.b].b", ["j", "k", {}, "kilo"]),
        (FILTERED, "$[?@.*]", [FILTERED["a"], FILTERED["o"]]),
        (FILTERED, "$[?@[?@.b]]", [FILTERED["a"]]),
        (FILTERED, "$.o[?@<3, ?@<3]", [1, 2, 1, 2]),
        (FILTERED, '$.a[?@<2 || @.b == "k"]', [1, {"b": "k"}]),
        (FILTERED, "$.o[?@>1 && @<4]", [2, 3]),
        (FILTERED, "$.o[?@.u || @.x]", [{"u": 6}]),
        (FILTERED, "$.a[?@.b == $.x]", [3, 5, 1, 2, 4, 6]),
        (FILTERED, "$.a[?@ == @]", FILTERED["a"]),
        (FILTERED, "$.a[?!@.b]", [3, 5, 1, 2, 4, 6]),
        (FILTERED, "$.a[?length(@.b) == 4].b", ["kilo"]),
        (FILTERED, "$[?count(@.*) > 6]", [FILTERED["a"]]),
        (FILTERED, "$.a[?value(@..b) == 'j'].b", ["j"]),
        (NESTED, "$..j", [1, 4]),
        (NESTED, "$..[0]", [5, {"j": 4}]),
        (NESTED, "$..o", [{"j": 1, "k": 2}]),
        (NESTED, "$.a..[0, 1]", [5, 3, {"j": 4}, {"k": 6}]),
        (NULLS, "$.a", [None]),
        (NULLS, "$.a[0]", JsonPathError),
        (NULLS, "$.a.d", JsonPathError),
        (NULLS, "$.b[0]", [None]),
        (NULLS, "$.b[*]", [None]),
        (NULLS, "$.b[?@]", [None]),
        (NULLS, "$.b[?@==null]", [None]),
        (NULLS, "$.c[?@.d==null]", []),
        (NULLS, "$.null", [1]),
        ([{"a": 1}, {"b": 2}, {"a": 3}], "$[*].a", [1, 3]),
        ([{"a": 1}, {"b": 2}], "$[*].c", JsonPathError),
        ([1, True, "1"], "$[?@ == 1]", [1]),
        ("text", "$", ["text"]),
        ("[1]", "$", ["[1]"]),
        ("text", "$[0]", JsonPathError),
    ],
)
def test_the_examples_of_the_standard_hold(
    document: object, path: str, found: list[object] | type[JsonPathError]
) -> None:
    """An error stands where the standard gives nothing for a name that nothing has."""
    if isinstance(found, list):
        assert read_json_path(document, path) == found
    else:
        with pytest.raises(found):
            read_json_path(document, path)


@pytest.mark.parametrize("path", ["x", "a.b[7]", "list.a", "a[0]", "a.b[*].d", "none[0]", "x-z"])
def test_a_path_that_leads_nowhere_is_an_error_and_no_empty_result(path: str) -> None:
    assert json_path_fault(path) is None
    with pytest.raises(JsonPathError, match="the answer has no '"):
        read_json_path(DOCUMENT, path)


@pytest.mark.parametrize(
    "path",
    [
        *("a..", "a[b]", "a b", "items[", "$.a | $.b", "$.a & $.b", "^.a", "$.~", "$[~]", " $"),
        *("$ ", "$.1", "$[01]", "$[-0]", "$[1.0]", "$['a]", "$[]", "$[?@.a=1]", "$[?@.a in 'x']"),
        *("$[?_.a]", "$[?#==1]", "$[?(@.a == 'b' ||)]", "$[9007199254740992]", "$[?@.a =~ /x/]"),
        *("$[?length(@.a)]", "$[?count(1) > 1]"),
        "$" + "[?(" * 3000,
    ],
)
def test_what_is_no_query_of_the_standard_is_refused_by_the_linter(path: str) -> None:
    assert json_path_fault(path)
    with pytest.raises(JsonPathError):
        read_json_path(DOCUMENT, path)


def test_a_document_too_deep_to_be_searched_is_an_error() -> None:
    document: object = 1
    for _ in range(500):
        document = [document]
    with pytest.raises(JsonPathError, match="cannot be followed"):
        read_json_path(document, "$..x")


def test_the_library_is_loaded_only_where_a_path_is_read() -> None:
    code = "import sys, evaluators.values.json_path; print('jsonpath' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert loaded.stdout == b"False\n"


@given(st.text(max_size=20))
def test_any_text_as_a_path_gives_values_or_its_own_error(path: str) -> None:
    with suppress(JsonPathError):
        assert isinstance(read_json_path(DOCUMENT, path), list)


@given(st.text("$.[]?@'\"ab01*:-, ()=<>&|!", max_size=20))
def test_no_mix_of_the_standards_marks_makes_it_raise_anything_else(path: str) -> None:
    with suppress(JsonPathError):
        read_json_path(DOCUMENT, f"${path}")
