"""A browser that dies takes no caller with it: everything that waits is told, soon."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import tempfile
import threading
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.session.conftest import Site
from support.agents.arena_process import ArenaProcess, await_end, descendants

from arena_core.actions import Goto
from arena_core.errors import BrowserError, BrowserMissingError
from orchestrator.browser.process import profile
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.browser.session import session as session_module
from orchestrator.browser.session.context import SessionOptions
from orchestrator.runs.environments import BrowserKeeper

if TYPE_CHECKING:
    from orchestrator.browser.process.launch import Browser
    from orchestrator.browser.session.session import Session

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def _kill(browser: Browser, number: signal.Signals = signal.SIGKILL) -> None:
    """Kill the browser's main process as the kernel's memory killer would."""
    cdp = await browser._browser.new_browser_cdp_session()
    processes = (await cdp.send("SystemInfo.getProcessInfo"))["processInfo"]
    os.kill(next(p["id"] for p in processes if p["type"] == "browser"), number)


async def test_a_killed_browser_breaks_off_what_waits_and_refuses_what_comes_later() -> None:
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(launch(BrowserOptions()))
        site = stack.enter_context(closing(Site(await browser.listen())))
        site.page("<p>here")
        site.page("<p>slow", "/slow", gate=threading.Event())
        async with browser.session(SessionOptions(proxy_url=None, traces=True)) as session:
            await session.open([site.base])
            going = asyncio.create_task(session.act(Goto(url=site.base + "/slow")))
            reading = asyncio.create_task(session.read_fresh(site.base + "/slow?2", "p"))
            await asyncio.to_thread(site.wait_asked, "/slow", 2)
            settling = asyncio.create_task(session.settle(60))
            await _kill(browser)
            async with asyncio.timeout(20):
                for waiting in (going, settling, reading):
                    with pytest.raises(BrowserError, match="the browser or its driver crashed"):
                        await waiting
                for call in (session.observe(0), session.screenshot(), session.settle(5)):
                    with pytest.raises(BrowserError, match="the browser or its driver crashed"):
                        await call
                assert await session.traces() == {}  # none, and not half of one
        with pytest.raises(BrowserError, match="the browser or its driver crashed"):
            async with browser.session(SessionOptions(proxy_url=None)):
                pass


async def test_a_killed_driver_is_as_bad(outer_site: Site) -> None:
    site = outer_site
    site.page("<p>here")
    site.page("<p>slow", "/slow", gate=threading.Event())
    before = _children()
    async with (
        launch(BrowserOptions(isolated=False)) as browser,
        browser.session(SessionOptions(proxy_url=None)) as session,
    ):
        (driver,) = _children() - before
        await session.open([site.base])
        going = asyncio.create_task(session.act(Goto(url=site.base + "/slow")))
        await asyncio.to_thread(site.wait_asked, "/slow", 1)
        os.kill(driver, signal.SIGKILL)
        async with asyncio.timeout(20):
            with pytest.raises(BrowserError, match="the browser or its driver crashed"):
                await going
            with pytest.raises(BrowserError, match="the browser or its driver crashed"):
                await session.observe(0)
        assert not browser.is_alive


@pytest.mark.parametrize("killed", ["browser", "driver"])
async def test_a_killed_browser_leaves_no_profile_and_no_report_of_asyncio_behind(
    killed: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = _children()
    async with launch(BrowserOptions(isolated=False)) as browser:
        (driver,) = _children() - before
        folder = await _profile_of(browser)
        assert folder.is_dir()
        if killed == "driver":
            os.kill(driver, signal.SIGKILL)
        else:
            await _kill(browser)
    assert not folder.exists()
    del browser
    gc.collect()  # asyncio reports a future when it goes
    assert [one for one in caplog.records if one.name == "asyncio"] == []


@pytest.mark.slow
async def test_a_session_of_a_browser_that_stands_still_ends_all_the_same() -> None:
    """Else its run would wait without end."""
    async with asyncio.timeout(60):
        async with (
            launch(BrowserOptions()) as browser,
            browser.session(SessionOptions(proxy_url=None)),
        ):
            folder = await _profile_of(browser)
            await _kill(browser, signal.SIGSTOP)
    assert not folder.exists()


_KILLED = """
import asyncio, sys
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
async def main():
    async with launch(BrowserOptions()):
        print("runs", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


async def test_the_profile_of_a_killed_program_whose_driver_was_killed_goes_with_the_next_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either alone leaves none."""
    program = (sys.executable, "-c", _KILLED)
    env = {"TMPDIR": str(tmp_path)}
    with ArenaProcess(cwd=tmp_path, env=env, program=program) as process:
        await asyncio.to_thread(process.printed, "runs")
        family = descendants(process.pid)
        (driver,) = [pid for pid, line in family.items() if "run-driver" in line]
        process.kill()
        os.kill(driver, signal.SIGKILL)
        await asyncio.to_thread(await_end, family)
    assert _profiles(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with launch(BrowserOptions()):
        pass
    assert not _profiles(tmp_path)


def _profiles(folder: Path) -> list[Path]:
    return list(folder.glob(f"{profile.PREFIX}*"))


async def _profile_of(browser: Browser) -> Path:
    cdp = await browser._browser.new_browser_cdp_session()
    line = (await cdp.send("SystemInfo.getInfo"))["commandLine"]
    (folder,) = [one for one in line.split(" --") if one.startswith("user-data-dir=")]
    return Path(folder.partition("=")[2])


async def test_a_browser_whose_network_gives_no_socket_any_more_is_replaced_by_another() -> None:
    keeper = BrowserKeeper(BrowserOptions(), lambda _: None)
    try:
        first = await keeper.browser()
        if not keeper.isolated:
            pytest.skip(f"no network namespace here: {first.not_isolated}")
        namespace = first._namespace
        assert namespace is not None
        os.kill(namespace._keeper.pid, signal.SIGKILL)
        with pytest.raises(BrowserError, match="network namespace gives no socket"):
            await first.listen()
        second = await keeper.browser()
        assert second is not first
        (await second.listen()).close()
    finally:
        await keeper.close()


async def test_a_browser_that_opens_no_page_any_more_is_replaced_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It answers all the same: each attempt of a run would wait for it anew."""
    keeper = BrowserKeeper(BrowserOptions(), lambda _: None)
    others = descendants(os.getpid())
    try:
        first = await keeper.browser()
        async with first.session(SessionOptions(proxy_url=None)):
            pass
        for pid, line in descendants(os.getpid()).items():
            if "--type=zygote" in line and pid not in others:
                os.kill(pid, signal.SIGKILL)  # as the kernel does where memory runs out
        monkeypatch.setattr(session_module, "_OPEN_S", 3.0)
        with pytest.raises(BrowserError, match="open a browser context"):
            async with first.session(SessionOptions(proxy_url=None)):
                pass
        second = await keeper.browser()
        assert second is not first
    finally:
        await keeper.close()


def _children() -> set[int]:
    """Return the processes that this one started: one a driver."""
    found = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    return {int(each) for each in found.split()}


async def _settle_for_ever(session: Session) -> None:
    while True:
        await session.settle(0.2)


async def test_a_crashed_page_ends_its_session_and_no_other(browser: Browser, site: Site) -> None:
    site.page("<p>here")
    options = SessionOptions(proxy_url=None)
    async with browser.session(options) as other, browser.session(options) as session:
        await session.open([site.base])
        await other.open([site.base])
        crash = asyncio.create_task(session._bar.current.channel.send("Page.crash", within_s=2))
        async with asyncio.timeout(20):
            with pytest.raises(BrowserError, match="the page of tab 0 crashed"):
                await _settle_for_ever(session)
        await asyncio.wait([crash])
        crash.exception()
        assert await other.read_own("p") == ("here",)


async def test_an_executable_that_is_none_is_reported(tmp_path: Path) -> None:
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(BrowserError, match="does not start"):
        async with launch(BrowserOptions(executable=fake)):
            pass
    with pytest.raises(BrowserMissingError, match="there is no browser at /nowhere"):
        async with launch(BrowserOptions(executable=Path("/nowhere"))):
            pass
