"""Golds of an imported set that the data of the site it is played on do not hold."""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.tasks.published_tasks import asked_task

from orchestrator.sandbox.delta.golden_rows import SCHEMA
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import ROWS_LABEL, keep

Call = Callable[..., Ended]

MAP = "sites:\n  shopping: {site: shop, role: customer}\n"
HELD, FOREIGN, NUMBER = "Copper Kettle", 'Quest "Lumaflex" Band', "4711"


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose engine has one image, sealed with the rows of a shop that sells a kettle."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "rows"
    with closing(sqlite3.connect(file)) as packed:
        packed.executescript(SCHEMA)
        cells = json.dumps(["1", f"a {HELD.upper()}, 2 l"])
        packed.execute("INSERT INTO row (entry, cells) VALUES ('e', ?)", (cells,))
        packed.commit()
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    keep(digest, gzip.compress(content))
    image = SimpleNamespace(tag="a", id="a", labels={ROWS_LABEL: digest})

    class OneImage:
        async def __aenter__(self) -> Self:
            return self

        async def __aexit__(self, *_: object) -> None:
            return None

        async def image(self, tag: str) -> object:
            return image if tag == "arena/shop:1" else None

    async def connect() -> Any:
        return OneImage()

    monkeypatch.setattr(Engine, "connect", connect)


def imported(call: Call, tmp_path: Path, *golds: str) -> Ended:
    (tmp_path / "map.yaml").write_text(MAP)
    tasks = [
        asked_task(
            number,
            "Which product is it?",
            {
                "eval_types": ["string_match"],
                "reference_answers": {"exact_match": gold},
            },
            sites=["shopping"],
            start_url="__SHOPPING__",
        )
        for number, gold in enumerate(golds)
    ]
    (tmp_path / "test.raw.json").write_text(json.dumps(tasks))
    return call("tasks", "import", "webarena", "test.raw.json", "--map", "map.yaml")


@SLOW
@pytest.mark.usefixtures("sealed")
def test_lint_says_how_many_golds_of_an_import_are_not_on_the_site(
    call: Call, tmp_path: Path
) -> None:
    assert imported(call, tmp_path, HELD, FOREIGN, NUMBER).code == 0
    found = call("tasks", "lint", "webarena.yaml")
    assert "1 of 3 tasks has a gold that stands nowhere in the data of its sites" in found.err
    named = json.loads(call("tasks", "lint", "webarena.yaml", "--json").out)
    assert [one["task"] for one in named if "stands nowhere" in one["message"]] == ["webarena-1"]


@SLOW
@pytest.mark.usefixtures("sealed")
def test_golds_that_are_all_there_are_not_mentioned(call: Call, tmp_path: Path) -> None:
    assert imported(call, tmp_path, HELD).code == 0
    assert "gold" not in call("tasks", "lint", "webarena.yaml").err


@SLOW
def test_without_the_image_nothing_is_said_of_golds(call: Call, tmp_path: Path) -> None:
    assert imported(call, tmp_path, FOREIGN).code == 0
    assert "gold" not in call("tasks", "lint", "webarena.yaml").err


def test_an_import_that_is_mapped_on_other_data_says_so(call: Call, tmp_path: Path) -> None:
    ended = imported(call, tmp_path, HELD)
    assert ended.code == 0
    assert "shopping is mapped on 'shop', which holds other data" in ended.err


@SLOW
def test_an_import_on_the_sets_own_image_warns_of_nothing(call: Call, tmp_path: Path) -> None:
    assert call("site", "published", "webarena").code == 0
    folder = tmp_path / "arena-sites"
    manifest = folder / "webarena-shopping" / "site.yaml"
    moved = folder / "my-shopping" / "site.yaml"
    moved.parent.mkdir()
    moved.write_text(manifest.read_text().replace("webarena-shopping", "my-shopping"))
    manifest.unlink()
    (tmp_path / "own.yaml").write_text("sites:\n  shopping: {site: my-shopping, role: customer}\n")
    imported(call, tmp_path, HELD)
    ended = call("tasks", "import", "webarena", "test.raw.json", "--map", "own.yaml")
    assert ended.code == 0
    assert "other data" not in ended.err


@SLOW
def test_an_unknown_site_of_an_import_names_the_ways_to_get_one(call: Call, tmp_path: Path) -> None:
    imported(call, tmp_path, HELD)
    call("tasks", "import", "webarena", "test.raw.json")
    found = call("tasks", "lint", "webarena.yaml", "--json")
    said = [one["message"] for one in json.loads(found.out)]
    assert any("arena site published" in one and "--map" in one for one in said), said
