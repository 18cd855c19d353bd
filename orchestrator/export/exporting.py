"""Writes runs for other programs, without secrets, by whichever exporter is named."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from arena_core.actions import Type, Write
from arena_core.errors import PluginError, StoreError, UsageError
from arena_core.logs import REDACTED
from arena_core.names import counted
from arena_core.work_events import OnWork, WorkLine
from evaluators.evidence import Evidence, StepEvidence
from evaluators.scores import Score
from evaluators.verdicts import Verdict
from orchestrator.analysis.run_report.extension_points import (
    EXPORTERS,
    Exporter,
    LeftOut,
    Written,
    read_options,
)
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow, read_run
from orchestrator.analysis.studies.registration import part_of
from orchestrator.runs.store.rescoring import ScoredEpisode
from orchestrator.runs.store.run_folder import RunFolder, is_run, require_once, runs_at
from orchestrator.runs.store.secrets import SecretSearch, known_secrets, typed_unseen
from sites.registry import SiteRegistry
from tasks.schema import Task


def without_secrets(runs: Iterable[RunReport], secrets: SecretSearch) -> tuple[RunReport, ...]:
    """Return reports in whose texts `[redacted]` stands in the place of each secret.

    Texts are those of evidence, scores and tasks: what was typed, thought, answered, seen and asked
    for. What was typed into a field whose value evidence does not hold, a password's, is one too,
    in the whole episode. Scores and outcomes are what they were. Pictures and other files of an
    episode are left as they are.
    """
    redaction = _Redaction(secrets)
    return tuple(replace(run, rows=tuple(redaction.row(row) for row in run.rows)) for run in runs)


class _Redaction:
    def __init__(self, secrets: SecretSearch) -> None:
        self._secrets = secrets
        self._last: tuple[Evidence, Evidence] | None = None

    def row(self, row: TaskRow) -> TaskRow:
        episodes = {
            world: tuple(self._episode(one) for one in found)
            for world, found in row.episodes.items()
        }
        return replace(row, task=self._task(row.task), episodes=episodes)

    def _episode(self, episode: ScoredEpisode) -> ScoredEpisode:
        return replace(
            episode,
            task=self._task(episode.task),
            outline=_redacted(episode.outline, self._secrets),
            score=self._score(episode.score),
            read=partial(self._evidence, episode.read),
        )

    def _evidence(self, read: Callable[[str], Evidence], name: str) -> Evidence:
        """Read evidence; that of the episode at hand, which is asked for often, is kept."""
        evidence = read(name)
        if self._last is None or self._last[0] is not evidence:
            self._last = evidence, self._of_episode(evidence)
        return self._last[1]

    def _of_episode(self, evidence: Evidence) -> Evidence:
        hidden = {step.index: text for step in evidence.steps if (text := typed_unseen(step))}
        if not hidden:
            return _redacted(evidence, self._secrets)
        steps = tuple(_cleared(one) if one.index in hidden else one for one in evidence.steps)
        secrets = self._secrets.and_also(hidden.values())
        return _redacted(evidence.model_copy(update={"steps": steps}), secrets)

    def _task(self, task: Task) -> Task:
        found = {"intent": self._secrets.redacted(task.intent)}
        if task.original is None:
            return task if found["intent"] == task.intent else task.model_copy(update=found)
        record = _walked(task.original.record, self._secrets)
        original = task.original.model_copy(update={"record": record})
        return task.model_copy(update={**found, "original": original})

    def _score(self, score: Score) -> Score:
        harms = zip(score.harms, self._verdicts([one.verdict for one in score.harms]), strict=True)
        return replace(
            score,
            harms=tuple(replace(one, verdict=verdict) for one, verdict in harms),
            because=self._secrets.redacted(score.because),
            verdicts=self._verdicts(score.verdicts),
            required=self._verdicts(score.required),
        )

    def _verdicts(self, verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
        clean = self._secrets.redacted
        return tuple(
            replace(
                one,
                reason=clean(one.reason),
                found=tuple(map(clean, one.found)),
                expected=clean(one.expected),
            )
            for one in verdicts
        )


def _redacted(evidence: Evidence, secrets: SecretSearch) -> Evidence:
    if not secrets.finds(evidence.model_dump_json()):
        return evidence
    walked = _walked(evidence.model_dump(mode="json"), secrets)
    return Evidence.model_validate_json(json.dumps(walked))


def _walked(value: Any, secrets: SecretSearch) -> Any:
    match value:
        case str():
            return secrets.redacted(value)
        case dict():
            return {key: _walked(one, secrets) for key, one in value.items()}
        case list() | tuple():
            return [_walked(one, secrets) for one in value]
        case _:
            return value


def _cleared(step: StepEvidence) -> StepEvidence:
    """Return a step without what was typed, however short it is."""
    if not isinstance(step.action, Type | Write):
        return step
    return step.model_copy(update={"action": step.action.model_copy(update={"text": REDACTED})})


Result = TypeVar("Result")
_MARK: Final = ".arena-export"
_PARTIAL: Final = ".arena-export-"
_ROOM: Final = "free some disk, or name another place with --out"
RunChoice = RunReport | RunFolder | Path | str


def default_path(form: str, exporter: Exporter, folder: Path) -> Path:
    """Return where an export goes in a folder if nobody says where."""
    if exporter.is_folder:
        return folder / f"export-{form}"
    stem = "export" if exporter.suffix == form else f"export-{form}"
    return folder / f"{stem}.{exporter.suffix}"


def require_free(path: Path, exporter: Exporter) -> None:
    """Refuse a path at which the export would replace something else."""
    if exporter.is_folder and path.is_dir():
        if any(path.iterdir()) and not (path / _MARK).is_file():
            message = f"{path}: holds something else than an earlier export"
            raise UsageError(message, hint="name a new folder with --out")
    elif path.is_dir():
        message = f"{path}: is a folder, and this export is one file"
        raise UsageError(message, hint=f"--out {path / f'export.{exporter.suffix}'}")
    elif exporter.is_folder and path.exists():
        message = f"{path}: is a file, and this export is a folder"
        raise UsageError(message, hint="name a new folder with --out")
    if path.exists() and is_run(path.parent) and not path.name.startswith("export"):
        raise UsageError(f"{path}: is a part of the run", hint="name another file with --out")


def place(path: Path, exporter: Exporter, write: Callable[[Path], Result]) -> Result:
    """Write an export beside where it goes, and move it there when it is whole.

    What stood there is replaced then; nothing half-written stays when it fails.

    Args:
        path: where it goes.
    """
    require_free(path, exporter)
    beside = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=path.parent) as beside:
            partial = Path(beside) / path.name
            written = write(partial)
            if exporter.is_folder:
                (partial / _MARK).touch()
                if path.is_dir():
                    shutil.rmtree(path)
            partial.replace(path)
    except StoreError as cause:
        # What was half-written is gone: what matters is the place that the user named.
        message = cause.message.replace(beside, str(path.parent)) if beside else cause.message
        raise type(cause)(message, hint=cause.hint or _ROOM) from cause
    except OSError as cause:
        message = f"{path}: the export cannot be written: {cause.strerror or cause}"
        raise StoreError(message, hint=_ROOM) from cause
    return written


def several(runs: RunChoice | Sequence[RunChoice]) -> tuple[RunChoice, ...]:
    return (runs,) if isinstance(runs, RunReport | RunFolder | Path | str) else tuple(runs)


def expanded(runs: Sequence[RunChoice]) -> tuple[RunReport | RunFolder, ...]:
    found: list[RunReport | RunFolder] = []
    for one in runs:
        if isinstance(one, RunReport | RunFolder):
            found.append(one)
        else:
            found.extend(runs_at(Path(one)))
    if not found:
        raise UsageError("there is no run to export", hint="name the folder of a run or of a study")
    require_once(one.folder if isinstance(one, RunReport) else one for one in found)
    return tuple(found)


def home_of(runs: Sequence[RunChoice]) -> Path:
    if len(runs) != 1:
        message = f"there are {len(runs)} runs to export, and nothing says where to"
        raise UsageError(message, hint="name a file or folder with --out")
    only = runs[0]
    if isinstance(only, RunReport):
        return only.folder.path
    return only.path if isinstance(only, RunFolder) else Path(only)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """An export that was written; `open()` and `Path()` take it as the path that it is.

    Attributes:
        form: the exporter's name.
        path: the file, or the folder.
        runs: how many runs it is of.
        episodes: how many episodes it holds.
        left_out: the finished episodes that it does not hold, and why.
        notes: what else there is to know, one line each.
    """

    form: str
    path: Path
    runs: int
    episodes: int
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def __fspath__(self) -> str:
        """Return the path."""
        return str(self.path)


def export_runs(
    runs: RunChoice | Sequence[RunChoice],
    form: str,
    out: Path | None,
    options: Mapping[str, object],
    *,
    registry: SiteRegistry,
    on_work: OnWork,
) -> Exported:
    """Write runs for other programs; arguments and errors are those of `arena.runs.export`."""
    exporter = EXPORTERS.load(form)
    given = read_options(form, exporter.export, options)
    chosen = several(runs)
    folders = expanded(chosen)
    path = default_path(form, exporter, home_of(chosen)) if out is None else out
    require_free(path, exporter)
    replaced = [f"{path}: was there, and is replaced"] if path.exists() else []
    reports, notes = _reports(folders, on_work)
    if not getattr(exporter, "searches_secrets", False):
        reports = without_secrets(reports, known_secrets(registry))
    written: object = place(
        path, exporter, lambda partial: exporter.export(reports, partial, **given)
    )
    if not isinstance(written, Written):
        message = f"the export of '{form}' returns {type(written).__name__}, and no Written"
        raise PluginError(message)
    return Exported(
        form=form,
        path=path,
        runs=len(reports),
        episodes=written.episodes,
        left_out=written.left_out,
        notes=(*replaced, *notes, *_unplayed(reports), *written.notes),
    )


def _reports(
    runs: Sequence[RunReport | RunFolder], on_work: OnWork
) -> tuple[tuple[RunReport, ...], tuple[str, ...]]:
    """Read the runs; one of several that has not begun is left out, and noted."""
    reports: list[RunReport] = []
    notes: list[str] = []
    for number, one in enumerate(runs, 1):
        if isinstance(one, RunReport):
            reports.append(replace(one, part=part_of(one.folder)))
        elif one.is_begun or (number == len(runs) and not reports):
            if len(runs) > 1:
                on_work(WorkLine(f"[{number}/{len(runs)}] reading {one.path}"))
            reports.append(replace(read_run(one), part=part_of(one)))
        else:
            notes.append(f"{one.path}: nothing was run yet")
    return tuple(reports), tuple(notes)


def _unplayed(reports: Iterable[RunReport]) -> Iterable[str]:
    """Say how much of a run there is not, since nobody played it yet."""
    for one in reports:
        if one.pending:
            episodes = counted(one.pending, "episode is", "episodes are")
            yield f"{one.folder.path}: {episodes} not played yet, and not in it"
