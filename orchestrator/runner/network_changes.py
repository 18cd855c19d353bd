"""The network interfaces of this machine: wait until they stand still.

Chromium breaks off its requests whenever an address of the machine appears or goes, and each
container that starts brings one. An attempt that is repeated at once would meet the next.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Final

STILL_S: Final = 2.0
PATIENCE_S: Final = 20.0
# RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR of linux/rtnetlink.h.
_GROUPS: Final = 0x1 | 0x10 | 0x100
_READ_BYTES: Final = 65_536


async def await_stillness(still_s: float = STILL_S, patience_s: float = PATIENCE_S) -> None:
    """Return when the kernel reported no change for `still_s`, at the latest after `patience_s`.

    Where the kernel does not report (another system, a sandbox), it returns at once.
    """
    try:
        with _news() as news:
            async with asyncio.timeout(patience_s):
                while await _told_within(news, still_s):
                    pass
    except (TimeoutError, OSError):
        return


async def _told_within(news: socket.socket, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await asyncio.get_running_loop().sock_recv(news, _READ_BYTES)
    except TimeoutError:
        return False
    return True


def _news() -> socket.socket:
    """Return a socket on which the kernel reports interfaces and addresses, to any user."""
    if sys.platform != "linux":
        raise OSError
    news = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    news.bind((0, _GROUPS))
    return news
