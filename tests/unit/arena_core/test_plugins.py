"""What is plugged in is found by entry point; one that is broken is one line and hides no other."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.tasks.plugged import install

from arena_core.errors import PluginError, UnknownNameError
from arena_core.plugins import (
    ExtensionPoint,
    Group,
    Owner,
    filling,
    owner_of,
    registered,
    subclassing,
)

ROOT = Path(__file__).parents[3]


@runtime_checkable
class Report(Protocol):
    suffix: str

    def write(self) -> str: ...


REPORTS: ExtensionPoint[Report] = ExtensionPoint(Group.REPORTS, "report", filling(Report))

GOOD = """
class Good:
    suffix = "txt"
    def write(self):
        return "written"
GOOD = Good()
"""


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    importlib.invalidate_caches()
    return tmp_path


@pytest.fixture
def plug(site_packages: Path) -> Callable[..., None]:
    def plugged(name: str, module: str, source: str, *, called: str = "one", at: str = "") -> None:
        points = {Group.REPORTS: {called: f"{module}:{at or module.upper()}"}}
        install(site_packages, name, points, modules={module: source})

    return plugged


Plug = Callable[..., None]


def test_an_installed_object_is_found_by_its_name_with_who_registered_it(plug: Plug) -> None:
    plug("acme-reports", "good", GOOD, called="acme")
    assert REPORTS.load("acme").write() == "written"
    [found] = [one for one in REPORTS.plugins() if one.name == "acme"]
    assert (found.distribution, found.version, found.path, found.is_own) == (
        "acme-reports",
        "1.0",
        "good:GOOD",
        False,
    )


def test_nothing_is_imported_before_it_is_asked_for_by_name(plug: Plug) -> None:
    plug("acme-reports", "asked", GOOD.replace("GOOD", "ASKED"), called="acme")
    plug("other-reports", "unasked", "raise SystemExit('imported')", called="other")
    assert {"acme", "other"} <= set(REPORTS.names())
    assert "asked" not in sys.modules
    REPORTS.load("acme")
    assert "unasked" not in sys.modules


@ONE_QUICK
@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "import nonexistent_lib",
            "ModuleNotFoundError: No module named 'nonexistent_lib'",
        ),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def broken(:", "SyntaxError"),
        ("", "AttributeError"),
        ("class BROKEN:\n    suffix = ''\n    def write(self): ...", "it is the class BROKEN"),
        ("class _A:\n    suffix = ''\nBROKEN = _A()", "it is no Report: it lacks write"),
    ],
)
def test_a_broken_one_is_one_line_with_its_distribution_and_hides_no_other(
    plug: Plug, source: str, told: str
) -> None:
    plug("acme-broken", "broken", source, called="bad")
    plug("acme-reports", "good", GOOD, called="acme")
    sys.modules.pop("broken", None)
    with pytest.raises(PluginError) as caught:
        REPORTS.load("bad")
    for part in (told, "plug-in 'bad' of arena.reports", "acme-broken 1.0", "broken:BROKEN"):
        assert part in caught.value.message
    assert "\n" not in caught.value.message
    assert "pip uninstall acme-broken" in caught.value.hint
    assert REPORTS.load("acme").suffix == "txt"
    usable, broken = REPORTS.load_all()
    assert "acme" in usable
    assert [error.message for error in broken] == [caught.value.message]


def test_two_of_one_name_are_an_error_that_names_both_and_the_others_work(plug: Plug) -> None:
    plug("acme-reports", "good", GOOD, called="acme")
    plug("rival-reports", "rival", GOOD, called="acme")
    plug("third-reports", "third", GOOD.replace("GOOD", "THIRD"), called="third")
    with pytest.raises(PluginError) as caught:
        REPORTS.load("acme")
    for part in ("called 'acme'", "acme-reports 1.0 (good:GOOD)", "rival-reports 1.0"):
        assert part in caught.value.message
    assert "uninstall one of them" in caught.value.hint
    assert REPORTS.load("third").suffix == "txt"


def test_a_name_that_nobody_registered_is_answered_with_those_there_are(plug: Plug) -> None:
    install_own = ExtensionPoint(Group.AGENTS, "agent", lambda found: found)
    with pytest.raises(UnknownNameError) as caught:
        install_own.load("genius")
    assert caught.value.message == "there is no agent 'genius'"
    assert "oracle" in caught.value.hint


def test_an_installation_without_arenas_own_says_that_it_is_out_of_date(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(PluginError) as caught:
        REPORTS.load("html")
    assert "arena.reports are not registered" in caught.value.message
    assert "install Arena again" in caught.value.hint


@SLOW
def test_arenas_own_are_registered_the_same_way_and_each_can_be_imported() -> None:
    written = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    installed = {
        group.value: {one.name: one.path for one in registered(group) if one.is_own}
        for group in Group
    }
    written = {group.value: written.get(group.value, {}) for group in Group}
    assert installed == written, "the installation is older than pyproject.toml: make setup"
    for group in written:
        for plugin in registered(Group(group)):
            plugin.load()


@pytest.mark.parametrize("kind", ["module", "package", "edited"])
def test_an_installed_module_is_owned_by_its_distribution(
    site_packages: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    install(site_packages, "acme-reports", {}, version="2.1")
    info, code = site_packages / "acme_reports-2.1.dist-info", site_packages
    match kind:
        case "module":
            (info / "RECORD").write_text("acme_reports-2.1.dist-info/METADATA,,\nacme.py,,\n")
            (code / "acme.py").touch()
        case "package":
            (info / "RECORD").write_text("acme/__init__.py,,\n")
            (code / "acme").mkdir()
            (code / "acme/__init__.py").touch()
        case _:
            (info / "top_level.txt").write_text("acme\n")
            code = site_packages / "checkout"
            code.mkdir()
            (code / "acme.py").touch()
    monkeypatch.setattr(sys, "path", [*sys.path, str(code)])
    importlib.invalidate_caches()
    monkeypatch.setitem(sys.modules, "acme", importlib.import_module("acme"))
    assert owner_of("acme") == Owner("acme-reports", "2.1")
    assert owner_of("acme.inner") == Owner("acme-reports", "2.1")
    assert owner_of("tiny_run") is None


def test_what_an_installer_is_just_writing_owns_nothing_and_breaks_nothing(
    site_packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = site_packages / "half-1.0.dist-info"
    half.mkdir()
    (half / "RECORD").write_text("half.py,,\n")
    (half / "top_level.txt").write_text("half\n")
    (site_packages / "half.py").touch()
    monkeypatch.setitem(sys.modules, "half", importlib.import_module("half"))
    assert owner_of("half") is None


@pytest.mark.parametrize("other", [int, object(), True, "bool"])
def test_what_is_no_subclass_is_refused_by_the_name_of_the_class(other: object) -> None:
    accept = subclassing(ExtensionPoint)
    assert accept(ExtensionPoint) is ExtensionPoint
    with pytest.raises(TypeError, match=r"is no subclass of arena_core\.plugins\.ExtensionPoint"):
        accept(other)
