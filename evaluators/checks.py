"""A check is when × locate × match: its schema as tasks write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Self

from pydantic import model_validator

from arena_core.worlds import World
from evaluators.computed import Computed
from evaluators.fields import Slug, When
from evaluators.kinds import LOCATORS, MATCHERS, CheckKinds, installed_kinds, missing_kind
from evaluators.locators.base import Locator
from evaluators.matchers.base import Matched, Matcher
from evaluators.unions import OneOf
from sites.fields import Strict


def _kinds(context: object) -> CheckKinds:
    """Return what a validation allows: the registry that is its context, or what is installed."""
    return context if isinstance(context, CheckKinds) else installed_kinds()


def _locators(context: object) -> Mapping[str, type[Locator]]:
    return _kinds(context).locators


def _matchers(context: object) -> Mapping[str, type[Matcher]]:
    return _kinds(context).matchers


Locate = Annotated[Locator, OneOf("by", _locators, partial(missing_kind, LOCATORS))]
Match = Annotated[Matcher, OneOf("how", _matchers, partial(missing_kind, MATCHERS))]


class Look(Strict):
    """One thing that is looked at and written into the evidence, and that no score asks for.

    Compatible readings of published task sets read it there (`evaluators/readings`).

    Attributes:
        name: unique in its task; evidence, reports and linter use it.
        worlds: where it is looked at; a world that is none of the task's is a mistake.
    """

    name: Slug
    when: When
    locate: Locate
    worlds: tuple[World, ...] = (World.OFFLINE, World.ONLINE)

    @model_validator(mode="after")
    def _locator_fits_phase(self) -> Self:
        fault = self.locate.phase_fault(self.when)
        if fault is not None:
            raise ValueError(fault)
        return self


class Check(Look):
    """One thing that must hold.

    Attributes:
        computed: where the expected value comes from; the linter asks there, an episode never does.
    """

    match: Match
    computed: Computed | None = None

    @model_validator(mode="after")
    def _locator_fits_matcher(self) -> Self:
        locate, match = self.locate, self.match
        if locate.yields != match.compares:
            message = f"`by: {locate.by}` yields {locate.yields} and"
            message += f" `how: {match.how}` compares {match.compares}: they do not go together"
            raise ValueError(message)
        if self.computed is not None and not match.is_computable:
            message = f"what `how: {match.how}` compares is not computed:"
            message += " say `computed` on a check with one value"
            raise ValueError(message)
        return self


def match(check: Check, values: Sequence[str], world: World) -> Matched:
    """Compare what a check's locator found with what the check expects in a world; never raises."""

    def form(text: str) -> str:
        return check.locate.expected_form(text, is_whole=check.match.is_whole)

    return check.match.match(values, world, form)
