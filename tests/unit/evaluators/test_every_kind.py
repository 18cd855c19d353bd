"""What holds for every registered locator and matcher, whoever wrote it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from make_evidence import make_evidence, make_step, stop_step
from pydantic import ValidationError

from arena_core.worlds import World
from evaluators.changes import Change, ChangeKind, FileChange, IgnoredChanges
from evaluators.checks import Check
from evaluators.episode_view import HttpAnswer
from evaluators.evidence import Located
from evaluators.fields import When
from evaluators.kinds import installed_kinds
from evaluators.locators.base import Locator, LookingLocator, Need, Subject
from evaluators.matchers.base import TEXTS, Matcher
from evaluators.verdicts import CheckStatus, verdicts
from sites.atlas import Atlas
from tasks.lint import lint_suite
from tasks.schema import Suite

# One of each, as a task writes it. A locator or matcher without one here is not tested: add it.
LOCATORS: Mapping[str, dict[str, Any]] = {
    "answer": {"by": "answer"},
    "api": {"by": "api", "site": "shop", "path": "/api/basket", "json_path": "total"},
    "db": {"by": "db", "site": "shop", "sql": "SELECT 1"},
    "db_delta": {"by": "db_delta", "site": "shop"},
    "element": {"by": "element", "event": "click", "role": "button", "named": "Buy"},
    "page": {"by": "page", "selector": "h1"},
    "url": {"by": "url"},
    "wob": {"by": "wob"},
}
MATCHERS: Mapping[str, dict[str, Any]] = {
    "exact": {"how": "exact", "value": "x"},
    "include": {"how": "include", "value": ["x", "y"]},
    "number": {"how": "number", "value": {"offline": 1, "online": 2.5}},
    "delta": {"how": "delta", "changes": [{"file": "/srv/a", "kind": "added"}]},
}
KINDS = installed_kinds()


class Episode:
    """An episode in which everything that can be looked at is there."""

    def __init__(self) -> None:
        self.world = World.OFFLINE
        self.own_page = self.fresh_pages = self.databases = self.apis = self

    async def read(self, *_: object) -> tuple[str, ...]:
        return ("Kettle",)

    async def get(self, *_: object) -> HttpAnswer:
        return HttpAnswer("http://shop/api", 200, json.dumps({"total": 3}))

    async def query(self, site: str, sql: str) -> tuple[tuple[object, ...], ...]:
        return ((1, None),)

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:
        return (FileChange(path="/srv/a", kind=ChangeKind.ADDED),)

    async def reward(self) -> float | None:
        return 1.0


def test_each_that_is_registered_has_an_example_here() -> None:
    assert set(KINDS.locators) == set(LOCATORS)
    assert set(KINDS.matchers) == set(MATCHERS)


@pytest.fixture(params=sorted(LOCATORS))
def locator(request: pytest.FixtureRequest) -> Locator:
    return KINDS.locators[request.param].model_validate(LOCATORS[request.param])


@pytest.fixture(params=sorted(MATCHERS))
def matcher(request: pytest.FixtureRequest) -> Matcher:
    return KINDS.matchers[request.param].model_validate(MATCHERS[request.param])


def a_check(locator: Locator, when: When | None = None) -> Check:
    """A check with a locator, and the first matcher that compares what it yields."""
    fitting = next(
        MATCHERS[name] for name, one in KINDS.matchers.items() if one.compares == locator.yields
    )
    phase = when or next(one for one in When if locator.phase_fault(one) is None)
    return Check.model_validate(
        {"name": "check", "when": phase, "locate": locator.model_dump(), "match": fitting}
    )


def is_a_clause(text: str) -> bool:
    """One line that a sentence can be made of."""
    return bool(text.strip()) and "\n" not in text and not text.endswith(".")


class TestLocators:
    def test_it_is_called_in_tasks_as_it_is_registered(self, locator: Locator) -> None:
        assert KINDS.locators[locator.by] is type(locator)

    def test_what_a_run_keeps_of_it_is_read_as_the_same(self, locator: Locator) -> None:
        check = a_check(locator)
        assert Check.model_validate_json(check.model_dump_json()) == check
        assert check.model_dump()["locate"] == locator.model_dump()

    def test_a_field_that_it_does_not_have_is_refused_by_name(self, locator: Locator) -> None:
        with pytest.raises(ValidationError) as caught:
            Check.model_validate(
                {**a_check(locator).model_dump(), "locate": {**locator.model_dump(), "typo": 1}}
            )
        assert ("locate", "typo") in {one["loc"] for one in caught.value.errors()}

    def test_it_goes_with_a_phase_and_with_no_other(self, locator: Locator) -> None:
        usable = {when for when in When if locator.phase_fault(when) is None}
        assert usable
        for when in set(When) - usable:
            with pytest.raises(ValidationError, match=r"when: step|a key node"):
                a_check(locator, when)

    def test_its_words_are_clauses(self, locator: Locator) -> None:
        assert is_a_clause(locator.absence())
        for seen in ((), ("one", "two")):
            sentence = locator.never_met(seen, "'wanted'")
            assert is_a_clause(sentence)
            assert "'wanted'" in sentence
        assert is_a_clause(locator.requirement_fault() or "none")

    def test_it_says_what_its_values_speak_of(self, locator: Locator) -> None:
        assert locator.subject in set(Subject)
        assert any(one.compares == locator.yields for one in KINDS.matchers.values())

    async def test_what_a_look_found_is_what_the_evidence_gives_back(
        self, locator: Locator
    ) -> None:
        if not isinstance(locator, LookingLocator):
            return
        assert locator.needs <= set(Need)
        found = await locator.look(Episode())
        assert found.values
        assert all(isinstance(value, str) for value in found.values)
        kept = Located(check="check", values=found.values, data=dict(found.data))
        stored = Located.model_validate_json(kept.model_dump_json())
        assert locator.at_end("check", make_evidence(located=[stored])) == kept
        assert locator.at_step("check", make_step(1, located=[stored])) == kept

    def test_what_was_not_looked_at_has_no_verdict(self, locator: Locator) -> None:
        if not isinstance(locator, LookingLocator):
            return
        evidence = make_evidence(make_step(0, "shop:/"), make_step(1), stop_step(2))
        [verdict] = verdicts((a_check(locator),), evidence)
        assert verdict.status is CheckStatus.UNKNOWN

    def test_an_episode_that_did_nothing_is_read_without_a_fault(self, locator: Locator) -> None:
        for evidence in (make_evidence(answer=None), make_evidence(make_step(0, "shop:/"))):
            [verdict] = verdicts((a_check(locator),), evidence)
            assert verdict.status is not CheckStatus.MET
            assert is_a_clause(verdict.reason)

    def test_its_lint_rule_speaks_of_places_in_the_check(self, locator: Locator) -> None:
        task: dict[str, Any] = {
            "id": "task",
            "family": "information",
            "intent": "What does it cost?",
            "sites": ["shop"],
            "start": ["shop:/"],
            "checks": [a_check(locator)],
            "reference": [{"do": "stop", "answer": "x"}],
        }
        suite = Suite.model_validate(
            {"suite": "tests", "version": 1, "title": "Tests", "tasks": [task]}
        )
        document = suite.model_dump(mode="json")
        for finding in lint_suite(suite, Atlas({})):
            node: Any = document
            for part in finding.where.split("."):
                node = node[int(part)] if isinstance(node, list) else node[part]
            assert is_a_clause(finding.message)

    def test_an_expected_text_keeps_its_form_when_it_has_it(self, locator: Locator) -> None:
        for is_whole in (True, False):
            once = locator.expected_form("shop:/a b", is_whole=is_whole)
            assert locator.expected_form(once, is_whole=is_whole) == once


class TestMatchers:
    def test_it_is_called_in_tasks_as_it_is_registered(self, matcher: Matcher) -> None:
        assert KINDS.matchers[matcher.how] is type(matcher)

    def test_what_a_run_keeps_of_it_is_read_as_the_same(self, matcher: Matcher) -> None:
        again = type(matcher).model_validate_json(matcher.model_dump_json())
        assert again == matcher

    def test_a_field_that_it_does_not_have_is_refused(self, matcher: Matcher) -> None:
        with pytest.raises(ValidationError):
            type(matcher).model_validate({**matcher.model_dump(), "typo": 1})

    def test_a_locator_yields_what_it_compares(self, matcher: Matcher) -> None:
        assert any(one.yields == matcher.compares for one in KINDS.locators.values())
        assert matcher.computed_counts()
        assert matcher.is_computable or matcher.compares != TEXTS

    def test_nothing_found_meets_only_what_asks_for_nothing(self, matcher: Matcher) -> None:
        assert not matcher.asks_for_nothing
        assert not matcher.match((), World.OFFLINE).met


@pytest.mark.parametrize("name", sorted(MATCHERS))
@given(values=st.lists(st.text(), max_size=4), world=st.sampled_from(World))
def test_no_text_makes_a_matcher_raise_and_its_reason_is_one_clause(
    name: str, values: list[str], world: World
) -> None:
    matcher = KINDS.matchers[name].model_validate(MATCHERS[name])
    found = matcher.match(values, world)
    assert found.expected
    assert found.reason
    assert "\n" not in found.reason


def test_a_schema_for_editors_holds_each_of_them() -> None:
    schema = Check.model_json_schema()
    properties = schema["properties"]
    assert set(properties["locate"]["discriminator"]["mapping"]) == set(KINDS.locators)
    assert set(properties["match"]["discriminator"]["mapping"]) == set(KINDS.matchers)
