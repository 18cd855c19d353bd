"""Which browsers can be named, and what of an address anybody gets to see."""

from __future__ import annotations

import pytest

from arena_core.errors import UsageError
from orchestrator.browser.process.kinds import BrowserKind, RemoteAddress, read_browser

SECRET = "wss://ada:swordfish-9@connect.example.com/devtools/0f9b1c2d3e4f?apiKey=bb_live_12345678"


@pytest.mark.parametrize("name", ["headless-shell", "chromium", "headed"])
def test_a_browser_of_this_machine_is_named_by_its_kind(name: str) -> None:
    assert read_browser(name) == (BrowserKind(name), None)


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:9222", "ws://127.0.0.1:9222/devtools/browser/1", "http://[::1]:9222"),
        *("http://localhost:9222", "wss://connect.example.com?token=x", "https://example.com:8443"),
    ],
)
def test_an_address_is_on_loopback_or_encrypted(url: str) -> None:
    kind, address = read_browser(f"cdp:{url}")
    assert kind is BrowserKind.CDP
    assert address is not None
    assert address.url == url
    assert read_browser(f"cdp-profile:{url}") == (BrowserKind.PROFILE, address)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "firefox",
            "'firefox' is no browser: expected headless-shell, chromium, headed, cdp:URL or",
        ),
        ("", "'' is no browser"),
        ("chromium:9222", "'chromium' is no browser"),
        ("cdp", "cdp needs the address"),
        ("cdp:", "cdp needs the address"),
        ("cdp-profile", "cdp-profile needs the address"),
        ("cdp-profile:http://example.com:9222", "unencrypted"),
        ("cdp:127.0.0.1:9222", "no URL that begins with"),
        ("cdp:ftp://127.0.0.1", "no URL that begins with"),
        ("cdp:wss://", "no URL that begins with"),
        ("cdp:wss://a b.com", "no URL that begins with"),
        ("cdp:wss://example.com:99999", "is no URL"),
        ("cdp:http://example.com:9222", "unencrypted"),
        ("cdp:ws://10.0.0.8:9222", "unencrypted"),
        ("cdp:ws://127.0.0.1.example.com", "unencrypted"),
    ],
)
def test_whatever_else_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match="--browser: ") as caught:
        read_browser(text)
    assert says in caught.value.message


def test_a_refusal_shows_no_secret_of_an_address() -> None:
    with pytest.raises(UsageError) as caught:
        read_browser(f"cdp:{SECRET.replace('wss', 'ws')}")
    said = caught.value.message + caught.value.hint
    assert not any(part in said for part in ("swordfish", "bb_live", "0f9b1c2d3e4f"))


def test_an_address_as_text_is_scheme_and_host_alone() -> None:
    address = RemoteAddress.parse(SECRET)
    for shown in (str(address), repr(address), f"{address}"):
        assert not any(part in shown for part in ("ada", "swordfish", "bb_live", "0f9b1c2d3e4f"))
    assert str(address) == "wss://connect.example.com/…"
    assert str(RemoteAddress.parse("http://127.0.0.1:9222/")) == "http://127.0.0.1:9222"
    assert str(RemoteAddress.parse("http://[::1]:9222")) == "http://[::1]:9222"


def test_a_message_of_others_loses_the_address_and_each_secret_part() -> None:
    address = RemoteAddress.parse(SECRET)
    said = address.redacted(
        f"WebSocket error: {SECRET} 401; token bb_live_12345678; password swordfish-9; 0f9b1c2d3e4f"
    )
    assert not any(part in said for part in ("swordfish", "bb_live", "0f9b1c2d3e4f"))
    assert "WebSocket error: wss://connect.example.com/… 401" in said


def test_variables_of_the_environment_stand_for_secrets() -> None:
    address = RemoteAddress.parse("wss://example.com?apiKey=${KEY}")
    assert address.is_for_files
    assert RemoteAddress.parse("http://127.0.0.1:9222").is_for_files
    for url in (SECRET, "ws://127.0.0.1:9222/devtools/browser/0f9b", "wss://a.com?k=${KEY}&t=x"):
        assert not RemoteAddress.parse(url).is_for_files
    whole = address.expanded({"KEY": "bb_live_12345678"})
    assert whole.url == "wss://example.com?apiKey=bb_live_12345678"
    assert "bb_live_12345678" in whole.secrets
    with pytest.raises(UsageError, match="needs the variable KEY"):
        address.expanded({})


def test_an_address_that_a_lock_cut_must_be_named_again() -> None:
    kept = RemoteAddress.parse(str(RemoteAddress.parse(SECRET)))
    with pytest.raises(UsageError, match="keeps no more of the browser's address") as caught:
        kept.expanded({})
    assert "--browser cdp:URL" in caught.value.hint
    whole = RemoteAddress.parse("http://127.0.0.1:9222")
    assert RemoteAddress.parse(str(whole)).expanded({}) == whole
