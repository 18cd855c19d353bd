"""`arena open`: a page by its site and path, or by its logical URL."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from support.agents.arena_process import Ended

from arena_core.errors import UsageError
from orchestrator.api.opened import OpenArena
from orchestrator.sandbox import inventory

Call = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _shop_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def engine(_: OpenArena) -> None:
        return None

    async def running(_: Any, registry: Any, name: str, slot: int) -> Any:
        assert registry.site(name).name == "shop"
        assert slot == 0
        return SimpleNamespace(endpoint="127.0.0.1:4711")

    monkeypatch.setattr(OpenArena, "engine", engine)
    monkeypatch.setattr(inventory, "running_replica", running)


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (("shop",), ""),
        (("shop", "/basket/"), "basket/"),
        (("shop:/basket/",), "basket/"),
        (("shop:/",), ""),
        (("shop:/product/16/kettle?a=1",), "catalogue/kettle_16/?a=1"),
    ],
)
def test_a_page_is_named_by_site_and_path_or_by_its_logical_url(
    call: Call, words: tuple[str, ...], path: str
) -> None:
    ended = call("open", *words, "--print")
    assert ended.code == 0, ended.err
    assert ended.out == f"http://127.0.0.1:4711/{path}\n"


def test_two_paths_are_one_too_many(call: Call) -> None:
    assert call("open", "shop:/basket/", "/", "--print").code == UsageError.exit_code
