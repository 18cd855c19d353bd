"""Every seam of Arena in one list, to look at all of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from arena_core.errors import PluginError
from arena_core.plugins import Plugin, Seam
from evaluators.check_functions import FUNCTIONS
from evaluators.kinds import LOCATORS
from evaluators.matcher_kinds import MATCHERS
from evaluators.readings.base import READINGS
from orchestrator.agents.choice import AGENTS
from orchestrator.observation_forms import OBSERVATIONS
from orchestrator.report.seams import EXPORTERS, REPORTS
from tasks.importers import IMPORTERS
from tasks.imports.formats import FORMATS

SEAMS: Final[tuple[Seam[object], ...]] = (
    AGENTS,
    OBSERVATIONS,
    LOCATORS,
    MATCHERS,
    FUNCTIONS,
    IMPORTERS,
    READINGS,
    FORMATS,
    EXPORTERS,
    REPORTS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedPlugin:
    """A plug-in that was imported to see whether it can be used.

    Attributes:
        noun: what kind of thing it is: `agent`.
        fault: why it cannot be used, in one line; empty where it can.
        mend: the next step.
    """

    noun: str
    plugin: Plugin
    fault: str = ""
    mend: str = ""


def examine_plugins() -> tuple[ExaminedPlugin, ...]:
    """Import everything that is plugged in; what is broken is told and hides nothing else."""
    return tuple(_examined(seam, plugin) for seam in SEAMS for plugin in seam.plugins())


def _examined(seam: Seam[object], plugin: Plugin) -> ExaminedPlugin:
    try:
        seam.load(plugin.name)
    except PluginError as error:
        return ExaminedPlugin(noun=seam.noun, plugin=plugin, fault=error.message, mend=error.hint)
    return ExaminedPlugin(noun=seam.noun, plugin=plugin)
