"""The start page shows what it is told, and only as text."""

from __future__ import annotations

import base64
import json
from html.parser import HTMLParser
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

page = import_module("page")
telling = import_module("telling")

TEXTS = st.text(max_size=60) | st.sampled_from(["<script>", '"><img src=x onerror=y>', "&amp;"])


def told(title: str, summary: str, *accounts: dict[str, str]) -> str:
    site = {"name": "shop", "title": title, "summary": summary, "url": "http://shop.arena.test/"}
    return json.dumps({"sites": [site], "accounts": list(accounts)})


class Elements(HTMLParser):
    """Collects elements and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.links += [value or "" for name, value in attrs if tag == "a" and name == "href"]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(document: str) -> Elements:
    elements = Elements()
    elements.feed(page.start_page(telling.Telling.from_json(document)))
    elements.close()
    return elements


@given(TEXTS, TEXTS)
def test_whatever_the_gateway_sends_is_shown_as_text(title: str, summary: str) -> None:
    plain, shown = read(told("a", "b")), read(told(title, summary))
    assert shown.names == plain.names
    assert " ".join(summary.split()) in " ".join(shown.text.split())


def test_a_site_is_a_link_to_its_address() -> None:
    assert read(told("Shop", "a store")).links == ["http://shop.arena.test/"]


def test_a_logged_in_account_is_named_and_any_other_has_its_password() -> None:
    inside = read(told("Shop", "", {"site": "shop", "username": "emma"}))
    assert "You are logged in as emma." in inside.text
    outside = read(told("Shop", "", {"site": "shop", "username": "emma", "password": "p&w"}))
    assert "Log in as emma with the password p&w." in outside.text


def test_accounts_of_other_sites_are_not_shown_with_a_site() -> None:
    assert "emma" not in read(told("Shop", "", {"site": "wiki", "username": "emma"})).text


@pytest.mark.parametrize("text", ["%%%", base64.b64encode(b"\xff").decode(), "bm9uZQ==", "e30="])
def test_a_header_that_cannot_be_read_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(telling.UnreadableError):
        telling.Telling.from_base64(text)


def test_an_address_that_is_a_script_is_refused() -> None:
    document = told("Shop", "").replace("http://shop.arena.test/", "javascript:alert(1)")
    with pytest.raises(telling.UnreadableError):
        telling.Telling.from_json(document)


def test_without_episode_info_it_says_how_to_find_the_sites() -> None:
    assert "arena status" in page.start_page(telling.NOTHING)
