"""A broken installation is seen by the doctor, and is one clear line wherever it is met."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.agents.arena_process import Ended

from orchestrator.api.doctor import MODULES, DoctorStatus, broken_modules, examine
from orchestrator.cli import entry


@SLOW
def test_an_installation_that_is_whole_imports_everything() -> None:
    assert broken_modules() == {}


@ONE_QUICK
@pytest.mark.parametrize("module", [name for name in MODULES if "pydantic" not in name])
async def test_a_module_that_cannot_be_imported_is_missing(
    monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    checks = {check.name: check for check in await examine(None)}

    found = checks["installation"]
    assert found.state is DoctorStatus.MISSING
    assert found.found.startswith(f"{module}: ModuleNotFoundError: ")
    assert "pip install" in found.hint


def test_a_command_that_meets_a_missing_module_says_so(
    call: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        import no_such_library  # type: ignore[import-not-found]  # noqa: F401, PLC0415

    monkeypatch.setattr(entry, "build_app", broken)
    ended = call("status")
    assert ended.code == 10
    assert "the installation is broken: No module named 'no_such_library'" in ended.err
    assert "arena doctor" in ended.err
    assert "Traceback" not in ended.err


def test_a_module_of_arenas_own_that_is_not_there_is_a_bug(
    call: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        from orchestrator import no_such_module  # type: ignore[attr-defined]  # noqa: F401, PLC0415

    monkeypatch.setattr(entry, "build_app", broken)
    assert call("status").code == 99
