"""What holds for every registered locator and matcher, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from quick_cases import ONE_QUICK
from support.runs.make_evidence import make_evidence, make_step, stop_step

from arena_core.plugins import ExtensionPoint
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.evidence import Located
from evaluators.fields import When
from evaluators.locators.base import Locator, LookingLocator
from evaluators.locators.kinds import LOCATORS as SEAM_OF_LOCATORS
from evaluators.locators.kinds import installed_kinds
from evaluators.matchers.kinds import MATCHERS as SEAM_OF_MATCHERS
from evaluators.plugin_checks import locator_breaches, matcher_breaches
from evaluators.verdicts import CheckStatus, verdicts
from sites.registry import SiteRegistry
from tasks.lint.linter import lint_suite
from tasks.schema import Suite

# One of each, as a task writes it. A locator or matcher without one here is not tested: add it.
LOCATORS: Mapping[str, dict[str, Any]] = {
    "answer": {"by": "answer"},
    "api": {"by": "api", "site": "shop", "path": "/api/basket", "json_path": "total"},
    "db": {"by": "db", "site": "shop", "sql": "SELECT 1"},
    "db_delta": {"by": "db_delta", "site": "shop"},
    "element": {"by": "element", "event": "click", "role": "button", "named": "Buy"},
    "network": {"by": "network", "url": "shop:/basket/*", "method": "POST"},
    "page": {"by": "page", "selector": "h1"},
    "python": {"by": "python", "function": "basket-total"},
    "shell": {"by": "shell", "site": "shop", "command": "wc -l /srv/shop/log"},
    "url": {"by": "url"},
    "user": {"by": "user", "slot": "consent"},
    "untranslated": {"by": "untranslated", "what": "eval", "why": "no check says it"},
    "wob": {"by": "wob"},
}
MATCHERS: Mapping[str, dict[str, Any]] = {
    "answer": {"how": "answer", "type": "number", "value": {"offline": 1, "online": 2.5}},
    "command": {"how": "command", "value": "click('A')"},
    "data": {"how": "data", "value": {"items": [{"fields": {"a": "x", "b": None}}]}},
    "exact": {"how": "exact", "value": "x"},
    "found": {"how": "found"},
    "include": {"how": "include", "value": ["x", "y"]},
    "number": {"how": "number", "value": {"offline": 1, "online": 2.5}},
    "reason": {"how": "reason", "missing": ["x"], "found": ["y"]},
    "regex": {"how": "regex", "value": {"offline": "x", "online": ["x.*", ".*y"]}, "unless": "xy"},
    "semantic": {"how": "semantic", "rubric": "The text says x."},
    "delta": {"how": "delta", "changes": [{"file": "/srv/a", "kind": "added"}]},
}
KINDS = installed_kinds()


def test_each_that_is_registered_has_an_example_here() -> None:
    assert own(SEAM_OF_LOCATORS) == set(LOCATORS)
    assert own(SEAM_OF_MATCHERS) == set(MATCHERS)


def own(extension_point: ExtensionPoint[Any]) -> set[str]:
    """Return the names of Arena's own: other packages' plug-ins have tests of theirs."""
    return {one.name for one in extension_point.plugins() if one.is_own}


@pytest.fixture(params=sorted(LOCATORS))
def locator(request: pytest.FixtureRequest) -> Locator:
    return KINDS.locators[request.param].model_validate(LOCATORS[request.param])


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


@pytest.mark.parametrize("name", sorted(LOCATORS))
async def test_a_locator_keeps_the_contract(name: str) -> None:
    assert await locator_breaches(LOCATORS[name]) == ()


@ONE_QUICK
@pytest.mark.parametrize("name", sorted(MATCHERS))
def test_a_matcher_keeps_the_contract(name: str) -> None:
    assert matcher_breaches(MATCHERS[name]) == ()


class TestLocators:
    def test_a_field_that_it_does_not_have_is_refused_by_name(self, locator: Locator) -> None:
        with pytest.raises(ValidationError) as caught:
            Check.model_validate(
                {**a_check(locator).model_dump(), "locate": {**locator.model_dump(), "typo": 1}}
            )
        assert ("locate", "typo") in {one["loc"] for one in caught.value.errors()}

    async def test_what_a_look_found_is_what_the_evidence_gives_back(
        self, locator: Locator
    ) -> None:
        if not isinstance(locator, LookingLocator):
            return
        kept = Located(check="check", values=("x",), data={})
        assert locator.at_end("check", make_evidence(located=[kept])) == kept
        assert locator.at_step("check", make_step(1, located=[kept])) == kept

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

    @ONE_QUICK
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
        for finding in lint_suite(suite, SiteRegistry({})):
            node: Any = document
            for part in finding.where.split("."):
                node = node[int(part)] if isinstance(node, list) else node[part]
            assert is_a_clause(finding.message)


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
