"""What a plug-in implements or subclasses, and what it is given: one name for each, in one place.

A package registers an object in one of these groups of entry points, in its `pyproject.toml`:

| group | what it registers |
|---|---|
| `arena.agents` | an `AgentFactory` (a class or function), an `AgentSpec` or an `AgentMaker` |
| `arena.observations` | an `ObservationForm`, or a `ViewportForm`; reads an `ObservedPage` |
| `arena.locators` | a subclass of `LookingLocator` or `ReadingLocator`, which returns `Found` |
| `arena.matchers` | a subclass of `Matcher` or `JudgedMatcher`, which returns `Matched` |
| `arena.functions` | a `CheckFunction`, for `by: python` |
| `arena.importers` | a subclass of `Importer` |
| `arena.formats` | a `TaskFormat`: from an `Entry` to a `Translation` |
| `arena.scorers` | a `Scorer` of an `OriginalTask`, which returns a `ScorerResult` |
| `arena.exporters` | an `Exporter` of `RunReport`s, which returns `Written` |
| `arena.reports` | a `ReportWriter` |

Each name is loaded when it is first used. `arena plugins` lists what is installed, and says what is
wrong with a plug-in that cannot be used.
"""

# ruff: noqa: PLC0414  an alias of the same name is what a type checker takes for public
from __future__ import annotations

from typing import TYPE_CHECKING

from arena_core.lazy_names import LazyNames

if TYPE_CHECKING:
    from arena_core.worlds import World as World
    from evaluators.check_functions import CheckFunction as CheckFunction
    from evaluators.episode_view import EpisodeView as EpisodeView
    from evaluators.evidence import Evidence as Evidence
    from evaluators.locators.base import Found as Found
    from evaluators.locators.base import Locator as Locator
    from evaluators.locators.base import LookingLocator as LookingLocator
    from evaluators.locators.base import Need as Need
    from evaluators.locators.base import ReadingLocator as ReadingLocator
    from evaluators.locators.base import Subject as Subject
    from evaluators.matchers.base import Form as Form
    from evaluators.matchers.base import JudgedMatcher as JudgedMatcher
    from evaluators.matchers.base import Matched as Matched
    from evaluators.matchers.base import Matcher as Matcher
    from evaluators.scorers.base import OriginalTask as OriginalTask
    from evaluators.scorers.base import Scorer as Scorer
    from evaluators.scorers.base import ScorerResult as ScorerResult
    from evaluators.scorers.base import ScorerStatus as ScorerStatus
    from orchestrator.agents.interface import Agent as Agent
    from orchestrator.agents.interface import AgentClass as AgentClass
    from orchestrator.agents.interface import AgentMaker as AgentMaker
    from orchestrator.agents.interface import Assignment as Assignment
    from orchestrator.agents.interface import Decision as Decision
    from orchestrator.agents.interface import Reference as Reference
    from orchestrator.agents.spec import AgentFactory as AgentFactory
    from orchestrator.agents.spec import Agents as Agents
    from orchestrator.agents.spec import AgentSpec as AgentSpec
    from orchestrator.analysis.run_report.extension_points import Exporter as Exporter
    from orchestrator.analysis.run_report.extension_points import LeftOut as LeftOut
    from orchestrator.analysis.run_report.extension_points import ReportWriter as ReportWriter
    from orchestrator.analysis.run_report.extension_points import Written as Written
    from orchestrator.analysis.run_report.run_report import RunReport as RunReport
    from orchestrator.browser.observation import Observation as Observation
    from orchestrator.browser.observations.forms import ObservationForm as ObservationForm
    from orchestrator.browser.observations.forms import ObservedPage as ObservedPage
    from orchestrator.browser.observations.forms import ViewportForm as ViewportForm
    from tasks.imports.formats import Entry as Entry
    from tasks.imports.formats import TaskFormat as TaskFormat
    from tasks.imports.formats import Translation as Translation
    from tasks.sources import Importer as Importer

_NAMES = LazyNames(
    __name__,
    """
    arena_core.worlds: World
    evaluators.check_functions: CheckFunction
    evaluators.episode_view: EpisodeView
    evaluators.evidence: Evidence
    evaluators.locators.base: Found Locator LookingLocator Need ReadingLocator Subject
    evaluators.matchers.base: Form JudgedMatcher Matched Matcher
    evaluators.scorers.base: OriginalTask Scorer ScorerResult ScorerStatus
    orchestrator.agents.interface: Agent AgentClass AgentMaker Assignment Decision Reference
    orchestrator.agents.spec: AgentFactory AgentSpec Agents
    orchestrator.analysis.run_report.extension_points: Exporter LeftOut ReportWriter Written
    orchestrator.analysis.run_report.run_report: RunReport
    orchestrator.browser.observation: Observation
    orchestrator.browser.observations.forms: ObservationForm ObservedPage ViewportForm
    tasks.imports.formats: Entry TaskFormat Translation
    tasks.sources: Importer
    """,
)
__all__ = _NAMES.names  # noqa: PLE0605  a type checker reads the imports above

if not TYPE_CHECKING:  # a type checker is to find a wrong name
    __getattr__ = _NAMES.load

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
