"""Which commands of an agent's reach the browser, and which do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.browser.cdp_proxy.rules import (
    Harmless,
    Pass,
    Refuse,
    SessionFacts,
    is_hidden,
    judge,
    may_open,
    names_contexts,
)
from orchestrator.browser.tabs.watcher import BINDING, WORLD

KNOWN = SessionFacts(
    contexts=frozenset({4}),
    unique_contexts=frozenset({"-1.2"}),
    downloads=Path("/episode/files"),
    files={"a.txt": Path("/uploads/a.txt"), "b.txt": Path("/uploads/b.txt")},
)


def verdict(method: str, **params: Any) -> Pass | Refuse | Harmless:
    return judge(method, params, KNOWN)


def attempt(method: str, **params: Any) -> bool:
    found = verdict(method, **params)
    return isinstance(found, Refuse) and found.is_attempt


@pytest.mark.parametrize(
    "method",
    [
        "Browser.crash",
        "Browser.crashGpuProcess",
        "Browser.executeBrowserCommand",
        "Browser.getBrowserCommandLine",
        "Debugger.enable",
        "Debugger.evaluateOnCallFrame",
        "Debugger.pause",
        "Emulation.setScriptExecutionDisabled",
        "Emulation.setVirtualTimePolicy",
        "Extensions.loadUnpacked",
        "HeapProfiler.getObjectByHeapObjectId",
        "IO.resolveBlob",
        "Input.setIgnoreInputEvents",
        "Memory.forciblyPurgeJavaScriptMemory",
        "Network.emulateNetworkConditions",
        "Network.loadNetworkResource",
        "Network.setRequestInterception",
        "Page.crash",
        "Page.setWebLifecycleState",
        "Page.startScreenRecording",
        "Page.waitForDebugger",
        "Profiler.enable",
        "Runtime.queryObjects",
        "Runtime.terminateExecution",
        "Security.setIgnoreCertificateErrors",
        "Security.setOverrideCertificateErrors",
        "SystemInfo.getInfo",
        "Target.autoAttachRelated",
        "Target.createBrowserContext",
        "Target.disposeBrowserContext",
        "Target.exposeDevToolsProtocol",
        "Target.openDevTools",
        "Target.sendMessageToTarget",
        "Target.setRemoteLocations",
        "Tethering.bind",
        "Tracing.start",
        "Nothing.known",
        "nothing",
    ],
)
def test_what_is_not_on_the_list_is_refused(method: str) -> None:
    found = verdict(method)
    assert isinstance(found, Refuse)
    assert method in found.why or "context" in found.why


@pytest.mark.parametrize("method", ["Audits.enable", "Audits.disable"])
def test_what_puppeteer_asks_of_every_page_is_allowed(method: str) -> None:
    assert verdict(method) == Pass()
    assert isinstance(verdict("Audits.getEncodedResponse"), Refuse)


def test_a_context_with_another_proxy_is_an_attempt_to_leave() -> None:
    assert attempt("Target.createBrowserContext", proxyServer="http://198.51.100.1:8080")


def test_closing_the_browser_is_answered_and_not_done() -> None:
    assert verdict("Browser.close") == Harmless()


@pytest.mark.parametrize(
    "params",
    [
        {"contextId": 5},
        {"contextId": 5.0},
        {"executionContextId": 5},
        {"uniqueContextId": "-9.9"},
        {"objectId": "77.5.1"},
        {"arguments": [{"value": 1}, {"objectId": "77.5.1"}]},
        {"objectId": "not-an-id"},
        {"objectId": "1.4.1 "},
    ],
)
def test_no_command_names_a_context_that_its_session_was_not_told_of(
    params: dict[str, Any],
) -> None:
    assert names_contexts(params)
    for method in ("Runtime.evaluate", "Runtime.callFunctionOn", "DOM.resolveNode"):
        assert attempt(method, **params)


@pytest.mark.parametrize(
    "params",
    [
        {"contextId": 4},
        {"uniqueContextId": "-1.2"},
        {"objectId": "77.4.1"},
        {"expression": "1"},
        {"arguments": [{"value": {"contextually": 5}}]},
    ],
)
def test_the_contexts_of_a_page_itself_may_be_named(params: dict[str, Any]) -> None:
    assert verdict("Runtime.callFunctionOn", **params) == Pass()


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Page.createIsolatedWorld", {"worldName": WORLD}),
        ("Page.addScriptToEvaluateOnNewDocument", {"worldName": WORLD, "source": "1"}),
        ("Runtime.addBinding", {"name": BINDING}),
        ("Runtime.removeBinding", {"name": BINDING}),
        ("Runtime.addBinding", {"name": "mine", "executionContextName": WORLD}),
    ],
)
def test_the_watchers_names_are_taken(method: str, params: dict[str, Any]) -> None:
    assert attempt(method, **params)
    other = dict.fromkeys(params, "other")
    assert verdict(method, **other) == Pass()


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "  file:///etc/passwd",
        "\x00file:///etc/passwd",
        "fi\nle:///etc/passwd",
        "chrome://crash",
        "chrome-untrusted://print",
        "about:version",
        "about:crash",
        "view-source:http://shop.arena.test/",
        "devtools://devtools/bundled/inspector.html",
        "chrome-extension://abc/x.html",
        "filesystem:http://shop.arena.test/temporary/x",
        "ftp://shop.arena.test/",
        "ws://127.0.0.1/",
        "/etc/passwd",
        "shop.arena.test",
    ],
)
def test_pages_of_the_machine_and_of_the_browser_are_not_opened(url: str) -> None:
    assert not may_open(url)
    assert attempt("Page.navigate", url=url)
    assert attempt("Target.createTarget", url=url)


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.arena.test/",
        "https://x/",
        "about:blank",
        "about:blank#1",
        "data:text/html,x",
        "",
        "HTTP://SHOP.arena.test",
    ],
)
def test_pages_of_the_web_are(url: str) -> None:
    assert may_open(url)


@given(st.text())
def test_whatever_may_be_opened_has_a_scheme_of_the_web(url: str) -> None:
    if may_open(url):
        kept = "".join(one for one in url.lower() if one > " ")
        assert kept.partition(":")[0] in {
            "http",
            "https",
            "data",
            "blob",
            "javascript",
            "about",
            "",
        }


def test_downloads_go_to_the_episodes_folder_wherever_they_were_sent() -> None:
    asked = {"behavior": "allow", "downloadPath": "/home/someone", "eventsEnabled": True}
    for method in ("Browser.setDownloadBehavior", "Page.setDownloadBehavior"):
        assert verdict(method, **asked) == Pass({**asked, "downloadPath": "/episode/files"})
    assert verdict("Browser.setDownloadBehavior", behavior="deny") == Pass({"behavior": "deny"})


def test_downloads_do_not_go_where_the_user_keeps_them() -> None:
    found = verdict("Browser.setDownloadBehavior", behavior="default")
    assert found == Pass({"behavior": "allow", "downloadPath": "/episode/files"})


def _choosing(files: object) -> tuple[str, dict[str, Any]]:
    return "DOM.setFileInputFiles", {"nodeId": 3, "files": files}


def _dropping(files: object) -> tuple[str, dict[str, Any]]:
    data = {"items": [], "files": files, "dragOperationsMask": 1}
    return "Input.dispatchDragEvent", {"type": "drop", "x": 1, "y": 1, "data": data}


@pytest.mark.parametrize("handing", [_choosing, _dropping])
@pytest.mark.parametrize(
    "files",
    [
        ["/etc/passwd"],
        ["a.txt", "/etc/passwd"],
        ["/etc/a.txt"],
        ["/uploads/../etc/passwd"],
        ["/uploads/./a.txt"],
        ["/uploads"],
        ["../uploads/a.txt"],
        ["file:///uploads/a.txt"],
        ["A.TXT"],
        ["a.txt\0"],
        [""],
        [["a.txt"]],
        [1],
        "/etc/passwd",
        {"0": "/etc/passwd"},
        None,
    ],
)
def test_no_file_of_the_machine_is_handed_to_a_page(handing: Any, files: object) -> None:
    method, params = handing(files)
    assert isinstance(verdict(method, **params), Refuse)
    if files == ["/etc/passwd"]:
        assert attempt(method, **params)


@pytest.mark.parametrize("named", [["a.txt", "b.txt"], ["/uploads/a.txt", "b.txt"]])
def test_the_tasks_files_are_handed_over_by_name_and_by_path(named: list[str]) -> None:
    paths = ["/uploads/a.txt", "/uploads/b.txt"]
    for handing in (_choosing, _dropping):
        method, params = handing(named)
        assert verdict(method, **params) == Pass(handing(paths)[1])


def test_a_drag_without_files_is_no_matter_of_files() -> None:
    dragged: list[dict[str, object]] = [{}, {"data": {"items": []}}, {"data": None}]
    for params in dragged:
        assert verdict("Input.dispatchDragEvent", **params) == Pass()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "FILE:///etc/passwd", " file:///x", "x"])
def test_no_request_becomes_a_file_of_the_machine(url: str) -> None:
    assert attempt("Fetch.continueRequest", requestId="1", url=url)


def test_sessions_are_flat() -> None:
    assert attempt("Target.attachToTarget", targetId="x")
    assert attempt("Target.attachToTarget", targetId="x", flatten=False)
    assert attempt("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True)
    assert verdict("Target.attachToTarget", targetId="x", flatten=True) == Pass()
    assert verdict("Target.setAutoAttach", autoAttach=True, flatten=True) == Pass()
    assert verdict("Target.setAutoAttach", autoAttach=False) == Pass()


def test_a_new_page_is_of_the_episodes_context() -> None:
    asked = {"url": "about:blank", "browserContextId": "other", "hidden": True}
    assert verdict("Target.createTarget", **asked) == Pass({"url": "about:blank"})


def test_no_request_becomes_another_where_live_sites_are_read_only() -> None:
    read_only = SessionFacts(downloads=Path("/x"), may_rewrite_requests=False)
    for changed in ({"method": "POST"}, {"postData": "eA=="}, {"url": "https://x/"}):
        asked = {"requestId": "1", **changed}
        assert isinstance(judge("Fetch.continueRequest", asked, read_only), Refuse)
        assert judge("Fetch.continueRequest", asked, KNOWN) == Pass()
    assert judge("Fetch.continueRequest", {"requestId": "1"}, read_only) == Pass()


def test_an_answer_keeps_the_status_and_headers_of_its_site() -> None:
    assert attempt("Fetch.continueResponse", requestId="1", responseCode=200)
    assert attempt("Fetch.continueResponse", requestId="1", responseHeaders=[])
    assert verdict("Fetch.continueResponse", requestId="1") == Pass()


def test_the_browsers_own_surfaces_are_hidden() -> None:
    assert is_hidden({"type": "browser_ui", "url": "chrome://omnibox-popup.top-chrome/"})
    assert is_hidden({"type": "page", "url": "chrome://newtab/"})
    assert is_hidden({"type": "page", "url": "devtools://devtools/"})
    assert is_hidden({"type": "background_page", "url": "chrome-extension://x/"})
    assert not is_hidden({"type": "page", "url": "http://shop.arena.test/"})
    assert not is_hidden({"type": "page", "url": "about:blank"})
    assert not is_hidden({"type": "browser", "url": ""})
