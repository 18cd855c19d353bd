"""Which CDP commands an outside agent may send: a list of what is allowed, and why the rest is not.

Pure: a command and what is known of its session go in, a verdict comes out. README.md has the table
in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator.browser.watcher import BINDING, WORLD

Params = Mapping[str, Any]

# Domains of which every method is allowed but those that are named below.
_DOMAINS: Final = frozenset(
    {
        "Accessibility",
        "Animation",
        "CSS",
        "CacheStorage",
        "Console",
        "DOM",
        "DOMDebugger",
        "DOMSnapshot",
        "DOMStorage",
        "Emulation",
        "Fetch",
        "IndexedDB",
        "Input",
        "Log",
        "Network",
        "Overlay",
        "Page",
        "Performance",
        "PerformanceTimeline",
        "Runtime",
        "Schema",
        "Storage",
        "WebAuthn",
    }
)
# Of other domains, the methods that are allowed.
_METHODS: Final = frozenset(
    {
        "Browser.cancelDownload",
        "Browser.close",
        "Browser.getVersion",
        "Browser.getWindowBounds",
        "Browser.getWindowForTarget",
        "Browser.grantPermissions",
        "Browser.resetPermissions",
        "Browser.setDownloadBehavior",
        "Browser.setPermission",
        "Browser.setWindowBounds",
        "HeapProfiler.collectGarbage",
        "IO.close",
        "IO.read",
        "Inspector.disable",
        "Inspector.enable",
        "Security.disable",
        "Security.enable",
        "ServiceWorker.disable",
        "ServiceWorker.enable",
        "Target.activateTarget",
        "Target.attachToBrowserTarget",
        "Target.attachToTarget",
        "Target.closeTarget",
        "Target.createTarget",
        "Target.detachFromTarget",
        "Target.getBrowserContexts",
        "Target.getTargetInfo",
        "Target.getTargets",
        "Target.setAutoAttach",
        "Target.setDiscoverTargets",
    }
)
_SILENCES: Final = "it would stop the page, and with it what is noted of the episode"
_OTHER_STATE: Final = "the page's state is what the site and the agent's actions make it"
_SEES_ALL: Final = "it reaches every object of the page's process, Arena's among them"
# Of the domains above, the methods that are not.
_REFUSED: Final[Mapping[str, str]] = {
    "DOMDebugger.setBreakOnCSPViolation": _SILENCES,
    "DOMDebugger.setDOMBreakpoint": _SILENCES,
    "DOMDebugger.setEventListenerBreakpoint": _SILENCES,
    "DOMDebugger.setInstrumentationBreakpoint": _SILENCES,
    "DOMDebugger.setXHRBreakpoint": _SILENCES,
    "Emulation.setScriptExecutionDisabled": _SILENCES,
    "Emulation.setVirtualTimePolicy": _SILENCES,
    "Input.setIgnoreInputEvents": _SILENCES,
    "Network.continueInterceptedRequest": "Fetch takes its place",
    "Network.emulateNetworkConditions": "the network is the gateway's",
    "Network.emulateNetworkConditionsByRule": "the network is the gateway's",
    "Network.loadNetworkResource": "open a page instead",
    "Network.overrideNetworkState": "the network is the gateway's",
    "Network.setRequestInterception": "Fetch takes its place",
    "Page.addCompilationCache": _OTHER_STATE,
    "Page.crash": _SILENCES,
    "Page.produceCompilationCache": _OTHER_STATE,
    "Page.setWebLifecycleState": _SILENCES,
    "Runtime.queryObjects": _SEES_ALL,
    "Runtime.terminateExecution": _SILENCES,
}
_CONTEXT_KEYS: Final = ("contextId", "executionContextId")
_NAVIGATES: Final = frozenset({"Page.navigate", "Target.createTarget"})
_SCHEMES: Final = frozenset({"http", "https", "data", "blob", "javascript"})
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_BLANK: Final = re.compile(r"about:(blank|srcdoc)?([?#].*)?", re.IGNORECASE | re.DOTALL)
_OBJECT: Final = re.compile(r"-?\d+\.(\d+)\.\d+")
_PAGES: Final = frozenset({"page", "iframe", "tab", "worker", "service_worker", "shared_worker"})
_BROWSERS_OWN: Final = ("chrome:", "chrome-untrusted:", "devtools:", "chrome-extension:")


@dataclass(frozen=True, slots=True)
class Pass:
    """Let the command through; with other parameters where they are given."""

    params: Params | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with an error that says why.

    Attributes:
        is_attempt: it would have forged evidence or left the gateway: the evidence notes it.
    """

    why: str
    is_attempt: bool = False


@dataclass(frozen=True, slots=True)
class Harmless:
    """Answer as if it had been done; nothing is sent to the browser."""


Verdict = Pass | Refuse | Harmless


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a verdict depends on beside the command.

    Attributes:
        contexts: the JavaScript contexts of the session that are not Arena's.
        unique_contexts: the same by their other ids.
        former_contexts: those that are gone, by either id.
        downloads: the folder that downloads go to.
        may_rewrite_requests: whether requests may be turned into others: not where live sites are
            only to be read, since the browser decides that before the agent's own interception.
    """

    contexts: frozenset[int] = frozenset()
    unique_contexts: frozenset[str] = frozenset()
    former_contexts: frozenset[int | str] = frozenset()
    downloads: Path
    may_rewrite_requests: bool = True


def names_contexts(params: Params) -> bool:
    """Whether a command names a JavaScript context or an object of one."""
    return any(True for _ in _named_contexts(params))


def judge(method: str, params: Params, known: Known) -> Verdict:
    """Say what becomes of a command."""
    if (refused := _refused_method(method, params)) is not None:
        return refused
    if _is_arenas(params):
        return Refuse("the name is taken", is_attempt=True)
    for context in _named_contexts(params):
        if context not in known.contexts and context not in known.unique_contexts:
            is_attempt = context not in known.former_contexts
            return Refuse("Cannot find context with specified id", is_attempt)
    if method in _NAVIGATES and not may_open(str(params.get("url", ""))):
        return Refuse(
            f"{params.get('url')!r}: only http, https, data and blank pages are opened",
            is_attempt=True,
        )
    return _by_parameters(method, params, known)


def may_open(url: str) -> bool:
    """Whether an address may be opened, as Chromium would read it."""
    text = re.sub(r"[\t\r\n]", "", url).strip("".join(map(chr, range(0x21))))
    if not text or _BLANK.fullmatch(text):
        return True
    scheme = _SCHEME.match(text)
    return scheme is not None and scheme[1].lower() in _SCHEMES


def is_hidden(target: Params) -> bool:
    """Whether a target is the browser's own, such as the surface of its address bar."""
    return target.get("type") not in _PAGES or str(target.get("url", "")).startswith(_BROWSERS_OWN)


def _refused_method(method: str, params: Params) -> Refuse | None:
    domain = method.partition(".")[0]
    if method in {"Target.createBrowserContext", "Target.disposeBrowserContext"}:
        one = "an episode has one browser context: contexts()[0], which is logged in"
        return Refuse(one, is_attempt="proxyServer" in params)
    if (why := _REFUSED.get(method)) is not None:
        return Refuse(f"{method} is not allowed: {why}")
    if domain in _DOMAINS or method in _METHODS:
        return None
    return Refuse(f"{method} is not allowed in an episode")


def _is_arenas(params: Params) -> bool:
    worlds = (params.get("worldName"), params.get("executionContextName"))
    return WORLD in worlds or params.get("name") == BINDING


def _by_parameters(method: str, params: Params, known: Known) -> Verdict:
    verdict: Verdict = Pass()
    match method:
        case "Browser.close":
            verdict = Harmless()
        case "Browser.setDownloadBehavior" | "Page.setDownloadBehavior":
            if "downloadPath" in params:
                verdict = Pass({**params, "downloadPath": str(known.downloads)})
        case "Target.setAutoAttach" | "Target.attachToTarget":
            if params.get("flatten") is not True and params.get("autoAttach", True):
                verdict = Refuse("sessions are flat: pass flatten: true", is_attempt=True)
        case "Target.createTarget":
            kept = params.keys() - {"browserContextId", "hidden"}
            verdict = Pass({name: one for name, one in params.items() if name in kept})
        case "Fetch.continueRequest" if not known.may_rewrite_requests:
            if {"url", "method", "postData"} & params.keys():
                verdict = Refuse("live sites are read-only in this task", is_attempt=True)
        case _:
            pass
    return verdict


def _named_contexts(params: object) -> Iterator[float | str]:
    """Yield every context that a command names, also by an object of it, however deep."""
    if isinstance(params, Mapping):
        for key, value in params.items():
            if key in _CONTEXT_KEYS and isinstance(value, (int, float)):
                yield value  # Chromium takes 6.0 for 6, and so does a set of integers
            elif key == "uniqueContextId" and isinstance(value, str):
                yield value
            elif key == "objectId" and isinstance(value, str):
                found = _OBJECT.fullmatch(value)
                yield int(found[1]) if found else -1
            elif isinstance(value, (Mapping, list)):
                yield from _named_contexts(value)
    elif isinstance(params, list):
        for one in params:
            yield from _named_contexts(one)
