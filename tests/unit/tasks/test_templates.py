from __future__ import annotations

from typing import Any

import pytest

from tasks.templates import PlaceholderError, Template


def _template(task: dict[str, Any], *params: dict[str, Any]) -> Template:
    return Template.model_validate({"id": "price-of", "params": list(params), "task": task})


def test_an_instance_is_called_after_its_template_and_counted_from_one() -> None:
    template = _template({"intent": "{what}"}, {"what": "kettle"}, {"what": "pan"})
    assert list(template.written(())) == [
        {"id": "price-of-1", "template": "price-of", "intent": "kettle"},
        {"id": "price-of-2", "template": "price-of", "intent": "pan"},
    ]


def test_instances_of_a_twin_have_their_own_names_and_count_as_the_others() -> None:
    template = _template({"intent": "{what}"}, {"what": "kettle"})
    twin = template.model_copy(update={"id": "price-of-none", "twin_of": "price-of"})
    [instance] = twin.written(())
    assert (instance["id"], instance["template"]) == ("price-of-none-1", "price-of")


def test_a_placeholder_alone_keeps_the_type_of_its_value() -> None:
    task = {"value": "{price}", "intent": "It costs {price}.", "answer": "{worlds}"}
    worlds = {"offline": "1", "online": "2"}
    found = next(_template(task, {"price": 39.5, "worlds": worlds}).written(()))
    assert found["value"] == 39.5
    assert found["intent"] == "It costs 39.5."
    assert found["answer"] == worlds


def test_placeholders_stand_anywhere_in_the_task_keys_included() -> None:
    task = {"roles": {"{site}": "member"}, "start": ["{site}:/"], "checks": [{"sql": "'{site}'"}]}
    found = next(_template(task, {"site": "forum"}).written(()))
    assert found["roles"] == {"forum": "member"}
    assert found["start"] == ["forum:/"]
    assert found["checks"] == [{"sql": "'forum'"}]


def test_braces_that_are_no_placeholder_stay_as_they_are() -> None:
    task = {"a": "{x}", "sql": "SELECT '{}', '{ x }', '{{x}}', '{X}'"}
    assert (
        next(_template(task, {"x": "1"}).written(()))["sql"] == "SELECT '{}', '{ x }', '{x}', '{X}'"
    )


def test_a_value_is_not_searched_for_placeholders_again() -> None:
    task = {"a": "<{x}>", "b": "{y}"}
    assert next(_template(task, {"x": "{y}", "y": "no"}).written(()))["a"] == "<{y}>"


@pytest.mark.parametrize(
    ("task", "params", "number", "says"),
    [
        ({"a": "{y}"}, [{"x": "1"}], 0, r"'\{y\}' names no parameter; there are: x"),
        ({"a": "it"}, [{"x": "1"}], 0, "no placeholder uses the parameters x"),
        ({"a": "{x}"}, [{"x": "1"}, {"y": "1"}], 1, "instance 2 names the parameters y, the first"),
        ({"a": "so {x}"}, [{"x": [1]}], 0, "only text and numbers"),
        ({"a": "so {x}"}, [{"x": True}], 0, "only text and numbers"),
        ({"a": "{x}", "id": "mine"}, [{"x": "1"}], 0, "takes its id from the template"),
    ],
)
def test_what_cannot_be_filled_in_is_said(
    task: dict[str, Any], params: list[dict[str, Any]], number: int, says: str
) -> None:
    with pytest.raises(PlaceholderError, match=says):
        list(_template(task, *params).written(()))
