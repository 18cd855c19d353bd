"""What a run that was played to its end makes of the command that played it."""

from __future__ import annotations

from arena_core.errors import AgentCrashedError, InternalError, NothingScoredError
from orchestrator.report.run_report import RunReport
from orchestrator.store.rescoring import ScoredTrial


def require_sound(report: RunReport) -> None:
    """Refuse to end as if a run had measured what it was to measure.

    Raises:
        InternalError: a bug of Arena's ended episodes, be it only one.
        AgentCrashedError: the agent's own code raised an exception in episodes.
        NothingScoredError: no episode could be scored.
    """
    path, total = report.folder.path, len(report.trials)
    if report.internal:
        message = f"{path}: a bug of Arena's ended {len(report.internal)} of {total} episodes"
        raise InternalError(
            message, hint=f"{_first(report.internal[0])}; the traceback: {report.folder.log_path}"
        )
    if report.crashed:
        message = f"{path}: the agent's code crashed in {len(report.crashed)} of {total} episodes"
        raise AgentCrashedError(message, hint=_first_crash(report.crashed[0]))
    if report.unscored and len(report.unscored) == total:
        message = f"{path}: none of {total} episodes could be scored"
        raise NothingScoredError(message, hint=_first(report.unscored[0]))


def _first(trial: ScoredTrial) -> str:
    text = f"the first, {trial.trial.task}: {trial.score.outcome}, {trial.score.because}"
    return " ".join(text.split())


def _first_crash(trial: ScoredTrial) -> str:
    text = f"the first, {trial.trial.task}: {trial.outline.ended_because}"
    return " ".join(text.split())
