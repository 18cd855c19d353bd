"""`study.yaml`: agents × worlds × suites × repeats, and the questions that they are to answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Annotated, Final, Self, assert_never

from pydantic import Field, FiniteFloat, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails

from arena_core.errors import InputError
from arena_core.worlds import World
from evaluators.fields import Slug
from orchestrator.stats.results import Compared
from orchestrator.studies.questions import Question, QuestionKind
from sites.documents import parse_document, read_document
from sites.fields import Strict
from tasks.schema import Family

STUDY_FILE: Final = "study.yaml"
_ENDINGS: Final = (".yaml", ".yml")

OptionValue = str | int | FiniteFloat | bool | None
Share = Annotated[FiniteFloat, Field(gt=0, lt=1)]


class AgentEntry(Strict):
    """An agent with its options, or a command that plays over CDP.

    Attributes:
        agent: a registered name, or `package.module:Factory`.
        options: as the agent declares them; its secrets stand in no file.
        command: a program that plays each episode over CDP, in place of `agent`.
        seconds: how long the command may take for an episode.
    """

    agent: str | None = Field(default=None, min_length=1)
    options: dict[str, OptionValue] = Field(default_factory=dict)
    command: str | None = Field(default=None, min_length=1)
    seconds: FiniteFloat | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.agent is None) == (self.command is None):
            _refuse(("agent",), "needs `agent` or `command`, and not both")
        if self.command is not None and self.options:
            _refuse(("options",), "has no effect with `command`")
        if self.command is None and self.seconds is not None:
            _refuse(("seconds",), "has no effect without `command`")
        return self


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


class EpisodeLimits(Strict):
    """Where an episode ends by itself, where its task allows more."""

    steps: int | None = Field(default=None, ge=1, le=500)
    seconds: FiniteFloat | None = Field(default=None, gt=0, le=7200)


class StudyBudget(Strict):
    """What the whole study may spend on models; None where that has no limit.

    Attributes:
        max_tokens: of prompts and replies together.
    """

    max_usd: FiniteFloat | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)


class Within(Strict):
    """What the others are held at; episodes of all are taken together where one is left out.

    Attributes:
        agent: a label; of questions about worlds.
        suite: what `SuiteEntry.label` says.
    """

    agent: str | None = None
    world: World | None = None
    suite: str | None = None


class QuestionEntry(Strict):
    """One question that the study is to answer, about rates of success.

    Attributes:
        first, second: labels of agents, or worlds; the effect is the first's rate less the
            second's.
        margin: as a share: 0.05 is five percentage points. Of equivalence and non-inferiority.
    """

    id: Slug
    kind: QuestionKind
    of: Compared
    first: str
    second: str
    within: Within = Within()
    margin: Share | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.first == self.second:
            _refuse(("second",), "must be another one than `first`")
        if (self.margin is None) != (self.kind is QuestionKind.DIFFERENCE):
            has_none = self.margin is None
            needs = f"a `margin` is needed for {self.kind}, such as 0.05 for five points"
            _refuse(("margin",), needs if has_none else "has no effect on a difference")
        match self.of:
            case Compared.AGENTS:
                if self.within.agent is not None:
                    _refuse(("within", "agent"), "has no effect where agents are compared")
            case Compared.WORLDS:
                if self.within.world is not None:
                    _refuse(("within", "world"), "has no effect where worlds are compared")
                for field, name in (("first", self.first), ("second", self.second)):
                    if name not in set(World):
                        _refuse((field,), f"must be {' or '.join(World)}")
            case _:
                assert_never(self.of)
        return self

    def asked(self, *, registered: bool) -> Question:
        """Return the question as the analysis takes it."""
        return Question(
            id=self.id,
            kind=self.kind,
            of=self.of,
            first=self.first,
            second=self.second,
            agent=self.within.agent,
            world=self.within.world,
            suite=self.within.suite,
            margin=self.margin,
            registered=registered,
        )


class StudyFile(Strict):
    """What a study compares, and what it is to answer.

    Attributes:
        name: of the study, and of its folder.
        agents: by the label that reports use.
        worlds: in which every task that runs there is played.
        staged: live origins are staged on this machine, and labelled so.
        resolve: `HOST:PORT:ADDR:PORT` entries, as `arena eval --resolve` takes them.
        repeats: how often each agent plays each task in each world.
        attempts: tries of an episode that breaks off for no fault of the agent.
        seed: of the order in which episodes are played, and of the analysis' resampling.
        workers: episodes of each world side by side.
        spares, memory, strategy: as of `arena eval`.
        alpha: the share of false alarms that is accepted over all registered questions.
    """

    name: Slug
    title: str = ""
    agents: dict[Slug, AgentEntry] = Field(min_length=1)
    worlds: tuple[World, ...] = Field(default=(World.OFFLINE,), min_length=1)
    staged: bool = False
    resolve: tuple[str, ...] = ()
    suites: tuple[SuiteEntry, ...] = Field(min_length=1)
    repeats: int = Field(default=1, ge=1, le=10_000)
    attempts: int = Field(default=3, ge=1)
    seed: int = 0
    workers: int = Field(default=1, ge=1)
    spares: int | None = Field(default=None, ge=0)
    memory: str | None = None
    strategy: str | None = None
    screenshots: bool = True
    limits: EpisodeLimits = EpisodeLimits()
    budget: StudyBudget = StudyBudget()
    alpha: Annotated[FiniteFloat, Field(gt=0, le=0.5)] = 0.05
    questions: tuple[QuestionEntry, ...] = ()

    @field_validator("worlds")
    @classmethod
    def _no_world_twice(cls, given: tuple[World, ...]) -> tuple[World, ...]:
        if len(set(given)) < len(given):
            message = "must name no world twice"
            raise ValueError(message)
        return given

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        _refuse_twins("suites", "suite", [one.label for one in self.suites])
        _refuse_twins("questions", "question", [one.id for one in self.questions])
        for number, question in enumerate(self.questions):
            for field, message in self.misnamed(question):
                _refuse(("questions", number, *field), message)
        return self

    @property
    def suite_labels(self) -> tuple[str, ...]:
        """What its suites are called, in order."""
        return tuple(one.label for one in self.suites)

    def misnamed(self, question: QuestionEntry) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield each field of a question that names what the study does not have, and why."""
        within = question.within
        named: list[tuple[tuple[str, ...], str | None, Iterable[str]]] = [
            (("within", "agent"), within.agent, self.agents),
            (("within", "suite"), within.suite, self.suite_labels),
            (("within", "world"), within.world, self.worlds),
        ]
        there: Iterable[str] = self.worlds if question.of is Compared.WORLDS else self.agents
        named += [(("first",), question.first, there), (("second",), question.second, there)]
        for field, name, known in named:
            if name is not None and name not in known:
                yield field, f"the study has no '{name}'; there are: {', '.join(known)}"


def read_study_file(path: Path) -> StudyFile:
    """Read a study.

    Raises:
        InputError: one line with file, line, field and what is allowed.
    """
    return read_document(path, StudyFile, InputError)


def parse_study_file(text: str, path: Path) -> StudyFile:
    """Parse the text of a study's file; errors are as in `read_study_file`."""
    return parse_document(text, path, StudyFile, InputError)


def _refuse_twins(field: str, what: str, names: list[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            _refuse((field, number), f"a second {what} is called '{name}'")


def _refuse(at: tuple[int | str, ...], message: str) -> None:
    """Refuse a field of the model that is validated.

    Raises:
        ValidationError: at that field.
    """
    error = ValueError(message)
    # The message says itself what stood there: of a mapping nothing more is said.
    said = {"message": message}
    details = InitErrorDetails(type="value_error", loc=at, input=said, ctx={"error": error})
    title = "study"
    raise ValidationError.from_exception_data(title, [details])
