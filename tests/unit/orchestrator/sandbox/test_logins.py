from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW
from support.worlds.live_origin import registry_with

from arena_core.errors import InputError
from arena_core.worlds import World
from orchestrator.runs.store.secrets import site_secrets
from orchestrator.sandbox.logins import read_page, role_at

SHOP = """<html><head><title> Log in &amp; register
 | Shop</title></head><body>
<form action="/search/" method="get"><input type="search" name="q" value=""></form>
<form id="register" method="POST" action="/register/"><input type="hidden" name="t" value="r">
<input name="p1" type="password"></form>
<form id="login" method="post" action="./?next=/a&amp;b=1">
<input type="hidden" name="csrf" value='"quoted" &amp; more'>
<input name="user" value="guess"><input TYPE=PASSWORD name=pass>
<input type="checkbox" name="remember"><input type="checkbox" name="keep" checked>
<input type="radio" name="kind" value="a"><input type="radio" name="kind" value="b" checked>
<input name="off" value="x" disabled><input type="submit" name="cancel" value="Cancel">
<select name="lang"><option value="de">German</option><option value="en" selected>English</option>
</select><select name="first"><option value="1">one</option><option value="2">two</option></select>
<textarea name="why">because &lt;this&gt;</textarea><input value="nameless">
<button name="go" value="1">Log in</button></form><input name="outside" value="x"></body></html>"""


def test_a_form_keeps_what_a_browser_would_send_untouched() -> None:
    form = read_page(SHOP).login_form("login")
    assert form is not None
    assert (form.action, form.method) == ("./?next=/a&b=1", "post")
    assert form.fields == {
        "csrf": '"quoted" & more',
        "user": "guess",
        "pass": "",
        "keep": "on",
        "kind": "b",
        "lang": "en",
        "first": "1",
        "why": "because <this>",
    }


def test_filling_in_replaces_values_and_adds_the_pressed_button() -> None:
    form = read_page(SHOP).login_form("login")
    assert form is not None
    sent = form.filled({"user": "ada", "pass": "secret"}, {"go": "1"})
    assert (sent["user"], sent["pass"], sent["go"]) == ("ada", "secret", "1")
    assert sent["csrf"] == form.fields["csrf"]
    assert form.fields["user"] == "guess"


def test_without_an_id_the_only_form_with_a_password_is_meant() -> None:
    assert read_page(SHOP).login_form(None) is None
    one = read_page('<form id="a"></form><form id="b"><input type="password" name="p"></form>')
    form = one.login_form(None)
    assert form is not None
    assert form.id == "b"
    assert one.login_form("c") is None


def test_the_title_is_one_line_of_text() -> None:
    assert read_page(SHOP).title == "Log in & register | Shop"
    assert read_page("<p>none").title == ""
    assert read_page("<title>First</title><svg><title>Icon</title></svg>").title == "First"


@SLOW
def test_markup_around_the_fields_of_a_form_may_be_wrong() -> None:
    table = read_page("<table><form id=f><tr><td><input name=a value=1></td></tr></form></table>")
    deep = read_page("<div>" * 1_000 + "<form id=f><input name=a value=1>")
    for page in (table, deep):
        form = page.login_form("f")
        assert form is not None
        assert form.fields == {"a": "1"}
    assert read_page("<div>" * 100_000).forms == ()
    assert len(read_page("<form></form>" + "<p>x</p>" * 200_000).forms) == 1


@given(st.text())
def test_no_markup_is_too_broken_to_read(markup: str) -> None:
    read_page(f"<form><input name=a {markup}")


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), st.text()))
def test_hidden_values_survive_whatever_they_hold(values: dict[str, str]) -> None:
    inputs = "".join(
        f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
        for name, value in values.items()
    )
    form = read_page(f'<form id="f">{inputs}</form>').login_form("f")
    assert form is not None
    expected = {_as_read(name): _as_read(value) for name, value in values.items()}
    assert {_as_read(name): _as_read(value) for name, value in form.fields.items()} == expected


def _as_read(text: str) -> str:
    """HTML has no NUL and one kind of line end."""
    read = html.unescape(html.escape(text)).replace("\0", "\ufffd")
    return read.replace("\r\n", "\n").replace("\r", "\n")


def test_a_live_account_without_its_password_is_a_mistake_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    member = {
        "username": "emma",
        "password": "env:WIKI_PASSWORD",
        "login": {"path": "/login", "fields": {"user": "{username}"}},
        "proof": {"path": "/account", "contains": "emma"},
    }
    registry = registry_with(roles={"member": member})
    upstream = registry.upstreams(["wiki"], World.ONLINE).of("wiki")
    monkeypatch.delenv("WIKI_PASSWORD", raising=False)
    with pytest.raises(InputError, match="WIKI_PASSWORD is not set"):
        role_at(upstream, "member")
    assert "hunter2" not in site_secrets(registry, ["wiki"])
    monkeypatch.setenv("WIKI_PASSWORD", "hunter2")
    assert role_at(upstream, "member").password == "hunter2"
    assert "hunter2" in site_secrets(registry, ["wiki"])
