"""`study.yaml`: agents × arms × worlds × suites × repeats, and the questions to answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Annotated, Final, Self, assert_never

from pydantic import Field, FiniteFloat, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from arena_core.errors import InputError
from arena_core.names import offered
from arena_core.worlds import World
from evaluators.fields import Slug
from orchestrator.analysis.stats.results import CLEAN, Compared
from orchestrator.analysis.stats.sequential import Spending
from orchestrator.analysis.studies.questions import Question, QuestionKind
from orchestrator.analysis.studies.secondary import Outcome, Secondary
from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.runs.spec import (
    AgentEntry,
    Browser,
    BrowserEntry,
    EpisodeLimits,
    RunSettings,
    Vary,
    refuse_field,
)
from sites.documents import parse_document, read_document
from sites.fields import Strict
from tasks.schema import Family

STUDY_FILE: Final = "study.yaml"
_NO_SECRETS: Final = "holds a secret, which stands in no study's file: write ${NAME} in its place"
_ENDINGS: Final = (".yaml", ".yml")

Share = Annotated[FiniteFloat, Field(gt=0, lt=1)]


class SuiteEntry(Strict):
    """A suite, and which of its tasks are played; what is left empty does not narrow the choice.

    Attributes:
        suite: a shipped suite's name, or a path; one relative to the study's file is found there.
        name: what reports call it; the last part of `suite` where omitted.
        tasks: ids, or patterns of them with `*` and `?`.
        templates: only instances of these.
        sites: only tasks that visit at least one of these.
        families: only these kinds of work.
        seeds: of a suite of MiniWoB++ pages, such as `1-10`, in place of those that it names.
    """

    suite: str = Field(min_length=1)
    name: Slug | None = None
    tasks: tuple[str, ...] = ()
    templates: tuple[Slug, ...] = ()
    sites: tuple[str, ...] = ()
    families: tuple[Family, ...] = ()
    seeds: str | None = None

    @field_validator("seeds", mode="before")
    @classmethod
    def _is_written_as_text(cls, seeds: object) -> object:
        if not isinstance(seeds, str | None):
            message = "must be text, such as `1-10` or `'1,2'`"
            raise ValueError(message)  # noqa: TRY004  what pydantic reports with its place
        return seeds

    @property
    def label(self) -> str:
        """What reports and folders call it."""
        if self.name is not None:
            return self.name
        last = PurePath(self.suite.partition("@")[0]).name
        for ending in _ENDINGS:
            last = last.removesuffix(ending)
        return last

    @property
    def source(self) -> str:
        """The suite as `arena eval --suite` takes it."""
        return self.suite if self.seeds is None else f"{self.suite}@{self.seeds}"


class SequentialDesign(Strict):
    """How a study may be answered before it is done.

    Each report of an unfinished study is a look, and is counted: however many there are, all of
    them together raise no more false alarms than `alpha`.

    Attributes:
        spending: how much of alpha goes to early looks: hardly any, so that the last one decides
            nearly as if there had been no other, or nearly as much as to late ones.
    """

    spending: Spending = Spending.OBRIEN_FLEMING


class Within(Strict):
    """What the others are held at; episodes of all are taken together where one is left out.

    Attributes:
        agent: a label; of questions about worlds and arms.
        suite: what `SuiteEntry.label` says.
        arm: one of `variations`, in which agents are compared; the clean one where omitted.
    """

    agent: str | None = None
    world: World | None = None
    suite: str | None = None
    arm: str | None = None


class ComparisonEntry(Strict):
    """Two agents, the two worlds, or two arms of the study that are compared.

    Attributes:
        first, second: labels of agents, worlds, or names of `variations` and `clean`; the effect is
            the first's figure less the second's.
    """

    id: Slug
    of: Compared
    first: str
    second: str
    within: Within = Within()

    @model_validator(mode="after")
    def _has_two_sides(self) -> Self:
        if self.first == self.second:
            refuse_field(("second",), "must differ from `first`")
        match self.of:
            case Compared.AGENTS:
                if self.within.agent is not None:
                    refuse_field(("within", "agent"), "has no effect where agents are compared")
            case Compared.WORLDS:
                if self.within.world is not None:
                    refuse_field(("within", "world"), "has no effect where worlds are compared")
                for field, name in (("first", self.first), ("second", self.second)):
                    if name not in set(World):
                        refuse_field((field,), f"must be {' or '.join(World)}")
            case Compared.ARMS:
                pass
            case _:
                assert_never(self.of)
        return self

    @model_validator(mode="after")
    def _is_offline_in_arms(self) -> Self:
        within = self.within
        if within.arm is not None and self.of is Compared.ARMS:
            refuse_field(("within", "arm"), "has no effect where arms are compared")
        if within.arm is not None and self.of is Compared.WORLDS:
            message = "arms are played offline: no worlds can be compared in one"
            refuse_field(("within", "arm"), message)
        if within.arm == CLEAN:
            message = f"omit it: a question that names no arm is of the {CLEAN} one"
            refuse_field(("within", "arm"), message)
        if self.is_about_arms and within.world is World.ONLINE:
            refuse_field(("within", "world"), "must be offline: arms are played nowhere else")
        return self

    @property
    def is_about_arms(self) -> bool:
        """Whether it compares arms, or agents in one that is not clean."""
        return self.of is Compared.ARMS or self.within.arm is not None

    def _question(self, kind: QuestionKind, margin: float | None, *, registered: bool) -> Question:
        return Question(
            id=self.id,
            kind=kind,
            of=self.of,
            first=self.first,
            second=self.second,
            agent=self.within.agent,
            world=World.OFFLINE if self.is_about_arms else self.within.world,
            suite=self.within.suite,
            arm=self.within.arm,
            margin=margin,
            registered=registered,
        )


class QuestionEntry(ComparisonEntry):
    """One question that the study is to answer, about rates of success.

    Attributes:
        margin: as a share: 0.05 is five percentage points. Of equivalence and non-inferiority.
    """

    kind: QuestionKind
    margin: Share | None = None

    @model_validator(mode="after")
    def _has_its_margin(self) -> Self:
        if (self.margin is None) != (self.kind is QuestionKind.DIFFERENCE):
            has_none = self.margin is None
            needs = f"a `margin` is needed for {self.kind}, such as 0.05 for five points"
            refuse_field(("margin",), needs if has_none else "has no effect on a difference")
        is_turned = self.of is Compared.ARMS and self.first == CLEAN
        if is_turned and self.kind is QuestionKind.NON_INFERIORITY:
            message = f"would ask whether the {CLEAN} arm is hardly worse than `{self.second}`:"
            refuse_field(("first",), f"{message} name `{self.second}` first, and {CLEAN} second")
        return self

    def asks_the_same_as(self, other: QuestionEntry) -> bool:
        """Whether another question differs in its id alone, or in which side is named first."""
        return self._content() == other._content()

    def _content(self) -> Question:
        asked = self.asked(registered=True)
        sides = asked.first, asked.second
        if self.kind is not QuestionKind.NON_INFERIORITY:
            sides = min(sides), max(sides)
        return replace(asked, id="", first=sides[0], second=sides[1])

    def asked(self, *, registered: bool) -> Question:
        """Return the question as the analysis takes it."""
        return self._question(self.kind, self.margin, registered=registered)


class SecondaryEntry(ComparisonEntry):
    """An outcome beside success that the study is to describe, with an interval and no test.

    Attributes:
        k: of `pass_hat`: how many plays of a task must all succeed.
    """

    outcome: Outcome
    k: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _has_its_k(self) -> Self:
        if (self.k is None) == (self.outcome is Outcome.PASS_HAT):
            has_none = self.k is None
            needs = "a `k` is needed for pass_hat, such as 3"
            refuse_field(("k",), needs if has_none else "applies only to pass_hat")
        return self

    def asked(self) -> Secondary:
        """Return the outcome as the analysis takes it."""
        question = self._question(QuestionKind.DIFFERENCE, None, registered=True)
        return Secondary(question=question, outcome=self.outcome, k=self.k)


class StudyAgent(AgentEntry):
    """An agent of a study, and the browser that it is played in.

    Attributes:
        browser: in place of the study's: entries that differ in it alone compare browsers.
    """

    browser: Browser | None = Field(default=None, exclude_if=lambda value: value is None)


class StudyFile(RunSettings):
    """What a study compares, and what it is to answer; how it is played says `RunSettings`.

    Attributes:
        name: of the study, and of its folder.
        agents: by the label that reports use.
        seed: of the order in which episodes are played, and of the analysis' resampling.
        budget: what the whole study may spend on models.
        alpha: the share of false alarms that is accepted over all registered questions.
        sequential: where registered questions may be answered before all is played.
        secondary: outcomes beside success, which are described and not tested.
        variations: arms by name, each the values of `vary`: every agent is played in each of them
            too, offline. Questions that name no arm are of the clean one.
        contamination: what is known of whether the models saw the tasks, for the study card.
    """

    name: Slug
    title: str = ""
    agents: dict[Slug, StudyAgent] = Field(min_length=1)
    suites: tuple[SuiteEntry, ...] = Field(min_length=1)
    repeats: int = Field(default=1, ge=1, le=10_000)
    seed: int = 0
    limits: EpisodeLimits = EpisodeLimits()
    alpha: Annotated[FiniteFloat, Field(gt=0, le=0.5)] = 0.05
    sequential: SequentialDesign | None = None
    questions: tuple[QuestionEntry, ...] = ()
    secondary: tuple[SecondaryEntry, ...] = ()
    variations: dict[Slug, Vary] = Field(default_factory=dict)
    contamination: str = ""
    vary: SkipJsonSchema[Vary] = ()
    canary: SkipJsonSchema[bool] = False
    canary_age: SkipJsonSchema[int | None] = None
    shard: SkipJsonSchema[str | None] = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        _refuse_twins("suites", "suite", [one.label for one in self.suites])
        _refuse_twins("questions", "question", [one.id for one in self.questions])
        _refuse_twins("secondary", "secondary outcome", [one.id for one in self.secondary])
        if self.sequential is not None and not self.questions:
            refuse_field(("sequential",), "has no effect without `questions`")
        for number, question in enumerate(self.questions):
            for field, message in self.misnamed(question):
                refuse_field(("questions", number, *field), message)
        for number, one in enumerate(self.secondary):
            for field, message in self.misnamed(one):
                refuse_field(("secondary", number, *field), message)
            if one.k is not None and one.k > self.repeats:
                message = f"must be at most the {self.repeats} repeats of the study"
                refuse_field(("secondary", number, "k"), message)
        return self

    @model_validator(mode="after")
    def _keeps_live_scores_apart(self) -> Self:
        for label, entry in self.agents.items():
            address = None if entry.browser is None else entry.browser.address
            if address is not None and not address.is_for_files:
                refuse_field(("agents", label, "browser"), _NO_SECRETS)
        own = None if self.browser is None else self.browser.address
        if own is not None and not own.is_for_files:
            refuse_field(("browser",), _NO_SECRETS)
        if not self._is_live:
            return self
        for part, asked in (("questions", self.questions), ("secondary", self.secondary)):
            for number, one in enumerate(asked):
                if one.of is not Compared.AGENTS or one.within.world is World.OFFLINE:
                    continue
                first, second = self.agents[one.first], self.agents[one.second]
                alone = {"browser": None}
                if self.browser_of(first) != self.browser_of(second) and (
                    first.model_copy(update=alone) != second.model_copy(update=alone)
                ):
                    message = f"{one.first} and {one.second} are two agents in two browsers, which"
                    message += (
                        " decide live scores: compare agents in one, or browsers by one agent"
                    )
                    refuse_field((part, number), message)
        return self

    @property
    def _is_live(self) -> bool:
        return World.ONLINE in self.worlds and not self.staged

    def browser_of(self, agent: StudyAgent) -> BrowserEntry | None:
        """Return the browser that an agent is played in, in every arm; None for the usual one.

        Where real sites are visited none is left to the world: arms, which are played offline, are
        compared with the clean one.
        """
        named = agent.browser or self.browser
        return BrowserEntry(use=BrowserKind.CHROMIUM) if named is None and self._is_live else named

    @model_validator(mode="after")
    def _has_arms_that_differ(self) -> Self:
        if self.canary or self.canary_age:
            message = "is of one run: `arena eval --canary`, or `arena canary` before the study"
            refuse_field(("canary",), message)
        if self.shard is not None:
            message = "is of one machine, not of the study: `arena study run --shard I/N`"
            refuse_field(("shard",), message)
        if self.vary:
            refuse_field(("vary",), "a study names its arms: `variations: {dark: [look=dark]}`")
        if self.variations and World.OFFLINE not in self.worlds:
            refuse_field(("variations",), "arms are played offline, and the study is not")
        if self.variations and self.tape:
            refuse_field(("variations",), "vary replicas, and what is recorded stays as it was")
        if CLEAN in self.variations:
            message = "is what the arm without any variation is called; it is always played"
            refuse_field(("variations", CLEAN), message)
        known: dict[frozenset[str], str] = {}
        for name, texts in self.variations.items():
            if not texts:
                refuse_field(("variations", name), "varies nothing: the clean arm is always played")
            twin = known.setdefault(frozenset(texts), name)
            if twin != name:
                refuse_field(("variations", name), f"is the same arm as `{twin}`")
        return self

    def in_arm(self, arm: str) -> tuple[tuple[str, ...], tuple[World, ...]]:
        """Return what is varied in an arm, and where it is played; of the clean one by ''."""
        return (self.variations[arm], (World.OFFLINE,)) if arm else ((), self.worlds)

    @property
    def suite_labels(self) -> tuple[str, ...]:
        """What its suites are called, in order."""
        return tuple(one.label for one in self.suites)

    def misnamed(self, question: ComparisonEntry) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield each field of a question that names what the study does not have, and why."""
        within = question.within
        if question.is_about_arms and not self.variations:
            message = "the study has no arms: name them in `variations`"
            yield ("within", "arm") if within.arm else ("of",), message
            return
        named: list[tuple[tuple[str, ...], str | None, Iterable[str]]] = [
            (("within", "agent"), within.agent, self.agents),
            (("within", "suite"), within.suite, self.suite_labels),
            (("within", "world"), within.world, self.worlds),
            (("within", "arm"), within.arm, self.variations),
        ]
        there = self._sides_of(question.of)
        named += [(("first",), question.first, there), (("second",), question.second, there)]
        for field, name, known in named:
            if name is not None and name not in known:
                yield field, f"the study has no '{name}'; {offered(name, list(known))}"

    def _sides_of(self, compared: Compared) -> Iterable[str]:
        """Return what can stand on a side of a question."""
        match compared:
            case Compared.AGENTS:
                return self.agents
            case Compared.WORLDS:
                return self.worlds
            case Compared.ARMS:
                return (CLEAN, *self.variations)
            case _:
                assert_never(compared)


def read_study_file(path: Path) -> StudyFile:
    return read_document(path, StudyFile, InputError)


def parse_study_file(text: str, path: Path) -> StudyFile:
    """Parse the text of a study's file; errors are as in `read_study_file`."""
    return parse_document(text, path, StudyFile, InputError)


def _refuse_twins(field: str, what: str, names: list[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            refuse_field((field, number), f"a second {what} is called '{name}'")
