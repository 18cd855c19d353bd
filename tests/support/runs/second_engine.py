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
_BRIDGE: Final = "arena-second"


@contextmanager
def second_engine() -> Iterator[str]:
    """Start an engine without any image, and yield its address as DOCKER_HOST takes it."""
    with tempfile.TemporaryDirectory(prefix="arena-") as folder, ExitStack() as stack:
        address = f"unix://{folder}/sock"
        # With `--bridge none` it would remove the first engine's.
        stack.enter_context(_bridge())
        words = ["dockerd", "--host", address, "--bridge", _BRIDGE, "--ip-forward=false"]
        words += ["--iptables=false", "--ip-masq=false"]  # the rules are the first engine's
        words += ["--default-address-pool", "base=10.214.0.0/16,size=24"]
        for name in ("data-root", "exec-root", "pidfile"):
            words += [f"--{name}", f"{folder}/{name}"]
        said = stack.enter_context(Path(folder, "said").open("wb"))
        started = stack.enter_context(subprocess.Popen(words, stderr=said))
        stack.callback(started.terminate)
        _until_listening(Path(folder, "sock"))
        yield address


@contextmanager
def _bridge() -> Iterator[None]:
    """Keep a bridge for containers without a network of their own, of which there are none."""
    _ip("link", "add", _BRIDGE, "type", "bridge")
    try:
        _ip("address", "add", "10.213.0.1/24", "dev", _BRIDGE)
        yield
    finally:
        _ip("link", "delete", _BRIDGE)


def _ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True)


def _until_listening(path: Path) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN_S
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as tried, suppress(OSError):
            tried.connect(str(path))
            return
    raise TimeoutError("dockerd does not listen")
