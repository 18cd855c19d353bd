"""Which browser a run asks for: read, refused where it makes no sense, started as asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.runs.tiny_run import SUITE, make_lock

from arena_core.errors import InputError, UsageError
from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.episode.external.command import AgentCommand
from orchestrator.runs.new_run import refuse_without_effect, resumed_request
from orchestrator.runs.request import RunRequest, browser_for
from orchestrator.runs.run import RunPart, _addresses
from orchestrator.runs.spec import RunSettings, RunSpec
from orchestrator.runs.store.browser_lock import BrowserLock
from orchestrator.runs.store.run_folder import RunFolder
from sites.registry import load_registry
from tasks.reference import TaskFile

SITES = load_registry(())
ONLINE = (World.ONLINE,)
REMOTE = "cdp:wss://connect.example.com?apiKey=${ARENA_TEST_KEY}"


def settings(browser: Any, **more: Any) -> RunSettings:
    return RunSettings.of(**{"worlds": ONLINE, "browser": browser, **more})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("headless-shell", {"headless": True, "full": False, "only_shell": True}),
        ("chromium", {"headless": True, "full": True, "only_shell": False}),
        ("headed", {"headless": False, "only_shell": False}),
    ],
)
def test_a_named_browser_is_started_in_every_world(name: str, options: dict[str, bool]) -> None:
    for worlds in (ONLINE, (World.OFFLINE,), tuple(World)):
        found = browser_for(settings(name, worlds=worlds), headless=True)
        assert {key: getattr(found, key) for key in options} == options
        assert found.remote is None


def test_a_running_one_is_reached_by_its_address_with_variables_filled_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARENA_TEST_KEY", "bb_live_12345678")
    found = browser_for(settings(REMOTE), headless=True)
    assert found.remote is not None
    assert found.remote.url == "wss://connect.example.com?apiKey=bb_live_12345678"
    assert "bb_live" not in repr(found)
    assert not found.profile
    own = browser_for(settings(REMOTE.replace("cdp:", "cdp-profile:")), headless=True)
    assert (own.remote, own.profile) == (found.remote, True)
    monkeypatch.delenv("ARENA_TEST_KEY")
    with pytest.raises(UsageError, match="needs the variable ARENA_TEST_KEY"):
        browser_for(settings(REMOTE), headless=True)


def test_a_window_and_another_browser_are_two_browsers() -> None:
    assert not browser_for(settings("headed"), headless=False).headless
    with pytest.raises(UsageError, match="--headed and --browser chromium name two browsers"):
        browser_for(settings("chromium"), headless=False)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            {"worlds": tuple(World)},
            "browser cdp:wss://connect.example.com/… reaches no",
        ),
        ({"worlds": (World.OFFLINE,)}, "reaches no replica: play online alone"),
        ({"staged": True}, "reaches no staged origin"),
        ({"resolve": ["a.test:443:127.0.0.1:8443"]}, "looks names up by itself"),
    ],
)
def test_what_a_browser_elsewhere_cannot_be_given_is_refused(
    more: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError) as refused:
        settings(REMOTE, **more)
    assert says in refused.value.message


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ({"use": "chromium", "provider": "Browserbase"}, "provider: has no effect with chromium"),
        ({"use": REMOTE, "country": "Germany"}, "country: must be two capital letters"),
        ({"use": REMOTE, "proxy": "http://ada:pw@proxy"}, "proxy: must be a few words without '@'"),
        ({"use": "firefox"}, "'firefox' is no browser"),
        ({"use": REMOTE, "kind": "x"}, "unknown field"),
    ],
)
def test_a_file_says_more_of_the_browser_and_its_mistakes_are_named(
    tmp_path: Path, block: dict[str, str], says: str
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(f"agent: idle\nworlds: [online]\nbrowser: {block}\n", "utf-8")
    with pytest.raises(InputError) as refused:
        RunSpec.read(path, {})
    assert says in refused.value.message
    path.write_text(
        f'worlds: [online]\nbrowser: {{use: "{REMOTE}", provider: Browserbase, country: DE}}\n'
    )
    entry = RunSpec.read(path, {}).browser
    assert entry is not None
    assert (entry.kind, entry.provider, entry.country) == (BrowserKind.CDP, "Browserbase", "DE")


def test_a_way_out_has_no_effect_offline() -> None:
    said = {"use": "chromium", "country": "DE"}
    assert settings(said).browser is not None
    with pytest.raises(UsageError, match="`proxy` and `country` have no effect offline"):
        settings(said, worlds=(World.OFFLINE,))


def request(browser: str, agent: Any = None, **changes: Any) -> RunRequest:
    task = SUITE.tasks[0].model_copy(update={"worlds": tuple(World), **changes})
    return RunRequest(
        suite=SUITE,
        tasks=(task,),
        agent=agent,
        agent_lock=AgentLock(name="a", kind="a", options={}, agent_class=AgentClass.BASELINE),
        settings=settings(browser),
    )


def test_a_task_that_needs_this_machine_is_refused_by_name() -> None:
    refuse_without_effect(request(REMOTE), (), SITES)
    refuse_without_effect(request("chromium", sites=("wiki", "tools")), (), SITES)
    with pytest.raises(UsageError, match="cannot play one: tools has no live origin"):
        refuse_without_effect(request(REMOTE, sites=("wiki", "tools")), (), SITES)
    upload = TaskFile(name="a.txt", content=b"eA==")
    with pytest.raises(UsageError, match="cannot play one: the files to upload"):
        refuse_without_effect(request(REMOTE, files=(upload,)), (), SITES)
    program = AgentCommand(words=("play",))
    with pytest.raises(UsageError, match="a program that drives it must have"):
        refuse_without_effect(request(REMOTE, program), (), SITES)


def test_a_profile_leaves_its_cookies_in_no_trace() -> None:
    own = request(REMOTE.replace("cdp:", "cdp-profile:"))
    refuse_without_effect(own, (), SITES)
    traced = replace(own, settings=own.settings.model_copy(update={"trace": True}))
    with pytest.raises(UsageError, match="cookies, which traces would hold"):
        refuse_without_effect(traced, (), SITES)


def test_a_browser_where_nothing_is_played_in_one_has_no_effect() -> None:
    with pytest.raises(UsageError, match="--browser has no effect"):
        refuse_without_effect(request("chromium", recorded="x", sites=()), (), SITES)


def begun(tmp_path: Path, **used: Any) -> RunFolder:
    browser = BrowserLock(product="Chrome/156.0", user_agent="Mozilla", **used)
    lock = make_lock().model_copy(update={"worlds": ONLINE, "browser_used": browser})
    return RunFolder.create(tmp_path / "run", lock, SUITE)


def resumed(folder: RunFolder, *, headless: bool = True, **changes: Any) -> RunRequest:
    return resumed_request(folder, SITES, options={}, changes=changes, headless=headless)


def test_the_secret_of_an_address_is_named_again_and_nothing_else_changes(
    tmp_path: Path,
) -> None:
    at = "wss://connect.example.com/…"
    folder = begun(tmp_path, kind=BrowserKind.CDP, at=at, provider="Browserbase", country="DE")
    going_on = resumed(folder, browser="cdp:wss://connect.example.com?apiKey=secret-9")
    entry = going_on.settings.browser
    assert entry is not None
    assert (entry.provider, entry.country, entry.shown) == ("Browserbase", "DE", f"cdp:{at}")
    assert going_on.browser.remote is not None
    secrets = tuple(_addresses([RunPart(request=going_on, folder=folder)]))
    assert "secret-9" in secrets
    others = ("cdp:wss://connect.other.com?x=9", "cdp-profile:wss://connect.example.com?x=9")
    for other in ("chromium", *others):
        with pytest.raises(UsageError, match="began in Chrome at wss"):
            resumed(folder, browser=other)


def test_a_run_of_an_earlier_version_goes_on_in_what_its_version_says(tmp_path: Path) -> None:
    lock = make_lock().model_copy(update={"worlds": ONLINE, "browser": "131.0.6778.85"})
    folder = RunFolder.create(tmp_path / "old", lock, SUITE)
    assert resumed(folder).settings.browser is None
    assert resumed(folder, browser="chromium").browser.full
    with pytest.raises(UsageError, match="began in chromium 131, and goes on there"):
        resumed(folder, browser="headless-shell")


def test_a_live_run_goes_on_in_no_window_if_it_began_in_none(tmp_path: Path) -> None:
    folder = begun(tmp_path, kind=BrowserKind.CHROMIUM, headed=False)
    assert resumed(folder).browser.full
    with pytest.raises(UsageError, match="--headed is another browser"):
        resumed(folder, headless=False)


def test_an_offline_run_may_be_looked_at_while_it_goes_on(tmp_path: Path) -> None:
    folder = begun(tmp_path, kind=BrowserKind.CHROMIUM, headed=False)
    lock = folder.lock().model_copy(update={"worlds": (World.OFFLINE,)})
    offline = RunFolder.create(tmp_path / "offline", lock, SUITE)
    assert not resumed(offline, headless=False).browser.headless
