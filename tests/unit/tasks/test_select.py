from __future__ import annotations

import pytest

from arena_core.errors import UnknownNameError
from tasks.loader import Selection, select_tasks
from tasks.schema import Family, Suite

CHECK = {
    "name": "said",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "exact", "value": "x"},
}


def _task(name: str, family: str, *sites: str) -> dict[str, object]:
    return {
        "id": name,
        "family": family,
        "intent": "Do what is asked for.",
        "sites": list(sites),
        "start": [f"{sites[0]}:/"],
        "checks": [CHECK],
        "reference": [{"do": "stop", "answer": "x"}],
    }


SUITE = Suite.model_validate(
    {
        "suite": "mine",
        "version": 1,
        "title": "Mine",
        "tasks": [
            _task("shop-price", "information", "shop"),
            _task("shop-order", "content", "shop"),
            _task("wiki-height", "information", "wiki"),
            _task("both-origin", "navigation", "shop", "wiki"),
        ],
    }
)


def _chosen(selection: Selection) -> list[str]:
    return [task.id for task in select_tasks(SUITE, selection)]


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        (Selection(), ["shop-price", "shop-order", "wiki-height", "both-origin"]),
        (Selection(ids=("wiki-height", "shop-price")), ["shop-price", "wiki-height"]),
        (Selection(ids=("shop-*",)), ["shop-price", "shop-order"]),
        (Selection(families=frozenset({Family.INFORMATION})), ["shop-price", "wiki-height"]),
        (Selection(sites=frozenset({"wiki"})), ["wiki-height", "both-origin"]),
        (
            Selection(families=frozenset({Family.INFORMATION}), sites=frozenset({"shop"})),
            ["shop-price"],
        ),
    ],
)
def test_tasks_are_chosen_in_the_suites_order(selection: Selection, ids: list[str]) -> None:
    assert _chosen(selection) == ids


@pytest.mark.parametrize(
    ("selection", "says"),
    [
        (Selection(ids=("shop-price", "nowhere")), "no task 'nowhere' in suite 'mine'; there are"),
        (Selection(ids=("x*",)), "no task 'x[*]'"),
        (Selection(sites=frozenset({"forum"})), "uses site 'forum'; used are: shop, wiki"),
        (
            Selection(ids=("wiki-height",), sites=frozenset({"shop"})),
            "no task of suite 'mine' fits all",
        ),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(selection: Selection, says: str) -> None:
    with pytest.raises(UnknownNameError, match=says):
        select_tasks(SUITE, selection)
