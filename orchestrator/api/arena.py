"""`Arena`: everything that Arena can do, for programs."""

from __future__ import annotations

from orchestrator.api.comparing import ComparisonOperations
from orchestrator.api.episodes import EpisodeOperations
from orchestrator.api.exporting import ExportOperations
from orchestrator.api.images import ImageOperations
from orchestrator.api.importing import ImportOperations
from orchestrator.api.judging import JudgingOperations
from orchestrator.api.own_sites import OwnSiteOperations
from orchestrator.api.sampling import SamplingOperations
from orchestrator.api.sites import SiteOperations
from orchestrator.api.studies import StudyOperations


class Arena(
    EpisodeOperations,
    ComparisonOperations,
    JudgingOperations,
    SamplingOperations,
    ExportOperations,
    StudyOperations,
    ImportOperations,
    SiteOperations,
    ImageOperations,
    OwnSiteOperations,
):
    """An open Arena: its sites, its tasks, episodes step by step, and whole runs.

    Use it as an asynchronous context manager. The Docker engine is connected when something first
    needs it, and a browser starts when the first episode is reset; what lists and reads needs
    neither, and may be called without opening. Whatever an Arena started for episodes and runs is
    gone when its block ends, however it ends; what `up` started stays until `down`.

    Args:
        sites: folders of sites of one's own; those of ARENA_SITES or ./arena-sites where omitted.
        workers: how many episodes may be played side by side; `evaluate` has its own.
        memory: budget for the replicas of episodes, such as `4GiB`; most of the machine where
            omitted.
        on_event: called with each `ArenaEvent`, in the event loop that Arena runs in: progress,
            warnings, each episode as it ends. What it raises ends the call under way.

    Every method raises `ArenaError` and its kinds alone, with a message that names the next step.
    """
