"""Walls are told from pages of a site, on pages as they were recorded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from orchestrator.episode.page_view import PageView
from orchestrator.episode.walls import WallKind, wall_on


@dataclass(frozen=True)
class Recorded:
    name: str
    page: PageView
    wall: str | None


def recorded() -> list[Recorded]:
    text = (Path(__file__).parent / "recorded_pages.yaml").read_text(encoding="utf-8")
    return [
        Recorded(
            one["name"],
            PageView(one["url"], one["title"], one["status"], one["tree"].replace('\\"', '"')),
            one.get("wall_by_status") or one.get("wall"),
        )
        for one in yaml.safe_load(text)
    ]


PAGES = {one.name: one for one in recorded()}
INNOCENT = [one for one in PAGES.values() if one.wall is None]
WALLS = [one for one in PAGES.values() if one.wall is not None]
MARGIN = "\n".join(f'[{id_}] link "Article {id_}"' for id_ in range(900, 930))


@pytest.mark.parametrize("one", WALLS, ids=lambda one: one.name)
def test_a_wall_is_known_with_its_kind_and_sign(one: Recorded) -> None:
    found = wall_on(one.page)
    assert found is not None
    assert found.kind.value == one.wall
    assert found.sign


@pytest.mark.parametrize("one", INNOCENT, ids=lambda one: one.name)
def test_a_page_that_only_speaks_of_walls_is_none(one: Recorded) -> None:
    assert wall_on(one.page) is None


def test_each_kind_of_wall_is_recorded() -> None:
    assert {one.wall for one in WALLS} == {kind.value for kind in WallKind}


BY_WORDS = [one for one in WALLS if one.page.status == 200 and "consent." not in one.page.url]


@pytest.mark.parametrize("one", BY_WORDS, ids=lambda one: one.name)
def test_the_same_words_on_a_page_with_much_else_are_no_wall(one: Recorded) -> None:
    page = PageView(one.page.url, one.page.title, 200, f"{one.page.tree}\n{MARGIN}")
    assert wall_on(page) is None


def test_a_login_that_the_task_asks_for_is_no_wall() -> None:
    page = PAGES["login-redirect"].page
    assert wall_on(page, asks_to_log_in=True) is None


def test_a_banner_is_a_wall_where_it_lay_over_what_was_to_be_clicked() -> None:
    page = PAGES["page-with-a-cookie-banner"].page
    found = wall_on(page, is_covered=True)
    assert found is not None
    assert found.kind is WallKind.CONSENT_WALL
    assert wall_on(PAGES["not-found"].page, is_covered=True) is None


def test_a_tree_is_read_with_names_that_hold_quotes_and_the_elements_around() -> None:
    page = PageView(
        "u", "t", 200, '[1] main\n  [2] link "say "yes" now" focused\n  [3] textbox "A" value="b"'
    )
    assert [(one.role, one.name, one.path) for one in page.nodes] == [
        ("link", 'say "yes" now', ("main",)),
        ("textbox", "A", ("main",)),
    ]
