"""Runs inside the browser's network namespace: its keeper, and the way in.

A bare interpreter runs this file, which imports nothing of Arena, so that it starts in 20 ms.

    namespace_keeper.py keep FD              makes a namespace; hands out sockets over the Unix
                                             socket FD: bound ones to listen on, and fresh ones to
                                             connect with
    namespace_keeper.py enter PID COMMAND …  joins a keeper's namespace and becomes the command
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Final

READY: Final = b"ready"
LISTEN: Final = b"listen"
CONNECT: Final = b"connect"
_LOOPBACK: Final = "127.0.0.1"
_ANSWER_BYTES: Final = 512

# linux/sched.h, linux/rtnetlink.h, linux/if.h, linux/if_link.h, linux/veth.h
_NEWUSER, _NEWNET = 0x10000000, 0x40000000
_NEWLINK, _NEWADDR, _NEWROUTE = 16, 20, 24
_REQUEST, _ACK, _EXCL, _CREATE = 0x1, 0x4, 0x200, 0x400
_IFNAME, _LINKINFO, _INFO_KIND, _INFO_DATA, _INFO_PEER = 3, 18, 1, 2, 1
_IFA_ADDRESS, _IFA_LOCAL, _RTA_OIF = 1, 2, 4
_IFF_UP, _MAIN_TABLE, _BOOT, _LINK_SCOPE, _UNICAST = 0x1, 254, 3, 253, 1
_HEAD, _LINK, _ADDR, _ROUTE = "=IHHII", "=BxHiII", "=BBBBi", "=BBBBBBBBI"
_NO_IPV6: Final = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
# An address for documentation (RFC 5737), which belongs to nobody.
_ADDRESS: Final = bytes((192, 0, 2, 2))
_PREFIX: Final = 24


def keep(control: socket.socket) -> None:
    """Make a namespace, then a socket in it for each request, until the other side is gone."""
    try:
        _unshare()
        _furnish()
    except OSError as error:
        control.sendall(f"{error.strerror} ({error.filename or 'unshare'})".encode())
        return
    control.sendall(READY)
    while asked := control.recv(_ANSWER_BYTES):
        with socket.socket() as made:
            if asked == LISTEN:
                made.bind((_LOOPBACK, 0))
            socket.send_fds(control, [asked], [made.fileno()])


def enter(keeper: str, command: list[str]) -> None:
    """Join the namespace of a keeper, and become the command."""
    own_user = Path("/proc/self/ns/user").stat().st_ino
    kinds = [("user", _NEWUSER), ("net", _NEWNET)]
    if Path(f"/proc/{keeper}/ns/user").stat().st_ino == own_user:
        del kinds[0]
    for name, kind in kinds:
        opened = os.open(f"/proc/{keeper}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC)
        _call("setns", opened, kind)
        os.close(opened)
    os.execv(command[0], command)  # noqa: S606  no shell is wanted


def _unshare() -> None:
    """Leave the machine's network: as root directly, otherwise in a user namespace of one user."""
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", _NEWNET)
    except PermissionError:
        _call("unshare", _NEWUSER | _NEWNET)
        Path("/proc/self/setgroups").write_bytes(b"deny")
        Path("/proc/self/uid_map").write_bytes(b"%d %d 1" % (user, user))
        Path("/proc/self/gid_map").write_bytes(b"%d %d 1" % (group, group))


def _furnish() -> None:
    """Bring the loopback up, and a cable from this namespace to itself, with address and route.

    The cable leads nowhere. Without it Chromium takes itself for offline and tells pages so. IPv6
    is off: it would give the cable an address a second later, and Chromium breaks off its requests
    when an address appears.
    """
    if _NO_IPV6.exists():
        _NO_IPV6.write_bytes(b"1")
    _set_up("lo")
    _lay_cable("eth0", "eth1")
    _set_up("eth0")
    _set_up("eth1")
    cable = socket.if_nametoindex("eth0")
    _give_address(cable, _ADDRESS)
    route = struct.pack(
        _ROUTE, socket.AF_INET, 0, 0, 0, _MAIN_TABLE, _BOOT, _LINK_SCOPE, _UNICAST, 0
    )
    _tell(_NEWROUTE, _CREATE | _EXCL, route + _attribute(_RTA_OIF, struct.pack("=i", cable)))


def _set_up(interface: str) -> None:
    index = socket.if_nametoindex(interface)
    _tell(_NEWLINK, 0, struct.pack(_LINK, socket.AF_UNSPEC, 0, index, _IFF_UP, _IFF_UP))


def _lay_cable(one_end: str, other_end: str) -> None:
    """Make a pair of veth interfaces."""
    link = struct.pack(_LINK, socket.AF_UNSPEC, 0, 0, 0, 0)
    peer = _attribute(_INFO_PEER, link + _attribute(_IFNAME, other_end.encode() + b"\0"))
    kind = _attribute(_INFO_KIND, b"veth") + _attribute(_INFO_DATA, peer)
    name = _attribute(_IFNAME, one_end.encode() + b"\0")
    _tell(_NEWLINK, _CREATE | _EXCL, link + name + _attribute(_LINKINFO, kind))


def _give_address(interface: int, address: bytes) -> None:
    body = struct.pack(_ADDR, socket.AF_INET, _PREFIX, 0, 0, interface)
    values = _attribute(_IFA_LOCAL, address) + _attribute(_IFA_ADDRESS, address)
    _tell(_NEWADDR, _CREATE | _EXCL, body + values)


def _tell(kind: int, flags: int, body: bytes) -> None:
    """Have the kernel change interfaces, addresses or routes; OSError if it refuses."""
    head = struct.pack(_HEAD, 16 + len(body), kind, _REQUEST | _ACK | flags, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.send(head + body)
        answer = kernel.recv(4096)
    failure = -struct.unpack_from("=i", answer, 16)[0]
    if failure:
        raise OSError(failure, os.strerror(failure), "interfaces")


def _attribute(kind: int, value: bytes) -> bytes:
    size = 4 + len(value)
    return struct.pack("=HH", size, kind) + value + bytes(-size % 4)


def _call(name: str, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        failure = ctypes.get_errno() or errno.EINVAL
        raise OSError(failure, os.strerror(failure), name)


if __name__ == "__main__":
    verb, which, *words = sys.argv[1:]
    if verb == "keep":
        keep(socket.socket(fileno=int(which)))
    else:
        enter(which, words)
