"""Every folder of the product is listed in its parent's README, and every package has one."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("orchestrator", "evaluators", "tasks")


def _folders() -> set[Path]:
    """Return every folder below the packages that holds a file of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *PACKAGES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [Path(line) for line in listed.stdout.splitlines() if (ROOT / line).is_file()]
    return {folder for file in files for folder in file.parents if len(folder.parts) > 1}


FOLDERS = sorted(_folders())
ROOMS = [one for one in FOLDERS if len(one.parts) == 2 and (ROOT / one / "__init__.py").is_file()]
LISTED = [one for one in FOLDERS if (ROOT / one.parent / "README.md").is_file()]


def unlisted(readme: str, names: list[str]) -> list[str]:
    """Return the folders that a README does not name in backticks, or by a link to their own."""
    named = re.findall(r"`([\w.-]+)/?`|\(([\w-]+)/README", readme)
    return [name for name in names if name not in {part for pair in named for part in pair}]


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_every_room_has_a_readme(room: Path) -> None:
    assert (ROOT / room / "README.md").is_file()


@pytest.mark.parametrize("parent", sorted({one.parent for one in LISTED}), ids=str)
def test_a_readme_lists_every_folder_beside_it(parent: Path) -> None:
    readme = (ROOT / parent / "README.md").read_text(encoding="utf-8")
    assert unlisted(readme, [one.name for one in LISTED if one.parent == parent]) == []


def test_folders_that_a_readme_names_are_found() -> None:
    """The test above would pass on anything if this failed."""
    readme = "| `api` | … |\n| `templates/` | … |\n[reset](reset/README.md), and prose on pools\n"
    assert unlisted(readme, ["api", "templates", "reset", "pool", "pools"]) == ["pool", "pools"]
    assert {ROOT / "orchestrator" / "cli", ROOT / "evaluators" / "answers"} <= {
        ROOT / one for one in ROOMS
    }
