"""A second Docker engine on this machine, which shares nothing with the first: another node's."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

_STARTS_WITHIN_S: Final = 60


@contextmanager
def second_engine() -> Iterator[str]:
    """Start an engine without any image, and yield its address as DOCKER_HOST takes it."""
    with tempfile.TemporaryDirectory(prefix="arena-") as folder, ExitStack() as stack:
        address = f"unix://{folder}/sock"
        words = ["dockerd", "--host", address, "--bridge", "none", "--ip-forward=false"]
        words += ["--iptables=false", "--ip-masq=false"]  # the rules are the first engine's
        words += ["--default-address-pool", "base=10.214.0.0/16,size=24"]
        for name in ("data-root", "exec-root", "pidfile"):
            words += [f"--{name}", f"{folder}/{name}"]
        said = stack.enter_context(Path(folder, "said").open("wb"))
        started = stack.enter_context(subprocess.Popen(words, stderr=said))
        stack.callback(started.terminate)
        _until_listening(Path(folder, "sock"))
        yield address


def _until_listening(path: Path) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN_S
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as tried, suppress(OSError):
            tried.connect(str(path))
            return
    raise TimeoutError("dockerd does not listen")
