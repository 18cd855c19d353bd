"""The browser package's small languages: keys, origins, addresses, lines, element ids."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.actions import playwright_keys
from orchestrator.browser.actions.navigation import require_web_address
from orchestrator.browser.observation import Node
from orchestrator.browser.observations.axtree import tree_text
from orchestrator.browser.session.policy import origin_of
from orchestrator.browser.tabs.elements import ElementAddress, ElementIds, NotDoneError
from orchestrator.browser.tabs.watcher import page_source


@pytest.mark.parametrize(
    ("said", "spelled"),
    [
        ("Enter", "Enter"),
        ("ctrl+v", "Control+v"),
        ("Ctrl + Shift + T", "Control+Shift+T"),
        ("esc", "Escape"),
        ("Return", "Enter"),
        ("+", "+"),
        ("Control++", "Control++"),
        (" ", " "),
        ("down", "ArrowDown"),
        ("a", "a"),
    ],
)
def test_keys_are_understood_by_their_common_names(said: str, spelled: str) -> None:
    assert playwright_keys(said) == spelled


@given(st.text(max_size=20))
def test_spelling_keys_again_changes_nothing(keys: str) -> None:
    once = playwright_keys(keys)
    assert playwright_keys(once) == once


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://en.wikipedia.org/wiki/Tea?x#y", "https://en.wikipedia.org"),
        ("https://EN.wikipedia.org:443/", "https://en.wikipedia.org"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://shop.test:80/", "http://shop.test"),
        ("https://shop.test:80/", "https://shop.test:80"),
        ("http://[::1]:99/x", "http://[::1]:99"),
        ("https://user:secret@shop.test/", "https://shop.test"),
    ],
)
def test_an_origin_is_written_as_browsers_write_it(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@given(st.text(max_size=40))
def test_an_address_is_opened_or_refused_in_words(url: str) -> None:
    is_web = url == "about:blank" or url.lower().lstrip().startswith(("http://", "https://"))
    with nullcontext() if is_web else pytest.raises(NotDoneError, match="not a web address"):
        require_web_address(url)


@given(st.text(max_size=60), st.one_of(st.none(), st.text(max_size=60)), st.integers(0, 9))
def test_a_node_is_always_one_line(name: str, value: str | None, depth: int) -> None:
    line = tree_text([Node(id=7, depth=depth, role="button", name=name, value=value)])
    assert len(f"{line}.".splitlines()) == 1
    assert line.lstrip(" ").startswith("[7] button")


_addresses = st.builds(
    ElementAddress,
    tab=st.integers(0, 2),
    frame=st.sampled_from(["f", "g"]),
    loader=st.sampled_from(["a", "b", "c"]),
    backend=st.integers(1, 4),
)


@given(st.lists(_addresses))
def test_an_id_stands_for_one_element_for_ever(addresses: list[ElementAddress]) -> None:
    ids = ElementIds()
    given_ids = [ids.id_of(address) for address in addresses]
    for address, element in zip(addresses, given_ids, strict=True):
        assert ids.id_of(address) == element
        assert ids.address_of(element) == address
    assert len(set(given_ids)) == len(set(addresses))


@given(st.integers().filter(lambda element: element not in {1, 2}))
def test_an_id_never_given_stands_for_nothing(element: int) -> None:
    ids = ElementIds()
    ids.id_of(ElementAddress(0, "f", "a", 1))
    ids.id_of(ElementAddress(0, "f", "a", 2))
    assert ids.address_of(element) is None


def test_the_isolated_worlds_script_comes_with_the_package_and_runs_once() -> None:
    source = page_source()
    assert source.startswith("(() => { if (globalThis.arenaOf === document) return;")
    assert "arenaReport" in source
