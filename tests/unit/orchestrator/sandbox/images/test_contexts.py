from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from arena_core.errors import ManifestError, PrerequisiteError
from orchestrator.sandbox.docker_files import docker_folder
from orchestrator.sandbox.images.contexts import (
    ca_bundle,
    context_files,
    context_hash,
    context_tar,
)
from sites.manifest import Build

BUILD = Build(dockerfile="alpha/Dockerfile", context=("alpha", "shared"))


def members(packed: bytes) -> dict[str, tuple[int, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        return {
            entry.name: (entry.mode, content.read())
            for entry in tar
            if (content := tar.extractfile(entry)) is not None
        }


def test_a_context_holds_the_listed_folders_and_the_bundle(folder: Path) -> None:
    packed = members(context_tar(context_files(BUILD, folder), b"PEM"))

    assert sorted(packed) == [
        "alpha/Dockerfile",
        "alpha/data.txt",
        "ca-bundle.crt",
        "shared/Dockerfile",
        "shared/data.txt",
    ]
    assert packed["alpha/data.txt"] == (0o644, b"alpha\n")
    assert packed["ca-bundle.crt"] == (0o644, b"PEM")


def test_a_dockerfile_outside_the_listed_folders_travels_too(folder: Path) -> None:
    files = context_files(Build(dockerfile="beta/Dockerfile", context=("alpha",)), folder)

    assert [file.path for file in files] == [
        "alpha/Dockerfile",
        "alpha/data.txt",
        "beta/Dockerfile",
    ]


def test_what_an_image_folder_tells_people_about_itself_is_no_source(folder: Path) -> None:
    (folder / "alpha" / "pages").mkdir()
    (folder / "alpha" / "pages" / "README.md").write_text("a page that is served\n")
    before = context_files(BUILD, folder)
    (folder / "alpha" / "README.md").write_text("how this image is made\n")

    assert "alpha/pages/README.md" in [file.path for file in before]
    assert context_files(BUILD, folder) == before


def test_equal_files_give_equal_bytes_whenever_and_by_whomever_they_were_written(
    folder: Path,
) -> None:
    before = context_tar(context_files(BUILD, folder), b"")
    data = folder / "alpha" / "data.txt"
    os.utime(data, (1, 1))
    data.chmod(0o600)
    (folder / "alpha" / "__pycache__").mkdir()
    (folder / "alpha" / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"x")
    (folder / "alpha" / "y.pyc").write_bytes(b"y")
    (folder / "alpha" / ".mypy_cache" / "3.11").mkdir(parents=True)
    (folder / "alpha" / ".mypy_cache" / "3.11" / "x.data.json").write_bytes(b"{}")

    assert context_tar(context_files(BUILD, folder), b"") == before


def test_an_executable_stays_one_and_counts(folder: Path) -> None:
    before = context_hash(context_files(BUILD, folder))
    (folder / "alpha" / "data.txt").chmod(0o755)

    files = context_files(BUILD, folder)

    assert members(context_tar(files, b""))["alpha/data.txt"][0] == 0o755
    assert context_hash(files) != before


def test_a_renamed_or_changed_file_changes_the_hash(folder: Path) -> None:
    data = folder / "alpha" / "data.txt"
    seen = {context_hash(context_files(BUILD, folder))}
    data.write_text("other\n")
    seen.add(context_hash(context_files(BUILD, folder)))
    data.rename(folder / "alpha" / "facts.txt")
    seen.add(context_hash(context_files(BUILD, folder)))

    assert len(seen) == 3


@pytest.mark.parametrize(
    ("dockerfile", "context"),
    [("alpha/Dockerfile", "gamma"), ("alpha/Nofile", "alpha"), ("alpha/Dockerfile", "../alpha")],
)
def test_a_path_that_is_not_in_the_folder_is_named(
    folder: Path, dockerfile: str, context: str
) -> None:
    with pytest.raises(ManifestError, match=r"gamma|Nofile|\.\./alpha"):
        context_files(Build(dockerfile=dockerfile, context=(context,)), folder)


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ARENA_CA_BUNDLE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(variable, raising=False)


def test_where_no_variable_names_one_the_bundle_is_empty(unset: None) -> None:
    assert ca_bundle() == b""


def test_the_variable_names_the_bundle_and_comes_before_pips_own(
    unset: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("lab", "pip"):
        (tmp_path / f"{name}.pem").write_text(name)
    monkeypatch.setenv("PIP_CERT", str(tmp_path / "pip.pem"))
    assert ca_bundle() == b"pip"

    monkeypatch.setenv("ARENA_CA_BUNDLE", str(tmp_path / "lab.pem"))
    assert ca_bundle() == b"lab"


def test_a_stale_variable_of_other_tools_is_passed_over(
    unset: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))

    assert ca_bundle() == b""


def test_a_bundle_that_does_not_exist_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ARENA_CA_BUNDLE", str(tmp_path / "none.pem"))

    with pytest.raises(PrerequisiteError, match=r"ARENA_CA_BUNDLE names .*none\.pem"):
        ca_bundle()


def test_the_image_folders_are_found() -> None:
    assert (docker_folder() / "base" / "build.sh").is_file()


def test_a_folder_of_ones_own_is_packed_under_its_name_beside_arenas(
    folder: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "elsewhere"
    mine.mkdir()
    (mine / "Dockerfile").write_text("FROM x\n", encoding="utf-8")
    build = Build(dockerfile="mine/Dockerfile", context=("mine", "shared"))
    files = {file.path: file.content for file in context_files(build, folder, {"mine": mine})}
    assert sorted(files) == ["mine/Dockerfile", "shared/Dockerfile", "shared/data.txt"]
    assert files["mine/Dockerfile"] == b"FROM x\n"


def test_a_missing_file_of_ones_own_is_named_with_its_path(folder: Path, tmp_path: Path) -> None:
    build = Build(dockerfile="mine/Dockerfile", context=("shared",))
    with pytest.raises(ManifestError, match=f"there is no {tmp_path}/Dockerfile"):
        context_files(build, folder, {"mine": tmp_path})
