from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.api.doctor import DoctorStatus, browser_network
from orchestrator.browser.process import isolation
from orchestrator.browser.process.isolation import unreachable_display, without_programs


@pytest.fixture
def displays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(isolation, "_DISPLAYS", tmp_path)
    (tmp_path / "X0").touch()
    return tmp_path


@pytest.mark.parametrize(
    "environment",
    [{}, {"DISPLAY": ":0"}, {"DISPLAY": "unix:0.1"}, {"DISPLAY": ":7", "WAYLAND_DISPLAY": "w"}],
)
def test_a_display_on_a_path_can_be_reached_from_a_namespace(
    displays: Path, environment: dict[str, str]
) -> None:
    assert unreachable_display(environment) == ""


@pytest.mark.parametrize(
    ("display", "why"), [("localhost:10.0", "over the network"), (":7", "no socket")]
)
def test_a_display_on_the_network_or_on_an_abstract_socket_cannot(
    displays: Path, display: str, why: str
) -> None:
    assert why in unreachable_display({"DISPLAY": display})


def test_what_opens_addresses_on_a_desktop_is_found_in_the_browsers_folder_first(
    tmp_path: Path,
) -> None:
    environment = without_programs({"PATH": "/usr/bin", "LANG": "C"}, tmp_path)

    assert environment["PATH"] == f"{tmp_path}:/usr/bin"
    assert environment["LANG"] == "C"
    assert {each.name for each in tmp_path.iterdir()} == {"xdg-open", "xdg-email"}


def test_doctor_says_where_only_flags_keep_the_browser_in_and_what_to_do() -> None:
    lacking = browser_network("Operation not permitted (unshare)")

    assert lacking.state is DoctorStatus.OPTIONAL
    assert "Operation not permitted (unshare)" in lacking.found
    assert lacking.hint
    assert browser_network("").state is DoctorStatus.OK
