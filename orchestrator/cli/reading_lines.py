"""Compatible readings of a run in the terminal: published figures, and where rulers differ."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.store.reading_scores import RunReading


def reading_lines(readings: Iterable[RunReading]) -> Iterable[str]:
    """Yield the published figures of each reading, and each episode on which it differs."""
    for found in readings:
        yield ""
        for world, figures in found.figures.items():
            said = ", ".join(
                f"{name} {'–' if value is None else f'{value:.4g}'}"
                for name, value in figures.items()
            )
            yield f"{found.name}, {world}: {said} ({found.counted(world)})"
        if found.left_out:
            yield f"{found.name}: {found.left_out} episodes are of tasks that it does not read"
        for one in found.differing:
            trial = one.scored.trial
            repeat = f" repeat {trial.repeat}" if trial.repeat else ""
            yield (
                f"differs: {trial.world} {trial.task}{repeat}:"
                f" strict {one.scored.score.outcome} ({one.scored.score.because}),"
                f" {found.name} {one.worth} ({one.score.because})"
            )
        if not found.differing:
            yield f"{found.name} and the strict score agree on every episode"
