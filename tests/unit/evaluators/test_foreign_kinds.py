"""Locators and matchers of other packages: parsed, linted, looked for, recorded and scored."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from pydantic import ValidationError
from support.runs.make_evidence import ANSWER, make_check, make_evidence

import evaluators
from arena_core.errors import PrerequisiteError
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.episode_view import EpisodeView
from evaluators.evidence import Evidence, Located
from evaluators.lint import LintContext, Problem, site_problems
from evaluators.locators.base import Found, LookingLocator, Need, Subject
from evaluators.locators.kinds import CheckKinds, installed_kinds
from evaluators.matchers.base import Form, Matched, Matcher
from evaluators.scores import score
from sites.registry import SiteRegistry
from tasks.lint.linter import lint_suite
from tasks.schema import Suite


class FeedLocator(LookingLocator):
    """Yields the titles of a site's feed."""

    subject: ClassVar[Subject] = Subject.STATE

    by: Literal["feed"] = "feed"
    site: str
    limit: int = 10

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.FRESH_PAGE})

    def requirement_fault(self) -> None:
        """A feed can be read at any time."""

    async def look(self, episode: EpisodeView) -> Found:
        answer = await episode.fresh_pages.get(f"{self.site}:/feed")
        return Found(tuple(answer.body.splitlines()[: self.limit]), {"status": answer.status})

    def absence(self) -> str:
        return f"the feed of {self.site} is empty"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:
        if self.site not in known.task_sites:
            yield Problem(("locate", "site"), f"no feed of '{self.site}' in this task")


class OneOfMatcher(Matcher):
    """Met where a value is one of several."""

    how: Literal["one_of"] = "one_of"
    values: tuple[str, ...]

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:
        met = any(form(one) in values for one in self.values)
        return Matched(met=met, reason=f"found {len(values)} values", expected="one of several")


OWN = installed_kinds()
KINDS = CheckKinds.of((*OWN.locators.values(), FeedLocator), (*OWN.matchers.values(), OneOfMatcher))
CHECK: dict[str, Any] = {
    "name": "in-feed",
    "when": "end",
    "locate": {"by": "feed", "site": "shop"},
    "match": {"how": "one_of", "values": ["Kettle", "Pot"]},
}


def test_a_check_of_foreign_parts_is_read_kept_and_scored() -> None:
    check = Check.model_validate(CHECK, context=KINDS)
    assert check.locate == FeedLocator(site="shop")
    stored = check.model_dump_json()
    assert '"limit":10' in stored
    assert Check.model_validate_json(stored, context=KINDS) == check
    for values, outcome in ((("Kettle",), "success"), (("Cup",), "failure"), ((), "failure")):
        located = Located(check="in-feed", values=values, data={"status": 200})
        kept = make_evidence(located=[located]).model_dump_json()
        found = score((check,), Evidence.model_validate_json(kept))
        assert str(found.outcome) == outcome
        assert values or "the feed of shop is empty, wanted one of several" in found.because


def test_the_lint_rule_of_a_foreign_locator_is_asked() -> None:
    task = {
        "id": "task",
        "family": "information",
        "intent": "What does it cost?",
        "sites": ["wiki"],
        "start": ["wiki:/"],
        "checks": [CHECK],
        "reference": [{"do": "stop", "answer": "x"}],
    }
    document = {"suite": "tests", "version": 1, "title": "Tests", "tasks": [task]}
    found = lint_suite(Suite.model_validate(document, context=KINDS), SiteRegistry({}))
    assert ("tasks.0.checks.0.locate.site", "no feed of 'shop' in this task") in {
        (one.where, one.message) for one in found
    }


def test_a_check_whose_package_is_not_installed_is_refused_with_what_is_missing() -> None:
    with pytest.raises(ValidationError) as caught:
        Check.model_validate(CHECK)
    told = {one["loc"]: str(one["ctx"]["error"]) for one in caught.value.errors()}
    assert set(told) == {("locate",), ("match",)}
    assert "not 'feed': install the package" in told[("locate",)]
    assert "`arena.locators`" in told[("locate",)]
    assert "not 'one_of'" in told[("match",)]
    assert "`arena.matchers`" in told[("match",)]


def test_the_locator_in_the_readme_is_one() -> None:
    readme = (Path(evaluators.__file__).parent / "README.md").read_text(encoding="utf-8")
    [source] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    names: dict[str, Any] = {**globals(), "site_problems": site_problems}
    exec(source, names)  # noqa: S102 - the example of our own README
    kinds = CheckKinds.of(
        (*OWN.locators.values(), names["FeedLocator"]), (*OWN.matchers.values(), OneOfMatcher)
    )
    check = Check.model_validate(CHECK, context=kinds)
    assert type(check.locate) is names["FeedLocator"]


def test_two_of_one_name_are_refused() -> None:
    class Other(FeedLocator):
        """Another of that name."""

    with pytest.raises(PrerequisiteError, match="`by: feed` is both"):
        CheckKinds.of((FeedLocator, Other), ())


def test_a_locator_without_a_name_is_refused() -> None:
    class Nameless(OneOfMatcher):
        """Its name has no default."""

        how: Literal["one_of"]

    with pytest.raises(PrerequisiteError, match="`how: Literal"):
        CheckKinds.of((), (Nameless,))


SOURCE = """
from typing import Literal
from evaluators.matchers.base import Matched
from evaluators.matchers.base import Matcher

class Longer(Matcher):
    how: Literal["longer"] = "longer"
    than: int

    def match(self, values, world, form=str):
        met = any(len(value) > self.than for value in values)
        return Matched(met=met, reason="measured", expected=f"longer than {self.than}")
"""


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    importlib.invalidate_caches()
    return tmp_path


def _install(folder: Path, value: str) -> None:
    info = folder / "acme_checks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-checks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[arena.matchers]\nlonger = {value}\n")
    (folder / "acme_checks.py").write_text(SOURCE)


def test_a_matcher_of_an_installed_package_is_understood_in_tasks(site_packages: Path) -> None:
    _install(site_packages, "acme_checks:Longer")
    document = make_check(ANSWER, "x").model_dump()
    check = Check.model_validate({**document, "match": {"how": "longer", "than": 3}})
    assert str(score((check,), make_evidence(answer="long")).outcome) == "success"
    assert str(score((check,), make_evidence(answer="no")).outcome) == "failure"


def test_a_package_that_cannot_be_used_is_reported_where_it_is_named_and_nowhere_else(
    site_packages: Path,
) -> None:
    _install(site_packages, "acme_checks:Missing")
    document = make_check(ANSWER, "x").model_dump()
    Check.model_validate(document)
    with pytest.raises(ValidationError, match=r"acme-checks 1\.0, acme_checks:Missing\) cannot"):
        Check.model_validate({**document, "match": {"how": "longer", "than": 3}})


def test_a_class_that_calls_itself_otherwise_than_it_is_registered_is_reported(
    site_packages: Path,
) -> None:
    source = SOURCE.replace('"longer"', '"exact"')
    _install(site_packages, "acme_checks:Longer")
    (site_packages / "acme_checks.py").write_text(source)
    sys.modules.pop("acme_checks", None)
    document = make_check(ANSWER, "x").model_dump()
    Check.model_validate(document)
    with pytest.raises(ValidationError, match="calls itself 'exact'"):
        Check.model_validate({**document, "match": {"how": "longer", "than": 3}})
