"""What this machine bears: pressure stall information of its cores, and memory that is free.

The kernel counts for how long something that could run waited for a core
(https://docs.kernel.org/accounting/psi.html). Two looks at its counter say what share of the time
between them that was: nothing is polled. A control group that this process is in, such as a
container's, has limits of its own, and a counter in version 2.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.runs.pace import Load
from orchestrator.sandbox.memory import used_bytes

_STALLED: Final = re.compile(r"^some .*\btotal=(\d+)", re.MULTILINE)
_FIELD: Final = re.compile(r"^(MemTotal|MemAvailable):\s+(\d+) kB", re.MULTILINE)
_FILES: Final = {  # limit, use and statistics in each version of control groups
    "": ("memory.max", "memory.current", "memory.stat"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the kernel counted until a moment.

    Attributes:
        at: by the monotonic clock.
        stalled: seconds in which something waited for a core, of the machine and of the control
            group, each by its file.
    """

    at: float
    stalled: Mapping[Path, float]
    free_bytes: int
    total_bytes: int

    def since(self, before: Look) -> Load:
        """Return what was borne since an earlier look: the worse of machine and control group."""
        seconds = max(self.at - before.at, 1e-9)
        waited = [end - before.stalled.get(of, end) for of, end in self.stalled.items()]
        cpu = min(1.0, max(0.0, max(waited, default=0.0) / seconds))
        return Load(cpu=cpu, free_bytes=self.free_bytes, total_bytes=self.total_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineLoad:
    """Looks at the machine of this process.

    Attributes:
        proc, groups: where the kernel shows processes and control groups.
    """

    proc: Path = Path("/proc")
    groups: Path = Path("/sys/fs/cgroup")
    clock: Callable[[], float] = field(default=time.monotonic)

    def look(self) -> Look | None:
        """Look now; None where the kernel does not count what waits for cores, or shows nothing."""
        stalled: dict[Path, float] = {}
        own = [folder / "cpu.pressure" for folder in self._folders("")]
        for path in (self.proc / "pressure/cpu", *own):
            if found := _STALLED.search(_text(path)):
                stalled[path] = int(found[1]) / 1e6
        memory = {
            name: int(kib) << 10 for name, kib in _FIELD.findall(_text(self.proc / "meminfo"))
        }
        if not stalled or len(memory) < len(("MemTotal", "MemAvailable")):
            return None
        rooms = [(memory["MemAvailable"], memory["MemTotal"]), *self._limits()]
        free, total = min(rooms)
        return Look(at=self.clock(), stalled=stalled, free_bytes=free, total_bytes=total)

    def _limits(self) -> Iterator[tuple[int, int]]:
        """Yield what each control group around this process has left, and its limit."""
        for controller, (limit_file, *use_files) in _FILES.items():
            for folder in self._folders(controller):
                limit = _text(folder / limit_file).strip()
                used = used_bytes("\n".join(_text(folder / name) for name in use_files))
                if limit.isdecimal() and used is not None:
                    yield max(0, int(limit) - used), int(limit)

    def _folders(self, controller: str) -> Iterator[Path]:
        """Yield the folders of the control groups of this process, from the inmost to the root.

        In a container the outer part of a path may not be there: the root is the container's own.
        """
        for line in _text(self.proc / "self/cgroup").splitlines():
            _, _, rest = line.partition(":")
            names, _, path = rest.partition(":")
            if controller in names.split(","):
                root = self.groups / controller
                inmost = root / path.lstrip("/")
                yield from (one for one in (inmost, *inmost.parents) if one.is_relative_to(root))


def _text(path: Path) -> str:
    with suppress(OSError):  # not there, or switched off
        return path.read_text(encoding="ascii", errors="replace")
    return ""
