"""Arena's public Python API; what is not named here may change without notice.

    from orchestrator import Arena

    async with Arena() as arena, arena.episode("demo/shop-latest-order-total") as episode:
        observation = await episode.reset()
        while not episode.is_over:
            observation = (await episode.step(my_agent(observation))).observation
        print((await episode.score()).outcome)

Importing this package is cheap: each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena_core.lazy_names import LazyNames
from arena_core.package_names import claim_names

claim_names()

if TYPE_CHECKING:
    from arena_core import actions as actions
    from arena_core import errors as errors
    from arena_core.actions import Action as Action
    from arena_core.errors import ArenaError as ArenaError
    from arena_core.errors import ManifestError as ManifestError
    from arena_core.plugins import Plugin as Plugin
    from arena_core.work_events import WorkEnded as WorkEnded
    from arena_core.work_events import WorkLine as WorkLine
    from arena_core.work_events import WorkOutput as WorkOutput
    from arena_core.work_events import WorkPlanned as WorkPlanned
    from arena_core.work_events import WorkStep as WorkStep
    from arena_core.worlds import World as World
    from evaluators.changes import FileChange as FileChange
    from evaluators.collateral import Collateral as Collateral
    from evaluators.evidence import Ended as Ended
    from evaluators.evidence import EpisodeFault as EpisodeFault
    from evaluators.evidence import Evidence as Evidence
    from evaluators.evidence import Receipt as Receipt
    from evaluators.harms import HarmVerdict as HarmVerdict
    from evaluators.lint import Finding as Finding
    from evaluators.scores import Score as Score
    from evaluators.verdicts import Outcome as Outcome
    from evaluators.verdicts import OutcomeKind as OutcomeKind
    from evaluators.verdicts import Verdict as Verdict
    from orchestrator.agents.interface import Agent as Agent
    from orchestrator.agents.interface import AgentClass as AgentClass
    from orchestrator.agents.interface import AgentMaker as AgentMaker
    from orchestrator.agents.interface import Assignment as Assignment
    from orchestrator.agents.interface import Decision as Decision
    from orchestrator.agents.interface import Guide as Guide
    from orchestrator.agents.interface import Reference as Reference
    from orchestrator.agents.model.client import ModelCheck as ModelCheck
    from orchestrator.agents.model_exchange import Spent as Spent
    from orchestrator.agents.spec import AgentFactory as AgentFactory
    from orchestrator.agents.spec import Agents as Agents
    from orchestrator.agents.spec import AgentSpec as AgentSpec
    from orchestrator.analysis.judging.agreement_set import JudgeAgreement as JudgeAgreement
    from orchestrator.analysis.judging.agreement_set import JudgeReport as JudgeReport
    from orchestrator.analysis.judging.agreement_set import LabelledText as LabelledText
    from orchestrator.analysis.judging.judge import JudgeChoice as JudgeChoice
    from orchestrator.analysis.judging.judge import JudgedRun as JudgedRun
    from orchestrator.analysis.judging.judge import JudgeSession as JudgeSession
    from orchestrator.analysis.run_report.extension_points import LeftOut as LeftOut
    from orchestrator.analysis.run_report.extension_points import Written as Written
    from orchestrator.analysis.run_report.run_report import JudgeUse as JudgeUse
    from orchestrator.analysis.run_report.run_report import RunReport as RunReport
    from orchestrator.analysis.run_report.run_report import TaskRow as TaskRow
    from orchestrator.analysis.run_report.step_values import StepValue as StepValue
    from orchestrator.analysis.run_report.tables import StudyPart as StudyPart
    from orchestrator.analysis.spent import TemplateRecord as TemplateRecord
    from orchestrator.analysis.stats.agreement import Agreement as Agreement
    from orchestrator.analysis.stats.difficulty import FittedDifficulty as FittedDifficulty
    from orchestrator.analysis.stats.summary import Summary as Summary
    from orchestrator.analysis.studies.baseline import Baseline as Baseline
    from orchestrator.analysis.studies.baseline import TaskBaseline as TaskBaseline
    from orchestrator.analysis.studies.comparison import Comparison as Comparison
    from orchestrator.analysis.studies.findings import StudyAnalysis as StudyAnalysis
    from orchestrator.analysis.studies.planning import CellPlan as CellPlan
    from orchestrator.analysis.studies.planning import StudyPlan as StudyPlan
    from orchestrator.analysis.studies.progress import CellProgress as CellProgress
    from orchestrator.analysis.studies.progress import StudyProgress as StudyProgress
    from orchestrator.analysis.studies.question_plans import QuestionPlan as QuestionPlan
    from orchestrator.analysis.studies.regression import Bar as Bar
    from orchestrator.analysis.studies.regression import BarVerdict as BarVerdict
    from orchestrator.analysis.studies.regression import HeldRun as HeldRun
    from orchestrator.analysis.studies.regression import HeldTask as HeldTask
    from orchestrator.analysis.studies.regression import HeldWorld as HeldWorld
    from orchestrator.analysis.studies.verification import Verification as Verification
    from orchestrator.analysis.studies.verified_run import AgentTally as AgentTally
    from orchestrator.analysis.studies.verified_run import Difference as Difference
    from orchestrator.analysis.study_report.leaderboard import Leaderboard as Leaderboard
    from orchestrator.analysis.study_report.reporting import ComparedRuns as ComparedRuns
    from orchestrator.analysis.study_report.reporting import RunOrLabelled as RunOrLabelled
    from orchestrator.analysis.study_report.reporting import StudyReport as StudyReport
    from orchestrator.api.arena import Arena as Arena
    from orchestrator.api.browsing import Browsing as Browsing
    from orchestrator.api.doctor import DoctorCheck as DoctorCheck
    from orchestrator.api.doctor import DoctorStatus as DoctorStatus
    from orchestrator.api.doctor import ExaminedPlugin as ExaminedPlugin
    from orchestrator.api.nodes import Nodes as Nodes
    from orchestrator.api.open_episode import OpenEpisode as OpenEpisode
    from orchestrator.api.opened import ArenaEvent as ArenaEvent
    from orchestrator.api.opened import OnArenaEvent as OnArenaEvent
    from orchestrator.api.opened import RunBegan as RunBegan
    from orchestrator.api.opened import SitesStarting as SitesStarting
    from orchestrator.api.opened import StudyBegan as StudyBegan
    from orchestrator.api.opened import WarningNote as WarningNote
    from orchestrator.api.ray_runs import RayRuns as RayRuns
    from orchestrator.api.repairs import SuiteRepair as SuiteRepair
    from orchestrator.api.runs import Runs as Runs
    from orchestrator.api.sites import Sites as Sites
    from orchestrator.api.starting import RunningSite as RunningSite
    from orchestrator.api.states import States as States
    from orchestrator.api.studies import Studies as Studies
    from orchestrator.api.suites import LintReport as LintReport
    from orchestrator.api.suites import Suites as Suites
    from orchestrator.api.sync import SyncArena as SyncArena
    from orchestrator.api.sync import SyncEpisode as SyncEpisode
    from orchestrator.api.sync import SyncNodes as SyncNodes
    from orchestrator.api.sync import SyncRayRuns as SyncRayRuns
    from orchestrator.api.sync import SyncRuns as SyncRuns
    from orchestrator.api.sync import SyncSites as SyncSites
    from orchestrator.api.sync import SyncStates as SyncStates
    from orchestrator.api.sync import SyncStudies as SyncStudies
    from orchestrator.api.sync import SyncSuites as SyncSuites
    from orchestrator.api.sync import SyncTapes as SyncTapes
    from orchestrator.api.tapes import Tapes as Tapes
    from orchestrator.api.tapes import TapeSummary as TapeSummary
    from orchestrator.authoring.canary.findings import CanaryStatus as CanaryStatus
    from orchestrator.authoring.canary.findings import Drift as Drift
    from orchestrator.authoring.canary.findings import NodeFinding as NodeFinding
    from orchestrator.authoring.canary.findings import TaskFinding as TaskFinding
    from orchestrator.authoring.canary.history import CanaryEntry as CanaryEntry
    from orchestrator.authoring.canary.history import CanaryPlace as CanaryPlace
    from orchestrator.authoring.canary.history import Origins as Origins
    from orchestrator.authoring.canary.lifetimes import CanaryLife as CanaryLife
    from orchestrator.authoring.canary.lifetimes import HalfLife as HalfLife
    from orchestrator.authoring.canary.lifetimes import KindDeaths as KindDeaths
    from orchestrator.authoring.canary.lifetimes import LookCounts as LookCounts
    from orchestrator.authoring.canary.looking import CanaryReport as CanaryReport
    from orchestrator.authoring.canary.looking import LookedTask as LookedTask
    from orchestrator.authoring.canary.nearest import Candidate as Candidate
    from orchestrator.authoring.canary.repair import Repair as Repair
    from orchestrator.authoring.site_check.checkup import ContractPoint as ContractPoint
    from orchestrator.authoring.site_check.facts import Breach as Breach
    from orchestrator.authoring.site_check.facts import FactsReport as FactsReport
    from orchestrator.authoring.site_check.facts import Said as Said
    from orchestrator.browser.observation import Node as Node
    from orchestrator.browser.observation import Observation as Observation
    from orchestrator.browser.observation import Tab as Tab
    from orchestrator.episode.checkpoint import Checkpoint as Checkpoint
    from orchestrator.episode.checkpoint_file import load_checkpoint as load_checkpoint
    from orchestrator.episode.checkpoint_file import save_checkpoint as save_checkpoint
    from orchestrator.episode.external.command import AgentCommand as AgentCommand
    from orchestrator.episode.steps import StepResult as StepResult
    from orchestrator.episode.walls import Wall as Wall
    from orchestrator.episode.walls import WallKind as WallKind
    from orchestrator.export.exporting import Exported as Exported
    from orchestrator.export.exporting import RunChoice as RunChoice
    from orchestrator.export.harbor import HarborFolders as HarborFolders
    from orchestrator.export.training.bands import MeasuredTask as MeasuredTask
    from orchestrator.export.training.sampling import SamplePlan as SamplePlan
    from orchestrator.gateway.tapes.named import Fidelity as Fidelity
    from orchestrator.runs.agent_choice import AgentChoice as AgentChoice
    from orchestrator.runs.control import PlayingEpisode as PlayingEpisode
    from orchestrator.runs.control import RunState as RunState
    from orchestrator.runs.events import AttemptBegan as AttemptBegan
    from orchestrator.runs.events import AttemptBroke as AttemptBroke
    from orchestrator.runs.events import EpisodeEnded as EpisodeEnded
    from orchestrator.runs.events import EpisodesPlanned as EpisodesPlanned
    from orchestrator.runs.events import ProgressNote as ProgressNote
    from orchestrator.runs.node_facts import NodeCheck as NodeCheck
    from orchestrator.runs.node_facts import NodeDifference as NodeDifference
    from orchestrator.runs.node_facts import NodeFacts as NodeFacts
    from orchestrator.runs.node_facts import NodeFault as NodeFault
    from orchestrator.runs.spec import Asked as Asked
    from orchestrator.runs.spec import Changes as Changes
    from orchestrator.runs.spec import Pace as Pace
    from orchestrator.runs.spec import RunSpec as RunSpec
    from orchestrator.runs.store.ledger import Attempt as Attempt
    from orchestrator.runs.store.ledger import EpisodeKey as EpisodeKey
    from orchestrator.runs.store.lock import NodeClock as NodeClock
    from orchestrator.runs.store.lock import RunLock as RunLock
    from orchestrator.runs.store.merging import MergedRun as MergedRun
    from orchestrator.runs.store.rescoring import ScoredEpisode as ScoredEpisode
    from orchestrator.runs.store.run_folder import RunFolder as RunFolder
    from orchestrator.runs.store.scorer_reports import ScorerEpisode as ScorerEpisode
    from orchestrator.runs.store.scorer_reports import ScorerReport as ScorerReport
    from orchestrator.sandbox.delta.delta import Delta as Delta
    from orchestrator.sandbox.delta.delta import NextId as NextId
    from orchestrator.sandbox.engine.containers import Container as Container
    from orchestrator.sandbox.engine.containers import Endpoint as Endpoint
    from orchestrator.sandbox.images.build import BuildOutcome as BuildOutcome
    from orchestrator.sandbox.images.build import BuildResult as BuildResult
    from orchestrator.sandbox.images.image_file import ImageFile as ImageFile
    from orchestrator.sandbox.images.recipes import Recipe as Recipe
    from orchestrator.sandbox.inventory import ContainerStatus as ContainerStatus
    from orchestrator.sandbox.memory import Cost as Cost
    from orchestrator.sandbox.pool.pool_context import PoolEvent as PoolEvent
    from orchestrator.sandbox.reset.database import QueryResult as QueryResult
    from orchestrator.sandbox.reset.state import Fingerprint as Fingerprint
    from orchestrator.sandbox.reset.state import TakenState as TakenState
    from orchestrator.sandbox.standing_sites import ResetOutcome as ResetOutcome
    from orchestrator.sandbox.standing_sites import SiteReset as SiteReset
    from orchestrator.sandbox.states.state_file import SavedState as SavedState
    from orchestrator.sandbox.states.store import NamedState as NamedState
    from sites.accounts import Role as Role
    from sites.manifest import Site as Site
    from sites.registry import SiteRegistry as SiteRegistry
    from tasks.edits import ValueChange as ValueChange
    from tasks.imports.errata import Erratum as Erratum
    from tasks.imports.errata import ErratumEffect as ErratumEffect
    from tasks.imports.suite_file import ImportedSuite as ImportedSuite
    from tasks.needs import Tier as Tier
    from tasks.schema import Suite as Suite
    from tasks.schema import Task as Task

_NAMES = LazyNames(
    __name__,
    """
    arena_core.actions: Action
    arena_core.errors: ArenaError ManifestError
    arena_core.plugins: Plugin
    arena_core.work_events: WorkEnded WorkLine WorkOutput WorkPlanned WorkStep
    arena_core.worlds: World
    evaluators.changes: FileChange
    evaluators.collateral: Collateral
    evaluators.evidence: Ended EpisodeFault Evidence Receipt
    evaluators.lint: Finding
    evaluators.harms: HarmVerdict
    evaluators.scores: Score
    evaluators.verdicts: Outcome OutcomeKind Verdict
    orchestrator.agents.interface: Agent AgentClass AgentMaker Assignment Decision Guide Reference
    orchestrator.agents.model.client: ModelCheck
    orchestrator.agents.model_exchange: Spent
    orchestrator.agents.spec: AgentFactory AgentSpec Agents
    orchestrator.analysis.judging.agreement_set: JudgeAgreement JudgeReport LabelledText
    orchestrator.analysis.judging.judge: JudgeChoice JudgeSession JudgedRun
    orchestrator.analysis.run_report.extension_points: LeftOut Written
    orchestrator.analysis.run_report.run_report: JudgeUse RunReport TaskRow
    orchestrator.analysis.run_report.step_values: StepValue
    orchestrator.analysis.run_report.tables: StudyPart
    orchestrator.analysis.spent: TemplateRecord
    orchestrator.analysis.stats.agreement: Agreement
    orchestrator.analysis.stats.difficulty: FittedDifficulty
    orchestrator.analysis.stats.summary: Summary
    orchestrator.analysis.studies.baseline: Baseline TaskBaseline
    orchestrator.analysis.studies.comparison: Comparison
    orchestrator.analysis.studies.findings: StudyAnalysis
    orchestrator.analysis.studies.planning: CellPlan StudyPlan
    orchestrator.analysis.studies.progress: CellProgress StudyProgress
    orchestrator.analysis.studies.question_plans: QuestionPlan
    orchestrator.analysis.studies.regression: Bar BarVerdict HeldRun HeldTask HeldWorld
    orchestrator.analysis.studies.verification: Verification
    orchestrator.analysis.studies.verified_run: AgentTally Difference
    orchestrator.analysis.study_report.leaderboard: Leaderboard
    orchestrator.analysis.study_report.reporting: ComparedRuns RunOrLabelled StudyReport
    orchestrator.api.arena: Arena
    orchestrator.api.browsing: Browsing
    orchestrator.api.doctor: DoctorCheck DoctorStatus ExaminedPlugin
    orchestrator.api.nodes: Nodes
    orchestrator.api.open_episode: OpenEpisode
    orchestrator.api.opened: ArenaEvent OnArenaEvent RunBegan SitesStarting StudyBegan WarningNote
    orchestrator.api.repairs: SuiteRepair
    orchestrator.api.ray_runs: RayRuns
    orchestrator.api.runs: Runs
    orchestrator.api.sites: Sites
    orchestrator.api.starting: RunningSite
    orchestrator.api.states: States
    orchestrator.api.studies: Studies
    orchestrator.api.suites: LintReport Suites
    orchestrator.api.sync: SyncArena SyncEpisode SyncRuns SyncSites SyncStates SyncStudies
    orchestrator.api.sync: SyncNodes SyncRayRuns SyncSuites SyncTapes
    orchestrator.api.tapes: TapeSummary Tapes
    orchestrator.authoring.site_check.checkup: ContractPoint
    orchestrator.authoring.site_check.facts: Breach FactsReport Said
    orchestrator.browser.observation: Node Observation Tab
    orchestrator.authoring.canary.findings: CanaryStatus Drift NodeFinding TaskFinding
    orchestrator.authoring.canary.history: CanaryEntry Origins CanaryPlace
    orchestrator.authoring.canary.lifetimes: CanaryLife HalfLife KindDeaths LookCounts
    orchestrator.authoring.canary.looking: CanaryReport LookedTask
    orchestrator.authoring.canary.nearest: Candidate
    orchestrator.authoring.canary.repair: Repair
    orchestrator.episode.walls: Wall WallKind
    orchestrator.episode.checkpoint: Checkpoint
    orchestrator.episode.checkpoint_file: load_checkpoint save_checkpoint
    orchestrator.episode.external.command: AgentCommand
    orchestrator.episode.steps: StepResult
    orchestrator.export.exporting: Exported
    orchestrator.export.exporting: RunChoice
    orchestrator.export.harbor: HarborFolders
    orchestrator.export.training.bands: MeasuredTask
    orchestrator.export.training.sampling: SamplePlan
    orchestrator.runs.agent_choice: AgentChoice
    orchestrator.runs.control: PlayingEpisode RunState
    orchestrator.runs.events: AttemptBegan AttemptBroke EpisodesPlanned ProgressNote EpisodeEnded
    orchestrator.runs.node_facts: NodeCheck NodeDifference NodeFacts NodeFault
    orchestrator.runs.spec: Asked Changes Pace RunSpec
    orchestrator.runs.store.ledger: Attempt EpisodeKey
    orchestrator.runs.store.lock: NodeClock RunLock
    orchestrator.runs.store.merging: MergedRun
    orchestrator.runs.store.scorer_reports: ScorerEpisode ScorerReport
    orchestrator.runs.store.rescoring: ScoredEpisode
    orchestrator.runs.store.run_folder: RunFolder
    orchestrator.sandbox.delta.delta: Delta NextId
    orchestrator.sandbox.engine.containers: Container Endpoint
    orchestrator.sandbox.images.build: BuildOutcome BuildResult
    orchestrator.sandbox.images.image_file: ImageFile
    orchestrator.sandbox.images.recipes: Recipe
    orchestrator.sandbox.inventory: ContainerStatus
    orchestrator.sandbox.memory: Cost
    orchestrator.sandbox.pool.pool_context: PoolEvent
    orchestrator.sandbox.reset.database: QueryResult
    orchestrator.sandbox.reset.state: Fingerprint TakenState
    orchestrator.sandbox.standing_sites: ResetOutcome SiteReset
    orchestrator.sandbox.states.state_file: SavedState
    orchestrator.sandbox.states.store: NamedState
    orchestrator.gateway.tapes.named: Fidelity
    sites.accounts: Role
    sites.manifest: Site
    sites.registry: SiteRegistry
    tasks.edits: ValueChange
    tasks.imports.errata: Erratum ErratumEffect
    tasks.imports.suite_file: ImportedSuite
    tasks.needs: Tier
    tasks.schema: Suite Task
    """,
    whole={"actions": "arena_core.actions", "errors": "arena_core.errors"},
)
__all__ = _NAMES.names  # noqa: PLE0605  a type checker reads the imports above

if not TYPE_CHECKING:  # a type checker is to find a wrong name
    __getattr__ = _NAMES.load

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
