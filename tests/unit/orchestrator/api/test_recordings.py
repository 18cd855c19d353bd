"""Where a recording begins: sites, pages and roles that there are, or one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.recorder.made_recording import looked_up, write

from arena_core.errors import ArenaError, BrowserMissingError, StoreError, UsageError
from orchestrator.api.recordings import DeskAsked, RecordingAsked, head_of, open_desk, open_recorder
from sites.registry import load_registry


def asked(folder: Path = Path("x"), **parts: Any) -> RecordingAsked:
    usual: dict[str, Any] = {"name": "it", "start": ["wiki"], "roles": {}, "folder": folder}
    return RecordingAsked(**(usual | parts))


def test_a_page_is_named_by_site_url_or_logical_url() -> None:
    start = ["shop", "http://wiki.arena.test/wiki/A/Kettle", "cms:/wp-admin/"]
    head = head_of(asked(start=start, sites=["tools", "shop"]), load_registry())
    assert head.start == ("shop:/", "wiki:/article/Kettle", "cms:/wp-admin/")
    assert head.sites == ("shop", "wiki", "cms", "tools")


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"start": ["http://evil.example/"]}, "is a page of no site"),
        ({"start": ["nowhere:/"]}, "nowhere"),
        ({"roles": {"wiki": "king"}}, "site 'wiki' has no role 'king' here"),
        ({"roles": {"shop": "customer"}}, "site 'shop' has no role 'customer' here"),
        ({"sites": ["nowhere"]}, "nowhere"),
    ],
)
def test_what_there_is_not_is_one_line(parts: dict[str, Any], why: str) -> None:
    with pytest.raises(ArenaError, match=why):
        head_of(asked(**parts), load_registry())


async def test_without_a_screen_the_terminal_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BrowserMissingError, match="no screen here") as caught:
        async with open_recorder(asked(tmp_path / "it")):
            pass
    assert "--terminal" in caught.value.hint
    assert not (tmp_path / "it").exists()


async def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    folder = write(looked_up(), tmp_path / "it")
    with pytest.raises(StoreError, match="is there already"):
        async with open_recorder(asked(folder, headless=True)):
            pass


async def test_a_desk_refuses_a_file_of_somebody_elses_before_anything_is_done(
    tmp_path: Path,
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(yaml.safe_dump({"suite": "mine"}))
    folder = write(looked_up(), tmp_path / "it")
    with pytest.raises(UsageError, match="does not begin with"):
        async with open_desk(DeskAsked(out=mine), folder, on_saved=lambda: None):
            pass
    with pytest.raises(StoreError, match="no recording"):
        async with open_desk(DeskAsked(out=tmp_path / "x.yaml"), tmp_path, on_saved=lambda: None):
            pass
