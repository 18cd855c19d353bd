"""What a suite file may say."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal, Self, TypeVar

from pydantic import (
    AliasChoices,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from arena_core.worlds import World
from evaluators.checks import Check, Look
from evaluators.fields import Slug, When
from evaluators.harms import Harm
from evaluators.lint import Location
from evaluators.scorers.base import OriginalTask
from evaluators.user import UserSlot
from sites.fields import Strict, written
from tasks.given import GivenSteps
from tasks.labels import Labels
from tasks.needs import Dimension, Need, Tier
from tasks.reference import ReferenceAction, SolveMiniWob, TaskFile, Text
from tasks.safety import Safety, SafetyArm


class Family(StrEnum):
    """What kind of work a task is: WebArena's three families, the unachievable, and the small ones.

    `interaction`: a page's controls are used as it asks, and the page judges it itself (MiniWoB++).
    """

    INFORMATION = "information"
    NAVIGATION = "navigation"
    CONTENT = "content"
    UNACHIEVABLE = "unachievable"
    INTERACTION = "interaction"


Part = TypeVar("Part")
Split = Annotated[
    str,
    written(
        r"train|validation|test(-[a-z0-9]+)*",
        "'train', 'validation' or 'test', or one of several tests, such as 'test-website'",
    ),
]


class OtherPath(Strict):
    """Another right way to do a task, which a proof plays as well.

    Attributes:
        name: what is different about it: `by-history`.
        reference: its actions, `stop` included, or those before it joins the task's own reference.
        joins_at: where it joins that: the number of the action, from 0, that it goes on with.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    name: Slug
    reference: Annotated[tuple[ReferenceAction, ...], Field(min_length=1)]
    # Its former name is still read, and written, so that digests of suites stay.
    joins_at: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        validation_alias=AliasChoices("joins_at", "then_from"),
        serialization_alias="then_from",
        exclude_if=lambda value: value is None,
    )


class ExpectedDivergence(Strict):
    """How the reference is known to end online where the worlds diverge on purpose.

    Attributes:
        outcome: as reports write it: `failure`, `unscored: drifted`.
        at: the check at which the worlds diverge, where the outcome is a failure.
        why: one sentence for readers of the report.
    """

    outcome: Literal["failure", "unscored: drifted", "unscored: blocked"]
    at: Slug | None = None
    why: str

    @model_validator(mode="after")
    def _failure_names_its_check(self) -> Self:
        if (self.outcome == "failure") != (self.at is not None):
            raise ValueError("`at` names the check of a failure, and stands nowhere else")
        return self


class MiniWobStart(Strict):
    """An episode of a MiniWoB++ page.

    Attributes:
        page: its name, without `.html`.
        seed: what its problem is drawn from: the same seed gives the same problem.
        mode: which of its problems, of the five pages that keep some for tests; None for the page's
            default, which is `train`.
    """

    page: Slug
    seed: int = Field(ge=0, lt=2**31)
    mode: Literal["train", "test"] | None = None


class Limits(Strict):
    """Where an episode ends by itself."""

    steps: int = Field(default=20, ge=1, le=500)
    seconds: float = Field(default=180.0, gt=0, le=7200)


class StartPage(Strict):
    """A start page that is opened as another role than the first of its site.

    Attributes:
        page: logical URL.
        role: one of the task's roles on the page's site.
    """

    page: str
    role: str

    @property
    def site(self) -> str:
        return self.page.partition(":")[0]


class Task(Strict):
    """One intent with its sites, start pages and checks.

    Attributes:
        recorded: of a recorded step, the field of `original.record` that holds the whole prompt. It
            is played without a browser: the agent is shown the prompt, and its reply is the answer.
            It has neither sites nor start pages.
        roles: by site, the role that is logged in when the episode starts; or several of them. The
            first of each site share a browser context; every further one has a context of its own,
            with no login but that one, so cookies of two roles of a site never meet.
        start: logical URLs, one tab each, or `about:blank`; the first is current. `{page, role}`
            opens a page in the context of that role; tabs that a tab opens stay in its context.
        worlds: where the task can run.
        given: by site, what is done to its replica before the episode begins: once, and then every
            episode begins in the state that came of it. Such a task is played offline.
        contents: by name and site, what is done after `given` in an arm that asks for it.
        labels: by name, what controls of pages are called in an arm that asks for it: a new name by
            the site's own.
        live_writes: whether requests that may write may go to live sites.
        user: what the user can be asked, by name; without any, nobody is there to answer.
        requires: checks that must hold in a world before the agent starts; where one does not, the
            outcome is `unscored: drifted`.
        reference: what the oracle plays; without one, nothing proves that the task can be solved.
        other_paths: further right ways to do it; a proof plays them in one world, and they must
            succeed.
        only_way: why no other path differs from the reference in a form, a list or an order of
            writes, where there is none.
        detour: harmless actions from the start page and back to it, which a proof plays before
            another path; without any, a look around that every task allows.
        says: answers that are right too, in other words than the reference's; of a task that cannot
            be done, reasons. The linter holds the checks to them.
        says_not: answers or reasons that are wrong, however right they look.
        expected_divergence: how the oracle ends online, where that differs from offline on purpose.
        why: why the task cannot be done, for the unachievable.
        template: what it is an instance of; instances of one template are siblings.
        split: `train`, `validation`, `test`, or one of several tests such as `test-website`; those
            of another than `train` are left out of training data, with their siblings.
        files: what an agent may upload. A suite lists names; the files stand in a folder `files`
            beside it.
        miniwob: the episode that is started on the start page; `wob` in suites. What the page asks
            for then is what the agent gets, in place of `intent`; the episode ends where the page
            ends it.
        tier: how much work it is; of a task that is hard, `needs` must say so.
        dimensions: what makes it difficult.
        needs: the least work that every right way of doing it takes.
        revision: which writing of the task it is, from 1; `arena tasks repair` counts it up.
        looks: what is written into the evidence beside what the checks find, for scorers.
        original: the published task that this one was imported from.
        safety: which arm of which case it is, in a suite on safety.
        harms: effects that must not happen. They are looked at like checks, and scored beside them.
        attack_reference: the actions, `stop` included, of an agent that does what the attack asks
            for; a proof plays them, and every harm must happen.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    id: Slug
    family: Family
    intent: str = Field(min_length=10)
    recorded: str | None = Field(default=None, exclude_if=lambda value: value is None)
    sites: tuple[str, ...]
    roles: dict[str, str | Annotated[tuple[str, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    start: tuple[str | StartPage, ...]
    worlds: tuple[World, ...] = (World.OFFLINE, World.ONLINE)
    given: dict[str, GivenSteps] = Field(default_factory=dict, exclude_if=lambda value: not value)
    contents: dict[Slug, dict[str, GivenSteps]] = Field(
        default_factory=dict, exclude_if=lambda value: not value
    )
    labels: dict[Slug, Labels] = Field(default_factory=dict, exclude_if=lambda value: not value)
    live_writes: bool = False
    user: dict[Slug, UserSlot] = Field(default_factory=dict, exclude_if=lambda value: not value)
    limits: Limits = Limits()
    requires: tuple[Check, ...] = ()
    checks: tuple[Check, ...] = Field(min_length=1)
    reference: Annotated[tuple[ReferenceAction, ...], Field(min_length=1)] | None = None
    other_paths: tuple[OtherPath, ...] = Field(default=(), exclude_if=lambda value: not value)
    only_way: Text | None = Field(default=None, exclude_if=lambda value: value is None)
    detour: tuple[ReferenceAction, ...] = Field(default=(), exclude_if=lambda value: not value)
    says: tuple[Text, ...] = Field(default=(), exclude_if=lambda value: not value)
    says_not: tuple[Text, ...] = Field(default=(), exclude_if=lambda value: not value)
    expected_divergence: ExpectedDivergence | None = None
    why: str | None = None
    template: Slug | None = None
    split: Split | None = Field(default=None, exclude_if=lambda value: value is None)
    files: Annotated[
        tuple[TaskFile, ...],
        WithJsonSchema({"type": "array", "items": {"type": "string"}, "title": "Files"}),
    ] = Field(default=(), exclude_if=lambda value: not value)
    miniwob: MiniWobStart | None = Field(default=None, alias="wob")
    tier: Tier | None = Field(default=None, exclude_if=lambda value: value is None)
    dimensions: tuple[Dimension, ...] = Field(default=(), exclude_if=lambda value: not value)
    needs: tuple[Need, ...] = Field(default=(), exclude_if=lambda value: not value)
    revision: int = Field(default=1, ge=1, exclude_if=lambda value: value == 1)
    looks: tuple[Look, ...] = Field(default=(), exclude_if=lambda value: not value)
    original: OriginalTask | None = Field(default=None, exclude_if=lambda value: value is None)
    safety: Safety | None = Field(default=None, exclude_if=lambda value: value is None)
    harms: tuple[Harm, ...] = Field(default=(), exclude_if=lambda value: not value)
    attack_reference: tuple[ReferenceAction, ...] = Field(
        default=(), exclude_if=lambda value: not value
    )

    @field_validator("sites", "start")
    @classmethod
    def _is_somewhere(cls, given: tuple[Part, ...], info: ValidationInfo) -> tuple[Part, ...]:
        if not given and info.data.get("recorded") is None:
            kind, message = "too_short", "must have at least 1 entry"
            raise PydanticCustomError(kind, message, {"min_length": 1})
        return given

    @model_validator(mode="after")
    def _only_replicas_are_set_up(self) -> Self:
        if self.given and self.worlds != (World.OFFLINE,):
            message = "`given` sets replicas up, and a live site is as it is: `worlds: [offline]`"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _only_way_has_no_other(self) -> Self:
        if self.only_way is not None and self.other_paths:
            raise ValueError("`only_way` says why there are no `other_paths`, and there are some")
        return self

    @model_validator(mode="after")
    def _safety_names_its_harms(self) -> Self:
        if self.safety is not None and not self.harms:
            raise ValueError("`safety` needs `harms`: what must not happen")
        is_attacked = self.safety is not None and self.safety.arm is not SafetyArm.BENIGN
        if self.attack_reference and not is_attacked:
            message = "`attack_reference` does what an attack asks for: it belongs to the arms"
            raise ValueError(f"{message} `attacked` and `defended` of a case in `safety`")
        return self

    @model_validator(mode="after")
    def _recorded_step_has_its_prompt(self) -> Self:
        if self.recorded is not None and self.prompt is None:
            message = f"`recorded` names '{self.recorded}', which is no text of `original.record`"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _checks_know_the_question(self) -> Self:
        for name in ("checks", "requires", "harms"):
            known = tuple(check.answering(self.intent) for check in getattr(self, name))
            object.__setattr__(self, name, known)
        return self

    def with_content(self, name: str) -> Task:
        """Return the task as its world is set up in an arm with that content."""
        more = self.contents.get(name, {})
        given = {site: (*self.given.get(site, ()), *steps) for site, steps in more.items()}
        return self.model_copy(update={"given": {**self.given, **given}})

    @property
    def prompt(self) -> str | None:
        """The whole prompt of a recorded step; None for a task that is played on sites."""
        if self.recorded is None or self.original is None:
            return None
        found = self.original.record.get(self.recorded)
        return found if isinstance(found, str) else None

    def roles_of(self, site: str) -> tuple[str, ...]:
        """Return the roles that are logged in on a site, in order; none where nobody is."""
        roles = self.roles.get(site, ())
        return (roles,) if isinstance(roles, str) else roles

    @property
    def reference_actions(self) -> tuple[ReferenceAction, ...]:
        """The actions of the reference; none where the task has no reference."""
        return self.reference or ()

    def reference_length(self, world: World | None) -> int | None:
        """Return how many actions the reference takes in a world.

        None without one, and where a page's solver takes as many as it needs.
        """
        actions = [one for one in self.reference_actions if one.only in {None, world}]
        if not actions or any(isinstance(one, SolveMiniWob) for one in actions):
            return None
        return len(actions)

    def actions_of(self, path: OtherPath) -> tuple[ReferenceAction, ...]:
        joined = () if path.joins_at is None else self.reference_actions[path.joins_at :]
        return (*path.reference, *joined)

    @property
    def cluster(self) -> str:
        """What tasks that may be alike have in common: a template, an attack, a case of safety."""
        if self.template or not self.safety:
            return self.template or self.id
        return self.safety.attack or self.safety.case

    @property
    def further_roles(self) -> tuple[tuple[str, str], ...]:
        """Site and role of every role beyond the first of its site."""
        return tuple((site, role) for site in self.roles for role in self.roles_of(site)[1:])

    @property
    def start_pages(self) -> tuple[str, ...]:
        """The logical URLs of the start pages."""
        return tuple(one if isinstance(one, str) else one.page for one in self.start)

    @property
    def key_nodes(self) -> tuple[Check, ...]:
        """The checks that may be met at any step."""
        return tuple(check for check in self.checks if check.when is When.STEP)

    def checks_in(self, world: World) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if world in check.worlds)

    def looks_in(self, world: World) -> tuple[Look, ...]:
        """Return all that is looked at in a world: checks and harms that apply, further looks."""
        further = tuple(one for one in (*self.harms, *self.looks) if world in one.worlds)
        return (*self.checks_in(world), *further)


def located_checks(task: Task) -> Iterator[tuple[Location, Check]]:
    """Yield every check of a task with its place, then what it requires, and its harms."""
    for number, check in enumerate(task.checks):
        yield ("checks", number), check
    for number, check in enumerate(task.requires):
        yield ("requires", number), check
    for number, harm in enumerate(task.harms):
        yield ("harms", number), harm


class Suite(Strict):
    """Tasks that belong together: of one file, or of all files of a folder."""

    suite: Slug
    version: int = Field(ge=1)
    title: str
    tasks: tuple[Task, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        seen: set[str] = set()
        for task in self.tasks:
            if task.id in seen:
                raise ValueError(f"two tasks are called '{task.id}'")
            seen.add(task.id)
        return self
