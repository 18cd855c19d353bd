"""The short way to a container's packet filter: root on the engine's own machine does it itself.

A thread that ends right after joins the container's network namespace and opens a socket there; a
namespace belongs to a thread, so the process stays where it is.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
import threading
from pathlib import Path
from typing import Final

from arena_core.errors import EngineError

_NEWNET: Final = 0x40000000
_NETFILTER: Final = 12
_ERROR: Final = 2
_ANSWER_S: Final = 10.0
_BYTES: Final = 65_536


def is_in_reach(pid: int, container_id: str) -> bool:
    """Whether a container's first process is one of this machine, and its namespace open to us."""
    if sys.platform != "linux" or os.geteuid() != 0 or pid <= 0:
        return False
    try:
        return container_id in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
    except OSError:
        return False  # another machine's engine


def send(pid: int, batch: bytes, answers: int) -> None:
    """Send a batch to the packet filter of a process's network, and read so many answers.

    Raises:
        EngineError: the kernel refuses, or the network cannot be entered.
    """
    try:
        with _socket_in(pid) as kernel:
            kernel.settimeout(_ANSWER_S)
            kernel.send(batch)
            while answers > 0:
                answers -= _accepted(kernel.recv(_BYTES))
    except OSError as error:
        message = f"the kernel refuses: {error.strerror or error}"
        raise EngineError(message) from error


def _accepted(news: bytes) -> int:
    count = 0
    while len(news) >= 20:  # noqa: PLR2004  a head and a number
        length, kind = struct.unpack_from("=IH", news)
        if kind == _ERROR:
            (failure,) = struct.unpack_from("=i", news, 16)
            if failure:
                raise OSError(-failure, os.strerror(-failure))
            count += 1
        news = news[(length + 3) & ~3 :]
    return count


def _socket_in(pid: int) -> socket.socket:
    made: list[socket.socket | OSError] = []

    def enter() -> None:
        try:
            made.append(_entered(pid))
        except OSError as error:
            made.append(error)

    thread = threading.Thread(target=enter, name="arena-engine: packet filter")
    thread.start()
    thread.join()
    if isinstance(made[0], OSError):
        raise made[0]
    return made[0]


def _entered(pid: int) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    opened = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(opened, _NEWNET) != 0:
            failure = ctypes.get_errno()
            raise OSError(failure, os.strerror(failure))
        return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER)
    finally:
        os.close(opened)
