"""A clock of one run's own: a jump of it is seen by `arena` alone, not by what that starts.

A small library, preloaded, adds seconds to what the kernel says the date is; the machine's clock is
left alone, and the clocks by which time passes too, as where a clock is set. It needs a C compiler.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FILE: Final = "ARENA_FAULTS_CLOCK"
_SOURCE: Final = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
typedef int asks(clockid_t, struct timespec *);
static asks *kernel;
static volatile long *ahead;
__attribute__((constructor)) static void begin(int count, char **words) {
    const char *path = getenv("ARENA_FAULTS_CLOCK");
    int file;
    kernel = (asks *) dlsym(RTLD_NEXT, "clock_gettime");
    if (path == NULL || count < 1 || strstr(words[0], "python") == NULL) return;
    unsetenv("LD_PRELOAD"); /* what it starts has the machine's clock */
    if ((file = open(path, O_RDONLY | O_CLOEXEC)) < 0) return;
    void *there = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (there != MAP_FAILED) ahead = there;
    close(file);
}
int clock_gettime(clockid_t which, struct timespec *at) {
    int failed = kernel ? kernel(which, at) : (int) syscall(SYS_clock_gettime, which, at);
    if (!failed && ahead && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
        at->tv_sec += *ahead;
    return failed;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    (void) zone;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


@dataclass(frozen=True, slots=True)
class RunClock:
    """The clock of programs in Python that are started with its `env`."""

    file: Path
    library: Path

    @property
    def env(self) -> dict[str, str]:
        """What makes a program see it; a library is loaded by its absolute path."""
        return {"LD_PRELOAD": str(self.library.absolute()), _FILE: str(self.file.absolute())}

    @contextmanager
    def ahead_by(self, seconds: int) -> Iterator[None]:
        """Set it ahead, or back, until the end of the block."""
        self._set(seconds)
        try:
            yield
        finally:
            self._set(0)

    def _set(self, seconds: int) -> None:
        with self.file.open("r+b") as written:
            written.write(struct.pack("l", seconds))


def own_clock(folder: Path) -> RunClock | None:
    """Make a clock, with its files in a folder; None where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library, file = folder / "clock.so", folder / "clock"
    source = folder / "clock.c"
    source.write_text(_SOURCE)
    words = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(source)]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        return None
    file.write_bytes(struct.pack("l", 0))
    return RunClock(file, library)
