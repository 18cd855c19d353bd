"""Mind2Web-Live's key nodes as key nodes here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from sites.routes import RouteForm
from tasks.imports.formats import Untranslated, Written
from tasks.imports.mind2web.records import KeyNode, NodeContent
from tasks.imports.site_map import Hosts, NoHostError, SiteMap
from tasks.lint.selectors import selector_fault

_ANYTHING: Final = MappingProxyType({"how": "found"})
# The published code takes the three nearest ancestors of the recorded element for it as well.
_NEAREST: Final = 3
_OPTION: Final = re.compile(r"\boption(?::nth-child\(\d+\))?\s*$")


def node_checks(number: int, node: KeyNode, hosts: Hosts) -> Iterator[Written | Untranslated]:
    """Yield the key node, or why it is not translated."""
    field = f"evaluation[{number}]"
    try:
        site = hosts.site(node.content.url)
    except NoHostError as unknown:
        yield Untranslated(f"{field}.content.url", str(unknown))
        return
    kind = node.match_function_name
    if kind == "url_included_match":
        yield _included(field, node.content, site, hosts.sites)
    elif kind == "url_exactly_match":
        yield _exactly(field, node.content, site, hosts.sites)
    elif kind in {"url_semantic_match", "element_value_semantic_match"}:
        yield _judged(field, node, site)
    elif kind == "element_path_exactly_match" and node.method in {None, "selector"}:
        yield _acted(field, node.content, site)
    elif kind in {"element_value_exactly_match", "element_value_included_match"}:
        yield _value(field, node, site)
    else:
        yield Untranslated(field, f"is a function that no published task uses: {kind}")


def _node(locate: Written, match: Written) -> Written:
    return {"locate": locate, "match": match}


def _included(
    field: str, content: NodeContent, site: str, sites: SiteMap
) -> Written | Untranslated:
    """Return the check of a part of the host and path, or of one parameter."""
    wanted = content.reference_answer
    if content.key:
        return _parameter(content, site, is_whole=wanted in _recorded(content))
    parts = urlsplit(content.url)
    path = unquote(parts.path) or "/"
    if wanted.strip("/") == path.strip("/") and wanted.strip("/"):
        return _node({"by": "url"}, {"how": "exact", "value": _page(site, path, sites)})
    head = _path_behind_host(wanted, parts.netloc)
    if wanted in parts.netloc or head == "":
        value = f"{site}:/"
        return _node({"by": "url"}, {"how": "include", "value": value, "substring": True})
    if sites.renames(site, RouteForm.LIVE):
        message = f"is a piece of a path, and '{site}' has routes: its logical paths differ"
        return Untranslated(f"{field}.content.reference_answer", message)
    if head is not None:
        return _node({"by": "url"}, {"how": "include", "value": f"{site}:/{head}"})
    return _piece(field, wanted, path, unquote(parts.fragment))


def _path_behind_host(wanted: str, host: str) -> str | None:
    """Return the path of `www.shop.com/a` without its first slash; None of what names no host.

    A gold may name the host in part (`shop.com/`), and with its scheme, which the published code
    takes off the page's URL alone.
    """
    named, slash, path = wanted.partition("://")[2 if "://" in wanted else 0].partition("/")
    is_host = bool(named) and f".{host}".endswith(f".{named}")
    return path.strip("/") if is_host and (slash or "://" in wanted) else None


def _recorded(content: NodeContent) -> list[str]:
    """Return the values that the parameter has in the page that was recorded."""
    return parse_qs(urlsplit(content.url).query).get(content.key, [])


def _parameter(content: NodeContent, site: str, *, is_whole: bool, case: bool = False) -> Written:
    """Return the check of a parameter on the site that was recorded.

    The published code decodes a value twice, so that `%2520` is a blank there: the value as the
    recorded page has it is right as well.
    """
    locate: Written = {"by": "url", "part": "query", "key": content.key, "site": site}
    gold = content.reference_answer
    plain = unquote(gold)
    encoded = [one for one in _recorded(content) if unquote(one) == plain]
    spellings = list(dict.fromkeys((gold, plain, quote(plain, safe=""), *encoded)))
    how: Written = {"how": "exact"} if is_whole else {"how": "include", "substring": True}
    extra: Written = {"case": True} if case else {}
    first, *others = [_node(locate, {**how, "value": one, **extra}) for one in spellings]
    return {**first, "any_of": others} if others else first


def _piece(field: str, wanted: str, path: str, fragment: str) -> Written | Untranslated:
    if fragment and wanted in f"{path}#{fragment}":
        how = {"how": "include", "value": wanted, "substring": True}
        return _node({"by": "url", "part": "full"}, how)
    # Some pages were recorded before the action that leads to them: the gold may be sound.
    bare = wanted.rstrip("/")
    if not bare:
        return Untranslated(field, "asks for nothing: the published code accepts every page")
    match: Written = {"how": "include", "value": bare}
    if bare in path and f"/{bare.strip('/')}/" not in f"/{path.strip('/')}/":
        match["substring"] = True
    return _node({"by": "url"}, match)


def _exactly(field: str, content: NodeContent, site: str, sites: SiteMap) -> Written | Untranslated:
    if content.key:
        return _parameter(content, site, is_whole=True, case=True)
    host = urlsplit(content.url).netloc
    gold = content.reference_answer
    try:
        parts = urlsplit(f"//{gold}" if gold.partition("/")[0] == host else gold)
    except ValueError:
        return Untranslated(field, "is not a URL")
    if parts.netloc and parts.netloc != host:
        return Untranslated(field, "its URL is on another host than the page that was recorded")
    query = f"?{parts.query}" if parts.query else ""
    page = _page(site, unquote(parts.path) or "/", sites) + query
    return _node({"by": "url", "part": "full"}, {"how": "exact", "value": page})


def _judged(field: str, node: KeyNode, site: str) -> Written | Untranslated:
    """Return the check of a value that a model judges by the published rule."""
    content = node.content
    rubric = f"The value is right if it satisfies this rule: {content.reference_answer}"
    match: Written = {"how": "semantic", "rubric": rubric}
    if node.match_function_name == "url_semantic_match":
        if not content.key:
            return _node({"by": "url", "part": "full"}, match)
        return _node({"by": "url", "part": "query", "key": content.key, "site": site}, match)
    return _valued(field, content, site, match)


def _acted(field: str, content: NodeContent, site: str) -> Written | Untranslated:
    """Return the check of a click on an element, on what is in it, or on what holds it closely."""
    selector = content.reference_answer.strip()
    fault = _selector_fault(selector)
    if fault:
        return Untranslated(field, fault)
    clicked: Written = {"by": "element", "event": "click", "read": "path", "site": site}
    return {
        **_node({**clicked, "selector": selector, "ancestors": _NEAREST}, dict(_ANYTHING)),
        "any_of": [_node({**clicked, "selector": f"{selector} *"}, dict(_ANYTHING))],
    }


def _value(field: str, node: KeyNode, site: str) -> Written | Untranslated:
    """Return the check of what was typed, or of the name of what was clicked."""
    is_whole = node.match_function_name == "element_value_exactly_match"
    match: Written = {"how": "exact", "value": node.content.reference_answer}
    if not is_whole:
        match = {"how": "include", "value": node.content.reference_answer, "substring": True}
    return _valued(field, node.content, site, match)


def _valued(field: str, content: NodeContent, site: str, match: Written) -> Written | Untranslated:
    there: Written = {"by": "element", "site": site}
    selector = (content.path or "").strip()
    if selector:
        fault = _selector_fault(selector)
        if fault:
            return Untranslated(field, fault)
        there["selector"] = selector
    first = _node({**there, "event": "input", "read": "value"}, match)
    others = [
        _node({**there, "event": "change", "read": "value"}, match),
        _node({**there, "event": "click", "read": "name"}, match),
    ]
    return {**first, "any_of": others}


def _selector_fault(selector: str) -> str | None:
    """Say why a recorded selector cannot be asked for; None where it can."""
    if _OPTION.search(selector):
        return "names an option by its place: browsers report the choice of a list, not a click"
    return selector_fault(selector)


def _page(site: str, path: str, sites: SiteMap) -> str:
    logical = sites.logical_path(site, path, RouteForm.LIVE)
    return f"{site}:{quote(logical, safe='/:@!$&*+,;=~()')}"
