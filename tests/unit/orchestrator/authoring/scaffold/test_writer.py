"""A new suite is sound as it is written, is shown whole in the guide, and overwrites nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK
from support.agents.arena_process import Ended

from arena_core.errors import UsageError
from orchestrator.authoring.scaffold.writer import NewSite, SiteKind, write_suite
from orchestrator.sandbox.docker_files import docker_folder
from orchestrator.sandbox.images.contexts import context_files
from sites.registry import SiteRegistry, load_registry
from tasks.lint.linter import lint_suite
from tasks.loader import load_suite

EVERY_KIND = pytest.mark.parametrize("kind", list(SiteKind))


def new_site(sites: Path, kind: SiteKind = SiteKind.APP, name: str = "my-notes") -> NewSite:
    return NewSite(name=name, title="My Notes", kind=kind, sites=sites)


def registry_with(site: NewSite) -> SiteRegistry:
    site.write()
    return load_registry([site.sites])


@ONE_QUICK
@EVERY_KIND
def test_its_manifest_is_valid_and_its_image_can_be_put_together(
    kind: SiteKind, tmp_path: Path
) -> None:
    registry = registry_with(new_site(tmp_path, kind))
    build = registry.site("my-notes").image.build
    assert build is not None
    own = {"my-notes": registry.own["my-notes"] / "docker"}
    packed = {file.path: file.content for file in context_files(build, docker_folder(), own)}
    dockerfile = packed["my-notes/Dockerfile"].decode()
    copied = [
        word.rstrip("/")
        for line in dockerfile.splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for word in line.split()[1:-1]
    ]
    assert copied
    for source in copied:
        assert any(path == source or path.startswith(f"{source}/") for path in packed), source


@ONE_QUICK
@EVERY_KIND
def test_its_first_tasks_have_no_mistake(kind: SiteKind, tmp_path: Path) -> None:
    site = new_site(tmp_path, kind)
    registry = registry_with(site)
    suite = load_suite(str(site.folder / "tasks.yaml"))
    assert [finding for finding in lint_suite(suite, registry) if finding.severity == "error"] == []


@EVERY_KIND
def test_no_mark_of_the_template_is_left(kind: SiteKind, tmp_path: Path) -> None:
    for path in new_site(tmp_path, kind).write():
        text = path.read_text(encoding="utf-8")
        for mark in ("@NAME@", "@TITLE@", "@HOST@", "@FOLDER@"):
            assert mark not in text, path


def test_scripts_can_be_run(tmp_path: Path) -> None:
    (script,) = [path for path in new_site(tmp_path).write() if path.suffix == ".sh"]
    assert script.stat().st_mode & 0o111


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "my-notes").mkdir()
    with pytest.raises(UsageError, match="exists already"):
        new_site(tmp_path).write()
    assert list((tmp_path / "my-notes").iterdir()) == []


@pytest.mark.parametrize("name", ["", "My", "a b", "../up", "-x", "x-", "a_b", "ä", "x" * 40, "no"])
def test_a_name_that_cannot_be_a_host_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be a site"):
        new_site(tmp_path, name=name).write()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("title", ["", "<b>", "Tom's", "A & B", 'say "no"', "x" * 61])
def test_a_title_that_could_break_a_file_is_refused(title: str, tmp_path: Path) -> None:
    site = NewSite(name="notes", title=title, kind=SiteKind.PHP, sites=tmp_path)
    with pytest.raises(UsageError, match="cannot be a title"):
        site.write()


GUIDE = Path(__file__).parents[5] / "docs" / "write-a-task.md"


@ONE_QUICK
@pytest.mark.parametrize("name", ["my-suite", "my-suite.yaml", "below/here/a2.yml"])
def test_a_new_suite_has_no_mistake_and_its_files_name(tmp_path: Path, name: str) -> None:
    path = write_suite(tmp_path / name)

    suite = load_suite(str(path))
    assert suite.suite == path.stem
    assert lint_suite(suite, load_registry()) == ()
    assert "@" not in path.read_text(encoding="utf-8")


def test_the_guide_shows_the_file_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = write_suite(Path("my-suite.yaml")).read_text(encoding="utf-8")
    assert f"```yaml\n{written}```\n" in GUIDE.read_text(encoding="utf-8")


def test_a_file_that_is_there_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="exists already"):
        write_suite(path)
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["My Suite.yaml", "suite.json", "yes", "-x.yaml", "3.yaml"])
def test_a_name_that_no_suite_may_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a suite"):
        write_suite(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_comes_next(call: Callable[..., Ended], tmp_path: Path) -> None:
    ended = call("tasks", "new", "my-suite.yaml")
    assert (ended.code, ended.out) == (0, "my-suite.yaml\n")
    assert "arena tasks lint my-suite.yaml --prove" in ended.err
    assert call("tasks", "lint", "my-suite.yaml").code == 0
