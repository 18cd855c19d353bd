"""One mutant at a time: written where the file lies, read as a user's command would, judged."""

from __future__ import annotations

import shutil
import signal
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

from fuzz.doors import REPOSITORY, Door
from fuzz.mutants import mutant

from arena_core.errors import ArenaError

CORPUS: Final = REPOSITORY / "tests" / "fuzz" / "corpus"
_SECONDS: Final = 20
_LONGEST_LINE: Final = 2000


class Hanging(BaseException):
    """A reader took too long."""


@dataclass(slots=True)
class Open:
    """A door with all that surrounds its file, made once and copied for each mutant."""

    door: Door
    template: Path
    file: Path
    seed: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.seed = self.file.read_bytes()

    def mutant(self, number: int) -> bytes:
        """Return the mutant of that number; number 0 is the file as it is."""
        if number == 0:
            return self.seed
        return mutant(self.door.name, number, (self.seed, *self.door.seeds), self.door.shape)

    def fault(self, data: bytes) -> str | None:
        """Say what is wrong with how a file is read; None where it is read or refused well."""
        folder = Path(tempfile.mkdtemp(dir=self.template.parent))
        try:
            shutil.copytree(self.template, folder, dirs_exist_ok=True)
            file = folder / self.file.relative_to(self.template)
            file.write_bytes(data)
            with _within(_SECONDS):
                self.door.read(file)
        except ArenaError as refused:
            return _line_fault(refused)
        except Hanging:
            return f"is still being read after {_SECONDS} s"
        except Exception:  # noqa: BLE001 - what no reader may raise is what is looked for
            return traceback.format_exc()
        finally:
            shutil.rmtree(folder)
        return None


def kept_mutants(door: Door) -> list[Path]:
    """Return the mutants of a door that were once not read well."""
    return sorted(CORPUS.glob(f"{door.name}-*"))


@contextmanager
def opened(door: Door, folder: Path) -> Iterator[Open]:
    """Make a door's file, and what surrounds it, below a folder."""
    template = folder / f"template of {door.name}"
    template.mkdir()
    yield Open(door, template, door.make(template))


def _line_fault(refused: ArenaError) -> str | None:
    said = refused.message + refused.hint
    if not said or len(said) > _LONGEST_LINE or "\n" in said:
        return f"{type(refused).__name__} is not one clear line: {said[:300]!r}"
    return None


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Hanging

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
