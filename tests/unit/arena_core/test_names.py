"""Names in messages: few enough to read, and the one that was meant."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK
from support.agents.arena_process import Ended
from support.tasks.small_suites import bells, write_suite

from arena_core.names import MOST_NAMES, listed, offered

Call = Callable[..., Ended]


def test_a_list_of_names_is_no_longer_than_ten() -> None:
    assert listed(["b", "a", "b"]) == "b, a"
    assert listed([]) == "none"
    assert listed(f"n{number}" for number in range(12)).endswith("n8, n9 and 2 more")


def test_the_name_that_was_meant_stands_first_even_where_the_list_leaves_it_out() -> None:
    names = [*(f"task-{number}" for number in range(100, 200)), "kettle-price"]
    said = offered("kettel-price", names)
    assert said.startswith("did you mean 'kettle-price'? there are: task-100, ")
    assert said.endswith(" and 91 more")
    assert offered("SHOP", {"wiki", "shop"}) == "did you mean 'shop'? there are: shop, wiki"
    assert offered("zebra", {"wiki", "shop"}) == "there are: shop, wiki"


@ONE_QUICK
@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("tasks", "show", "ketle-price", "--suite", "SUITE"), "kettle-price"),
        (("eval", "ketle-price", "--suite", "SUITE"), "kettle-price"),
        (("eval", "--suite", "SUITE", "--agent", "oracel"), "oracle"),
        (("build", "--suite", "dmeo"), "demo"),
        (("pull", "shpo"), "shop"),
        (("eval", "--suite", "dmeo"), "demo"),
        (("tasks", "import", "webarean", "SUITE"), "webarena"),
        (("export", "jsnol", "SUITE"), "jsonl"),
    ],
)
def test_every_command_says_which_name_was_meant_and_lists_at_most_ten(
    call: Call, tmp_path: Path, words: tuple[str, ...], meant: str
) -> None:
    names = [*(f"bell-{number}" for number in range(30)), "kettle-price"]
    suite = write_suite(tmp_path, *map(bells, names))
    ended = call(*(str(suite) if word == "SUITE" else word for word in words))
    assert ended.code != 0
    assert f"did you mean '{meant}'?" in ended.err, ended.err
    lists = re.findall(r"there are: (.*)", ended.err)
    assert all(len(one.split(", ")) <= MOST_NAMES for one in lists), ended.err


def test_the_linter_says_which_name_was_meant(call: Call, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("bell", sites=["wikki"], start=["wikki:/"]))
    found = call("tasks", "lint", suite, "--json")
    messages = [one["message"] for one in json.loads(found.out)]
    assert any("did you mean 'wiki'?" in message for message in messages), messages
