"""Mind2Web-Live's key nodes as key nodes here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from sites.routes import RouteForm
from tasks.imports.checking import Untranslated, Written
from tasks.imports.mind2web.hosts import Hosts, NoHostError
from tasks.imports.mind2web.records import KeyNode, NodeContent
from tasks.imports.site_map import SiteMap
from tasks.selectors import selector_fault

_ANYTHING: Final = MappingProxyType({"how": "found"})
# The published code takes the three nearest ancestors of the recorded element for it as well.
_NEAREST: Final = 3
_OPTION: Final = re.compile(r"\boption(?::nth-child\(\d+\))?\s*$")


def node_checks(number: int, node: KeyNode, hosts: Hosts) -> Iterator[Written | Untranslated]:
    """Yield the key node, or why it is not translated.

    Args:
        number: its place among the task's nodes.
        node: as published.
        hosts: which site stands for its host.
    """
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
        given = parse_qs(urlsplit(content.url).query).get(content.key, [])
        how: Written = {"how": "exact", "value": wanted}
        if wanted not in given:
            how = {"how": "include", "value": wanted, "substring": True}
        return _node({"by": "url", "part": "query", "key": content.key}, how)
    parts = urlsplit(content.url)
    path = unquote(parts.path) or "/"
    if wanted.strip("/") == path.strip("/") and wanted.strip("/"):
        return _node({"by": "url"}, {"how": "exact", "value": _page(site, path, sites)})
    if wanted in parts.netloc:
        value = f"{site}:/"
        return _node({"by": "url"}, {"how": "include", "value": value, "substring": True})
    if sites.renames(site, RouteForm.LIVE):
        message = f"is a piece of a path, and '{site}' has routes: its logical paths differ"
        return Untranslated(f"{field}.content.reference_answer", message)
    return _piece(field, wanted, path, unquote(parts.fragment))


def _piece(field: str, wanted: str, path: str, fragment: str) -> Written | Untranslated:
    """Return the check of a piece of the path, or of the path with its fragment."""
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
        match: Written = {"how": "exact", "value": content.reference_answer, "case": True}
        return _node({"by": "url", "part": "query", "key": content.key}, match)
    try:
        parts = urlsplit(content.reference_answer)
    except ValueError:
        return Untranslated(field, "its URL is none")
    if parts.netloc and parts.netloc != urlsplit(content.url).netloc:
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
        return _node({"by": "url", "part": "query", "key": content.key}, match)
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
