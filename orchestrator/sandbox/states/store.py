"""Where the states are kept that have a name: one file each, in the user's data folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena_core.errors import ImageError, StateError, UnknownNameError, UsageError
from arena_core.names import offered
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import golden_of
from orchestrator.sandbox.reset.state import Fingerprint
from orchestrator.sandbox.states.state_file import SavedState, read_state, write_state

SUFFIX: Final = ".arena-state"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class NamedState:
    """A state that is kept.

    Attributes:
        state: None where its file cannot be read; `fault` says why.
    """

    name: str
    path: Path
    size_bytes: int
    state: SavedState | None
    fault: str = ""


def states_folder() -> Path:
    """Return the folder of the files: `arena/states` in the user's data folder."""
    from platformdirs import user_data_path  # noqa: PLC0415  only where states are kept

    return user_data_path("arena", appauthor=False) / "states"


def require_name(name: str) -> None:
    """Raise UsageError where a state cannot be called that."""
    if not _NAME.fullmatch(name):
        message = f"a state cannot be called {name!r}"
        hint = "use letters, digits, '.', '_' and '-', 64 at most, the first a letter or digit"
        raise UsageError(message, hint=hint)


def require_free(name: str, *, replace: bool) -> None:
    """Raise UsageError where no state can be kept under a name, or one is and must not go."""
    require_name(name)
    if not replace and _path(name).exists():
        raise UsageError(f"there is a state '{name}' already", hint="--replace, or another name")


def keep(name: str, state: SavedState) -> NamedState:
    """Keep a state under a name, in place of another. Raises StateError where it cannot."""
    require_name(name)
    path = _path(name)
    write_state(state, path)
    return NamedState(name, path, path.stat().st_size, state)


def kept(name: str) -> SavedState:
    return read_state(find(name))


def find(name: str) -> Path:
    """Return the file of a state. Raises UnknownNameError where there is none."""
    require_name(name)
    path = _path(name)
    if not path.is_file():
        names = sorted(one.name.removesuffix(SUFFIX) for one in _files())
        message = f"no state is called '{name}'"
        raise UnknownNameError(
            f"{message}; {offered(name, names)}" if names else message,
            hint="" if names else f"arena state save {name}",
        )
    return path


def remove(name: str) -> None:
    """Remove a state. Raises UnknownNameError where there is none."""
    path = find(name)
    try:
        path.unlink(missing_ok=True)
    except OSError as cause:
        raise StateError(f"{path} cannot be removed: {cause.strerror}") from cause


def every() -> tuple[NamedState, ...]:
    """Return all states that are kept, by name; a damaged one with what is wrong with it."""
    return tuple(_named(path) for path in sorted(_files()))


def _named(path: Path) -> NamedState:
    name, size = path.name.removesuffix(SUFFIX), path.stat().st_size
    try:
        return NamedState(name, path, size, read_state(path))
    except StateError as fault:
        return NamedState(name, path, size, None, fault.message)


def _files() -> Iterator[Path]:
    folder = states_folder()
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.name.endswith(SUFFIX))


def _path(name: str) -> Path:
    return states_folder() / f"{name}{SUFFIX}"


Differences = Mapping[str, tuple[str, ...]]


def differences(saved: SavedState, other: SavedState) -> Differences:
    """Say for each site that both have in what the first differs from the other."""
    both = saved.sites.keys() & other.sites.keys()
    if not both:
        raise StateError("the two states have no site in common")
    return {
        name: saved.sites[name].fingerprint.differences(other.sites[name].fingerprint)
        for name in sorted(both)
    }


async def differences_from_golden(engine: Engine, saved: SavedState) -> Differences:
    """Say for each site in what its state differs from the golden state of its image."""
    found = {}
    for name, one in sorted(saved.sites.items()):
        image = await engine.image(one.image_id)
        if image is None:
            message = f"site '{name}': the image {one.image_id[:19]}… of its state is gone"
            raise ImageError(message, hint="arena state diff NAME OTHER compares two states")
        golden = await golden_of(engine, image)
        found[name] = one.fingerprint.differences(Fingerprint.from_json(golden.document))
    return found
