"""Which CDP commands an external agent may send, and why others are refused.

Pure: a command and what is known of its session go in, a verdict comes out. README.md explains the
table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from orchestrator.browser.tabs.watcher import BINDING, WORLD

Params = Mapping[str, Any]

# Every method of these domains is allowed, except those in `_REFUSED`.
_DOMAINS: Final = frozenset(
    {"Accessibility", "Animation", "CSS", "CacheStorage", "Console", "DOM", "DOMDebugger"}
    | {"DOMSnapshot", "DOMStorage", "Emulation", "Fetch", "IndexedDB", "Input", "Log", "Network"}
    | {"Overlay", "Page", "Performance", "PerformanceTimeline", "Runtime", "Schema", "Storage"}
    | {"WebAuthn"}
)
# Of other domains, the methods that are allowed.
_METHODS: Final = frozenset(
    f"{domain}.{method}"
    for domain, methods in {
        "Audits": "disable enable",
        "Browser": "cancelDownload close getVersion getWindowBounds getWindowForTarget"
        " grantPermissions resetPermissions setDownloadBehavior setPermission setWindowBounds",
        "HeapProfiler": "collectGarbage",
        "IO": "close read",
        "Inspector": "disable enable",
        "Security": "disable enable",
        "ServiceWorker": "disable enable",
        "Target": "activateTarget attachToBrowserTarget attachToTarget closeTarget createTarget"
        " detachFromTarget getBrowserContexts getTargetInfo getTargets setAutoAttach"
        " setDiscoverTargets",
    }.items()
    for method in methods.split()
)
_SILENCES: Final = "it would stop the page, and with it what is noted of the episode"
_OTHER_STATE: Final = "the page's state is what the site and the agent's actions make it"
_SEES_ALL: Final = "it reaches every object of the page's process, Arena's among them"
# The refused methods of the domains above.
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
    "Page.startScreenRecording": "it records the sound and the windows of this machine",
    "Page.waitForDebugger": _SILENCES,
    "Runtime.queryObjects": _SEES_ALL,
    "Runtime.terminateExecution": _SILENCES,
}
_CONTEXT_KEYS: Final = ("contextId", "executionContextId")
_NAVIGATES: Final = frozenset({"Page.navigate", "Target.createTarget"})
_SCHEMES: Final = frozenset({"http", "https", "data", "blob", "javascript"})
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_BLANK: Final = re.compile(r"about:(blank|srcdoc)?([?#].*)?", re.IGNORECASE | re.DOTALL)
_OBJECT: Final = re.compile(r"-?\d+\.(\d+)\.\d+", re.ASCII)
_MOST_OBJECT: Final = 100  # characters; longer ones name no object
_PAGES: Final = frozenset({"page", "iframe", "tab", "worker", "service_worker", "shared_worker"})
_BROWSERS_OWN: Final = ("chrome:", "chrome-untrusted:", "devtools:", "chrome-extension:")


@dataclass(frozen=True, slots=True)
class Pass:
    """Let the command through, with other parameters if they are given."""

    params: Params | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with an error that says why.

    Attributes:
        is_attempt: it would have forged evidence or left the gateway, so the evidence notes it.
    """

    why: str
    is_attempt: bool = False


@dataclass(frozen=True, slots=True)
class Harmless:
    """Answer as if it had been done; send nothing to the browser."""


Verdict = Pass | Refuse | Harmless


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What a verdict depends on besides the command.

    Attributes:
        contexts: the session's JavaScript contexts without Arena's; `unique_contexts` by their
            other ids, `former_contexts` those that are gone.
        downloads: the folder for downloads.
        files: the task's files, which a page may be given, by name.
        may_rewrite_requests: False where live sites are read-only, since the browser decides that
            before the agent's own interception.
    """

    contexts: frozenset[int] = frozenset()
    unique_contexts: frozenset[str] = frozenset()
    former_contexts: frozenset[int | str] = frozenset()
    downloads: Path
    files: Mapping[str, Path] = field(default_factory=dict)
    may_rewrite_requests: bool = True


def names_contexts(params: Params) -> bool:
    return any(True for _ in _named_contexts(params))


def judge(method: str, params: Params, known: SessionFacts) -> Verdict:
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
    """Whether a target is the browser's own, such as the surface of its address bar.

    The browser itself is not: attaching to it gives a client what its connection already is.
    """
    if target.get("type") == "browser":
        return False
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


def _by_parameters(method: str, params: Params, known: SessionFacts) -> Verdict:
    verdict: Verdict = Pass()
    match method:
        case "Browser.close":
            verdict = Harmless()
        case "Browser.setDownloadBehavior" | "Page.setDownloadBehavior":
            verdict = Pass(_downloads(params, known.downloads))
        case "DOM.setFileInputFiles":
            verdict = _handing(params, params.get("files"), known.files)
        case "Input.dispatchDragEvent":
            verdict = _dragging(params, known.files)
        case "Target.setAutoAttach" | "Target.attachToTarget":
            if params.get("flatten") is not True and params.get("autoAttach", True):
                verdict = Refuse("sessions are flat: pass flatten: true", is_attempt=True)
        case "Target.createTarget":
            kept = params.keys() - {"browserContextId", "hidden"}
            verdict = Pass({name: one for name, one in params.items() if name in kept})
        case "Fetch.continueResponse" if params.keys() - {"requestId"}:
            verdict = Refuse("an answer keeps the status and headers of its site", is_attempt=True)
        case "Fetch.continueRequest":
            verdict = _continuing(params, known)
        case _:
            pass
    return verdict


def _downloads(params: Params, folder: Path) -> Params:
    """Send downloads to the episode's folder; `default` would be the user's own."""
    if params.get("behavior") == "default":
        params = {**params, "behavior": "allow", "downloadPath": ""}
    return {**params, "downloadPath": str(folder)} if "downloadPath" in params else params


def _handing(params: Params, named: object, files: Mapping[str, Path]) -> Verdict:
    """Let the task's files through, given by the task's names or by their paths."""
    paths = {str(path): str(path) for path in files.values()} | {
        name: str(path) for name, path in files.items()
    }
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        return Refuse("`files` must be a list of the names of the task's files")
    for one in named:
        if one not in paths:
            there = ", ".join(files) or "none"
            return Refuse(f"the task provides no file {one!r}; it provides: {there}", True)  # noqa: FBT003
    return Pass({**params, "files": [paths[one] for one in named]})


def _dragging(params: Params, files: Mapping[str, Path]) -> Verdict:
    data = params.get("data")
    if not isinstance(data, Mapping) or "files" not in data:
        return Pass()
    handed = _handing(data, data["files"], files)
    return Pass({**params, "data": handed.params}) if isinstance(handed, Pass) else handed


def _continuing(params: Params, known: SessionFacts) -> Verdict:
    if not known.may_rewrite_requests and {"url", "method", "postData"} & params.keys():
        return Refuse("live sites are read-only in this task", is_attempt=True)
    url = str(params.get("url", ""))
    if url and not url.lower().startswith(("http://", "https://")):
        return Refuse(f"{url!r}: a request may only become one of http or https", is_attempt=True)
    return Pass()


def _named_contexts(params: object) -> Iterator[float | str]:
    """Yield every context that a command names, also through an object of it, at any depth."""
    if isinstance(params, Mapping):
        for key, value in params.items():
            if key in _CONTEXT_KEYS and isinstance(value, (int, float)):
                yield value  # Chromium takes 6.0 for 6, and so does a set of integers
            elif key == "uniqueContextId" and isinstance(value, str):
                yield value
            elif key == "objectId" and isinstance(value, str):
                found = _OBJECT.fullmatch(value[:_MOST_OBJECT])
                yield int(found[1]) if found else -1
            elif isinstance(value, (Mapping, list)):
                yield from _named_contexts(value)
    elif isinstance(params, list):
        for one in params:
            yield from _named_contexts(one)
