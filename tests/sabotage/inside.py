"""The processes inside a supervised container: found by what they run, and signalled from there.

Signals go in by `docker exec`, as the container's own user: no root is needed on this machine, but
to stop a supervisor in the middle of its work.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from enum import Enum
from typing import Final

import pytest
from sabotage.engine_cli import docker, start_inside

_LIMIT_S: Final = 30.0


class Part(Enum):
    """A kind of process of the shop: how its command line begins, and whether it was forked off."""

    SUPERVISOR = ("python3 -IS /opt/arena/supervisor", False)
    DATABASE = ("mariadbd ", False)
    APPLICATION = ("python3 -m harbour.serve ", False)
    WORKER = ("python3 -m harbour.serve ", True)
    WEB = ("nginx: master ", False)
    WEB_WORKER = ("nginx: worker ", True)


_FIND: Final = r"""
import os, re, signal, sys
def running():
    for name in os.listdir('/proc'):
        if name.isdigit() and int(name) != os.getpid():
            try:
                line = open(f'/proc/{name}/cmdline').read().replace('\0', ' ')
                parent = open(f'/proc/{name}/stat').read().rpartition(')')[2].split()[1]
            except OSError:
                continue
            yield int(name), int(parent), line
def found(start, forked):
    kin = {pid: parent for pid, parent, line in running() if line.startswith(start)}
    if start.startswith('nginx'):
        return sorted(kin)
    return sorted(pid for pid, parent in kin.items() if (parent in kin) == forked)
"""
_SIGNAL: Final = (
    _FIND
    + r"""
pids = found(sys.argv[1], sys.argv[2] == 'True')
if pids:
    print('found', pids, flush=True)
for pid in pids:
    os.kill(pid, getattr(signal, sys.argv[3]))
"""
)
# Signals a container's supervisor at a moment of its work. It runs outside, as root: a rewind ends
# every other process inside, and a state is taken while all of them stand still.
_AMBUSH: Final = r"""
import os, signal, sys
first, start, folder, moment, name = sys.argv[1:]
def space(pid):
    return os.readlink(f'/proc/{pid}/ns/pid')
def inside():
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if space(pid) == space(first):
                yield int(pid), open(f'/proc/{pid}/cmdline').read().replace('\0', ' ')
        except OSError:
            continue
def letter(pid):
    return open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[0]
def opened():
    for number in os.listdir(f'/proc/{pid}/fd'):
        try:
            path = os.readlink(f'/proc/{pid}/fd/{number}')
            flags = open(f'/proc/{pid}/fdinfo/{number}').read().split('flags:')[1].split()[0]
        except OSError:
            continue
        if path.startswith(folder + '/'):
            yield path, int(flags, 8) & os.O_WRONLY
[pid] = [pid for pid, line in inside() if line.startswith(start)]
others = [other for other, _ in inside() if other not in (pid, int(first))]
def standing():
    for other in others:
        try:
            if letter(other) == 'T':
                yield f'process {other} stands still'
        except OSError:
            continue
def serving():
    for other, line in inside():
        if line.startswith('mariadbd ') and other not in others:
            yield f'process {other} is another database'
moments = {
    'stand': standing,
    'read': lambda: (path for path, writes in opened() if not writes),
    'copy': lambda: (path for path, writes in opened() if writes),
    'start': serving,
}
print('waiting', flush=True)
while True:
    for what in moments[moment]():
        os.kill(pid, getattr(signal, name))
        print(what, flush=True)
        raise SystemExit
"""
_ALL: Final = _FIND + "print('\\n'.join(sorted(line for _, _, line in running())))"


def signal_inside(container_id: str, part: Part, name: str) -> None:
    """Send a signal to every process of a kind; whoever sends it may die with the container."""
    start, forked = part.value
    argv = ("python3", "-c", _SIGNAL, start, str(forked), name)
    with start_inside(container_id, *argv) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        process.wait(_LIMIT_S)
    assert said.startswith("found"), f"no process `{start}` inside"


def processes_inside(container_id: str) -> list[str]:
    """Return the command lines of all processes of a container, sorted."""
    return docker("exec", container_id, "python3", "-c", _ALL).splitlines()


def ambush(
    container_id: str, folder: str, moment: str = "copy", signal: str = "SIGSTOP"
) -> Callable[[], str]:
    """Wait for a moment of the supervisor's work, and stop or kill it there.

    Returns once it is waiting; what is returned waits until it has struck, and says at what. Skips
    the test where this user cannot see what a container's process has open.

    Args:
        folder: of the live state.
        moment: `stand`: another process stands still; `read`, `copy`: it has a file of the folder
            open, to read or to write; `start`: there is another database than before.
        signal: what it gets.
    """
    if os.geteuid() != 0:
        pytest.skip("only root sees which files a container's process has open")
    start, _ = Part.SUPERVISOR.value
    first = docker("inspect", "--format", "{{.State.Pid}}", container_id).strip()
    process = subprocess.Popen(
        [sys.executable, "-c", _AMBUSH, first, start, folder, moment, signal],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = process.stdout
    assert lines.readline() == "waiting\n"

    def struck() -> str:
        limit = threading.Timer(_LIMIT_S, process.kill)
        limit.start()
        try:
            path = lines.readline().strip()
        finally:
            limit.cancel()
            lines.close()
            process.wait(_LIMIT_S)
        assert path, f"the moment `{moment}` was never seen"
        return path

    return struck
