"""Git repositories as Pagure keeps them: bare, with its hooks, packed once."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hubseed.sources import REPOSITORIES

_RUNNER = "/usr/lib/python3/dist-packages/pagure/hooks/files/hookrunner"


def git(folder: Path, *words: str, given: bytes | None = None) -> str:
    """Run git in a folder; return what it prints."""
    done = subprocess.run(
        ["git", *words], cwd=folder, input=given, check=True, stdout=subprocess.PIPE
    )
    return done.stdout.decode().strip()


def create(name: str, stream: bytes) -> dict[int, str]:
    """Make a project's repository from a stream; return commits by mark."""
    folder = REPOSITORIES / f"{name}.git"
    git(REPOSITORIES, "init", "-q", "--bare", "--template=", "-b", "main", str(folder))
    marks = Path("/tmp") / f"{name}.marks"
    git(folder, "fast-import", "--quiet", "--done", f"--export-marks={marks}", given=stream)
    lines = marks.read_text(encoding="utf-8").splitlines()
    marks.unlink()
    return {int(mark[1:]): commit for mark, commit in (line.split() for line in lines)}


def fork(name: str, login: str) -> Path:
    """Make somebody's copy of a project's repository."""
    folder = REPOSITORIES / "forks" / login / f"{name}.git"
    folder.parent.mkdir(parents=True, exist_ok=True)
    source = str(REPOSITORIES / f"{name}.git")
    git(REPOSITORIES, "clone", "-q", "--bare", "--template=", source, str(folder))
    git(folder, "remote", "remove", "origin")
    return folder


def finish(folder: Path, *, is_public: bool) -> None:
    """Pack it in one thread, and give it what Pagure puts into each repository."""
    git(folder, "repack", "-adfq")
    git(folder, "pack-refs", "--all")
    hooks = folder / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-receive", "update", "post-receive"):
        (hooks / name).symlink_to(_RUNNER)
    if is_public:
        (folder / "git-daemon-export-ok").touch()
    (folder / "FETCH_HEAD").unlink(missing_ok=True)
