"""`make fuzz`: mutants of every file that comes from outside, on from where the last run ended.

What is found lies in the corpus, for `tests/unit/test_fuzz.py` to try for ever.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from fuzz.doors import DOORS, REPOSITORY, Door
from fuzz.trying import CORPUS, opened

_STATE: Final = REPOSITORY / "build" / "fuzz.json"
_MEMORY: Final = 4 << 30


def main(count: int, names: Sequence[str]) -> int:
    """Try so many mutants more, as many of each file or of those named; 1 if one is read badly."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    tried: dict[str, int] = json.loads(_STATE.read_text()) if _STATE.exists() else {}
    found, doors = 0, [door for door in DOORS if not names or door.name in names]
    share = count // len(doors)
    with tempfile.TemporaryDirectory() as folder:
        for door in doors:
            began, first = time.monotonic(), tried.get(door.name, 0)
            try:
                for number, fault, data in _tried(door, first, share * door.times, Path(folder)):
                    tried[door.name] = number + 1
                    if fault is not None:
                        found += 1
                        CORPUS.mkdir(exist_ok=True)
                        (CORPUS / f"{door.name}-{number}").write_bytes(data)
                        sys.stderr.write(f"{door.name} {number}: {fault}\n")
            finally:  # Ctrl-C, too
                _STATE.parent.mkdir(exist_ok=True)
                _STATE.write_text(json.dumps(tried))
            seconds = time.monotonic() - began
            sys.stdout.write(f"{door.name}: {tried[door.name]} tried by now ({seconds:.0f} s)\n")
    sys.stdout.write(f"{found} were not read well\n")
    return 1 if found else 0


def _tried(
    door: Door, first: int, count: int, folder: Path
) -> Iterator[tuple[int, str | None, bytes]]:
    """Yield the number of each mutant, what is wrong with how it is read, and the mutant."""
    with opened(door, folder) as one:
        for number in range(first, first + count):
            data = one.mutant(number)
            yield number, one.fault(data), data


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, sys.argv[2:]))
