"""Mistakes that only playing a task would show, found before it is played."""

from __future__ import annotations

import pytest
from support.tasks.sound_task import (
    ANSWER,
    API,
    DELTA,
    NODE,
    PAGE,
    ROW,
    Edit,
    acts_of,
    changes,
    checks,
    computed_of,
    content_of,
    findings,
    look,
    put,
    val,
)

from arena_core.errors import ManifestError
from evaluators.lint import Severity
from sites.registry import SiteRegistry

WIKI_CHANGED = content_of(
    sites=["shop", "wiki"],
    checks=[ROW, {**PAGE, "worlds": ["online"]}, look(DELTA, site="wiki")],
)


@pytest.mark.parametrize(
    ("edit", "where", "says"),
    [
        (
            computed_of(site="shop", page="/basket", selector="p[[["),
            "checks.1.computed.selector",
            "is no CSS selector",
        ),
        (
            computed_of(site="shop", page="/sale", selector="p"),
            "checks.1.computed.page",
            "no form on its replica",
        ),
        (
            computed_of(site="shop", path="/api", json_path="a.."),
            "checks.1.computed.json_path",
            "does not parse: expected a shorthand selector",
        ),
        (
            computed_of(site="shop", path="/api", role="king"),
            "checks.1.computed.role",
            "no API login of role 'king'; there are: merchant",
        ),
        (
            checks(ANSWER, look(API, json_path="items[")),
            "checks.1.locate.json_path",
            "does not parse: unexpected end",
        ),
        (
            checks(ANSWER, look(API, json_path="")),
            "checks.1.locate.json_path",
            "the path is empty",
        ),
        (acts_of({"do": "press", "keys": "Foo+Bar"}), "reference.0.keys", "no key 'Foo'"),
        (acts_of({"do": "press", "keys": "Control+"}), "reference.0.keys", "there is no key ''"),
        (acts_of({"do": "press", "keys": "Entr"}), "reference.0.keys", "named like Enter"),
        (put(start=["shop:/../../etc/passwd"]), "start.0", "'.' or '..' between slashes"),
        (put(start=["shop:/a/%2e%2E/b"]), "start.0", "'.' or '..' between slashes"),
        (put(start=["shop:/a b"]), "start.0", "no white space"),
        (put(start=["shop:/a\\b"]), "start.0", "a browser reads it as '/'"),
        (
            acts_of({"do": "goto", "page": "shop:/product/../basket"}),
            "reference.0.page",
            "'.' or '..' between slashes",
        ),
        (
            checks(ANSWER, val(NODE, "shop:/a/../b")),
            "checks.1.match.value",
            "no visited page",
        ),
        (
            checks(ANSWER, look(PAGE, at="shop:/./basket")),
            "checks.1.locate.at",
            "'.' or '..' between slashes",
        ),
        (
            changes({"file": "/etc/passwd", "kind": "changed"}),
            "checks.2.match.changes.0.file",
            "in no folder of 'shop' that is state: /srv/cache",
        ),
        (changes(allow={"files": ["/var/*"]}), "checks.2.match.allow.files.0", "in no folder"),
        (WIKI_CHANGED, "checks.2.locate.site", "neither rows nor files are state"),
        (put(worlds=["offline", "online", "offline"]), "worlds", "names a world twice"),
        (
            put(requires=[{**PAGE, "name": "won", "locate": {"by": "wob"}}]),
            "requires.0.locate",
            "no page has given a reward",
        ),
    ],
)
def test_what_only_playing_would_find_is_found_before(
    registry: SiteRegistry, edit: Edit, where: str, says: str
) -> None:
    found = [one for one in findings(edit, registry) if one.where == f"tasks.0.{where}"]
    assert [one.severity for one in found] == [Severity.ERROR], findings(edit, registry)
    assert says in found[0].message


@pytest.mark.parametrize(
    "edit",
    [
        computed_of(site="shop", path="/api", role="merchant", json_path="items[0].price"),
        computed_of(site="shop", page="/basket", selector="td:nth-child(2n+1 of .price) > b"),
        acts_of({"do": "press", "keys": "ctrl+a"}, {"do": "press", "keys": "Control++"}),
        put(start=["shop:/a%20b/..c/d..?to=/../e f".replace(" ", "+")]),
        changes({"file": "/srv/cache/a/*", "kind": "added"}, {"file": "/srv/*", "kind": "removed"}),
    ],
)
def test_what_is_sound_is_passed(registry: SiteRegistry, edit: Edit) -> None:
    assert [one for one in findings(edit, registry) if one.is_error] == []


def test_a_site_without_state_never_changes(registry: SiteRegistry) -> None:
    wiki = registry.site("wiki").model_copy(update={"stateful": False})
    stateless = SiteRegistry({**registry.sites, "wiki": wiki})
    found = [one.message for one in findings(WIKI_CHANGED, stateless) if one.is_error]
    assert any("site 'wiki' holds no state: it never changes" in message for message in found)


def test_a_role_that_no_browser_gives_is_doubted(registry: SiteRegistry) -> None:
    edit = acts_of({"do": "click", "role": "buton", "name": "Buy"})
    [doubt] = [one for one in findings(edit, registry) if one.where == "tasks.0.reference.0.role"]
    assert doubt.severity is Severity.WARNING
    assert "such are button" in doubt.message


def test_a_site_whose_manifest_is_wrong_says_so_where_a_task_needs_it(
    registry: SiteRegistry,
) -> None:
    broken = SiteRegistry(
        registry.sites, broken={"mine": ManifestError("mine/site.yaml:3: port: is wrong")}
    )
    [found, *_] = findings(put(sites=["shop", "mine"]), broken)
    assert (found.where, found.is_error) == ("tasks.0.sites.1", True)
    assert "mine/site.yaml:3: port: is wrong" in found.message


@pytest.mark.parametrize(
    ("match", "part", "is_found"),
    [
        ({"how": "include", "value": "kettle"}, "text", True),
        ({"how": "include", "value": "kettle"}, "data", True),
        ({"how": "include", "value": "not for sale"}, "reason", False),
        ({"how": "regex", "value": "kettle", "substring": True}, "text", True),
        ({"how": "regex", "value": "kettles?"}, "text", False),
        ({"how": "answer", "type": "name", "value": "kettle"}, "text", False),
    ],
)
def test_a_text_that_is_looked_for_in_an_answer_is_a_finding(
    match: dict[str, object], part: str, *, is_found: bool, registry: SiteRegistry
) -> None:
    locate = {"by": "answer", "part": part}
    edit = checks({**ANSWER, "locate": locate, "match": match})
    found = [one for one in findings(edit, registry) if one.where == "tasks.0.checks.0.match.how"]
    assert [one.severity for one in found] == [Severity.WARNING] * is_found


@pytest.mark.parametrize(
    ("stop", "says"),
    [
        ({"data": ["47"]}, None),
        ({"data": ["48"]}, "refuses this answer"),
        ({"answer": "47", "data": ["47"]}, "not both"),
        ({"status": "not_found"}, "`reason` says why"),
        ({"answer": "47", "reason": "so it is"}, "`reason` says why"),
        ({"status": "not_found", "reason": "no bells"}, "refuses this answer"),
    ],
)
def test_a_reference_may_end_with_data_or_a_status(
    stop: dict[str, object], says: str | None, registry: SiteRegistry
) -> None:
    asked = {**ANSWER, "match": {"how": "answer", "type": "number", "value": 47}}
    edit = content_of(checks=[asked], reference=[{"do": "stop", **stop}])
    try:
        found = [one.message for one in findings(edit, registry) if ".reference." in one.where]
    except (ManifestError, ValueError) as refused:
        found = [str(refused)]
    assert (not found) if says is None else any(says in one for one in found)
