"""Mind2Web-Live's tasks become key nodes on live sites, each of which decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from quick_cases import SLOW
from support.runs.make_evidence import make_evidence, make_step, stop_step
from support.sites.stand_in_sites import write_sites
from support.tasks.reference_data import MIND2WEB_LIVE, reference_half

from arena_core.actions import Goto
from arena_core.errors import TaskError
from arena_core.worlds import World
from evaluators.evidence import Evidence
from evaluators.scorers.webcanvas import WEBCANVAS_SCORER
from evaluators.scores import score
from evaluators.verdicts import CheckStatus, OutcomeKind
from sites.registry import load_registry
from tasks.imports.site_map import Installed, site_name
from tasks.imports.suite_file import import_suite
from tasks.lint.linter import lint_suite
from tasks.schema import Suite, Task

Write = Callable[..., Path]

PAGE = "https://www.gamestop.com/search/?store=2630"


def node(function: str, answer: str, url: str = PAGE, **content: Any) -> dict[str, Any]:
    return {
        "match_function_name": function,
        "content": {"key": "", "reference_answer": answer, "url": url, **content},
    }


def record(*nodes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    task = "Find the closest store and set it as home store"
    return {
        "index": 3,
        "task": task,
        "reference_task_length": 8,
        "evaluation": list(nodes),
        **fields,
    }


def imported(write: Write, *records: dict[str, Any], **more: Any) -> tuple[Task, ...]:
    return import_suite("mind2web-live", [write(list(records))], **more).tasks


def visited(task: Task, *urls: str) -> Evidence:
    """Evidence of an episode in which each URL was visited in a step of its own."""
    named = {site_name(urlsplit(url).netloc) for url in urls}
    assert named <= set(task.sites)
    steps = [make_step(0)]
    for number, url in enumerate(urls, start=1):
        parts = urlsplit(url)
        query = f"?{parts.query}" if parts.query else ""
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        logical = f"{site_name(parts.netloc)}:{parts.path or '/'}{query}{fragment}"
        steps.append(make_step(number, logical))
    return make_evidence(*steps, world=World.ONLINE)


def test_a_task_starts_on_the_empty_page_and_knows_its_hosts(write: Write) -> None:
    found = import_suite(
        "mind2web-live", [write([record(node("url_included_match", "gamestop."))])]
    )
    [task] = found.tasks
    assert (task.id, task.sites, task.start) == ("mind2web-3", ("gamestop-com",), ("about:blank",))
    assert found.new_sites == {"gamestop-com": "https://www.gamestop.com"}
    assert [world.value for world in task.worlds] == ["online"]
    assert task.limits.steps == 12


def test_every_node_decides(write: Write) -> None:
    [task] = imported(
        write,
        record(
            node("url_included_match", "gamestop."),
            node("url_exactly_match", "2630", key="store"),
        ),
    )
    assert all(check.required for check in task.checks)
    whole = score(task.checks, visited(task, "https://www.gamestop.com/", PAGE))
    assert whole.outcome.kind is OutcomeKind.SUCCESS
    half = score(task.checks, visited(task, "https://www.gamestop.com/"))
    assert half.outcome.kind is OutcomeKind.FAILURE
    assert half.completion == 0.5


@pytest.mark.parametrize(
    "url", ["https://www.gamestop.com/search/?store=26301", "https://www.gamestop.com/search/"]
)
def test_another_value_of_a_parameter_does_not_do(write: Write, url: str) -> None:
    [task] = imported(write, record(node("url_exactly_match", "2630", key="store")))
    assert score(task.checks, visited(task, url)).outcome.kind is OutcomeKind.FAILURE


@pytest.mark.parametrize("function", ["url_included_match", "url_exactly_match"])
@pytest.mark.parametrize("scheme", ["", "https://"])
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_bare_host_is_met_by_its_first_page(
    function: str, scheme: str, slash: str, write: Write
) -> None:
    [task] = imported(write, record(node(function, f"{scheme}www.gamestop.com{slash}")))
    found = score(task.checks, visited(task, "https://www.gamestop.com/"))
    assert found.outcome.kind is OutcomeKind.SUCCESS


@pytest.mark.parametrize("host", ["www.gamestop.com", "gamestop.com", "https://www.gamestop.com"])
def test_a_host_with_a_path_asks_for_both(host: str, write: Write) -> None:
    [task] = imported(write, record(node("url_included_match", f"{host}/search")))
    for url, met in ((PAGE, True), ("https://www.gamestop.com/a/search", False)):
        outcome = score(task.checks, visited(task, url)).outcome
        assert (outcome.kind is OutcomeKind.SUCCESS) is met


@pytest.mark.parametrize("function", ["url_included_match", "url_exactly_match"])
def test_a_parameter_that_is_encoded_twice_is_met_in_either_form(
    function: str, write: Write
) -> None:
    url = "https://www.gamestop.com/search?store=Merrow%2520Quay"
    for gold in ("Merrow Quay", "Merrow%20Quay"):
        [task] = imported(write, record(node(function, gold, url, key="store")))
        for value, met in (("Merrow%2520Quay", True), ("Merrow%20Quay", True), ("Quay", False)):
            page = f"https://www.gamestop.com/search?store={value}"
            outcome = score(task.checks, visited(task, page)).outcome
            assert (outcome.kind is OutcomeKind.SUCCESS) is met, (gold, value)


def test_a_parameter_on_another_site_does_not_do(write: Write) -> None:
    other = node("url_included_match", "ebay.", "https://www.ebay.com/")
    [task] = imported(write, record(node("url_exactly_match", "2630", key="store"), other))
    elsewhere = visited(task, "https://www.ebay.com/?store=2630")
    assert score(task.checks, elsewhere).outcome.kind is OutcomeKind.FAILURE
    here = visited(task, "https://www.ebay.com/", PAGE)
    assert score(task.checks, here).outcome.kind is OutcomeKind.SUCCESS


def test_a_path_that_is_the_whole_page_is_no_part_of_a_longer_one(write: Write) -> None:
    url = "https://www.imdb.com/title/tt0103064/?ref_=nv"
    [task] = imported(write, record(node("url_included_match", "/title/tt0103064/", url)))
    assert score(task.checks, visited(task, url)).outcome.kind is OutcomeKind.SUCCESS
    longer = "https://www.imdb.com/title/tt0103064/reviews"
    assert score(task.checks, visited(task, longer)).outcome.kind is OutcomeKind.FAILURE


def test_a_page_that_was_recorded_before_the_action_asks_for_the_one_after_it(
    write: Write,
) -> None:
    [task] = imported(write, record(node("url_included_match", "/schedule/", PAGE)))
    for url, met in (("/nba/schedule", True), ("/nba/schedules", False)):
        outcome = score(task.checks, visited(task, f"https://www.gamestop.com{url}")).outcome
        assert (outcome.kind is OutcomeKind.SUCCESS) is met


def test_a_node_that_stands_twice_counts_once(write: Write) -> None:
    twice = node("url_exactly_match", "2630", key="store")
    [task] = imported(write, record(twice, twice))
    assert len(task.checks) == 1


def test_a_map_says_which_site_a_host_is(write: Write, tmp_path: Path) -> None:
    chosen = tmp_path / "map.yaml"
    chosen.write_text("hosts: {www.gamestop.com: games}\n")
    found = import_suite(
        "mind2web-live", [write([record(node("url_included_match", "gamestop."))])], chosen
    )
    assert found.tasks[0].sites == ("games",)
    assert found.new_sites == {}
    chosen.write_text("sites: {shopping: shop}\n")
    with pytest.raises(TaskError, match=r"sites\.shopping: no site of this format"):
        import_suite("mind2web-live", [write([record(node("url_included_match", "x"))])], chosen)


HERE = Installed.of(load_registry([]).sites.values())


def test_a_page_of_a_site_with_routes_is_its_logical_page(write: Write) -> None:
    host = "https://en.wikipedia.org"
    whole = node("url_included_match", "/wiki/Kettle", f"{host}/wiki/Kettle")
    piece = node("url_included_match", "/wiki/Ket", f"{host}/wiki/Kettle")
    [task] = imported(write, record(whole), installed=HERE)
    assert task.sites == ("wiki",)
    evidence = make_evidence(make_step(1, "wiki:/article/Kettle"), world=World.ONLINE)
    assert score(task.checks, evidence).outcome.kind is OutcomeKind.SUCCESS
    # A piece of a live path says nothing of logical ones: never met would be a wrong failure.
    [unsaid] = imported(write, record(piece), installed=HERE)
    assert unsaid.original is not None
    [reason] = unsaid.original.untranslated
    assert "'wiki' has routes" in reason
    assert str(score(unsaid.checks, evidence).outcome) == "unscored: check_error"


def test_the_readings_of_a_mapped_host_see_the_published_one(write: Write, tmp_path: Path) -> None:
    chosen = tmp_path / "map.yaml"
    chosen.write_text("hosts: {www.gamestop.com: shop, www.other.test: tools}\n")
    [task] = imported(
        write,
        record(node("url_included_match", "gamestop.")),
        map_file=chosen,
        installed=HERE,
    )
    assert task.original is not None
    assert task.original.bases == {"www.gamestop.com": "https://www.harbourandpine.example"}
    opened = make_step(0).model_copy(update={"url": "about:blank"})
    moved = make_step(1, "shop:/").model_copy(
        update={"url": "https://www.harbourandpine.example/", "action": Goto(url="x")}
    )
    stopped = stop_step(2).model_copy(update={"url": "https://www.harbourandpine.example/"})
    evidence = make_evidence(opened, moved, stopped, world=World.ONLINE)
    assert WEBCANVAS_SCORER.score(task.original, evidence, {}).value == 1.0
    # A host that nothing here serves stays what it is.
    [new] = imported(write, record(node("url_included_match", "gamestop.")), installed=HERE)
    assert new.original is not None
    assert new.original.bases == {}


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("www.gamestop.com", "gamestop-com"),
        ("people.yellowpages.com", "people-yellowpages-com"),
        ("6pm.com", "w-6pm-com"),
    ],
)
def test_a_host_gives_its_name_to_its_site(host: str, name: str) -> None:
    assert site_name(host) == name


def test_a_long_host_has_a_name_of_its_own() -> None:
    one, other = (site_name(f"{'a' * 60}{letter}.example") for letter in "xy")
    assert one != other
    assert max(len(one), len(other)) <= 31


def test_the_raw_export_of_the_platform_becomes_the_same_task(write: Write) -> None:
    raw = {
        "title": "Find the closest store and set it as home store",
        "steps": [
            {
                "href": PAGE,
                "selector": "#store ",
                "value": "2630",
                "rewardFunction": [
                    {"name": "url_exactly_match", "key": "store", "optional": "", "required": ""}
                ],
            },
            {
                "href": PAGE,
                "selector": "#store ",
                "value": "2630",
                "description": "see https://www.gamestop.com/stores",
                "rewardFunction": [
                    {"name": "element_path_exactly_match"},
                    {"name": "element_value_exactly_match"},
                ],
            },
        ],
    }
    [task] = imported(write, raw)
    assert task.original is not None
    nodes: Any = task.original.record["evaluation"]
    first, second = nodes
    assert first == node("url_exactly_match", "2630", key="store")
    assert second == {
        "match_function_name": "element_value_exactly_match",
        "content": {
            "reference_answer": "2630",
            "url": "https://www.gamestop.com/stores",
            "netloc": "gamestop",
            "path": "#store ",
        },
    }


@SLOW
def test_the_published_half_is_met_by_its_own_pages_and_lints(tmp_path: Path) -> None:
    path = reference_half(MIND2WEB_LIVE)
    found = import_suite("mind2web-live", [path])
    assert len(found.tasks) == 52
    folder = write_sites(tmp_path, dict.fromkeys(found.new_sites, ()), live=found.new_sites)
    suite = Suite.model_validate(found.document)
    errors = [str(one) for one in lint_suite(suite, load_registry([folder])) if one.is_error]
    assert errors == []
    unmet: set[str] = set()
    for task in found.tasks:
        assert task.original is not None
        nodes: Any = task.original.record["evaluation"]
        for check in task.key_nodes:
            url = nodes[int(check.name.removeprefix("node-"))]["content"]["url"]
            if check.locate.by == "url" and check.match.how != "semantic":
                [verdict] = score([check], visited(task, url)).verdicts
                if verdict.status is not CheckStatus.MET:
                    unmet.add(f"{task.id} {check.name}")
    assert sorted(unmet) == sorted(UNSOUND)


# Golds whose own recorded page does not meet them: it was recorded before the action, and the
# parameter of 24 has another value there.
UNSOUND = (
    "mind2web-24 node-4",
    "mind2web-66 node-1",
    "mind2web-76 node-3",
    "mind2web-86 node-1",
    "mind2web-86 node-2",
)
