"""Makes the newspaper's seed importable: it lives in docker/, which is no Python package."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

SEED = Path(__file__).parents[3] / "docker" / "cms" / "seed"

sys.path.insert(0, str(SEED))


def part(name: str) -> Any:
    return import_module(f"gazette.{name}")


def print_an_edition() -> SimpleNamespace:
    newsroom, sources = part("newsroom"), part("sources")
    world, town = sources.world(), sources.vocabulary("town")["slots"]
    people = part("accounts").accounts(world)
    library = [
        newsroom.Issue(number, one, f"/wp-content/uploads/{one.slug}.png")
        for number, one in enumerate(part("pictures").gallery(world), start=newsroom.FIRST_PICTURE)
    ]
    stories = newsroom.edition(world, town, people, library)
    published = [one for one in stories if one.status == "publish"]
    return SimpleNamespace(
        world=world,
        people=people,
        library=library,
        stories=stories,
        published=published,
        comments=part("talk").comments(world, published, people),
        pages=part("pages").pages(world, town),
    )


@pytest.fixture(scope="session")
def edition() -> SimpleNamespace:
    return print_an_edition()


@pytest.fixture(scope="session")
def print_edition() -> Callable[[], SimpleNamespace]:
    return print_an_edition
