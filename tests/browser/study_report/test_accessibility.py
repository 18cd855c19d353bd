"""The page against axe-core's rules (WCAG 2.2 A and AA, and its best practices), in Chromium."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from quick_cases import quick_first

from arena_core.user_cache import user_cache

pytestmark = pytest.mark.browser

_AXE = "axe-core@4.10.3"


@pytest.fixture(scope="module")
def axe() -> str:
    """Return axe-core's program, installed into the user's cache where it is not."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no `npm` on PATH")
    folder = user_cache() / "tests" / _AXE
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = (npm, "install", "--silent", "--ignore-scripts", "--prefix", folder, _AXE)
        subprocess.run(words, check=True)
        (folder / "ready").touch()
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("state", ["", "#episode=0%2Foffline-parts-r0-a1&step=2"])
@pytest.mark.parametrize(
    ("width", "scheme"), quick_first([(1280, "light"), (1280, "dark"), (400, "light")])
)
async def test_no_rule_is_violated(
    *, report: Path, opens: Any, axe: str, scheme: str, state: str, width: int
) -> None:
    size = {"width": width, "height": 900}
    opened = await opens(report, state, color_scheme=scheme, viewport=size, bypass_csp=True)
    page = opened.page
    if state:
        await page.locator("#episode .strip").nth(1).wait_for()
    await page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    await page.evaluate(axe)
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    violations = {
        rule["id"]: [node["html"][:200] + node["failureSummary"] for node in rule["nodes"][:5]]
        for rule in found["violations"]
    }
    assert violations == {}
