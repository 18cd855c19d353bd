"""Debian's `docker-registry`, started on loopback for one test: a real registry, empty at first."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import IO

import pytest

_PROGRAM = "docker-registry"
_LISTENS = re.compile(r"listening on (127\.0\.0\.1:\d+)")


@contextmanager
def local_registry(folder: Path) -> Iterator[str]:
    """Serve a registry that keeps its images in a folder; yield its address.

    Engines take a registry on loopback without TLS. Nothing here installs the program.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        pytest.skip(f"no {_PROGRAM} here: apt-get install {_PROGRAM}")
    settings = folder / "registry.yml"
    settings.write_text(
        json.dumps(
            {
                "version": "0.1",
                "log": {"level": "info"},
                "storage": {"filesystem": {"rootdirectory": str(folder / "images")}},
                "http": {"addr": "127.0.0.1:0", "net": "tcp"},
            }
        )
    )
    words = [program, "serve", str(settings)]
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as serving:
        try:
            assert serving.stderr is not None
            yield _address(serving.stderr)
        finally:
            serving.terminate()


def _address(log: IO[str]) -> str:
    """Return where it listens, once it says so; what else it says is thrown away."""
    said: list[str] = []
    for line in log:
        said.append(line)
        found = _LISTENS.search(line)
        if found:
            Thread(target=deque, args=(log, 0)).start()
            return found[1]
    raise AssertionError("".join(said))
