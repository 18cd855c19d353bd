"""Which Chromium is started, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_core.errors import BrowserError, BrowserMissingError
from orchestrator.browser.process.chromium import find_chromium, is_shell, require_display


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    path = tmp_path / "chrome"
    path.touch()
    return path


def _nowhere(_name: str) -> None:
    return None


def test_the_named_one_comes_before_all_others(installed: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    found = find_chromium(installed, {"ARENA_CHROMIUM": str(other)}, other, lambda _: str(other))
    assert found == installed


def test_the_variable_comes_before_playwrights_own(installed: Path, tmp_path: Path) -> None:
    bundled = tmp_path / "bundled"
    bundled.touch()
    environment = {"ARENA_CHROMIUM": str(installed)}
    assert find_chromium(None, environment, bundled, _nowhere) == installed


def test_playwrights_own_comes_before_the_path(installed: Path) -> None:
    assert find_chromium(None, {}, installed, lambda _: "/usr/bin/chromium") == installed


def test_on_the_path_the_first_known_name_wins(tmp_path: Path) -> None:
    there = {"google-chrome": "/opt/chrome", "chromium-browser": "/opt/chromium"}
    assert find_chromium(None, {}, tmp_path / "none", there.get) == Path("/opt/chromium")


def test_the_headless_shell_comes_first_where_it_is_wanted_and_there(installed: Path) -> None:
    there = {"chromium-headless-shell": "/usr/bin/chromium-headless-shell"}
    shell = Path("/usr/bin/chromium-headless-shell")
    assert find_chromium(None, {}, installed, there.get, shell_first=True) == shell
    assert find_chromium(None, {}, installed, there.get) == installed
    assert find_chromium(None, {}, installed, _nowhere, shell_first=True) == installed
    named = {"ARENA_CHROMIUM": str(installed)}
    assert find_chromium(None, named, Path("/none"), there.get, shell_first=True) == installed


def test_a_headless_shell_is_known_by_its_name(tmp_path: Path, installed: Path) -> None:
    shell = tmp_path / "chromium-headless-shell"
    shell.touch()
    link = tmp_path / "browser"
    link.symlink_to(shell)
    assert is_shell(shell)
    assert is_shell(link)
    assert not is_shell(installed)


def test_a_wrong_name_is_not_replaced_by_another_browser(installed: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "typo"
    with pytest.raises(BrowserMissingError, match=str(wrong)):
        find_chromium(wrong, {}, installed, _nowhere)
    with pytest.raises(BrowserMissingError, match=str(wrong)):
        find_chromium(None, {"ARENA_CHROMIUM": str(wrong)}, installed, _nowhere)


def test_where_there_is_none_the_command_that_mends_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(BrowserMissingError) as caught:
        find_chromium(None, {"ARENA_CHROMIUM": ""}, tmp_path / "none", _nowhere)
    assert "apt-get install chromium" in caught.value.hint
    assert "playwright install chromium" in caught.value.hint


@pytest.mark.parametrize("variable", ["DISPLAY", "WAYLAND_DISPLAY"])
def test_a_browser_is_shown_where_there_is_a_display(variable: str) -> None:
    require_display({variable: ":0"})


def test_without_a_display_the_next_step_is_no_window() -> None:
    with pytest.raises(BrowserError, match="neither DISPLAY nor WAYLAND_DISPLAY") as caught:
        require_display({"DISPLAY": ""})
    assert "without --headed" in caught.value.hint
