"""Key nodes as text, for the golden reference."""

from __future__ import annotations

from typing import Any

import pytest

from arena_core.errors import UnknownNameError
from arena_core.worlds import World
from evaluators.checks import Check
from orchestrator.agents.builtin.webcanvas.agent import nodes_text
from orchestrator.agents.interface import Guide


def url_of(logical: str) -> str:
    if not logical.startswith("shop:"):
        message = "no such site"
        raise UnknownNameError(message)
    return logical.replace("shop:", "http://shop.test")


def text(locate: dict[str, Any], match: dict[str, Any], world: World = World.OFFLINE) -> str:
    node = {"name": "node", "when": "step", "locate": locate, "match": match}
    guide = Guide(url_of=url_of, key_nodes=(Check.model_validate(node),))
    return nodes_text(guide, world)


@pytest.mark.parametrize(
    ("locate", "match", "said"),
    [
        (
            {"by": "url"},
            {"how": "exact", "value": "shop:/kettles"},
            "the address of the page is 'http://shop.test/kettles'",
        ),
        (
            {"by": "url"},
            {"how": "exact", "value": "elsewhere:/x"},
            "the address of the page is 'elsewhere:/x'",
        ),
        (
            {"by": "url", "part": "query", "key": "q", "page": "shop:/x"},
            {"how": "include", "value": ["red", "kettle"]},
            "the parameter 'q' of the address on http://shop.test/x contains 'red' and 'kettle'",
        ),
        (
            {"by": "element", "event": "click", "role": "button", "page": "shop:/x"},
            {"how": "exact", "value": "Buy"},
            "after the event 'click', name of the element 'button' on http://shop.test/x is 'Buy'",
        ),
        (
            {"by": "url", "part": "query", "key": "page"},
            {"how": "number", "value": 2},
            "the parameter 'page' of the address is the number '2'",
        ),
    ],
)
def test_a_key_node_is_said_in_words(
    locate: dict[str, Any], match: dict[str, Any], said: str
) -> None:
    assert text(locate, match) == f"1. node: {said}"


def test_what_differs_between_the_worlds_is_said_of_the_episodes_own() -> None:
    match = {"how": "exact", "value": {"offline": "Kettle", "online": "Teapot"}}
    locate = {"by": "element", "event": "click"}
    assert text(locate, match).endswith("is 'Kettle'")
    assert text(locate, match, World.ONLINE).endswith("is 'Teapot'")
