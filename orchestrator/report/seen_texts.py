"""What agents saw, for a report: texts, cut to what a person looks through."""

from __future__ import annotations

from typing import Any, Final

from arena_core.errors import StoreError
from orchestrator.store.rescoring import ScoredTrial
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.step_lines import OBSERVATIONS_FILE, read_lines

LONGEST: Final = 2000


class SeenTexts:
    """Reads the observations of a run's attempts, one attempt at a time."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._attempt = ""
        self._lines: dict[int, dict[str, Any]] = {}

    def text(self, trial: ScoredTrial, step: int) -> str:
        """Return what the agent saw after a step; empty where no text of it was kept."""
        if trial.folder != self._attempt:
            self._attempt = trial.folder
            self._lines = self._read(trial.folder)
        parts = self._lines.get(step, {}).get("parts", {})
        shown = [f"{name}\n{_cut(one)}" for name, one in parts.items() if _has_text(one)]
        return "\n\n".join(shown)

    def _read(self, attempt: str) -> dict[int, dict[str, Any]]:
        path = self._folder.evidence_folder(attempt) / OBSERVATIONS_FILE
        try:
            return {line["step"]: line for line in read_lines(path)}
        except (StoreError, LookupError, TypeError) as cause:
            why = cause.message if isinstance(cause, StoreError) else f"{path}: no observations"
            return {0: {"parts": {"(not readable)": {"text": why}}}}


def _has_text(part: object) -> bool:
    return isinstance(part, dict) and bool(part.get("text"))


def _cut(part: dict[str, Any]) -> str:
    text = str(part["text"])
    left = len(text) - LONGEST
    return text if left <= 0 else f"{text[:LONGEST]}\n({left} more letters in {OBSERVATIONS_FILE})"
