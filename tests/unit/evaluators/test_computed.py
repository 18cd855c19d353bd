from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.checks import Check, Computed

SQL: dict[str, Any] = {"site": "shop", "sql": "SELECT 1"}
PAGE: dict[str, Any] = {"site": "wiki", "page": "/article/Bruges", "selector": "p"}
PATH: dict[str, Any] = {"site": "map", "path": "/search?q=quay"}


@pytest.mark.parametrize("fields", [SQL, PAGE, PATH, {**PATH, "json_path": "[0].lat"}])
def test_a_value_is_computed_in_one_of_three_ways(fields: dict[str, Any]) -> None:
    assert Computed.model_validate(fields).site == fields["site"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"site": "shop"}, "by one of `sql`, `page` and `path`"),
        ({**SQL, **PATH}, "by one of `sql`, `page` and `path`"),
        ({"site": "wiki", "page": "/article/Bruges"}, "`page` and `selector` belong together"),
        ({**SQL, "selector": "p"}, "`page` and `selector` belong together"),
        ({**SQL, "attribute": "href"}, "`attribute` is one of elements on a `page`"),
        ({**SQL, "json_path": "a"}, "go with a `path`"),
        ({**PAGE, "role": "member"}, "go with a `path`"),
        ({**SQL, "pattern": "[0-9]+"}, "needs one group: it has 0"),
        ({**SQL, "pattern": "("}, "is no regular expression"),
        ({**PAGE, "page": "wiki:/article/Bruges"}, "must begin with '/'"),
    ],
)
def test_what_computes_nothing_is_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Computed.model_validate(fields)


def test_a_pattern_takes_the_fact_out_of_each_value() -> None:
    computed = Computed(**SQL, pattern=r"has (\d+) bells")
    assert computed.read(("It has 47 bells.", "none", "has 3 bells")) == ("47", "3")


def test_without_a_pattern_values_stay_as_they_are() -> None:
    assert Computed(**SQL).read(("a b",)) == ("a b",)


def test_changes_are_not_computed() -> None:
    with pytest.raises(ValidationError, match="what `how: delta` compares is not computed"):
        Check.model_validate(
            {
                "name": "delta",
                "when": "end",
                "locate": {"by": "db_delta", "site": "shop"},
                "match": {"how": "delta", "changes": []},
                "computed": SQL,
            }
        )
