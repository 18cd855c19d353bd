from __future__ import annotations

from pathlib import Path

import pytest

from arena_core.errors import UsageError
from sites.registry import load_registry
from tasks.imports.site_map import write_new_sites


def test_a_live_host_becomes_a_site_that_can_be_used(tmp_path: Path) -> None:
    origins = {"gamestop-com": "https://www.gamestop.com", "last-fm": "https://www.last.fm"}
    assert len(write_new_sites(origins, tmp_path)) == 2
    registry = load_registry([tmp_path])
    assert registry.broken == {}
    assert registry.logical("https://www.gamestop.com/search?q=1") == "gamestop-com:/search?q=1"


def test_a_manifest_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "last-fm").mkdir()
    (tmp_path / "last-fm" / "site.yaml").write_text("mine")
    assert write_new_sites({"last-fm": "https://www.last.fm"}, tmp_path) == ()
    assert (tmp_path / "last-fm" / "site.yaml").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"--new-sites: .* cannot be written"):
        write_new_sites({"last-fm": "https://www.last.fm"}, tmp_path / "file")
