"""Where the files of `docker/` are: inside an installed wheel, or beside the packages."""

from __future__ import annotations

from pathlib import Path

from arena_core.errors import PrerequisiteError


def docker_folder() -> Path:
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_docker", package.parent / "docker"):
        if (folder / "base" / "build.sh").is_file():
            return folder
    message = f"the image folders are in neither {package / '_docker'} nor beside {package}"
    raise PrerequisiteError(message, hint="install Arena from its wheel or run it in a checkout")


def bootstrap_script() -> Path:
    return docker_folder() / "bootstrap.sh"
