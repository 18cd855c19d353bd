"""A site of one's own, as a new user makes it: written, checked, played; and told what is wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow]

EXAMPLES = Path(__file__).parents[3] / "examples"
LIMIT_S = 900
BROKEN = 30


@dataclass(frozen=True)
class Lab:
    """A folder in which somebody calls `arena`; nothing there but their own sites."""

    folder: Path

    def arena(self, *words: str, code: int = 0) -> str:
        environment = {k: v for k, v in os.environ.items() if k != "ARENA_SITES"}
        done = subprocess.run(
            [Path(sys.executable).parent / "arena", *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def broken_points(self, name: str, code: int) -> dict[str, list[str]]:
        told = json.loads(self.arena("site", "check", name, "--twice", "--json", code=code))
        return {one["point"]: one["breaches"] for one in told if not one["kept"]}

    def plays(self, name: str) -> float:
        words = ("eval", "--suite", f"arena-sites/{name}/tasks.yaml", "--agent", "oracle", "--json")
        success = json.loads(self.arena(*words))["totals"]["offline"]["success"]
        assert isinstance(success, float)
        return success


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    yield Lab(tmp_path)
    for site in sorted((tmp_path / "arena-sites").glob("*")):
        tag = f"own/{site.name}:1"
        subprocess.run(["docker", "image", "rm", "--no-prune", tag], check=False, timeout=60)


@pytest.mark.parametrize("kind", ["app", "php", "static"])
def test_a_new_site_keeps_the_contract_and_its_tasks_can_be_played(lab: Lab, kind: str) -> None:
    name = f"own-{kind}-{os.getpid()}"
    lab.arena("site", "new", name, "--kind", kind)
    assert lab.broken_points(name, code=0) == {}
    assert lab.plays(name) == 1.0


def test_what_is_wrong_with_a_site_is_named(lab: Lab) -> None:
    name = f"own-broken-{os.getpid()}"
    lab.arena("site", "new", name, "--kind", "static")
    page = lab.folder / "arena-sites" / name / "docker" / "pages" / "index.html"
    wrong = '<img src="http://tracker.example/x.png"><a href="/gone.html">Gone</a></body>'
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", wrong), encoding="utf-8")
    ((point, breaches),) = lab.broken_points(name, code=BROKEN).items()
    assert point == "pages answer, and load nothing from outside"
    assert any("http://tracker.example/x.png" in breach for breach in breaches)
    assert any("/gone.html answers 404" in breach for breach in breaches)


def test_the_dokuwiki_of_the_walk_through_keeps_the_contract(lab: Lab) -> None:
    shutil.copytree(EXAMPLES, lab.folder / "arena-sites")
    assert lab.broken_points("dokuwiki", code=0) == {}
    assert lab.plays("dokuwiki") == 1.0
