"""What BrowserGym's agents are shown of Arena's observations, and how its tasks are named."""

from __future__ import annotations

import ast
import base64
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from PIL import Image

from arena_core.errors import UsageError
from orchestrator.serve import browsergym
from orchestrator.serve.browsergym import make, register_task
from orchestrator.serve.browsergym.own_browser import ax_nodes, dom_of, observed

TREE = """\
(dialog: alert "Saved")
[1] form
  [2] textbox "Search "Wikipedia"" value="a b" focused
  [3] button "Save" disabled expanded=false
[12] link "a" value="b"""


def test_a_task_is_registered_by_its_name_once_and_without_a_service() -> None:
    name = register_task("demo/wiki-samovar")
    assert name == register_task("demo/wiki-samovar") == "browsergym/arena.demo.wiki-samovar"
    spec = gymnasium.spec(name)
    assert (spec.kwargs, spec.nondeterministic) == ({"task": "demo/wiki-samovar"}, True)


def test_the_browser_is_one_of_two() -> None:
    with pytest.raises(UsageError, match="there is no browser 'netscape'"):
        make("demo/wiki-samovar", browser="netscape")  # type: ignore[arg-type]


def test_the_tree_has_arenas_numbers_names_values_and_states() -> None:
    root, dialog, form, search, save, link = ax_nodes(TREE, "Home")
    assert (root["role"]["value"], root["name"]["value"]) == ("RootWebArea", "Home")
    assert dialog["name"]["value"] == '(dialog: alert "Saved")'
    assert "browsergym_id" not in dialog
    assert (form["browsergym_id"], form["childIds"]) == ("1", [search["nodeId"], save["nodeId"]])
    assert search["name"]["value"] == 'Search "Wikipedia"'
    assert search["value"]["value"] == "a b"
    assert save["properties"] == [
        {"name": "disabled", "value": {"value": True}},
        {"name": "expanded", "value": {"value": "false"}},
    ]
    assert root["childIds"] == [dialog["nodeId"], form["nodeId"], link["nodeId"]]


def test_an_observation_has_browsergyms_keys_and_nothing_else_of_the_service() -> None:
    seen = observed(_seen(TREE), "Find it.", "noop()", 1.5)
    assert set(seen) == {
        "chat_messages",
        "goal",
        "goal_object",
        "open_pages_urls",
        "open_pages_titles",
        "active_page_index",
        "url",
        "screenshot",
        "dom_object",
        "axtree_object",
        "extra_element_properties",
        "focused_element_bid",
        "last_action",
        "last_action_error",
        "elapsed_time",
    }
    assert (seen["focused_element_bid"], seen["goal"]) == ("2", "Find it.")
    assert seen["screenshot"].shape == (3, 4, 3)
    marks = {bid: one["set_of_marks"] for bid, one in seen["extra_element_properties"].items()}
    assert marks == {"1": False, "3": True, "12": False}


def test_markup_carries_arenas_numbers_where_browsergym_looks_for_them() -> None:
    assert '<a bid="3" href="#">' in dom_of('<a arena="3" href="#">x</a>')["strings"][1]


def test_nothing_is_imported_that_browsergyms_environment_lacks() -> None:
    """It pins Playwright, lxml and openai below what Arena needs: Arena's own are not there."""
    allowed = {"PIL", "agentlab", "bgym", "browsergym", "gymnasium", "numpy"}
    own = ("arena_core.errors", "orchestrator.serve.browsergym", "orchestrator.serve.client")
    wrong = {
        (path.name, name)
        for path in Path(browsergym.__file__).parent.glob("*.py")
        for name in _imported(path)
        if not name.startswith(own)
        and name.partition(".")[0] not in allowed | sys.stdlib_module_names
    }
    assert wrong == set()


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str(name)):
                yield name
            case _:
                pass


def test_importing_the_package_imports_no_part_of_it() -> None:
    code = "import orchestrator, sys; print([m for m in sys.modules if 'browsergym' in m])"
    found = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert found.strip() == "[]"


def _seen(tree: str) -> dict[str, Any]:
    picture = BytesIO()
    Image.new("RGB", (4, 3)).save(picture, "PNG")
    box = {"x": 1, "y": 2, "width": 30, "height": 40, "visible": True}
    return {
        "step": 1,
        "url": "http://wiki.arena.test/",
        "title": "Home",
        "tabs": [{"url": "http://wiki.arena.test/", "title": "Home", "is_current": True}],
        "last_error": None,
        "parts": {
            "axtree": tree,
            "screenshot": {
                "image": f"data:image/png;base64,{base64.b64encode(picture.getvalue()).decode()}"
            },
            "boxes": {"1": box, "3": box, "12": {**box, "visible": False}},
        },
    }
