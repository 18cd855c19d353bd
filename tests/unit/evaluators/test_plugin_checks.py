"""The contract of locators and matchers finds what breaks it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK
from support.tasks.plugged import install

from arena_core.plugins import Group
from evaluators.plugin_checks import locator_breaches, matcher_breaches

MATCHER = """
from typing import Literal
from evaluators.matchers.base import Matched, Matcher

class Mine(Matcher):
    how: Literal["mine"] = "mine"
    def match(self, values, world, form=str):
        {body}
"""
LOCATOR = """
from typing import Literal
from evaluators.locators.answer import AnswerLocator


class Mine({base}):
    by: Literal["mine"] = "mine"
    {body}
"""


@pytest.fixture(autouse=True)
def _site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    importlib.invalidate_caches()


@ONE_QUICK
@pytest.mark.parametrize(
    ("body", "breach"),
    [
        ("return Matched(met=True, reason='met', expected='x')", "met where nothing was found"),
        ("return Matched(met=False, reason='no.', expected='x')", "is no clause"),
        ("return Matched(met=False, reason='a\\nb', expected='x')", "is no clause"),
        ("return Matched(met=False, reason='no', expected='')", "`expected` is empty"),
        (
            "return Matched(met=bool(values and float(values[0])), reason='r', expected='x')",
            "`match` raises ValueError for ('',)",
        ),
        ("return None", "gives no `Matched`"),
    ],
    ids=["met by nothing", "full stop", "two lines", "no expected", "raises", "no answer"],
)
def test_a_matcher_that_breaks_it_is_found(tmp_path: Path, body: str, breach: str) -> None:
    source = MATCHER.format(body=body)
    module = f"mine_{abs(hash(body))}"
    install(
        tmp_path, "mine", {Group.MATCHERS: {"mine": f"{module}:Mine"}}, modules={module: source}
    )
    importlib.invalidate_caches()
    breaches = matcher_breaches({"how": "mine"})
    assert any(breach in one for one in breaches), breaches


@ONE_QUICK
@pytest.mark.parametrize(
    ("body", "breach"),
    [
        ("def absence(self): return 'Nothing.'", "`absence` is no clause"),
        ("def never_met(self, seen, wanted): return 'never'", "`never_met` is no clause"),
        (
            "def expected_form(self, text, *, is_whole): return text + '/'",
            "`expected_form` changes",
        ),
        ("def phase_fault(self, when): return 'no phase'", "`phase_fault` refuses"),
    ],
    ids=lambda one: one.split("(")[0].removeprefix("def "),
)
async def test_a_locator_that_breaks_it_is_found(tmp_path: Path, body: str, breach: str) -> None:
    source = LOCATOR.format(base="AnswerLocator", body=body)
    module = f"mine_{abs(hash(body))}"
    install(
        tmp_path, "mine", {Group.LOCATORS: {"mine": f"{module}:Mine"}}, modules={module: source}
    )
    importlib.invalidate_caches()
    breaches = await locator_breaches({"by": "mine"})
    assert any(breach in one for one in breaches), breaches


async def test_what_nobody_registered_has_no_contract() -> None:
    with pytest.raises(KeyError, match="nothing"):
        matcher_breaches({"how": "nothing"})
    with pytest.raises(KeyError, match="nothing"):
        await locator_breaches({"by": "nothing"})
