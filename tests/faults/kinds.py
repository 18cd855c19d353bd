"""Faults of a run, by area: each strikes something of that run, or finds nothing there.

What a fault strikes is found by the run's owner label, by the process that plays it and its
children, or by the socket between that process and the engine: never by a name that another run on
the same machine could have.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, Self

from faults.clock import RunClock
from faults.scarcity import OwnDisk, starve, starve_container
from sabotage.engine_cli import containers_of, docker
from sabotage.relay import Relay
from support.agents.arena_process import ArenaProcess, descendants
from support.agents.scripted_model import BreaksOff, Fails, HangsUp, ScriptedReply, Sends

# While something stands still: longer than a step, shorter than any deadline.
_STILL_S: Final = 2.0
# As long as an episode of a small task takes: something is written meanwhile.
_FULL_S: Final = 5.0
_JUMP_S: Final = 3600
_REWIND: Final = r"^POST \S+/kill\?signal=USR1"
_CREATE: Final = r"^POST \S+/containers/create"
_START: Final = r"^POST \S+/containers/\S+/start"
_REMOVE: Final = r"^DELETE \S+/containers/"
_ANYTHING: Final = r"^(GET|POST|DELETE) "
_KILL_ONE_INSIDE: Final = (
    "import os, random, signal\n"
    "own = os.getpid()\n"
    "pids = [int(n) for n in os.listdir('/proc') if n.isdigit() and int(n) not in (1, own)]\n"
    "os.kill(random.choice(pids), signal.SIGKILL)\n"
)
# Sent from where the browser is, as a page's attacker would: the gateway listens there.
_AT_THE_GATEWAY: Final = """
import socket, struct, sys
how, data = sys.argv[1], bytes.fromhex(sys.argv[2])
ports = set()
for line in open("/proc/net/tcp").read().splitlines()[1:]:
    local, state = line.split()[1], line.split()[3]
    if state == "0A" and local.startswith("0100007F:"):
        ports.add(int(local.split(":")[1], 16))
for port in ports:
    for _ in range(50 if how == "many" else 1):
        with socket.create_connection(("127.0.0.1", port), 2) as one:
            one.sendall(data)
            if how == "rest":
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
print(len(ports))
"""
_REQUEST: Final = b"GET http://wiki.arena.test/ HTTP/1.1\r\nHost: wiki.arena.test\r\n\r\n"


@dataclass(slots=True)
class ModelFaults:
    """What the model's endpoint does in place of its next replies."""

    _next: list[tuple[ScriptedReply, threading.Event]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def plan(self, reply: ScriptedReply) -> threading.Event:
        """Answer one request so; return what is set then."""
        met = threading.Event()
        with self._lock:
            self._next.append((reply, met))
        return met

    def take(self) -> ScriptedReply | None:
        """Return what happens to the request that has come; None where it is answered."""
        with self._lock:
            if not self._next:
                return None
            reply, met = self._next.pop()
        met.set()
        return reply


@dataclass(frozen=True, slots=True)
class Scene:
    """A run as it is played: all that its faults may strike.

    Attributes:
        owner: whose containers are its own.
        process: what plays it.
        relay: between that and the engine.
        model: None where its agent asks no model.
        disks: those that are its own, by what lies there: `run`, `temporary`.
        clock: of the process; None where it is the machine's.
    """

    owner: str
    process: ArenaProcess
    relay: Relay
    model: ModelFaults | None
    dice: Random
    disks: Mapping[str, OwnDisk] = field(default_factory=dict)
    clock: RunClock | None = None

    def a_container(self) -> str | None:
        found = containers_of(self.owner)
        return self.dice.choice(found) if found else None

    def a_process(self, part: str, *, without: str = "\0") -> int | None:
        """Return a descendant of the run's process whose command line has a part."""
        found = sorted(
            pid
            for pid, line in descendants(self.process.pid).items()
            if part in line and without not in line
        )
        return self.dice.choice(found) if found else None


@dataclass(frozen=True, slots=True)
class Struck:
    """What a fault struck; `met` is set once it is, where that takes something to come by."""

    what: str
    met: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def now(cls, what: str) -> Self:
        """Return what was struck at once."""
        struck = cls(what)
        struck.met.set()
        return struck


# Returns None where there was nothing to strike.
Strike = Callable[[Scene], Struck | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One way in which something breaks."""

    area: str
    name: str
    strike: Strike


def _on_container(*words: str, then: tuple[str, ...] = ()) -> Strike:
    def strike(scene: Scene) -> Struck | None:
        container = scene.a_container()
        if container is None:
            return None
        try:
            docker(*words, container)
        except subprocess.CalledProcessError:
            return None  # it went by itself in this moment
        if then:
            threading.Event().wait(_STILL_S)
            with suppress(subprocess.CalledProcessError):
                docker(*then, container)
        return Struck.now(f"container {container[:12]}")

    return strike


def _inside_a_container(scene: Scene) -> Struck | None:
    container = scene.a_container()
    if container is None:
        return None
    try:
        docker("exec", container, "python3", "-c", _KILL_ONE_INSIDE)
    except subprocess.CalledProcessError:
        return None
    return Struck.now(f"a process of container {container[:12]}")


def _on_process(part: str, number: signal.Signals, *, without: str = "\0") -> Strike:
    def strike(scene: Scene) -> Struck | None:
        pid = scene.a_process(part, without=without)
        if pid is None:
            return None
        try:
            os.kill(pid, number)
            if number is signal.SIGSTOP:
                threading.Event().wait(_STILL_S)
                os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return None
        return Struck.now(f"process {pid}")

    return strike


def _refused(asked: str, times: int = 1) -> Strike:
    def strike(scene: Scene) -> Struck:
        return Struck("a request", scene.relay.refuse(asked, times=times))

    return strike


def _cut_at(asked: str) -> Strike:
    def strike(scene: Scene) -> Struck:
        return Struck("a request", scene.relay.on(asked, before=scene.relay.cut))

    return strike


def _frozen(scene: Scene) -> Struck:
    scene.relay.freeze_for(_STILL_S)
    return Struck.now(f"for {_STILL_S:g} s")


def _cut(scene: Scene) -> Struck:
    scene.relay.cut()
    return Struck.now("all connections to it")


def _network_of(process: str) -> Path:
    return Path(f"/proc/{process}/ns/net").readlink()


def _at_the_gateway(how: str, data: bytes) -> Strike:
    def strike(scene: Scene) -> Struck | None:
        browser = scene.a_process("--proxy-server") or scene.a_process("--remote-debugging-pipe")
        if browser is None or os.geteuid() != 0:
            return None
        words = ("nsenter", "--target", str(browser), "--net", sys.executable, "-c")
        try:
            if _network_of(str(browser)) == _network_of("self"):
                return None  # the ports of all programs of this machine are there
        except FileNotFoundError:
            return None  # it ended in this moment
        done = subprocess.run(
            [*words, _AT_THE_GATEWAY, how, data.hex()],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        ports = done.stdout.strip()
        return Struck.now(f"{ports} gateways") if ports not in {"", "0"} else None

    return strike


def _asked(reply: ScriptedReply) -> Strike:
    def strike(scene: Scene) -> Struck | None:
        if scene.model is None:
            return None
        return Struck("a reply", scene.model.plan(reply))

    return strike


def _killed(scene: Scene) -> Struck:
    scene.process.kill()
    return Struck.now(f"process {scene.process.pid}")


def _interrupted(scene: Scene) -> Struck:
    scene.process.interrupt()
    return Struck.now(f"process {scene.process.pid} and its children")


def _stopped(scene: Scene) -> Struck | None:
    try:
        os.kill(scene.process.pid, signal.SIGSTOP)
        threading.Event().wait(_STILL_S)
        os.kill(scene.process.pid, signal.SIGCONT)
    except ProcessLookupError:
        return None
    return Struck.now(f"process {scene.process.pid}")


def _full(disk: str) -> Strike:
    def strike(scene: Scene) -> Struck | None:
        if disk not in scene.disks:
            return None
        with scene.disks[disk].full() as filled:
            due = time.monotonic() + _FULL_S
            while filled and time.monotonic() < due and not scene.process.has_ended:
                threading.Event().wait(0.1)
        return Struck.now(f"the disk of {disk}") if filled else None

    return strike


def _starved_container(scene: Scene) -> Struck | None:
    container = scene.a_container()
    if container is None or os.geteuid() != 0:
        return None
    try:
        killed = starve_container(container)
    except (OSError, subprocess.CalledProcessError):
        return None  # it went by itself in this moment
    return Struck.now(f"a process of container {container[:12]}") if killed else None


def _starved_browser(scene: Scene) -> Struck | None:
    browser = scene.a_process("chrom", without="--type=")
    if browser is None:
        return None
    try:
        killed = starve([browser, *descendants(browser)], _FULL_S)
    except (FileNotFoundError, ProcessLookupError):
        return None  # it ended in this moment
    return Struck.now(f"browser {browser} or a renderer of it") if killed else None


def _clock_set(seconds: int) -> Strike:
    def strike(scene: Scene) -> Struck | None:
        if scene.clock is None:
            return None
        with scene.clock.ahead_by(seconds):
            threading.Event().wait(_STILL_S)
        return Struck.now(f"for {_STILL_S:g} s")

    return strike


KINDS: Final = (
    Kind("reset", "rewind refused", _refused(_REWIND)),
    Kind("reset", "create refused", _refused(_CREATE)),
    Kind("reset", "start refused", _refused(_START)),
    Kind("reset", "remove refused", _refused(_REMOVE)),
    Kind("reset", "cut off at a rewind", _cut_at(_REWIND)),
    Kind("reset", "cut off at a create", _cut_at(_CREATE)),
    Kind("container", "killed", _on_container("kill")),
    Kind("container", "paused", _on_container("pause", then=("unpause",))),
    Kind("container", "removed", _on_container("rm", "--force")),
    Kind("container", "a process inside killed", _inside_a_container),
    Kind("container", "out of memory", _starved_container),
    Kind("engine", "connections cut", _cut),
    Kind("engine", "silent for a moment", _frozen),
    Kind("engine", "three errors", _refused(_ANYTHING, 3)),
    Kind("browser", "killed", _on_process("chrom", signal.SIGKILL, without="--type=")),
    Kind("browser", "a renderer killed", _on_process("--type=renderer", signal.SIGKILL)),
    Kind("browser", "a renderer stopped", _on_process("--type=renderer", signal.SIGSTOP)),
    Kind("browser", "what starts renderers killed", _on_process("--type=zygote", signal.SIGKILL)),
    Kind("browser", "out of memory", _starved_browser),
    Kind("disk", "the run's full", _full("run")),
    Kind("disk", "that of temporary files full", _full("temporary")),
    Kind("clock", "an hour ahead and back", _clock_set(_JUMP_S)),
    Kind("clock", "an hour behind and back", _clock_set(-_JUMP_S)),
    Kind("worker", "Playwright's driver killed", _on_process("/driver/node", signal.SIGKILL)),
    Kind("gateway", "garbage", _at_the_gateway("end", b"\x16\x03\x01\x00\x00garbage\r\n\r\n")),
    Kind("gateway", "half a request", _at_the_gateway("end", _REQUEST[:30])),
    Kind("gateway", "reset at once", _at_the_gateway("rest", _REQUEST)),
    Kind("gateway", "fifty requests", _at_the_gateway("many", _REQUEST)),
    Kind("model", "an error of its server", _asked(Fails(500))),
    Kind("model", "too many requests", _asked(Fails(429))),
    Kind("model", "hung up", _asked(HangsUp())),
    Kind("model", "broken off", _asked(BreaksOff())),
    Kind("model", "no JSON", _asked(Sends(b"<html>"))),
    Kind("driver", "killed", _killed),
    Kind("driver", "interrupted", _interrupted),
    Kind("driver", "stopped for a moment", _stopped),
)
