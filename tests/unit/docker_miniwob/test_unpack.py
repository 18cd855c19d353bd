from __future__ import annotations

from importlib import import_module
from pathlib import Path
from zipfile import ZipFile

import pytest

unpack = import_module("unpack")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "miniwob.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("miniwob/html/miniwob/click-x.html", "<title> Click &\n the X </title>")
        archive.writestr("miniwob/html/miniwob/bare.html", "<p>no title</p>")
        archive.writestr("miniwob/html/core/core.js", "core = {}")
        archive.writestr("miniwob/html/flight/AA/index.html", "an airline")
        archive.writestr("miniwob/environment.py", "import selenium")
        archive.writestr("miniwob-1.1.0.dist-info/licenses/LICENSE", "MIT")
    return path


def test_pages_and_license_are_unpacked_and_nothing_else(wheel: Path, tmp_path: Path) -> None:
    unpack.main(wheel, tmp_path / "out")
    found = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*")}
    assert found == {
        "html/index.html",
        "html/miniwob/click-x.html",
        "html/miniwob/bare.html",
        "html/core/core.js",
    }
    assert (tmp_path / "out" / "LICENSE").read_text("utf-8") == "MIT"


def test_the_front_page_links_to_every_page_by_name_and_title(wheel: Path, tmp_path: Path) -> None:
    unpack.main(wheel, tmp_path)
    front = (tmp_path / "html" / "index.html").read_text("utf-8")
    assert '<a href="/miniwob/click-x.html" title="Click &amp; the X">click-x</a>' in front
    assert '<a href="/miniwob/bare.html" title="bare">bare</a>' in front
    assert "2 pages" in front
