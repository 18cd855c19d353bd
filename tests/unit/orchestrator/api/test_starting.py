from __future__ import annotations

from pathlib import Path

import pytest

from arena_core.errors import UnknownNameError, UsageError
from orchestrator.api.starting import choose_sites
from sites.registry import load_registry
from tasks.loader import load_suite, suite_path

ATLAS = load_registry()
EVERY = sorted(ATLAS.sites)


def chosen(*names: str, suite: str | None = None, otherwise: str | None = None) -> list[str]:
    return [site.name for site in choose_sites(ATLAS, names, suite, otherwise=otherwise)]


def test_all_are_all_sites() -> None:
    assert chosen("all", otherwise="demo") == EVERY


def test_names_are_these_sites_in_their_order_once() -> None:
    assert chosen("wiki", "shop", "wiki", otherwise="demo") == ["wiki", "shop"]


def test_nothing_said_is_what_the_suite_that_counts_otherwise_plays_on() -> None:
    needed = {name for task in load_suite("demo").tasks for name in task.sites}
    assert chosen(otherwise="demo") == sorted(needed) != EVERY


def test_nothing_said_and_no_suite_to_go_by_is_all_sites() -> None:
    assert chosen() == EVERY


def test_a_suite_is_the_sites_that_its_tasks_play_on(tmp_path: Path) -> None:
    suite = tmp_path / "mine.yaml"
    text = suite_path("demo").read_text(encoding="utf-8")
    suite.write_text(text.replace("suite: demo", "suite: mine"), encoding="utf-8")
    assert chosen(suite=str(suite)) == chosen(otherwise="demo")


def test_all_beside_a_name_leaves_open_which_are_meant() -> None:
    with pytest.raises(UsageError, match=r"'all' and names together \(shop\)"):
        chosen("shop", "all")


def test_a_suite_beside_names_leaves_open_which_are_meant() -> None:
    with pytest.raises(UsageError, match=r"sites \(wiki\) and the suite demo together"):
        chosen("wiki", suite="demo")


def test_a_site_that_is_not_there_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match=f"unknown site 'mall'; there are: {EVERY[0]}"):
        chosen("mall")


def test_a_suite_given_as_a_site_is_answered_with_the_option() -> None:
    with pytest.raises(UnknownNameError, match="'demo': it is a suite") as caught:
        chosen("demo")
    assert caught.value.hint.startswith("--suite demo")
