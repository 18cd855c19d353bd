"""The services: how each is started, told apart from its children, stopped and killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable

from config import Config, Ready, Rewind, Service
from failure import Failure
from loop import HANDLED, Loop
from processes import descendants, die_with_parent, everybody, kill_all
from traits import Traits, traits_of

_LISTENER = 3
_STOP_S = 5.0
_TERM_S = 30.0
_NOT_FOUND = 127


class Running:
    """One service and its present process.

    Attributes:
        pid: of the process that was started last; None while there is none.
        stopped: whether it obeyed SIGSTOP.
        ends: whether it was told to, so that its end is no surprise.
        traits: of that process, since it was first ready.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self.pid: int | None = None
        self.stopped = False
        self.ends = False
        self.traits: Traits | None = None
        self.listener: socket.socket | None = None

    def is_stopped(self) -> bool:
        """Whether it stands still."""
        return self.stopped

    def has_ended(self) -> bool:
        """Whether it has no process."""
        return self.pid is None


class Services:
    """All services of an image, in the order of its configuration."""

    def __init__(self, config: Config, loop: Loop, clock: dict[str, str], *, alone: bool) -> None:
        """Read the configuration, and start nothing yet.

        Args:
            config: names the services.
            loop: waits for their events.
            clock: what an environment needs to see the site's time.
            alone: whether every other process of the namespace may be killed at a rewind.
        """
        self._loop = loop
        self._clock = clock
        self._alone = alone
        self._traits = traits_of(os.getpid())
        self._all = tuple(Running(service) for service in config.services)
        self._ended: str | None = None
        loop.on_child(self._reap)

    def listen(self) -> None:
        """Open the sockets that are handed to services.

        Raises:
            Failure: one is taken, or its path cannot be made.
        """
        for running in self._all:
            if running.service.listen and running.listener is None:
                running.listener = _listener(running.service)

    @property
    def paths(self) -> frozenset[str]:
        """Paths that are listened on: they stay while scratch folders are emptied."""
        wanted = (running.service.listen for running in self._all)
        return frozenset(path for path in wanted if path and path.startswith("/"))

    def start(self, *rewinds: Rewind) -> None:
        """Start the services that are of one of these, in order, each ready before the next.

        Raises:
            Failure: one ended, or was not ready within its deadline.
        """
        for running in self._all:
            if running.service.rewind in rewinds and running.pid is None:
                self._start(running)

    def halt(self, *, gently: bool = False) -> None:
        """End whatever may write: the services that restart, and the children of the others.

        In a container of its own that is every process, whoever started it. The parents of recycled
        services stand still, and so fork nothing anew. What waits on a socket of a service that is
        not kept is dropped.

        Args:
            gently: whether services that restart are asked to end first, the last one first.

        Raises:
            Failure: a process did not end or stop; or the supervisor's own limits were changed,
                which all that it starts would inherit.
        """
        self._reap()
        self.check()
        if traits_of(os.getpid()) != self._traits:
            msg = "the supervisor's limits, priority or processors were changed"
            raise Failure(msg)
        for running in self._of(Rewind.RECYCLE):
            os.kill(running.pid or 0, signal.SIGSTOP)
            if not self._loop.until(running.is_stopped, _STOP_S):
                msg = f"service '{running.service.name}' did not stop for the rewind"
                raise Failure(msg)
        for running in reversed(self._of(Rewind.RESTART)):
            running.ends = True
            if gently:
                self._end(running)
        self._kill_writers()
        for running in self._all:
            if running.listener is not None and running.service.rewind is not Rewind.KEEP:
                _drop_waiting(running.listener)

    def replace(self, is_spoilt: Callable[[Service], bool]) -> None:
        """Kill the halted parents that must not fork again; `start` starts them anew.

        These are the ones that `is_spoilt` says, and those whose limits, priority or processors are
        not what they were when they were first ready: their children would inherit them.

        Raises:
            Failure: one did not end; or a kept service was changed like that.
        """
        for running in self._of(Rewind.KEEP):
            if traits_of(running.pid or 0) != running.traits:
                msg = f"the limits of service '{running.service.name}' were changed"
                raise Failure(msg)
        for running in self._of(Rewind.RECYCLE):
            if traits_of(running.pid or 0) != running.traits or is_spoilt(running.service):
                say(
                    f"service '{running.service.name}' is started anew: it was changed from outside"
                )
                running.ends = True
                kill_all([running.pid or 0])
        self._reap()

    def note_traits(self) -> None:
        """Keep what the processes that outlive a rewind are like: they have just become ready."""
        for running in (*self._of(Rewind.RECYCLE), *self._of(Rewind.KEEP)):
            running.traits = running.traits or traits_of(running.pid or 0)

    def go_on(self) -> None:
        """Let the parents of recycled services go on: they notice what they lost, and fork."""
        for running in self._of(Rewind.RECYCLE):
            running.stopped = False
            os.kill(running.pid or 0, signal.SIGCONT)

    def others(self) -> set[int]:
        """Return every process that is the supervisor's matter, without the supervisor."""
        if self._alone:
            return everybody() - {1, os.getpid()}
        return descendants({os.getpid()})

    def note_thaw(self) -> None:
        """Take every service for running again, after all processes stood still."""
        self._reap()
        for running in self._all:
            running.stopped = False

    def check(self) -> None:
        """Raise Failure where a service has ended by itself."""
        if self._ended is not None:
            raise Failure(self._ended)

    def stop(self) -> None:
        """Ask every service to end, last to first, and kill what does not, and what is left."""
        for running in reversed(self._all):
            self._end(running)
        kill_all(descendants({os.getpid()}))
        self._reap()

    def _end(self, running: Running) -> None:
        """Ask a service to end, and wait for that; say so where it does not."""
        if running.pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(running.pid, signal.SIGTERM)
            os.kill(running.pid, signal.SIGCONT)
        if not self._loop.until(running.has_ended, _TERM_S):
            say(f"service '{running.service.name}' did not end within {_TERM_S:.0f} s of TERM")

    def _of(self, rewind: Rewind) -> list[Running]:
        return [one for one in self._all if one.service.rewind is rewind and one.pid is not None]

    def _pids(self, rewind: Rewind) -> list[int]:
        return [one.pid for one in self._of(rewind) if one.pid is not None]

    def _kill_writers(self) -> None:
        """Kill everybody but kept services, their children, and recycled parents."""
        first = self._pids(Rewind.RESTART)[::-1]  # what visitors speak to goes first
        kept = set(self._pids(Rewind.KEEP))
        parents = set(self._pids(Rewind.RECYCLE))
        deadline = time.monotonic() + _STOP_S
        while time.monotonic() < deadline:
            spared = kept | descendants(kept) | parents
            doomed = _alive(self.others() - spared)
            if not doomed:
                return
            kill_all([*(pid for pid in first if pid in doomed), *(doomed - set(first))])
            self._reap()
        msg = "processes are started faster than they can be killed"
        raise Failure(msg)

    def _start(self, running: Running) -> None:
        service = running.service
        running.traits = None
        if service.ready is Ready.START:
            running.pid = _spawn(running, None, self._clock)
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            # In the abstract namespace, under a name of its own at each start: no file to remove,
            # and what an earlier process said late is not heard.
            told.bind("")
            told.setblocking(False)
            running.pid = _spawn(running, told, self._clock)
            ready = False

            def heard() -> None:
                nonlocal ready
                ready = ready or b"READY=1" in told.recv(4096).split(b"\n")

            def may_go_on() -> bool:
                return ready or self._ended is not None

            self._loop.watch(told, heard)
            try:
                if not self._loop.until(may_go_on, service.deadline_s):
                    message = f"service '{service.name}' was not ready in {service.deadline_s:g} s"
                    raise Failure(message)
            finally:
                self._loop.forget(told)
        self.check()

    def _reap(self) -> None:
        """Take notice of every child that ended or stopped; adopted ones are just let go."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for running in self._all:
                if running.pid == pid:
                    self._changed(running, status)

    def _changed(self, running: Running, status: int) -> None:
        if os.WIFSTOPPED(status):
            running.stopped = True
            return
        running.pid = None
        if running.ends:
            running.ends = False
            return
        code = os.waitstatus_to_exitcode(status)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self._ended = self._ended or f"service '{running.service.name}' {how} by itself"


def say(line: str) -> None:
    """Write one line to the container's log."""
    print(f"arena supervisor: {line}", file=sys.stderr, flush=True)


def _spawn(running: Running, told: socket.socket | None, clock: dict[str, str]) -> int:
    """Fork, and become the service in the child."""
    service = running.service
    environment = {**os.environ, **({} if service.host_clock else clock), **service.environment}
    if told is not None:
        environment["NOTIFY_SOCKET"] = "@" + os.fsdecode(told.getsockname()[1:])
    # A signal that comes before the child has let go of the supervisor's handlers waits.
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)
        return pid
    try:
        die_with_parent()
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (*HANDLED, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)
        if running.listener is not None:
            environment |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
            os.dup2(running.listener.fileno(), _LISTENER)
            # dup2 onto itself would leave it close-on-exec.
            os.set_inheritable(_LISTENER, True)
        os.execvpe(  # noqa: S606  becomes the service
            service.command[0], service.command, environment
        )
    except OSError as cause:
        say(f"service '{service.name}' cannot be started: {cause}")
    finally:
        os._exit(_NOT_FOUND)


def _listener(service: Service) -> socket.socket:
    where = service.listen or ""
    try:
        if where.startswith("/"):
            os.makedirs(os.path.dirname(where), exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(where)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(where)
        else:
            host, _, port = where.rpartition(":")
            listener = socket.socket(socket.AF_INET)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, int(port)))
        listener.listen(511)
    except (OSError, ValueError) as cause:
        msg = f"service '{service.name}' cannot listen on {where}: {cause}"
        raise Failure(msg) from cause
    return listener


def _drop_waiting(listener: socket.socket) -> None:
    """Close the connections that nobody accepted yet.

    The service has the same socket. It must find it as it left it: where `accept` no longer waits,
    PHP's workers end at once, and their parent forks new ones without end.
    """
    waits = os.get_blocking(listener.fileno())
    os.set_blocking(listener.fileno(), False)
    try:
        while True:
            try:
                connection, _ = listener.accept()
            except BlockingIOError:
                return
            except ConnectionAbortedError:
                continue
            connection.close()
    finally:
        os.set_blocking(listener.fileno(), waits)


def _alive(pids: set[int]) -> set[int]:
    """Return those that have not ended; one whose parent stands still is not reaped yet."""
    alive = set()
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0]
            threads = len(os.listdir(f"/proc/{pid}/task"))
            if state not in (b"Z", b"X") or threads > 1:
                alive.add(pid)
    return alive
