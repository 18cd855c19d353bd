"""What is wrong with a file, in words: no word of the validating library reaches a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from quick_cases import ONE_QUICK, SLOW

from arena_core.errors import ManifestError, TaskError
from sites.documents import parse_document
from sites.faults import mistakes
from sites.manifest import Site
from tasks.schema import Suite

CHECK: dict[str, Any] = {
    "name": "said",
    "when": "end",
    "locate": {"by": "page", "at": "own", "selector": "h1"},
    "match": {"how": "exact", "value": "Kettle"},
    "computed": {"site": "shop", "page": "/", "selector": "h1", "pattern": "(K.*)"},
}
NUMBER: dict[str, Any] = {
    "name": "counted",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "number", "value": {"offline": 1, "online": 2}},
}
DELTA: dict[str, Any] = {
    "name": "delta",
    "when": "end",
    "locate": {"by": "db_delta", "site": "shop", "ignore": {"columns": {"a": ["b"]}}},
    "match": {
        "how": "delta",
        "changes": [{"table": "a", "kind": "changed", "columns": {"c": 1}, "also": ["d"]}],
    },
}
SUITE: dict[str, Any] = {
    "suite": "mine",
    "version": 1,
    "title": "Mine",
    "tasks": [
        {
            "id": "one",
            "family": "information",
            "intent": "Say what it is.",
            "sites": ["shop"],
            "roles": {"shop": "customer"},
            "start": ["shop:/"],
            "limits": {"steps": 3, "seconds": 9},
            "checks": [CHECK, NUMBER, DELTA],
            "expected_divergence": {"outcome": "failure", "at": "said", "why": "renamed"},
            "reference": [
                {"do": "type", "role": "textbox", "name": "Search", "text": "kettle"},
                {"do": "stop", "answer": "Kettle"},
            ],
        }
    ],
}
MANIFEST: dict[str, Any] = {
    "name": "shop",
    "title": "Shop",
    "summary": "a shop",
    "host": "shop.arena.test",
    "stateful": True,
    "image": {"tag": "own/shop:1", "build": {"dockerfile": "shop/Dockerfile", "context": ["shop"]}},
    "port": 8000,
    "health": {"path": "/health", "contains": "ready", "timeout_s": 3},
    "resources": {"memory_mb": 64, "cpus": 1.0, "pids": 8},
    "database": {"engine": "mariadb", "port": 3306, "name": "s", "user": "r", "password": "r"},
    "state": {"folder": "/srv/state", "port": 9009},
    "fingerprint": {
        "volatile_tables": ["session"],
        "volatile_columns": {"user": ["last_login"]},
        "files": ["/srv/state/files"],
        "probes": [{"name": "carts", "page": "/carts", "pattern": "([0-9]+)"}],
    },
    "clock": {"now": "2026-10-01T09:00:00Z", "zone": "UTC", "locale": "en"},
    "roles": {
        "customer": {
            "username": "emma",
            "password": "secret-word",
            "login": {"path": "/login", "fields": {"user": "{username}"}},
            "proof": {"path": "/account", "contains": "emma"},
            "api": {
                "scheme": "header",
                "header": "X-Key",
                "secret": "secret-key",
                "proof": {"path": "/api", "contains": "emma"},
            },
        }
    },
    "routes": [{"logical": "/p/{id}", "replica": "/a/{id}", "live": "/b/{id}"}],
    "live": {"origin": "https://shop.example"},
}
WRONG: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**30, float("nan"), float("inf"), "", "x", "a b", "/../x", [], {}),
    *([None], [True], [[1]], {"a": None}, {"offline": 1}, {"offline": None, "online": [{}]}),
    *({"by": "guess"}, {1: 2}, "2026-13-01", "é" * 200),
)

# Words of the validating library and of Python, none of which means anything in a YAML file.
_INNER = re.compile(
    r"function-|union|NoneType|\btuple\b|\bdict\b|frozenset|model_|tagged|Input should|PerWorld"
    r"|instance of|constrained|nullable|literal\[|discriminator|pydantic|\b(str|int|bool)\b"
    r"|valid (string|integer|number|list|dictionary|boolean)|validat|isinstance"
    r"|[a-z](Matcher|Locator)\b",
)


def places(node: object, at: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    """Yield the path of every value of a document."""
    yield at
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, (*at, key))
    if isinstance(node, list):
        for number, value in enumerate(node):
            yield from places(value, (*at, number))


def replaced(node: Any, at: tuple[int | str, ...], value: object) -> Any:
    if not at:
        return value
    copy = node.copy()
    copy[at[0]] = replaced(node[at[0]], at[1:], value)
    return copy


def without(node: Any, at: tuple[int | str, ...]) -> Any:
    copy = node.copy()
    if len(at) == 1:
        del copy[at[0]]
    else:
        copy[at[0]] = without(node[at[0]], at[1:])
    return copy


def refusal(document: object, model: type[Site | Suite]) -> str | None:
    error = ManifestError if model is Site else TaskError
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    try:
        parse_document(text, Path("it.yaml"), model, error)
    except error as refused:
        return refused.message
    return None


def assert_plain(message: str) -> None:
    assert "\n" not in message
    for mistake in message.split("; it.yaml:"):
        told = re.sub(r"\(found .*\)$", "", mistake)
        assert _INNER.search(told) is None, message
        assert "[" not in told, message


MODELS: list[type[Site | Suite]] = [Site, Suite]
WHOLE: dict[type[Site | Suite], dict[str, Any]] = {Site: MANIFEST, Suite: SUITE}


@pytest.mark.parametrize("model", MODELS)
def test_the_documents_of_this_test_are_sound(model: type[Site | Suite]) -> None:
    assert refusal(WHOLE[model], model) is None


@SLOW
@pytest.mark.parametrize("model", MODELS)
def test_whatever_stands_anywhere_is_refused_in_plain_words(
    model: type[Site | Suite],
) -> None:
    whole = WHOLE[model]
    for at in places(whole):
        documents = [replaced(whole, at, wrong) for wrong in WRONG]
        if at:
            documents.append(without(whole, at))
        for document in documents:
            try:
                model.model_validate(document)
            except ValidationError as error:
                for mistake in mistakes(error, document):
                    assert_plain(str(mistake))
                    assert "secret-" not in str(mistake)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.data())
def test_no_value_makes_a_message_speak_of_its_machinery(data: st.DataObject) -> None:
    model = data.draw(st.sampled_from(MODELS))
    whole = WHOLE[model]
    at = data.draw(st.sampled_from(list(places(whole))))
    message = refusal(replaced(whole, at, data.draw(_JSON)), model)
    if message is not None:
        assert_plain(message)


def suite(**fields: Any) -> dict[str, Any]:
    return {**SUITE, "tasks": [{**SUITE["tasks"][0], **fields}]}


def exact(value: object) -> dict[str, Any]:
    return suite(checks=[{**CHECK, "match": {"how": "exact", "value": value}}])


@ONE_QUICK
@pytest.mark.parametrize(
    ("document", "says"),
    [
        (
            exact(None),
            "match.value: must be text, a number, a list or a mapping of fields (found null)",
        ),
        (
            exact(value=True),
            "match.value: is true or false to YAML: put the text in quotes (found true)",
        ),
        (exact(["a", [2]]), "match.value.1: must be text or a number (found [2])"),
        (exact({"offline": "a"}), "match.value.online: is required"),
        (suite(roles={"shop": None}), "roles.shop: must be text or a list (found null)"),
        (suite(sites="shop"), "sites: must be a list (found 'shop')"),
        (suite(family="sport"), "family: must be 'information', 'navigation'"),
        (
            suite(checks=[{**CHECK, "locate": {"by": "guess"}}]),
            "locate: `by` must be one of 'answer',",
        ),
        (suite(checks=[{**CHECK, "locate": {}}]), "locate: needs `by`, which says what kind it is"),
        (suite(start=[]), "start: must have at least 1 entry (found [])"),
        (suite(limits={"steps": 0}), "limits.steps: must be at least 1 (found 0)"),
        (suite(**{"": 1}), "tasks.0.: unknown field"),
    ],
)
def test_a_mistake_says_field_what_it_must_be_and_what_stood_there(
    document: object, says: str
) -> None:
    message = refusal(document, Suite) or ""
    assert says in message
    assert "; " not in message


def test_a_bad_entry_makes_no_list_too_short() -> None:
    pattern = {**CHECK, "computed": {**CHECK["computed"], "pattern": "("}}
    message = refusal(suite(checks=[pattern]), Suite) or ""
    assert "checks.0.computed: `pattern` is no regular expression" in message
    assert "at least" not in message


def test_a_field_called_as_its_form_is_reported_at_its_own_line() -> None:
    wrong = {**CHECK, "locate": {"by": "page", "page": "x", "selector": 5}}
    message = refusal(suite(checks=[wrong]), Suite) or ""
    assert "checks.0.locate.selector: must be text or a mapping of fields (found 5)" in message
    assert "checks.0.locate.page: unknown field" in message
