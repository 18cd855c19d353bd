"""What the tree itself promises."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from orchestrator.cli.entry import build_app

ROOT = Path(__file__).parents[2]


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def test_docker_is_no_python_package_or_it_would_hide_the_docker_sdk() -> None:
    assert not (ROOT / "docker" / "__init__.py").exists()


def test_the_version_to_cite_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])


def test_no_module_holds_more_than_500_lines() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 500
    }
    assert long == {}


def test_the_top_level_is_what_the_design_says() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in tracked()}
    assert {name for name in names if not name.startswith(".")} == {
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "SECURITY.md",
        "action.yml",
        "arena_core",
        "docker",
        "docs",
        "evaluators",
        "examples",
        "mkdocs.yml",
        "orchestrator",
        "pyproject.toml",
        "sites",
        "tasks",
        "tests",
    }


def test_the_readme_has_at_most_700_words() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700


def commands_in(path: Path) -> set[tuple[str, ...]]:
    """Return `arena …` and `make …` commands of a Markdown file: program and first word."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"(?:^\s*(?:\$ )?|`)(arena|make) ([a-z][a-z-]*)", text, re.MULTILINE)
    return set(found)


READMES = [path for path in tracked("*.md") if "tests/" not in str(path)]


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_a_readme_names_exists(readme: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = {command.name for command in build_app([]).registered_commands}
    missing = [
        f"{program} {word}"
        for program, word in sorted(commands_in(readme))
        if word not in (targets if program == "make" else commands)
    ]
    assert missing == []


def test_commands_in_a_readme_are_found(tmp_path: Path) -> None:
    """The test above would pass on anything if this failed."""
    readme = tmp_path / "README.md"
    readme.write_text("Run `arena up` or\n\n    make demo\n\n```\n$ arena nonsense --x\n```\n")
    assert commands_in(readme) == {("arena", "up"), ("make", "demo"), ("arena", "nonsense")}


def test_a_site_that_gunicorn_serves_passes_over_the_file_of_a_worker_that_starts() -> None:
    """One starts again after the site is healthy; the state may be read at that moment."""
    served = {path.parent.name for path in tracked("docker/*/gunicorn.conf.py")}
    passing = {
        path.parent.name
        for path in tracked("docker/*/supervisor.toml")
        if "wgunicorn-*" in tomllib.loads(path.read_text(encoding="utf-8")).get("passing", ())
    }
    assert served >= {"shop", "forum", "tools"}
    assert passing == served
