"""A new site's folder is whole: its manifest and tasks are valid, and nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_core.errors import UsageError
from orchestrator.images.contexts import context_files, docker_folder
from orchestrator.scaffold.site_writer import NewSite, SiteKind
from sites.atlas import Atlas, load_atlas
from tasks.lint import lint_suite
from tasks.loader import load_suite

EVERY_KIND = pytest.mark.parametrize("kind", list(SiteKind))


def new_site(sites: Path, kind: SiteKind = SiteKind.APP, name: str = "my-notes") -> NewSite:
    return NewSite(name=name, title="My Notes", kind=kind, sites=sites)


def atlas_with(site: NewSite) -> Atlas:
    site.write()
    return load_atlas([site.sites])


@EVERY_KIND
def test_its_manifest_is_valid_and_its_image_can_be_put_together(
    kind: SiteKind, tmp_path: Path
) -> None:
    atlas = atlas_with(new_site(tmp_path, kind))
    build = atlas.site("my-notes").image.build
    assert build is not None
    own = {"my-notes": atlas.own["my-notes"] / "docker"}
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


@EVERY_KIND
def test_its_first_tasks_have_no_mistake(kind: SiteKind, tmp_path: Path) -> None:
    site = new_site(tmp_path, kind)
    atlas = atlas_with(site)
    suite = load_suite(str(site.folder / "tasks.yaml"))
    assert [finding for finding in lint_suite(suite, atlas) if finding.severity == "error"] == []


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
    with pytest.raises(UsageError, match="no name for a site"):
        new_site(tmp_path, name=name).write()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("title", ["", "<b>", "Tom's", "A & B", 'say "no"', "x" * 61])
def test_a_title_that_could_break_a_file_is_refused(title: str, tmp_path: Path) -> None:
    site = NewSite(name="notes", title=title, kind=SiteKind.PHP, sites=tmp_path)
    with pytest.raises(UsageError, match="is no title"):
        site.write()
