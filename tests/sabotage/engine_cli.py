"""The engine by its own command line: not through Arena, and not through a relay in front of it."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from typing import Final

from orchestrator.sandbox.engine.containers import Labels

# As it was when the tests began: a test may send others elsewhere.
_ENGINE: Final = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
_LIMIT_S: Final = 60.0


def docker(*words: str) -> str:
    """Run one command of `docker`; return what it prints. Raises CalledProcessError."""
    try:
        done = subprocess.run(
            ["docker", "--host", _ENGINE, *words],
            check=True,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
        )
    except subprocess.CalledProcessError as failure:
        failure.add_note(failure.stderr)
        raise
    return done.stdout.strip()


def start_inside(container_id: str, *words: str) -> subprocess.Popen[str]:
    """Start a command inside a container; the caller reads its output and waits for its end."""
    return subprocess.Popen(
        ["docker", "--host", _ENGINE, "exec", container_id, *words],
        stdout=subprocess.PIPE,
        text=True,
    )


def containers_of(owner: str) -> list[str]:
    """Return the ids of an owner's containers, stopped ones too, the newest first."""
    return _lines(docker("ps", "-aq", "--no-trunc", "--filter", f"label={Labels.OWNER}={owner}"))


def awaited_containers_of(owner: str) -> list[str]:
    """Return them once there is one: the engine goes on with what a killed process asked for."""
    due = time.monotonic() + _LIMIT_S
    while not (found := containers_of(owner)) and time.monotonic() < due:
        threading.Event().wait(0.05)  # of what another process asked for no event tells
    return found


def volumes_of(owner: str) -> list[str]:
    """Return the names of the volumes that were made for an owner's containers."""
    return _lines(docker("volume", "ls", "-q", "--filter", f"label={Labels.OWNER}={owner}"))


def remove_all(owner: str) -> list[str]:
    """Remove whatever an owner has; return the names of what there was."""
    containers, volumes = containers_of(owner), volumes_of(owner)
    if containers:
        docker("rm", "--force", "--volumes", *containers)
    if left := volumes_of(owner):
        docker("volume", "rm", *left)
    return [*containers, *volumes]


def networks() -> frozenset[str]:
    """Return the names of all networks but those that tests of the engine try meanwhile."""
    names = _lines(docker("network", "ls", "--format", "{{.Name}}"))
    return frozenset(name for name in names if not re.fullmatch("test-[0-9a-f]{8}", name))


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]
