"""A packet filter inside a container's own network: it answers, and opens nothing.

What leaves is on the container's loopback, or belongs to a TCP connection that somebody outside
opened; anything else is refused at once, whatever its time to live and wherever it goes: the
internet, services on the engine's machine, neighbours. Whoever is inside cannot change that, since
containers have no capability and gain none.

The rules lie in the container's network namespace, so nothing of the machine's own firewall is
touched. Root on the engine's machine makes them itself (`netlink`); everybody else, wherever
containers can be made, by a second container that shares the namespace, has the one capability for
it, and ends. Its one tool is the Perl that is part of every Debian; what is sent to the kernel
(nf_tables, linux/netfilter/nf_tables.h) is made here.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena_core.errors import EngineError
from orchestrator.sandbox.engine.containers import ContainerKind, Labels

if TYPE_CHECKING:
    from docker import APIClient


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


def send_inside(pid: int, batch: bytes, answers: int) -> None:
    """Send a batch to the packet filter of a process's network, and read so many answers."""
    try:
        with _socket_in(pid) as kernel:
            kernel.settimeout(_ANSWER_S)
            kernel.send(batch)
            while answers > 0:
                answers -= _accepted(kernel.recv(_BYTES))
    except OSError as error:
        raise EngineError(f"the kernel refuses: {error.strerror or error}") from error


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


_DEADLINE_S: Final = 30
_TABLE, _CHAIN = b"arena\0", b"outward\0"

# linux/netfilter/nfnetlink.h and linux/netlink.h
_BEGIN, _END, _NFTABLES = 0x10, 0x11, 10
_REQUEST, _ACK, _CREATE, _APPEND = 0x1, 0x4, 0x400, 0x800
_INET, _NESTED = 1, 0x8000
_NEW_TABLE, _DELETE_TABLE, _NEW_CHAIN, _NEW_RULE = 0, 2, 3, 6
_LOCAL_OUT, _DROP, _ACCEPT = 3, 0, 1
_REGISTER, _VERDICT = 1, 0
_OUT_INTERFACE, _PROTOCOL = 5, 16
_EQUAL, _UNEQUAL = 0, 1
_TRANSPORT_HEADER, _TCP_FLAGS_AT, _SYN, _SYN_OR_ACK = 2, 13, 0x02, 0x12
_LOOPBACK_INDEX, _TCP = 1, 6
_REJECT_ANY_FAMILY, _PROHIBITED = 2, 3

# Sends a batch to the kernel's packet filter, and waits for as many answers as it asked for.
_SEND: Final = r"""
my ($batch, $answers) = @ARGV;
$SIG{ALRM} = sub { die "the kernel does not answer\n" };
alarm 10;
socket(my $kernel, 16, 3, 12) or die "no netlink: $!\n";
send($kernel, pack("H*", $batch), 0, pack("SSLL", 16, 0, 0, 0)) or die "not sent: $!\n";
while ($answers > 0) {
    defined recv($kernel, my $news, 65536, 0) or die "not answered: $!\n";
    while (length $news >= 16) {
        my ($length, $kind) = unpack("LS", $news);
        my $failure = $kind == 2 ? unpack("l", substr($news, 16, 4)) : 0;
        if ($failure) { $! = -$failure; die "the kernel refuses: $!\n" }
        $answers-- if $kind == 2;
        $news = substr($news, ($length + 3) & ~3);
    }
}
"""


def shut_in(api: APIClient, image: str, labels: Mapping[str, str], container_id: str) -> None:
    """Keep a running container from opening connections; one that has ended needs it no more.

    Args:
        image: the container's, for the second one.
        labels: the container's; its owner's is passed on, so that a sweep finds what was left.
    """
    from docker.errors import APIError  # noqa: PLC0415  the SDK loads on first use

    try:
        pid = int(api.inspect_container(container_id)["State"]["Pid"])
        if is_in_reach(pid, container_id):
            send_inside(pid, *rules())
        else:
            _send(api, image, labels, f"container:{container_id}")
    except (APIError, EngineError):
        if api.inspect_container(container_id)["State"]["Running"]:
            raise


def try_packet_filter(api: APIClient, image: str) -> None:
    """Make the packet filter in a network of its own, which shows whether it can be made here."""
    _send(api, image, {}, "none")


def rules() -> tuple[bytes, int]:
    """Return the batch for the kernel, and to how many of its messages the kernel answers."""
    accept = _expression(
        b"immediate",
        _number(1, _VERDICT) + _nest(2, _nest(2, _number(1, _ACCEPT))),
    )
    messages = [
        # Made so that there is one to remove: what was there before goes, and at one moment.
        _message(_NEW_TABLE, _CREATE, _attribute(1, _TABLE)),
        _message(_DELETE_TABLE, 0, _attribute(1, _TABLE)),
        _message(_NEW_TABLE, _CREATE, _attribute(1, _TABLE)),
        _message(
            _NEW_CHAIN,
            _CREATE,
            _attribute(1, _TABLE)
            + _attribute(3, _CHAIN)
            + _nest(4, _number(1, _LOCAL_OUT) + _number(2, 0))
            + _number(5, _DROP)
            + _attribute(7, b"filter\0"),
        ),
        _rule(_meta(_OUT_INTERFACE), _compare(_EQUAL, struct.pack("=I", _LOOPBACK_INDEX)), accept),
        _rule(
            _meta(_PROTOCOL),
            _compare(_EQUAL, bytes((_TCP,))),
            _load_tcp_flags(),
            _keep_bits(_SYN_OR_ACK),
            _compare(_UNEQUAL, bytes((_SYN,))),
            accept,
        ),
        _rule(
            _expression(
                b"reject", _number(1, _REJECT_ANY_FAMILY) + _attribute(2, bytes((_PROHIBITED,)))
            )
        ),
    ]
    around = struct.pack(">BBH", 0, 0, _NFTABLES)
    batch = (_header(_BEGIN, 0, around), *messages, _header(_END, 0, around))
    return b"".join(batch), len(messages)


def _send(api: APIClient, image: str, labels: Mapping[str, str], network: str) -> None:
    batch, answers = rules()
    owner = {Labels.OWNER: labels[Labels.OWNER]} if Labels.OWNER in labels else {}
    made: dict[str, Any] = api.create_container(
        image=image,
        labels={**owner, Labels.KIND: ContainerKind.FILTER},
        user="0",
        entrypoint=["perl", "-e", _SEND, batch.hex(), str(answers)],
        command=[],
        host_config=api.create_host_config(
            network_mode=network,
            cap_drop=["ALL"],
            cap_add=["NET_ADMIN"],
            security_opt=["no-new-privileges:true"],
            read_only=True,
            mem_limit="64m",
            pids_limit=8,
        ),
    )
    try:
        api.start(made["Id"])
        code = api.wait(made["Id"], timeout=_DEADLINE_S)["StatusCode"]
        if code != 0:
            said = api.logs(made["Id"]).decode(errors="replace").strip()
            raise EngineError(said or f"its packet filter ended with exit code {code}")
    finally:
        api.remove_container(made["Id"], force=True, v=True)


def _rule(*expressions: bytes) -> bytes:
    where = _attribute(1, _TABLE) + _attribute(2, _CHAIN)
    listed = b"".join(_nest(1, expression) for expression in expressions)
    return _message(_NEW_RULE, _CREATE | _APPEND, where + _nest(4, listed))


def _meta(key: int) -> bytes:
    return _expression(b"meta", _number(1, _REGISTER) + _number(2, key))


def _load_tcp_flags() -> bytes:
    where = _number(2, _TRANSPORT_HEADER) + _number(3, _TCP_FLAGS_AT) + _number(4, 1)
    return _expression(b"payload", _number(1, _REGISTER) + where)


def _keep_bits(mask: int) -> bytes:
    registers = _number(1, _REGISTER) + _number(2, _REGISTER) + _number(3, 1)
    values = _nest(4, _attribute(1, bytes((mask,)))) + _nest(5, _attribute(1, bytes(1)))
    return _expression(b"bitwise", registers + values)


def _compare(how: int, value: bytes) -> bytes:
    data = _nest(3, _attribute(1, value))
    return _expression(b"cmp", _number(1, _REGISTER) + _number(2, how) + data)


def _expression(name: bytes, data: bytes) -> bytes:
    return _attribute(1, name + b"\0") + _nest(2, data)


def _message(kind: int, flags: int, body: bytes) -> bytes:
    family = struct.pack(">BBH", _INET, 0, 0)
    return _header(_NFTABLES << 8 | kind, _ACK | flags, family + body)


def _header(kind: int, flags: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, _REQUEST | flags, 0, 0) + body


def _nest(kind: int, value: bytes) -> bytes:
    return _attribute(kind | _NESTED, value)


def _number(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack(">I", value))


def _attribute(kind: int, value: bytes) -> bytes:
    size = 4 + len(value)
    return struct.pack("=HH", size, kind) + value + bytes(-size % 4)
