from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support.tasks.sound_task import (
    ANSWER,
    API,
    NODE,
    PAGE,
    ROW,
    SOUND,
    Edit,
    checks,
    content_of,
    findings,
    look,
    make_suite,
    put,
    val,
)

from evaluators.lint import Severity
from sites.registry import SiteRegistry
from tasks.lint.linter import lint_suite
from tasks.loader import load_source

SEMANTIC = {"how": "semantic", "rubric": "The text says x."}
SEEN = {key: value for key, value in PAGE.items() if key != "match"} | {"name": "seen"}


@pytest.mark.parametrize(
    "edit",
    [
        put(),
        put(looks=[SEEN]),
        checks(ANSWER, {**PAGE, "match": SEMANTIC}),
        content_of(),
        put(worlds=["offline"], roles={"shop": "merchant"}),
        put(family="unachievable", why="there is no such product"),
        put(expected_divergence={"outcome": "failure", "at": "product", "why": "a renamed route"}),
        put(expected_divergence={"outcome": "unscored: drifted", "why": "the product is gone"}),
        put(
            expected_divergence={"outcome": "failure", "at": "said", "why": "another price"},
            reference=[{"do": "stop", "answer": {"offline": "49", "online": "55"}}],
        ),
        checks(ANSWER, val(NODE, "shop:/basket/")),
        checks(ANSWER, look(val(NODE, "shop:/search?q=kettle"), part="full")),
        checks(
            ANSWER,
            {**NODE, "worlds": ["offline"]},
            {**NODE, "name": "product-online", "worlds": ["online"]},
        ),
        checks(ANSWER, val(NODE, {"offline": "shop:/a", "online": "shop:/b"})),
        checks(ANSWER, val(NODE, "anything goes", locate={**NODE["locate"], "part": "fragment"})),
        checks(ANSWER, look(PAGE, selector='[data-name="a)b"] > a:not(.x)')),
        checks(ANSWER, look(ROW, sql="WITH x AS (SELECT ';' AS a) SELECT `set`, a FROM x; -- ok")),
        checks(ANSWER, {**look(API, role="merchant"), "worlds": ["offline"]}),
        put(sites=["shop", "forum"], checks=[ANSWER, look(API, site="forum", role="member")]),
        put(
            sites=["board"],
            roles={},
            start=["board:/"],
            requires=[],
            checks=[
                {**ANSWER, "computed": {"site": "board", "sql": "SELECT 49"}},
                {**look(ROW, site="board"), "worlds": ["offline", "online"]},
            ],
            reference=[{"do": "stop", "answer": "49"}],
        ),
        put(
            reference=[
                {"do": "goto", "page": {"offline": "shop:/a", "online": "shop:/b"}},
                {"do": "goto", "page": "shop:/sale", "only": "online"},
                {"do": "stop", "answer": "49", "only": "offline"},
                {"do": "stop", "answer": "55", "only": "online"},
            ],
            checks=[NODE, val(ANSWER, {"offline": 49, "online": 55})],
        ),
    ],
)
def test_a_sound_task_has_no_findings(edit: Edit, registry: SiteRegistry) -> None:
    assert findings(edit, registry) == ()


@pytest.mark.parametrize(
    ("edit", "where", "says"),
    [
        # sites and roles
        (put(sites=["shop", "mall"]), "sites.1", "unknown site 'mall'; there are: board, forum"),
        (put(sites=["shop", "shop"]), "sites.1", "site 'shop' stands twice"),
        (
            put(roles={"shop": "king"}),
            "roles.shop",
            "unknown role 'king' of site 'shop'; it has: c",
        ),
        (put(roles={"forum": "member"}), "roles.forum", "not one of the task's sites"),
        (put(roles={"shop": "merchant"}), "roles.shop", "no live login for 'merchant'"),
        # worlds and families
        (put(worlds=[]), "worlds", "names no world"),
        (
            checks({**ANSWER, "worlds": ["offline"]}, {**NODE, "worlds": ["offline"]}),
            "checks",
            "no check applies in the online world",
        ),
        (
            put(worlds=["offline"], checks=[ANSWER, {**NODE, "worlds": ["online"]}]),
            "checks.1.worlds",
            "check 'product' applies in no world of the task",
        ),
        (put(why="no reason"), "why", "stands nowhere else"),
        (put(family="unachievable"), "why", "says why a task is unachievable"),
        (
            content_of(checks=[ROW, ANSWER, NODE]),
            "checks",
            "shell or python: none applies in the online world",
        ),
        (
            content_of(live_writes=False),
            "live_writes",
            "changes content online, where shop is read-only",
        ),
        # divergence
        (
            put(
                reference=None,
                expected_divergence={"outcome": "failure", "at": "product", "why": "x"},
            ),
            "expected_divergence",
            "there is no reference",
        ),
        (
            put(
                worlds=["offline"],
                expected_divergence={"outcome": "failure", "at": "product", "why": "x"},
            ),
            "expected_divergence",
            "only where the task runs in both",
        ),
        (
            put(expected_divergence={"outcome": "failure", "at": "nothing", "why": "x"}),
            "expected_divergence.at",
            "no check 'nothing' applies online; there are: product, said",
        ),
        (
            put(requires=[], expected_divergence={"outcome": "unscored: drifted", "why": "x"}),
            "expected_divergence",
            "only a `requires` check that applies online can find drift",
        ),
        # pages that are opened
        (put(start=["shop"]), "start.0", "'shop' is no logical URL: write `site:/path`"),
        (put(start=["http://shop.arena.test/"]), "start.0", "is no logical URL"),
        (put(start=["mall:/"]), "start.0", "unknown site 'mall'"),
        (put(start=["wiki:/"]), "start.0", "'wiki' is not one of the task's sites"),
        (
            put(start=["shop:/sale"]),
            "start.0",
            "cannot be opened: site 'shop': '/sale' has no form",
        ),
        (
            put(
                reference=[
                    {"do": "goto", "page": {"offline": "shop:/a", "online": "wiki:/b"}},
                    {"do": "stop", "answer": "49"},
                ]
            ),
            "reference.0.page.online",
            "'wiki' is not one of the task's sites",
        ),
        (checks(ANSWER, look(PAGE, at="basket")), "checks.1.locate.at", "no logical URL"),
        (
            checks(ANSWER, look(API, path="basket")),
            "checks.1.locate.path",
            "no logical URL",
        ),
        # pages that are expected
        (
            checks(ANSWER, val(NODE, "/product")),
            "checks.1.match.value",
            "is no logical URL",
        ),
        (
            checks(ANSWER, val(NODE, {"offline": "shop:/a", "online": "b"})),
            "checks.1.match.value.online",
            "'b' is no logical URL",
        ),
        (
            checks(ANSWER, val(NODE, "shop:/catalogue/kettle_12/")),
            "checks.1.match.value",
            "equals 'shop:/catalogue/kettle_12/': there it is 'shop:/product/12/kettle'",
        ),
        (
            checks(ANSWER, val(NODE, {"offline": "shop:/a", "online": "shop:/a?q=1"})),
            "checks.1.match.value.online",
            "'shop:/a?q=1' has more than a path, which is all of `part: logical`",
        ),
        (
            checks(ANSWER, val(NODE, "shop:/p/12/kettle")),
            "checks.1.match.value",
            "no visit in the online world equals",
        ),
        (
            checks(ANSWER, look(val(NODE, "x"), part="query", key="q", page="search")),
            "checks.1.locate.page",
            "'search' is no logical URL",
        ),
        # checks
        (
            checks(ANSWER, {**NODE, "name": "said"}),
            "checks.1.name",
            "two checks are called 'said'",
        ),
        (
            put(requires=[{**PAGE, "name": "said"}]),
            "requires.0.name",
            "two checks are called 'said'",
        ),
        (
            checks(ANSWER, NODE, {**NODE, "name": "again"}),
            "checks.2",
            "checks 'product' and 'again' ask for the same thing: one event would count twice",
        ),
        (
            put(looks=[{**SEEN, "name": "said"}]),
            "looks.0.name",
            "another look or check is called 'said'",
        ),
        (
            put(requires=[{**PAGE, "name": "r", "match": SEMANTIC}]),
            "requires.0.match",
            "no judge is asked before the agent starts",
        ),
        (put(looks=[SEEN, SEEN]), "looks.1.name", "another look or check is called 'seen'"),
        (put(looks=[{**SEEN, "worlds": []}]), "looks.0.worlds", "in no world of the task"),
        (
            put(looks=[{**SEEN, "locate": {"by": "answer"}}]),
            "looks.0.locate",
            "it needs no look",
        ),
        (
            put(requires=[{**ANSWER, "name": "r"}]),
            "requires.0.locate",
            "there is no answer to look",
        ),
        (put(requires=[{**NODE, "name": "r"}]), "requires.0.locate", "there is no url to look"),
        (
            checks(ANSWER, {**ROW, "worlds": ["offline", "online"]}),
            "checks.1",
            "no database behind the live 'shop': give check 'row' `worlds: [offline]`",
        ),
        (
            put(sites=["shop", "forum"], checks=[ANSWER, look(ROW, site="forum")]),
            "checks.1.locate.site",
            "site 'forum' has no database",
        ),
        (
            checks(ANSWER, look(ROW, site="board")),
            "checks.1.locate.site",
            "'board', which is not one of the task's sites",
        ),
        (
            checks(ANSWER, look(ROW, site="mall")),
            "checks.1.locate.site",
            "unknown site 'mall'",
        ),
        (
            checks(ANSWER, look(API, role="customer")),
            "checks.1.locate.role",
            "site 'shop' has no API login of role 'customer'; there are: merchant",
        ),
        (
            put(sites=["shop", "board"], checks=[ANSWER, look(API, site="board", role="x")]),
            "checks.1.locate.role",
            "site 'board' has no API login of role 'x'; there are: none",
        ),
        (
            checks(ANSWER, look(API, role="merchant")),
            "checks.1",
            "no API login behind the live 'shop': give check 'api' `worlds: [offline]`",
        ),
        (
            checks(ANSWER, look(ROW, sql="DELETE FROM orders")),
            "checks.1.locate.sql",
            "the query must be a SELECT, and begins with 'delete'",
        ),
        (
            checks(ANSWER, look(PAGE, selector="//h1")),
            "checks.1.locate.selector",
            "is no CSS selector",
        ),
        (
            checks(ANSWER, look(PAGE, selector={"offline": "h1", "online": "h1["})),
            "checks.1.locate.selector.online",
            "malformed attribute selector",
        ),
        (
            checks(ANSWER, look(val(NODE, []), part="fragment")),
            "checks.1.match",
            "key node 'product' is met wherever nothing is found",
        ),
        # the reference
        (
            put(reference=[{"do": "back"}]),
            "reference.0",
            "must end with `do: stop` in the offline world",
        ),
        (
            put(reference=[{"do": "stop", "answer": "1"}, {"do": "stop", "answer": "1"}]),
            "reference.0",
            "nothing after this stop is played",
        ),
        (
            put(reference=[{"do": "stop"}]),
            "reference.0",
            "none is given in the offline world",
        ),
        (
            put(reference=[{"do": "stop", "answer": {"offline": "49", "online": ""}}]),
            "reference.0",
            "none is given in the online world",
        ),
        (
            put(reference=[{"do": "stop", "answer": "49", "only": "offline"}]),
            "reference",
            "holds no action for the online world",
        ),
        (
            put(
                worlds=["offline"],
                reference=[{"do": "back", "only": "online"}, *SOUND["reference"]],
            ),
            "reference.0.only",
            "the task does not run in the online world",
        ),
        (
            put(reference=[{"do": "stop", "answer": {"offline": "49", "online": "55"}}]),
            "reference.0",
            "check 'said' refuses this answer in the online world: found '55', wanted the number",
        ),
        (
            put(
                expected_divergence={"outcome": "failure", "at": "said", "why": "another price"},
                reference=[{"do": "stop", "answer": {"offline": "55", "online": "55"}}],
            ),
            "reference.0",
            "refuses this answer in the offline world",
        ),
        (
            put(requires=[look({**PAGE, "name": "r"}, at="own")]),
            "requires.0.locate",
            "before the agent starts it has no page of its own",
        ),
        (checks(NODE), "checks", "nothing decides success in the offline world"),
        (
            put(
                checks=[
                    {
                        **NODE,
                        "any_of": [
                            {"locate": NODE["locate"], "match": {"how": "exact", "value": ":/"}}
                        ],
                    },
                    ANSWER,
                ]
            ),
            "checks.0.any_of.0.match.value",
            "unknown site ''",
        ),
        (
            put(limits={"steps": 1}),
            "reference",
            "2 actions in the offline world, but limits.steps",
        ),
    ],
)
def test_a_mistake_is_found_at_its_field(
    edit: Edit, where: str, says: str, registry: SiteRegistry
) -> None:
    errors = [finding for finding in findings(edit, registry) if finding.is_error]
    assert any(
        finding.where == f"tasks.0.{where}" and says in finding.message for finding in errors
    ), [str(finding) for finding in errors]


@pytest.mark.parametrize(
    ("edit", "where", "says"),
    [
        (checks({**NODE, "required": True}), "checks", "an information task checks no answer"),
        (put(live_writes=True), "live_writes", "but the task need not"),
        (put(reference=None), "reference", "nothing proves that it can be solved"),
        (
            checks(ANSWER, val(NODE, "shop:/")),
            "checks.1.match.value",
            "key node 'product' is the page that the task starts on",
        ),
    ],
)
def test_what_is_odd_but_may_be_meant_is_a_warning(
    edit: Edit, where: str, says: str, registry: SiteRegistry
) -> None:
    found = findings(edit, registry)
    assert {finding.severity for finding in found} == {Severity.WARNING}
    assert any(finding.where == f"tasks.0.{where}" and says in finding.message for finding in found)


def test_a_finding_names_file_and_line_where_the_file_is_known(
    tmp_path: Path, registry: SiteRegistry
) -> None:
    path = tmp_path / "mine.yaml"
    document = make_suite(put(roles={"shop": "king"})).model_dump(mode="json", exclude_unset=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    source = load_source(str(path))
    [finding] = lint_suite(source.suite, registry, source)
    file, line = finding.where.rsplit(":", 1)
    assert file == str(path)
    assert path.read_text(encoding="utf-8").splitlines()[int(line) - 1].strip() == "shop: king"
    assert str(finding).startswith(f"{path}:{line}: error: task 'price': unknown role 'king'")


@pytest.mark.parametrize(
    ("sql", "value", "is_sound"),
    [
        ("SELECT COUNT(*) FROM `order`", "", False),
        ("SELECT COUNT(DISTINCT id) AS n FROM `order`", "none", False),
        ("SELECT COUNT(*) FROM `order`", {"offline": "0", "online": "-1"}, False),
        ("SELECT COUNT(*) FROM `order`", "0", True),
        ("SELECT COUNT(*) FROM `order`", 3, True),
        ("SELECT COUNT(*), id FROM `order`", "", True),
        ("SELECT note FROM `order`", "", True),
    ],
)
def test_no_count_is_an_empty_text(
    sql: str, value: object, registry: SiteRegistry, *, is_sound: bool
) -> None:
    counted = look(val(ROW, value), sql=sql)
    found = findings(checks(ANSWER, counted), registry)
    assert all("no count is ever" in one.message for one in found), found
    assert (found == ()) is is_sound
