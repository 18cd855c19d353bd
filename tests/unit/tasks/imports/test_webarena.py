"""WebArena's tasks become suites whose checks ask no less than the published gold."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.runs.make_evidence import make_evidence
from support.tasks.published_tasks import webarena_task
from support.tasks.reference_data import WEBARENA, reference_half

from arena_core.errors import TaskError
from evaluators.scores import score
from evaluators.verdicts import CheckStatus
from sites.registry import SiteRegistry, load_registry
from tasks.imports.site_map import Installed
from tasks.imports.suite_file import import_suite
from tasks.imports.webarena.page_checks import closed
from tasks.lint.linter import lint_suite
from tasks.schema import Suite, Task

HERE = Installed.of(load_registry([]).sites.values())
Write = Callable[..., Path]


def imported(write: Write, *records: dict[str, Any], **more: Any) -> tuple[Task, ...]:
    return import_suite("webarena", [write(list(records))], **more).tasks


def written(task: Task) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json", exclude_unset=True) for one in task.checks]


def test_a_task_keeps_what_it_is_and_starts_where_it_says(write: Write) -> None:
    [task] = imported(write, webarena_task())
    assert (task.id, task.family, task.sites) == (
        "webarena-7",
        "navigation",
        ("webarena-shopping-admin",),
    )
    assert task.roles == {"webarena-shopping-admin": "admin"}
    assert task.start == ("webarena-shopping-admin:/admin",)
    assert task.template == "webarena-t12"
    assert task.reference is None
    assert task.original is not None
    assert (
        task.original.bases["__SHOPPING_ADMIN__"]
        == "http://webarena-shopping-admin.arena.test/admin"
    )


def test_nobody_is_logged_in_where_the_file_of_cookies_names_nobody(write: Write) -> None:
    [task] = imported(write, webarena_task(storage_state=None))
    assert task.roles == {}
    both = webarena_task(
        sites=["gitlab", "reddit"],
        storage_state="./.auth/gitlab.reddit_state.json",
        start_url="__GITLAB__ |AND| __REDDIT__/f/books",
        eval={**webarena_task()["eval"], "reference_url": "__GITLAB__/x"},
    )
    [task] = imported(write, both)
    assert task.roles == {"webarena-gitlab": "developer", "webarena-reddit": "member"}
    assert task.start == ("webarena-gitlab:/", "webarena-reddit:/f/books")


def test_a_map_says_which_sites_stand_for_the_sets(write: Write, tmp_path: Path) -> None:
    chosen = tmp_path / "map.yaml"
    chosen.write_text("sites:\n  shopping_admin: {site: shop, role: merchant, path: /dashboard}\n")
    [task] = imported(write, webarena_task(), map_file=chosen, installed=HERE)
    assert task.sites == ("shop",)
    assert task.start == ("shop:/dashboard",)
    assert task.original is not None
    assert task.original.bases["__SHOPPING_ADMIN__"] == "http://shop.arena.test/dashboard"
    chosen.write_text("sites:\n  shoping: shop\n")
    with pytest.raises(
        TaskError,
        match=r"sites\.shoping: no site.*; did you mean 'shopping'\?",
    ):
        imported(write, webarena_task(), map_file=chosen)


def test_pages_of_a_site_with_routes_are_its_logical_pages(write: Write, tmp_path: Path) -> None:
    chosen = tmp_path / "map.yaml"
    chosen.write_text("sites:\n  shopping: shop\n")
    kettle = "__SHOPPING__/catalogue/kettle_16/"
    task = webarena_task({"reference_url": kettle}, sites=["shopping"], start_url=kettle)
    [found] = imported(write, task, map_file=chosen, installed=HERE)
    assert found.start == ("shop:/product/16/kettle",)
    [check] = written(found)
    assert check["match"]["value"] == "shop:/product/16/kettle"
    assert found.original is not None
    assert found.original.bases["__SHOPPING__"] == "http://shop.arena.test"


def test_an_expanded_file_names_the_same_pages(write: Write) -> None:
    expanded = json.loads(
        json.dumps(webarena_task()).replace("__SHOPPING_ADMIN__", "http://example.com:7780/admin")
    )
    [task] = imported(write, expanded)
    assert written(task) == written(imported(write, webarena_task())[0])
    assert task.original is not None
    assert task.original.bases["http://example.com:7780/admin"].endswith(".arena.test/admin")


def test_an_address_on_no_site_is_refused_with_what_mends_it(write: Write, tmp_path: Path) -> None:
    two = webarena_task(sites=["map", "wikipedia"], start_url="http://somewhere.example/x")
    with pytest.raises(TaskError, match=r"\[0\]\.start_url: .* none of the sites: name its"):
        imported(write, two)
    chosen = tmp_path / "map.yaml"
    chosen.write_text("sites:\n  map: {site: map, urls: ['http://somewhere.example/']}\n")
    [task] = imported(write, two, map_file=chosen)
    assert task.start == ("map:/x",)


def test_one_origin_of_two_sites_is_refused(write: Write) -> None:
    shop = webarena_task(task_id=1, sites=["shopping"], start_url="http://one.example")
    forum = webarena_task(task_id=2, sites=["reddit"], start_url="http://one.example/f/x")
    with pytest.raises(TaskError, match=r"one\.example is both 'shopping' and 'reddit'"):
        imported(write, shop, forum)


def test_the_final_page_is_the_golds_and_no_other(write: Write) -> None:
    [task] = imported(write, webarena_task())
    [check] = written(task)
    assert check["locate"] == {"by": "url"}
    assert check["match"] == {
        "how": "exact",
        "value": "webarena-shopping-admin:/admin/sales/order/",
    }


def test_each_parameter_that_the_gold_names_is_asked_for(write: Write) -> None:
    gold = {
        "reference_url": "__GITLAB__/dashboard/issues?state=opened&label_name[]=a&label_name[]=b"
    }
    [task] = imported(write, webarena_task(gold, sites=["gitlab"], start_url="__GITLAB__"))
    page, state, labels = written(task)
    assert page["match"]["value"] == "webarena-gitlab:/dashboard/issues"
    assert state["locate"] == {
        "by": "url",
        "part": "query",
        "key": "state",
        "page": "webarena-gitlab:/dashboard/issues",
    }
    assert labels["match"]["value"] == ["a", "b"]


def test_any_alternative_of_a_page_will_do(write: Write) -> None:
    gold = {"reference_url": "__REDDIT__/f/a |OR| __REDDIT__/f/b"}
    [task] = imported(write, webarena_task(gold, sites=["reddit"], start_url="__REDDIT__"))
    [check] = task.checks
    assert [one.match.model_dump()["value"] for one in check.ways] == [
        "webarena-reddit:/f/a",
        "webarena-reddit:/f/b",
    ]


def test_dots_in_a_path_are_resolved_as_a_browser_does(write: Write) -> None:
    target = {
        "url": "__SHOPPING_ADMIN__/../a b.html",
        "locator": "document.querySelector('[name=\"product[price]\"').value",
        "required_contents": {"exact_match": "1"},
    }
    evaluation = {"eval_types": ["program_html"], "program_html": [target]}
    [task] = imported(write, webarena_task(evaluation))
    [check] = written(task)
    assert check["locate"] == {
        "by": "page",
        "at": "webarena-shopping-admin:/a%20b.html",
        "selector": '[name="product[price]"]',
        "attribute": "value",
    }


@pytest.mark.parametrize(
    ("selector", "whole"),
    [
        ("#a", "#a"),
        ('[name="a"', '[name="a"]'),
        ('[name="a[b]"', '[name="a[b]"]'),
        ("[name='a", "[name='a']"),
        ("div [a=b] p", "div [a=b] p"),
    ],
)
def test_a_selector_without_its_last_bracket_is_closed_as_browsers_close_it(
    selector: str, whole: str
) -> None:
    assert closed(selector) == whole


def test_what_nobody_translated_is_listed_and_keeps_the_task_from_success(write: Write) -> None:
    [task] = imported(write, webarena_task({"reference_url": ""}))
    assert task.original is not None
    assert task.original.untranslated == (
        "eval.reference_url: is empty: the published code accepts every page",
    )
    [check] = task.checks
    assert check.locate.by == "untranslated"
    unknown = copy.deepcopy(webarena_task({"eval_types": ["page_image_query"]}))
    [task] = imported(write, unknown)
    assert task.original is not None
    assert "holds 'page_image_query'" in task.original.untranslated[0]


@SLOW
def test_the_published_half_becomes_a_suite_that_lints(webarena_registry: SiteRegistry) -> None:
    path = reference_half(WEBARENA)
    found = import_suite("webarena", [path])
    assert len(found.tasks) == 406
    suite = Suite.model_validate(found.document)
    assert [str(one) for one in lint_suite(suite, webarena_registry) if one.is_error] == []
    records = json.loads(path.read_text(encoding="utf-8"))
    for task, record in zip(found.tasks, records, strict=True):
        assert task.original is not None
        assert task.original.record == record


def answered(write: Write, gold: dict[str, Any], intent: str, answer: str) -> str:
    """Return the outcome of an answer to a task of one gold."""
    evaluation = {"eval_types": ["string_match"], "reference_answers": gold}
    [task] = imported(write, webarena_task(evaluation, intent=intent))
    return str(score(task.checks, make_evidence(answer=answer)).outcome)


@ONE_QUICK
@pytest.mark.parametrize(
    ("gold", "intent", "right", "wrong"),
    [
        ({"must_include": ["0"]}, "How many reviews are there?", "There are 0.", "10"),
        ({"must_include": ["36.39"]}, "Tell me the grand total", "It is $36.39.", "$136.39"),
        ({"exact_match": "15213"}, "What is the zip code of it?", "15213", "15213 or 15214"),
        ({"exact_match": "Yes"}, "Tell me if it is closed", "Yes", "No"),
        ({"must_include": ["A Tea", "B Tea"]}, "List the teas", "B Tea, A Tea", "A Tea"),
        ({"must_include": ["A Tea", "B Tea"]}, "List the teas", "A Tea, B Tea", "A Tea, B Tea, C"),
        ({"fuzzy_match": ["7 min"]}, "How long does it take?", "7 minutes", "17 minutes"),
        (
            {"fuzzy_match": ["driving: 13min", "walking: 1h 45min"]},
            "Compare the time for walking and driving",
            "driving: 13 min, walking: 105 min",
            "driving: 105 min, walking: 13 min",
        ),
        ({"exact_match": "a.lopez@example.com"}, "Show the e-mail", "a.lopez@example.com", "N/A"),
        # Labels that a judge was to compare are misspelt.
        (
            {"fuzzy_match": ["January: 12 orders", "Feburary: 7 orders"]},
            "Present the monthly count of orders",
            "January: 12, February: 7",
            "January: 7, February: 12",
        ),
        # Fragments of coordinates, which more digits begin with.
        (
            {"must_include": ["40.442", "-79.939"]},
            "Tell me the coordinates of the café in DD format",
            "40.44218, -79.93963",
            "40.44518, -79.93963",
        ),
        # Magento shows its numbers with nine digits.
        ({"must_include": ["189"]}, "Get the order number of it", "000000189", "000000198"),
        # Amounts with their currency, and with no other.
        ({"must_include": ["0"]}, "How much I spent on food shopping", "$0.00", "€0.00"),
        ({"must_include": ["365.42"]}, "Tell me the total cost", "$365.42", "€365.42"),
    ],
)
def test_a_gold_becomes_an_answer_of_its_type(
    gold: dict[str, Any], intent: str, right: str, wrong: str, write: Write
) -> None:
    assert answered(write, gold, intent, right) == "success"
    assert answered(write, gold, intent, wrong) == "failure"


def test_a_gold_that_only_a_judge_can_compare_is_left_to_one(write: Write) -> None:
    gold = {"fuzzy_match": ["It is comfortable"]}
    assert answered(write, gold, "Why do customers like it?", "soft") == (
        "unscored: judge_unavailable"
    )


def test_names_that_a_judge_was_to_compare_are_not_compared_by_letters(write: Write) -> None:
    gold = {"fuzzy_match": ["Wyndham University Cente: 375m", "The Oaklander Hotel: 338m"]}
    said = "Wyndham University Center: 375 m, The Oaklander Hotel: 338 m"
    assert answered(write, gold, "Show the distance", said) == "unscored: judge_unavailable"


def test_a_gold_that_names_a_host_which_no_replica_has_is_listed(write: Write) -> None:
    gold = {"exact_match": "ssh://git@metis.lti.cs.cmu.edu:2222/a/b.git"}
    evaluation = {"eval_types": ["string_match"], "reference_answers": gold}
    [task] = imported(write, webarena_task(evaluation))
    assert task.original is not None
    assert "the gold is not sound" in task.original.untranslated[0]


@SLOW
def test_typed_golds_of_the_published_half_are_met_by_their_own_words() -> None:
    found = import_suite("webarena", [reference_half(WEBARENA)])
    typed = 0
    for task in found.tasks:
        for check in task.checks:
            if check.match.how != "answer" or task.original is None:
                continue
            typed += 1
            evaluation: Any = task.original.record["eval"]
            golds = [
                text
                for key in ("exact_match", "must_include", "fuzzy_match")
                for text in _listed(evaluation["reference_answers"].get(key))
            ]
            said = golds[0].split(" |OR| ")[0] if len(golds) == 1 else None
            texts = (said,) if said else (", ".join(golds), "\n".join(f"- {one}" for one in golds))
            verdicts = [
                score([check], make_evidence(answer=_spelt(text))).verdicts[0] for text in texts
            ]
            assert any(one.status is CheckStatus.MET for one in verdicts), task.id
    assert typed == 115


def _spelt(gold: str) -> str:
    """Return a gold with its months as one spells them."""
    slips = {"Feburary": "February", "Sepetember": "September", "Octorbor": "October"}
    for slip, month in slips.items():
        gold = gold.replace(slip, month)
    return gold


def _listed(gold: Any) -> list[str]:
    if gold is None:
        return []
    return [str(one) for one in gold] if isinstance(gold, list) else [str(gold)]
