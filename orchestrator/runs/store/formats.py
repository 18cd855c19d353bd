"""Versions of a run's files: what this Arena writes, and how it reads what earlier ones wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import msgspec

from arena_core.errors import FormatError, StoreError
from arena_core.plugins import ARENA
from tasks.sources import in_todays_names

Document = dict[str, Any]
Upgrade = Callable[[Document], Document]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of file.

    Attributes:
        upgrades: by version, what makes a document of it one of the next.
    """

    name: str
    version: int
    upgrades: Mapping[int, Upgrade]

    def upgraded(self, document: object, found: object, made_by: str | None) -> Document:
        """Return a document as this Arena would have written it.

        Args:
            document: as it was read.
            found: the version that it says it has.
            made_by: the version of Arena that wrote it; None where nothing says so.
        """
        if not isinstance(document, dict) or type(found) is not int:
            raise StoreError("is not what this version of Arena writes: it has no version")
        writer = f"Arena {made_by}" if made_by else "another Arena"
        if found > self.version:
            message = (
                f"is a {self.name} of format {found}, made by {writer};"
                f" this is Arena {own_version()}, which reads formats up to {self.version}"
            )
            raise FormatError(message, hint=f"pip install --upgrade {ARENA}")
        for step in range(found, self.version):
            if step not in self.upgrades:
                message = (
                    f"is a {self.name} of format {found}, made by {writer};"
                    f" this is Arena {own_version()}, which cannot read it any more"
                )
                raise FormatError(message, hint="read it with the Arena that made it")
            try:
                document = self.upgrades[step](document)
            except (LookupError, TypeError, ValueError, AttributeError) as cause:
                message = f"is no {self.name} of format {step}: {type(cause).__name__}: {cause}"
                raise StoreError(message) from cause
        return document


class _Versioned(msgspec.Struct, frozen=True):
    version: int | None = None


def version_in(written: bytes) -> int | None:
    """Return the version that a file says it has, without reading the rest into memory.

    None where it has none, or is no JSON.
    """
    try:
        return msgspec.json.decode(written, type=_Versioned).version
    except (msgspec.DecodeError, RecursionError):
        return None


def own_version() -> str:
    try:
        return version(ARENA)
    except PackageNotFoundError:  # pragma: no cover - only an incomplete installation
        return "without a version"


def maker_of(lock: object) -> str | None:
    """Return the version of Arena that wrote a run's lock; None where it does not say."""
    packages = lock.get("packages") if isinstance(lock, dict) else None
    made_by = packages.get(ARENA) if isinstance(packages, dict) else None
    return made_by if isinstance(made_by, str) else None


def _named_agent(lock: Document) -> Document:
    """From 1 to 2: the agent's options apart from what it was chosen by and what was given."""
    agent = lock["agent"]
    options = dict(agent["options"])
    kind = str(options.pop("kind", None) or agent["name"])
    told = str(options.pop("given", None) or "").split()
    given = [flag.removeprefix("--").replace("-", "_") for flag in told]
    given += ["seed"] if options.get("seed") else []
    if kind not in _TAKES_MODEL:
        options = {name: value for name, value in options.items() if name in _TAKES.get(kind, ())}
    else:
        options["model_deadline"] = options.pop("model_deadline_s", None)
        options = {name: value for name, value in options.items() if value is not None}
        given += [name for name in _OF_THE_MODEL if name in options]
    return lock | {
        "version": 2,
        "agent": {
            "name": agent["name"],
            "kind": kind,
            "options": options,
            "given": [name for name in dict.fromkeys(given) if name in options],
            "agent_class": agent.get("agent_class") or _CLASSES.get(kind, "contestant"),
        },
    }


def _next(evidence: Document) -> Document:
    return evidence | {"version": evidence["version"] + 1}


# The agents that there were when a lock kept their names alone.
_CLASSES: Final = {
    "oracle": "reference",
    "idle": "baseline",
    "random": "baseline",
    "chat": "contestant",
}
_TAKES: Final = {"oracle": (), "idle": (), "random": ("seed",)}
_TAKES_MODEL: Final = ("chat",)
_OF_THE_MODEL: Final = ("model", "model_url", "model_deadline")

LOCK: Final = Format(name="lock", version=2, upgrades={1: _named_agent})
# What came with 2 may all be missing: what a locator kept, the place of a bug.
EVIDENCE: Final = Format(name="evidence file", version=2, upgrades={1: _next})
# A run's copy of its suite has no version of its own: it is as old as the run's lock.
SUITE: Final = Format(name="suite", version=LOCK.version, upgrades={1: in_todays_names})
