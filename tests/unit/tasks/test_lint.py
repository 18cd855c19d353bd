from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sites.atlas import Atlas
from sites.errors import ManifestError
from tasks.findings import Finding, Severity
from tasks.lint import lint_suite
from tasks.loader import load_source
from tasks.schema import Suite

Edit = Callable[[dict[str, Any]], object]

ANSWER: dict[str, Any] = {
    "name": "said",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "number", "value": 49},
    "computed": {"site": "shop", "sql": "SELECT price FROM products"},
}
NODE: dict[str, Any] = {
    "name": "product",
    "when": "step",
    "locate": {"by": "url"},
    "match": {"how": "exact", "value": "shop:/product/12/kettle"},
}
ROW: dict[str, Any] = {
    "name": "row",
    "when": "end",
    "locate": {"by": "db", "site": "shop", "sql": "SELECT total FROM orders"},
    "match": {"how": "exact", "value": "49.00"},
    "worlds": ["offline"],
}
DELTA: dict[str, Any] = {
    "name": "delta",
    "when": "end",
    "locate": {"by": "db_delta", "site": "shop"},
    "match": {"how": "delta", "changes": [{"table": "orders", "kind": "added"}]},
    "worlds": ["offline"],
}
PAGE: dict[str, Any] = {
    "name": "page",
    "when": "end",
    "locate": {"by": "page", "at": "shop:/basket", "selector": ".total"},
    "match": {"how": "number", "value": 49},
}
API: dict[str, Any] = {
    "name": "api",
    "when": "end",
    "locate": {"by": "api", "site": "shop", "path": "/api/basket"},
    "match": {"how": "exact", "value": "1"},
}
SOUND: dict[str, Any] = {
    "id": "price",
    "family": "information",
    "intent": "Say what the kettle costs.",
    "sites": ["shop"],
    "roles": {"shop": "customer"},
    "start": ["shop:/"],
    "checks": [NODE, ANSWER],
    "requires": [{**PAGE, "name": "on-sale"}],
    "reference": [
        {"do": "goto", "page": "shop:/product/12/kettle"},
        {"do": "stop", "answer": "49"},
    ],
}


def _suite(edit: Edit) -> Suite:
    task = copy.deepcopy(SOUND)
    edit(task)
    return Suite.model_validate({"suite": "mine", "version": 1, "title": "Mine", "tasks": [task]})


def _computed(**fields: Any) -> Edit:
    return _checks(NODE, {**ANSWER, "computed": fields})


def _acts(*actions: dict[str, Any]) -> Edit:
    return _set(reference=[*actions, {"do": "stop", "answer": "49"}])


def _delta(*changes: dict[str, Any], **match: Any) -> Edit:
    asked = {**DELTA, "match": {"how": "delta", "changes": list(changes), **match}}
    return _content(checks=[ROW, {**PAGE, "worlds": ["online"]}, asked])


def _findings(edit: Edit, atlas: Atlas) -> tuple[Finding, ...]:
    return lint_suite(_suite(edit), atlas)


def _set(**fields: Any) -> Edit:
    return lambda task: task.update(fields)


def _content(**fields: Any) -> Edit:
    sound: dict[str, Any] = {
        "family": "content",
        "live_writes": True,
        "checks": [ROW, {**PAGE, "worlds": ["online"]}, DELTA],
        "reference": [{"do": "stop"}],
    }
    return _set(**{**sound, **fields})


def _checks(*checks: dict[str, Any]) -> Edit:
    return _set(checks=list(checks))


def _locate(check: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**check, "locate": {**check["locate"], **fields}}


def _value(check: dict[str, Any], value: Any, **fields: Any) -> dict[str, Any]:
    return {**check, "match": {**check["match"], "value": value}, **fields}


@pytest.mark.parametrize(
    "edit",
    [
        _set(),
        _content(),
        _set(worlds=["offline"], roles={"shop": "merchant"}),
        _set(family="unachievable", why="there is no such product"),
        _set(parts={"outcome": "failure", "at": "product", "why": "a renamed route"}),
        _set(parts={"outcome": "unscored: drifted", "why": "the product is gone"}),
        _set(
            parts={"outcome": "failure", "at": "said", "why": "another price"},
            reference=[{"do": "stop", "answer": {"offline": "49", "online": "55"}}],
        ),
        _checks(ANSWER, _value(NODE, "shop:/basket/")),
        _checks(ANSWER, _locate(_value(NODE, "shop:/search?q=kettle"), part="full")),
        _checks(
            ANSWER,
            {**NODE, "worlds": ["offline"]},
            {**NODE, "name": "product-online", "worlds": ["online"]},
        ),
        _checks(ANSWER, _value(NODE, {"offline": "shop:/a", "online": "shop:/b"})),
        _checks(
            ANSWER, _value(NODE, "anything goes", locate={**NODE["locate"], "part": "fragment"})
        ),
        _checks(ANSWER, _locate(PAGE, selector='[data-name="a)b"] > a:not(.x)')),
        _checks(
            ANSWER, _locate(ROW, sql="WITH x AS (SELECT ';' AS a) SELECT `set`, a FROM x; -- ok")
        ),
        _checks(ANSWER, {**_locate(API, role="merchant"), "worlds": ["offline"]}),
        _set(sites=["shop", "forum"], checks=[ANSWER, _locate(API, site="forum", role="member")]),
        _set(
            sites=["board"],
            roles={},
            start=["board:/"],
            requires=[],
            checks=[
                {**ANSWER, "computed": {"site": "board", "sql": "SELECT 49"}},
                {**_locate(ROW, site="board"), "worlds": ["offline", "online"]},
            ],
            reference=[{"do": "stop", "answer": "49"}],
        ),
        _set(
            reference=[
                {"do": "goto", "page": {"offline": "shop:/a", "online": "shop:/b"}},
                {"do": "goto", "page": "shop:/sale", "only": "online"},
                {"do": "stop", "answer": "49", "only": "offline"},
                {"do": "stop", "answer": "55", "only": "online"},
            ],
            checks=[NODE, _value(ANSWER, {"offline": 49, "online": 55})],
        ),
    ],
)
def test_a_sound_task_has_no_findings(edit: Edit, atlas: Atlas) -> None:
    assert _findings(edit, atlas) == ()


@pytest.mark.parametrize(
    ("edit", "where", "says"),
    [
        # sites and roles
        (_set(sites=["shop", "mall"]), "sites.1", "unknown site 'mall'; there are: board, forum"),
        (_set(sites=["shop", "shop"]), "sites.1", "site 'shop' stands twice"),
        (
            _set(roles={"shop": "king"}),
            "roles.shop",
            "unknown role 'king' of site 'shop'; it has: c",
        ),
        (_set(roles={"forum": "member"}), "roles.forum", "none of the task's sites"),
        (_set(roles={"shop": "merchant"}), "roles.shop", "no live login for 'merchant'"),
        # worlds and families
        (_set(worlds=[]), "worlds", "names no world"),
        (
            _checks({**ANSWER, "worlds": ["offline"]}, {**NODE, "worlds": ["offline"]}),
            "checks",
            "no check applies in the online world",
        ),
        (
            _set(worlds=["offline"], checks=[ANSWER, {**NODE, "worlds": ["online"]}]),
            "checks.1.worlds",
            "check 'product' applies in no world of the task",
        ),
        (_set(why="no reason"), "why", "stands nowhere else"),
        (_set(family="unachievable"), "why", "says why a task is unachievable"),
        (
            _content(checks=[ROW, ANSWER, NODE]),
            "checks",
            "proves the change: none applies in the online world",
        ),
        (
            _content(live_writes=False),
            "live_writes",
            "changes content online, where shop is read-only",
        ),
        # parting
        (
            _set(worlds=["offline"], parts={"outcome": "failure", "at": "product", "why": "x"}),
            "parts",
            "only where the task runs in both",
        ),
        (
            _set(parts={"outcome": "failure", "at": "nothing", "why": "x"}),
            "parts.at",
            "no check 'nothing' applies online; there are: product, said",
        ),
        (
            _set(requires=[], parts={"outcome": "unscored: drifted", "why": "x"}),
            "parts",
            "only a `requires` check that applies online can find drift",
        ),
        # pages that are opened
        (_set(start=["shop"]), "start.0", "'shop' is no logical URL: write `site:/path`"),
        (_set(start=["http://shop.arena.test/"]), "start.0", "is no logical URL"),
        (_set(start=["mall:/"]), "start.0", "unknown site 'mall'"),
        (_set(start=["wiki:/"]), "start.0", "'wiki' is none of the task's sites"),
        (
            _set(start=["shop:/sale"]),
            "start.0",
            "cannot be opened: site 'shop': '/sale' has no form",
        ),
        (
            _set(
                reference=[
                    {"do": "goto", "page": {"offline": "shop:/a", "online": "wiki:/b"}},
                    {"do": "stop", "answer": "49"},
                ]
            ),
            "reference.0.page.online",
            "'wiki' is none of the task's sites",
        ),
        (_checks(ANSWER, _locate(PAGE, at="basket")), "checks.1.locate.at", "no logical URL"),
        (_checks(ANSWER, _locate(API, path="basket")), "checks.1.locate.path", "no logical URL"),
        # pages that are expected
        (_checks(ANSWER, _value(NODE, "/product")), "checks.1.match.value", "is no logical URL"),
        (
            _checks(ANSWER, _value(NODE, {"offline": "shop:/a", "online": "b"})),
            "checks.1.match.value.online",
            "'b' is no logical URL",
        ),
        (
            _checks(ANSWER, _value(NODE, "shop:/catalogue/kettle_12/")),
            "checks.1.match.value",
            "equals 'shop:/catalogue/kettle_12/': there it is 'shop:/product/12/kettle'",
        ),
        (
            _checks(ANSWER, _value(NODE, {"offline": "shop:/a", "online": "shop:/a?q=1"})),
            "checks.1.match.value.online",
            "'shop:/a?q=1' has more than a path, which is all of `part: logical`",
        ),
        (
            _checks(ANSWER, _value(NODE, "shop:/p/12/kettle")),
            "checks.1.match.value",
            "no visit in the online world equals",
        ),
        (
            _checks(ANSWER, _locate(_value(NODE, "x"), part="query", key="q", page="search")),
            "checks.1.locate.page",
            "'search' is no logical URL",
        ),
        # checks
        (
            _checks(ANSWER, {**NODE, "name": "said"}),
            "checks.1.name",
            "two checks are called 'said'",
        ),
        (
            _set(requires=[{**PAGE, "name": "said"}]),
            "requires.0.name",
            "two checks are called 'said'",
        ),
        (
            _checks(ANSWER, NODE, {**NODE, "name": "again"}),
            "checks.2",
            "checks 'product' and 'again' ask for the same thing: one event would count twice",
        ),
        (
            _set(requires=[{**ANSWER, "name": "r"}]),
            "requires.0.locate",
            "there is no answer to look",
        ),
        (_set(requires=[{**NODE, "name": "r"}]), "requires.0.locate", "there is no url to look"),
        (
            _checks(ANSWER, {**ROW, "worlds": ["offline", "online"]}),
            "checks.1",
            "no database behind the live 'shop': give check 'row' `worlds: [offline]`",
        ),
        (
            _set(sites=["shop", "forum"], checks=[ANSWER, _locate(ROW, site="forum")]),
            "checks.1.locate.site",
            "site 'forum' has no database",
        ),
        (
            _checks(ANSWER, _locate(ROW, site="board")),
            "checks.1.locate.site",
            "'board', which is none of the task's sites",
        ),
        (_checks(ANSWER, _locate(ROW, site="mall")), "checks.1.locate.site", "unknown site 'mall'"),
        (
            _checks(ANSWER, _locate(API, role="customer")),
            "checks.1.locate.role",
            "site 'shop' has no API login of role 'customer'; there are: merchant",
        ),
        (
            _set(sites=["shop", "board"], checks=[ANSWER, _locate(API, site="board", role="x")]),
            "checks.1.locate.role",
            "site 'board' has no API login of role 'x'; there are: none",
        ),
        (
            _checks(ANSWER, _locate(API, role="merchant")),
            "checks.1",
            "no API login behind the live 'shop': give check 'api' `worlds: [offline]`",
        ),
        (
            _checks(ANSWER, _locate(ROW, sql="DELETE FROM orders")),
            "checks.1.locate.sql",
            "the query must be a SELECT, and begins with 'delete'",
        ),
        (
            _checks(ANSWER, _locate(PAGE, selector="//h1")),
            "checks.1.locate.selector",
            "is no CSS selector",
        ),
        (
            _checks(ANSWER, _locate(PAGE, selector={"offline": "h1", "online": "h1["})),
            "checks.1.locate.selector.online",
            "']' is missing",
        ),
        (
            _checks(ANSWER, _locate(_value(NODE, []), part="fragment")),
            "checks.1.match",
            "key node 'product' is met wherever nothing is found",
        ),
        # the reference
        (
            _set(reference=[{"do": "back"}]),
            "reference.0",
            "must end with `do: stop` in the offline world",
        ),
        (
            _set(reference=[{"do": "stop", "answer": "1"}, {"do": "stop", "answer": "1"}]),
            "reference.0",
            "nothing after this stop is played",
        ),
        (
            _set(reference=[{"do": "stop"}]),
            "reference.0",
            "none is given in the offline world",
        ),
        (
            _set(reference=[{"do": "stop", "answer": {"offline": "49", "online": ""}}]),
            "reference.0",
            "none is given in the online world",
        ),
        (
            _set(reference=[{"do": "stop", "answer": "49", "only": "offline"}]),
            "reference",
            "holds no action for the online world",
        ),
        (
            _set(
                worlds=["offline"],
                reference=[{"do": "back", "only": "online"}, *SOUND["reference"]],
            ),
            "reference.0.only",
            "the task does not run in the online world",
        ),
        (
            _set(reference=[{"do": "stop", "answer": {"offline": "49", "online": "55"}}]),
            "reference.0",
            "check 'said' refuses this answer in the online world: found '55', wanted the number",
        ),
        (
            _set(
                parts={"outcome": "failure", "at": "said", "why": "another price"},
                reference=[{"do": "stop", "answer": {"offline": "55", "online": "55"}}],
            ),
            "reference.0",
            "refuses this answer in the offline world",
        ),
        (
            _set(requires=[_locate({**PAGE, "name": "r"}, at="own")]),
            "requires.0.locate",
            "before the agent starts it has no page of its own",
        ),
        (
            _set(limits={"steps": 1}),
            "reference",
            "2 actions in the offline world, but limits.steps",
        ),
    ],
)
def test_a_mistake_is_found_at_its_field(edit: Edit, where: str, says: str, atlas: Atlas) -> None:
    errors = [finding for finding in _findings(edit, atlas) if finding.is_error]
    assert any(
        finding.where == f"tasks.0.{where}" and says in finding.message for finding in errors
    ), [str(finding) for finding in errors]


@pytest.mark.parametrize(
    ("edit", "where", "says"),
    [
        (_checks(NODE), "checks", "an information task checks no answer"),
        (_set(live_writes=True), "live_writes", "but the task need not"),
        (
            _checks(ANSWER, _value(NODE, "shop:/")),
            "checks.1.match.value",
            "key node 'product' is the page that the task starts on",
        ),
    ],
)
def test_what_is_odd_but_may_be_meant_is_a_warning(
    edit: Edit, where: str, says: str, atlas: Atlas
) -> None:
    findings = _findings(edit, atlas)
    assert {finding.severity for finding in findings} == {Severity.WARNING}
    assert any(
        finding.where == f"tasks.0.{where}" and says in finding.message for finding in findings
    )


def test_a_finding_names_file_and_line_where_the_file_is_known(
    tmp_path: Path, atlas: Atlas
) -> None:
    path = tmp_path / "mine.yaml"
    document = _suite(_set(roles={"shop": "king"})).model_dump(mode="json", exclude_unset=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    source = load_source(str(path))
    [finding] = lint_suite(source.suite, atlas, source)
    file, line = finding.where.rsplit(":", 1)
    assert file == str(path)
    assert path.read_text(encoding="utf-8").splitlines()[int(line) - 1].strip() == "shop: king"
    assert str(finding).startswith(f"{path}:{line}: error: task 'price': unknown role 'king'")


WIKI_CHANGED = _content(
    sites=["shop", "wiki"],
    checks=[ROW, {**PAGE, "worlds": ["online"]}, _locate(DELTA, site="wiki")],
)


@pytest.mark.parametrize(
    ("edit", "where", "says"),
    [
        (
            _computed(site="shop", page="/basket", selector="p[[["),
            "checks.1.computed.selector",
            "is no CSS selector",
        ),
        (
            _computed(site="shop", page="/sale", selector="p"),
            "checks.1.computed.page",
            "no form in the offline world",
        ),
        (
            _computed(site="shop", path="/api", json_path="a..b"),
            "checks.1.computed.json_path",
            "does not parse at '..b'",
        ),
        (
            _computed(site="shop", path="/api", role="king"),
            "checks.1.computed.role",
            "no API login of role 'king'; there are: merchant",
        ),
        (
            _checks(ANSWER, _locate(API, json_path="items[")),
            "checks.1.locate.json_path",
            "does not parse at '['",
        ),
        (
            _checks(ANSWER, _locate(API, json_path="")),
            "checks.1.locate.json_path",
            "the path is empty",
        ),
        (_acts({"do": "press", "keys": "Foo+Bar"}), "reference.0.keys", "no key 'Foo'"),
        (_acts({"do": "press", "keys": "Control+"}), "reference.0.keys", "there is no key ''"),
        (_acts({"do": "press", "keys": "Entr"}), "reference.0.keys", "named like Enter"),
        (_set(start=["shop:/../../etc/passwd"]), "start.0", "'.' or '..' between slashes"),
        (_set(start=["shop:/a/%2e%2E/b"]), "start.0", "'.' or '..' between slashes"),
        (_set(start=["shop:/a b"]), "start.0", "no white space"),
        (_set(start=["shop:/a\\b"]), "start.0", "a browser reads it as '/'"),
        (
            _acts({"do": "goto", "page": "shop:/product/../basket"}),
            "reference.0.page",
            "'.' or '..' between slashes",
        ),
        (_checks(ANSWER, _value(NODE, "shop:/a/../b")), "checks.1.match.value", "no visited page"),
        (
            _checks(ANSWER, _locate(PAGE, at="shop:/./basket")),
            "checks.1.locate.at",
            "'.' or '..' between slashes",
        ),
        (
            _delta({"file": "/etc/passwd", "kind": "changed"}),
            "checks.2.match.changes.0.file",
            "in no folder of 'shop' that is state: /srv/cache",
        ),
        (_delta(allow={"files": ["/var/*"]}), "checks.2.match.allow.files.0", "in no folder"),
        (WIKI_CHANGED, "checks.2.locate.site", "neither rows nor files are state"),
        (_set(worlds=["offline", "online", "offline"]), "worlds", "names a world twice"),
        (
            _set(requires=[{**PAGE, "name": "won", "locate": {"by": "wob"}}]),
            "requires.0.locate",
            "no page has given a reward",
        ),
    ],
)
def test_what_only_playing_would_find_is_found_before(
    atlas: Atlas, edit: Edit, where: str, says: str
) -> None:
    found = [one for one in _findings(edit, atlas) if one.where == f"tasks.0.{where}"]
    assert [one.severity for one in found] == [Severity.ERROR], _findings(edit, atlas)
    assert says in found[0].message


@pytest.mark.parametrize(
    "edit",
    [
        _computed(site="shop", path="/api", role="merchant", json_path="items[0].price"),
        _computed(site="shop", page="/basket", selector="td:nth-child(2n+1 of .price) > b"),
        _acts({"do": "press", "keys": "ctrl+a"}, {"do": "press", "keys": "Control++"}),
        _set(start=["shop:/a%20b/..c/d..?to=/../e f".replace(" ", "+")]),
        _delta({"file": "/srv/cache/a/*", "kind": "added"}, {"file": "/srv/*", "kind": "removed"}),
    ],
)
def test_what_is_sound_is_passed(atlas: Atlas, edit: Edit) -> None:
    assert [one for one in _findings(edit, atlas) if one.is_error] == []


def test_a_site_without_state_never_changes(atlas: Atlas) -> None:
    wiki = atlas.site("wiki").model_copy(update={"stateful": False})
    stateless = Atlas({**atlas.sites, "wiki": wiki})
    found = [one.message for one in _findings(WIKI_CHANGED, stateless) if one.is_error]
    assert any("site 'wiki' holds no state: it never changes" in message for message in found)


def test_a_role_that_no_browser_gives_is_doubted(atlas: Atlas) -> None:
    edit = _acts({"do": "click", "role": "buton", "name": "Buy"})
    [doubt] = [one for one in _findings(edit, atlas) if one.where == "tasks.0.reference.0.role"]
    assert doubt.severity is Severity.WARNING
    assert "such are button" in doubt.message


def test_a_site_whose_manifest_is_wrong_says_so_where_a_task_needs_it(atlas: Atlas) -> None:
    broken = Atlas(atlas.sites, broken={"mine": ManifestError("mine/site.yaml:3: port: is wrong")})
    [found, *_] = _findings(_set(sites=["shop", "mine"]), broken)
    assert (found.where, found.is_error) == ("tasks.0.sites.1", True)
    assert "mine/site.yaml:3: port: is wrong" in found.message
