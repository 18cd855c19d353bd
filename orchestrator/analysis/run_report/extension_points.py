"""Reports and exporters: what plug-ins implement, and the options that an exporter declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from arena_core.errors import UsageError
from arena_core.plugins import ExtensionPoint, Group, filling
from orchestrator.agents.options import Option, by_name
from orchestrator.analysis.run_report.run_report import RunReport

_FLAG = "--option"


def options_of(export: Callable[..., object]) -> tuple[Option, ...]:
    """Return the options of an exporter: what its `export` takes by name alone."""
    try:
        bare = inspect.signature(export)
        if not any(one.kind is inspect.Parameter.KEYWORD_ONLY for one in bare.parameters.values()):
            return ()
        signature = inspect.signature(export, eval_str=True)
    except (NameError, ValueError, AttributeError, TypeError) as cause:
        raise TypeError(f"the signature of its export cannot be read: {cause}") from cause
    return tuple(
        Option.of(one)
        for one in signature.parameters.values()
        if one.kind is inspect.Parameter.KEYWORD_ONLY
    )


def read_options(
    form: str, export: Callable[..., object], given: Mapping[str, object]
) -> dict[str, object]:
    """Return options as the types that an exporter declares; text is parsed."""
    options = options_of(export)
    declared = by_name(options)
    takes = f"'{form}' takes {', '.join(map(str, options)) or 'no options'}"
    read: dict[str, object] = {}
    for name, value in given.items():
        if name not in declared:
            raise UsageError(
                f"{_FLAG} {name}: the exporter '{form}' has no such option", hint=takes
            )
        try:
            read[name] = declared[name].read(value)
        except ValueError as cause:
            message = f"{_FLAG} {name}={value} is not valid for the exporter '{form}': {cause}"
            raise UsageError(message, hint=takes) from cause
    missing = [one.name for one in options if one.is_required and one.name not in read]
    if missing:
        message = f"the exporter '{form}' needs {_FLAG} {f' and {_FLAG} '.join(missing)}"
        raise UsageError(message, hint=takes)
    return read


@runtime_checkable
class ReportWriter(Protocol):
    """Writes a run for people: what is registered in the group `arena.reports`."""

    @property
    def suffix(self) -> str:
        """The end of the file's name, without its dot: `html`."""

    def write(self, report: RunReport, path: Path) -> None:
        """Write the report as one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Something that an export does not hold, and why.

    Attributes:
        what: name of the episode's evidence folder, or what else was left out.
    """

    run: Path
    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What an exporter wrote.

    Attributes:
        episodes: how many it wrote; an episode written only in part counts.
        left_out: the finished episodes that it did not write.
        notes: what else a person should know, one line each.
    """

    episodes: int
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


@runtime_checkable
class Exporter(Protocol):
    """Writes runs for other programs: what is registered in the group `arena.exporters`.

    `unscored` stays unscored in every format, and never becomes a zero. The parameters of `export`
    that can only be given by name are options: `arena export FORM RUN --option name=value`, read
    as the types that they are annotated with.

    The texts of reports are without secrets, `[redacted]` in their place. An exporter with
    `searches_secrets = True` is given them as they are, and keeps secrets out of what it writes.
    """

    @property
    def suffix(self) -> str:
        """The end of the file's name, without its dot: `jsonl`; empty for a folder."""

    @property
    def is_folder(self) -> bool:
        """Whether it writes a folder, and not one file."""

    @property
    def export(self) -> Callable[..., Written]:
        """Write runs: `export(runs: Sequence[RunReport], path: Path, *, options…) -> Written`.

        There is nothing at `path` yet, and its parent is there. What was written is moved to where
        the user wants it when all of it is there, so that nobody meets the half of it. The same
        runs give the same bytes, where the format allows it.
        """


def _accept(found: object) -> Exporter:
    accepted: Exporter = filling(Exporter)(found)
    options_of(accepted.export)
    return accepted


REPORTS: Final[ExtensionPoint[ReportWriter]] = ExtensionPoint(
    Group.REPORTS, "report", filling(ReportWriter)
)
EXPORTERS: Final[ExtensionPoint[Exporter]] = ExtensionPoint(Group.EXPORTERS, "exporter", _accept)
