"""What a study found, as data: what its page, figures, tables and the terminal are made from.

Rates, differences, margins and bounds are shares from 0 to 1 (differences from -1 to 1); costs are
US dollars, durations seconds. None stands where there is no figure, never a zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from arena_core.extras import extra
from arena_core.names import counted
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.analysis.stats.concordance import TemplatePoint
from orchestrator.analysis.stats.paired import Decision
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.stats.results import Cell
from orchestrator.analysis.studies.parted import PartedWorlds
from orchestrator.analysis.studies.questions import Question, Stage
from orchestrator.analysis.studies.reliability import Calibration, CollateralFigures, Reliability
from orchestrator.analysis.studies.robustness import Robustness
from orchestrator.analysis.studies.secondary import SecondaryOutcome
from orchestrator.analysis.studies.slices import Slice, TaskAcross
from orchestrator.analysis.studies.study_runs import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPart:
    """A heading and its lines."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCard:
    """What a reader needs beside the figures; `parts` is empty where nothing was played."""

    parts: tuple[CardPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCount:
    """How many episodes of a cell."""

    cell: Cell
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCause:
    """Failed episodes whose first unmet check, in the order of their task, has this name.

    Attributes:
        tasks: of how many tasks they are.
        failures: how many there are; `cells`: in each cell that has any.
    """

    suite: str
    check: str
    tasks: int
    failures: int
    cells: tuple[CellCount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatRate:
    """A cell's success in one repeat, from 0; `interval` goes by templates."""

    repeat: int
    tasks: int
    success: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatTrend:
    """A cell's success from repeat to repeat.

    Attributes:
        change: by how much success changes from one repeat to the next: the mean over tasks of the
            least-squares slope; None where no task has two scored repeats.
        interval: of `change`, by templates; None where all tasks say the same or are of one
            template.
        tasks: of how many tasks `change` is.
    """

    cell: Cell
    rates: tuple[RepeatRate, ...]
    change: float | None
    interval: Interval | None
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """An agent in a front.

    Attributes:
        cost: of an episode; `success` and `interval`: as of its cell.
        beaten_by: an agent that costs no more and succeeds no less, and is better in one of the
            two; None for an agent on the front.
    """

    agent: str
    cost: float
    success: float
    interval: Interval | None
    beaten_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFront:
    """Which agents no other one beats in both success and cost, on one suite in one world.

    Agents that know the solution are left out. It is of the figures as they are: two agents whose
    intervals overlap may well change places.

    Attributes:
        by: `US dollars`, `tokens`, `seconds`.
        points: the cheapest first.
        unknown: agents whose cost is not known.
    """

    by: str
    suite: str
    world: World
    points: tuple[FrontPoint, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRates:
    """Of k plays of one task: does one succeed, do all?

    Attributes:
        at: pass@k, that at least one of k succeeds.
        hat: pass^k, that all k succeed.
        tasks: of how many tasks, those with at least k scored repeats.
        at_interval, hat_interval: by templates; None where all tasks are of one.
    """

    k: int
    at: float
    hat: float
    tasks: int
    at_interval: Interval | None = None
    hat_interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What episodes took.

    Per episode: the mean over scored episodes. Per success: what all scored episodes took, failures
    included, ÷ the successes; None without a success.

    Attributes:
        usd: of all that ended, the unscored too; None where a price is unknown, and for agents
            without a model, as all dollars and tokens are.
    """

    usd: float | None
    usd_per_episode: float | None
    usd_per_success: float | None
    seconds_per_episode: float | None
    seconds_per_success: float | None
    tokens_per_episode: float | None
    tokens_per_success: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFigures:
    """The figures of one cell.

    Attributes:
        world_label: the world as reports head it: `online (staged)`.
        agent_note: what is to be said of the agent beside its figures; None for a contestant that
            was registered.
        tasks: how many have an episode; `scored_tasks`: how many have a scored one.
        pending: episodes that the run is still to play.
        unscored: how many episodes have which reason, commonest first.
        success: the mean over tasks of the share of their scored repeats that succeeded.
        wilson: Wilson's interval over tasks, at 1 - alpha.
        clustered: an interval that respects `clusters`: templates, with the repeats of each task.
        bounds: the rate if every unscored episode had failed, and if each had succeeded.
        sr0, sr1: share of tasks with at most 0 or 1 key node missing.
        steps: mean steps of scored episodes.
    """

    cell: Cell
    world_label: str
    agent_note: str | None
    tasks: int
    scored_tasks: int
    episodes: int
    scored: int
    pending: int
    unscored: tuple[tuple[UnscoredReason, int], ...]
    success: float | None
    wilson: Interval | None
    clustered: Interval | None
    clusters: int
    bounds: Interval | None
    completion_macro: float | None
    completion_micro: float | None
    sr0: float | None
    sr1: float | None
    efficiency: float | None
    alignment: float | None
    steps: float | None
    passes: tuple[PassRates, ...]
    spending: Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a study says to one question.

    Attributes:
        sentence: the answer for a reader who knows nothing of the study.
        stage: how many of its episodes ended, of how many, and at which looks it was answered.
        is_interim: whether episodes of it are still to be played. Without a registered sequential
            design nothing is decided then, and there is no p.
        first_rate, second_rate: success on the paired tasks.
        effect: first minus second.
        interval: of the effect, at 1 - alpha.
        deciding_interval: of the effect, at 1 - 2 alpha: what an equivalence or a non-inferiority
            holds against its margin; None for a difference.
        bca: the clustered bootstrap's interval beside `interval`; None with few templates, or where
            all say the same.
        p: of the test; where the decision is `no`, of the opposite of what was asked.
        p_adjusted: with all looks of a sequential design counted, and after Holm's correction over
            its family; where the decision is `no`, after Bonferroni's.
        smallest_p: the smallest p that so few templates that differ allow; None beside a margin.
        family: over how many questions was corrected: the registered ones are one family, those
            that were not registered another, which takes nothing from the first.
        method: interval and test by name.
        tasks: how many were paired; `clusters`: of how many templates; `episodes`: of how many.
        differences: first minus second of each pair: a task in each world, or of each agent, that
            the question leaves open.
        unpaired: tasks that one side has no scored episode of.
        decision: whether the question is answered with yes: the sides differ, are equivalent, the
            first is not inferior. `undecided` is no answer either way: never that there is no
            difference.
        bounds: the smallest and the largest effect that the unscored episodes leave possible.
        would_turn: what the unscored would have to be to turn the conclusion; None where there are
            none.
    """

    question: Question
    sentence: str
    stage: Stage
    is_interim: bool
    first_rate: float | None
    second_rate: float | None
    effect: float | None
    interval: Interval | None
    deciding_interval: Interval | None
    bca: Interval | None
    p: float | None
    p_adjusted: float | None
    smallest_p: float | None
    family: int
    method: str
    tasks: int
    clusters: int
    episodes: int
    differences: tuple[float, ...]
    unpaired: tuple[str, ...]
    decision: Decision
    bounds: Interval | None
    would_turn: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldAgreement:
    """How far the two worlds agree for one agent on one suite.

    A task counts as won in a world where more than half of its scored repeats succeeded, as lost
    where less than half did; rate and kappa are of these. The points take every repeat.

    Attributes:
        offline_label, online_label: the worlds as reports head them.
        both, offline_only, online_only, neither: ids of the tasks won in these worlds.
        split: ids of tasks with exactly half of their repeats won in a world: in no count above.
        unpaired: ids of tasks that one world has no scored episode of.
        rate: share of the paired tasks on which the worlds agree; its interval and kappa's go by
            templates.
        kappa: Cohen's; None where undefined.
        points: one a template, for the Bland-Altman plot.
        bias: mean of the points' differences; `limits`: Bland and Altman's, bias ± 1.96 standard
            deviations; None with fewer than two points.
        low_limit_interval, high_limit_interval: of each limit itself, as `bias_interval` of bias.
    """

    agent: str
    suite: str
    offline_label: str
    online_label: str
    both: tuple[str, ...]
    offline_only: tuple[str, ...]
    online_only: tuple[str, ...]
    neither: tuple[str, ...]
    split: tuple[str, ...]
    unpaired: tuple[str, ...]
    rate: float | None
    rate_interval: Interval | None
    kappa: float | None
    kappa_interval: Interval | None
    points: tuple[TemplatePoint, ...]
    bias: float | None
    bias_interval: Interval | None
    limits: Interval | None
    low_limit_interval: Interval | None
    high_limit_interval: Interval | None

    @property
    def paired(self) -> int:
        """How many tasks are compared."""
        return len(self.both) + len(self.offline_only) + len(self.online_only) + len(self.neither)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """Whether the two worlds put the agents in the same order, on one suite.

    Attributes:
        offline, online: the agents' rates, in the order of `agents`.
        tau: Kendall's tau-b; None with fewer than two agents, or where a world has them all equal.
        p: exact where there are no ties.
        says: what so few agents allow to say.
    """

    suite: str
    agents: tuple[str, ...]
    offline: tuple[float, ...]
    online: tuple[float, ...]
    tau: float | None
    p: float | None
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A source of variance of an episode's success.

    Attributes:
        source: `tasks`, `worlds`, `tasks × worlds`, `repeats`.
        variance: in squared shares; `share`: of the sum of all sources.
    """

    source: str
    variance: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatGain:
    """The standard error of an agent's rate if every task were played this often."""

    repeats: int
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceFigures:
    """Where the spread of one agent's results on one suite comes from.

    Attributes:
        gains: for 1, 2, 3, … repeats; the first is one play of each task.
        says: how many repeats are worth it, in words.
    """

    agent: str
    suite: str
    components: tuple[Component, ...]
    gains: tuple[RepeatGain, ...]
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerFigures:
    """What a question about a difference that is undecided could have found.

    Attributes:
        detectable: the smallest difference that is found in `power` of such studies; None where
            nothing up to a difference of everything is.
        says: the same in words.
    """

    question: str
    power: float
    detectable: float | None
    says: str


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class StudyAnalysis:
    """What a study, or a comparison of runs, found.

    Attributes:
        alpha: the level of every test; intervals are at 1 - alpha.
        seed: of every procedure that draws numbers.
        answers: in the order of the questions; `registered` is the question's.
        secondary: the outcomes beside success that were registered: described, not tested.
        templates: success by template, with intervals over the tasks of each; empty where no
            template has two tasks.
        failures: failed episodes by their first unmet check, the commonest first.
        fronts: which agents no other one beats in success and cost.
        trends: success by repeat; empty where each task was played once.
        robustness: each agent in each arm against its clean run. Of a study, `cells`,
            `collateral` and `calibration` are of every arm, and answers of those that their
            questions name; all else is of the clean one.
        reliability: how alike repeats of a task end and go; empty where each was played once.
        parted: why tasks that the worlds disagree on part there; empty where they disagree on none.
        collateral: what was changed that tasks do not allow; empty where no task asks.
        calibration: stated confidence against outcomes; empty where no agent stated one.
        prompts: of each agent that asked a model, the first request as it was sent.
        methods: a paragraph for a paper, written from the locks of the runs.
        notes: what a reader must know before the figures: what is unscored, differs or is staged;
            what is still to be played is in `pending`.
    """

    title: str
    alpha: float
    seed: int
    cells: tuple[CellFigures, ...]
    answers: tuple[Answer, ...]
    agreement: tuple[WorldAgreement, ...]
    rank_correlation: tuple[RankCorrelation, ...]
    variance: tuple[VarianceFigures, ...]
    power: tuple[PowerFigures, ...]
    slices: tuple[Slice, ...]
    tasks: tuple[TaskAcross, ...]
    methods: str
    notes: tuple[str, ...]
    secondary: tuple[SecondaryOutcome, ...] = ()
    templates: tuple[Slice, ...] = ()
    failures: tuple[FailureCause, ...] = ()
    fronts: tuple[CostFront, ...] = ()
    trends: tuple[RepeatTrend, ...] = ()
    robustness: tuple[Robustness, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    parted: tuple[PartedWorlds, ...] = ()
    collateral: tuple[CollateralFigures, ...] = ()
    calibration: tuple[Calibration, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    card: StudyCard = field(default_factory=StudyCard)

    def __repr__(self) -> str:
        cells, answers = len(self.cells), len(self.answers)
        return (
            f"<StudyAnalysis {self.title}: {counted(cells, 'cell')}, {counted(answers, 'answer')}>"
        )

    @property
    def pending(self) -> int:
        """How many episodes of its cells are still to be played."""
        return sum(one.pending for one in self.cells)

    def to_pandas(self) -> Any:
        """Return the figures of each agent, suite and world, one a row.

        Raises:
            PrerequisiteError: pandas is not installed; says what installs it.
        """
        pandas = extra("pandas", "pandas", needed_by="to_pandas()")
        cells = [{**one.pop("cell"), **one} for one in self.document()["cells"]]
        return pandas.json_normalize(cells, sep="_")

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {"is_interim": self.pending > 0, "pending": self.pending, **found}
