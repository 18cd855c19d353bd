"""What a lock says of its browser, and what becomes of locks that do not."""

from __future__ import annotations

import json

import pytest
from support.runs.tiny_run import make_lock

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.runs.request import browser_for
from orchestrator.runs.spec import BrowserEntry
from orchestrator.runs.store.browser_lock import BrowserLock, headed_of, pool_by_version
from orchestrator.runs.store.lock import RunLock, lock_digest
from sites.upstreams import UpstreamKind

HOSTED = BrowserLock(
    kind=BrowserKind.CDP,
    product="Chrome/156.0.1",
    user_agent="Mozilla/5.0",
    at="wss://connect.example.com/…",
    provider="Browserbase",
    proxy="residential",
    country="DE",
)
SHELL = BrowserLock(
    kind=BrowserKind.SHELL, product="HeadlessChrome/156.0.1", user_agent="Headless", headed=False
)


def online(**more: object) -> RunLock:
    return make_lock().model_copy(update={"worlds": (World.ONLINE,), **more})


def test_an_old_lock_reads_as_before_and_keeps_its_digest() -> None:
    text = make_lock().model_dump_json()
    assert "browser_used" not in json.loads(text)
    read = RunLock.model_validate_json(text)
    assert read.browser_used is None
    assert lock_digest(read) == lock_digest(make_lock())
    assert read.settings().browser is None


def test_a_browser_is_chosen_again_by_a_name_without_version_or_secret() -> None:
    said = "cdp:wss://connect.example.com/… (provider Browserbase, proxy residential, exit DE)"
    assert online(browser_used=HOSTED).browser_chosen == said
    assert online(browser_used=SHELL).browser_chosen == "headless-shell"
    assert online(browser="131.0 (headless shell)").browser_chosen == "headless-shell"
    assert online(browser="131.0").browser_chosen == "chromium"


def test_a_new_lock_comes_back_whole() -> None:
    lock = online(browser_used=HOSTED)
    read = RunLock.model_validate_json(lock.model_dump_json())
    assert read.browser_used == HOSTED
    assert read.settings().browser == BrowserEntry(
        use="cdp:wss://connect.example.com/…",
        provider="Browserbase",
        proxy="residential",
        country="DE",
    )
    with pytest.raises(UsageError, match="keeps no more of the browser's address"):
        browser_for(read.settings(), headless=True)


def test_a_run_goes_on_in_the_browser_that_it_began_in_whatever_the_default_is() -> None:
    lock = online(browser_used=SHELL)
    assert browser_for(lock.settings(), headless=True).only_shell
    with pytest.raises(UsageError, match="name two browsers"):
        browser_for(lock.settings(), headless=False)


@pytest.mark.parametrize(
    ("version", "pool"),
    [
        ("131.0.6778.85", "chromium 131"),
        ("131.0.6778.85 (headless shell)", "headless-shell 131"),
        ("", "chromium"),
    ],
)
def test_an_old_lock_is_of_the_browser_that_its_version_says(version: str, pool: str) -> None:
    assert pool_by_version(version) == pool
    assert online(browser=version).live_pool == pool


def test_only_live_sites_make_a_live_pool() -> None:
    kinds = {World.ONLINE: {"wiki": UpstreamKind.STAGED}}
    assert online(browser_used=SHELL, upstreams=kinds, staged=("wiki",)).live_pool is None
    assert make_lock().model_copy(update={"browser_used": SHELL}).live_pool is None
    kinds = {World.ONLINE: {"wiki": UpstreamKind.LIVE, "tools": UpstreamKind.REPLICA}}
    assert online(browser_used=SHELL, upstreams=kinds).live_pool == "headless-shell 156"


def test_what_was_declared_makes_another_browser() -> None:
    pool = "Chrome at wss://connect.example.com/… 156"
    assert HOSTED.pool == f"{pool} (provider Browserbase, proxy residential, exit DE)"
    assert HOSTED.model_copy(update={"country": "FR"}).pool != HOSTED.pool
    bare = HOSTED.model_copy(update={"country": None, "proxy": None, "provider": None})
    assert bare.pool == pool


def test_a_browser_elsewhere_that_does_not_say_so_may_have_a_window() -> None:
    assert headed_of(BrowserKind.CDP, "Mozilla/5.0 Chrome/156") is None
    assert headed_of(BrowserKind.CDP, "Mozilla/5.0 HeadlessChrome/156") is False
    assert headed_of(BrowserKind.HEADED, "Mozilla/5.0 Chrome/156") is True
    assert headed_of(BrowserKind.SHELL, "Mozilla/5.0 HeadlessChrome/156") is False
