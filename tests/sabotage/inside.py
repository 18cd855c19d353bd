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
# Stops a container's supervisor as soon as it writes to a file of the live state: in the middle of
# the copy. It runs outside, as root: a rewind ends every other process inside.
_AMBUSH: Final = r"""
import os, signal, sys
first, start, folder = sys.argv[1:]
def space(pid):
    return os.readlink(f'/proc/{pid}/ns/pid')
def supervisors():
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            line = open(f'/proc/{pid}/cmdline').read().replace('\0', ' ')
            if line.startswith(start) and space(pid) == space(first):
                yield int(pid)
        except OSError:
            continue
[pid] = supervisors()
print('waiting', flush=True)
while True:
    for name in os.listdir(f'/proc/{pid}/fd'):
        try:
            path = os.readlink(f'/proc/{pid}/fd/{name}')
            if not path.startswith(folder + '/'):
                continue
            flags = int(open(f'/proc/{pid}/fdinfo/{name}').read().split('flags:')[1].split()[0], 8)
        except OSError:
            continue
        if flags & os.O_WRONLY:  # a proof only reads
            os.kill(pid, signal.SIGSTOP)
            print(path, flush=True)
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


def ambush(container_id: str, folder: str) -> Callable[[], str]:
    """Wait for the supervisor to write to a file of a folder, and stop it there.

    Returns once it is waiting; what is returned waits until it has struck, and says at which file.
    Skips the test where this user cannot see what a container's process has open.
    """
    if os.geteuid() != 0:
        pytest.skip("only root sees which files a container's process has open")
    start, _ = Part.SUPERVISOR.value
    first = docker("inspect", "--format", "{{.State.Pid}}", container_id).strip()
    process = subprocess.Popen(
        [sys.executable, "-c", _AMBUSH, first, start, folder], stdout=subprocess.PIPE, text=True
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
        assert path, "it was never seen to copy"
        return path

    return struck
