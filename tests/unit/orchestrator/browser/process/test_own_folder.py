"""Folders of browsers whose owners were killed are swept, and no others."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from orchestrator.browser.process import profile
from orchestrator.browser.process.own_folder import OWNER, PREFIX, own_folder, sweep_folders

OWN_ONE = """
from orchestrator.browser.process.own_folder import own_folder
with own_folder() as folder:
    (folder / "profile").mkdir()
    print(folder, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(temporary: Path, name: str = "left") -> Path:
    """Make a folder that a process which is gone left behind."""
    folder = temporary / f"{PREFIX}{name}"
    folder.mkdir()
    (folder / OWNER).write_text("1\n", encoding="utf-8")
    return folder


def test_a_folder_is_gone_with_its_block_and_never_swept_before(temporary: Path) -> None:
    with own_folder() as folder:
        assert folder.parent == temporary
        assert sweep_folders() == ()
        assert (folder / OWNER).read_text(encoding="utf-8") == f"{os.getpid()}\n"
    assert not folder.exists()


def test_the_folder_of_another_process_is_swept_when_it_was_killed(temporary: Path) -> None:
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", OWN_ONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert sweep_folders() == ()
        assert folder.is_dir()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert sweep_folders() == (folder,)
    assert not folder.exists()


def test_the_profile_of_a_browser_whose_owner_was_killed_is_swept_with_its_folder(
    temporary: Path,
) -> None:
    """Playwright's driver, which made it elsewhere, was killed too; the browser still runs."""
    made = temporary / f"{profile.PREFIX}x"
    made.mkdir()
    (made / "Local State").touch()
    folder = left(temporary)
    (folder / profile.NOTE).write_text(f"--headless\n--user-data-dir={made}\n")
    words = (sys.executable, "-c", "print(flush=True); input()", f"--user-data-dir={made}")
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as browser:
        assert browser.stdout is not None
        browser.stdout.readline()  # for a moment after exec, /proc shows no arguments
        assert sweep_folders() == (folder,)
        assert browser.wait(20) == -signal.SIGKILL
    assert list(temporary.iterdir()) == []


def test_a_folder_that_no_driver_made_is_not_removed_whatever_is_noted(temporary: Path) -> None:
    documents = temporary / "documents"
    documents.mkdir()
    (left(temporary) / profile.NOTE).write_text(f"--user-data-dir={documents}\n")
    sweep_folders()
    assert list(temporary.iterdir()) == [documents]


def test_what_is_not_known_to_be_left_stays(temporary: Path) -> None:
    left(temporary, "earlier")
    (temporary / f"{PREFIX}earlier" / OWNER).unlink()
    (temporary / f"{PREFIX}file").write_text("", encoding="utf-8")
    (temporary / "arena-trace-x").mkdir()
    strange = left(temporary, "strange")
    (strange / OWNER).unlink()
    (strange / OWNER).mkdir()
    before = set(temporary.rglob("*"))
    assert sweep_folders() == ()
    assert set(temporary.rglob("*")) == before


def test_no_link_is_followed(temporary: Path) -> None:
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / OWNER).write_text("1\n", encoding="utf-8")
    (temporary / f"{PREFIX}link").symlink_to(elsewhere)
    linked = left(temporary, "linked")
    (linked / OWNER).unlink()
    (linked / OWNER).symlink_to(elsewhere / OWNER)
    inside = left(temporary, "inside")
    (inside / "profile").symlink_to(elsewhere)
    assert sweep_folders() == (inside,)
    assert (elsewhere / OWNER).is_file()
    assert linked.is_dir()


def test_what_belongs_to_another_user_stays(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = left(temporary)
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert sweep_folders() == ()
    assert folder.is_dir()


def test_what_cannot_be_removed_is_left_and_the_rest_is_swept(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, fine = left(temporary, "a"), left(temporary, "b")
    remove = shutil.rmtree

    def refusing(path: Path) -> None:
        if path == stuck:
            raise PermissionError(13, "Permission denied")
        remove(path)

    monkeypatch.setattr(shutil, "rmtree", refusing)
    assert sweep_folders() == (fine,)


BEGINNER = """
import os, subprocess, sys
words = (sys.executable, "-c", "print(flush=True); input()", os.environ["WITH"])
begun = subprocess.Popen(words, stdout=subprocess.PIPE)
begun.stdout.readline()
print(begun.pid, flush=True)
input()
"""


@pytest.mark.parametrize("leads", [True, False], ids=["a browser", "a terminal"])
def test_the_processes_of_a_browsers_session_end_with_it_and_those_of_a_terminals_do_not(
    temporary: Path, *, leads: bool
) -> None:
    """A browser's own processes name no profile; what else a terminal runs is somebody's work."""
    made = temporary / "folder" / "profile"
    made.mkdir(parents=True)
    option = f"--user-data-dir={made}"
    (made.parent / profile.NOTE).write_text(option)
    words = (sys.executable, "-c", BEGINNER, option if leads else "")
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "WITH": "" if leads else option},
    ) as leader:
        assert leader.stdout is not None
        begun = os.pidfd_open(int(leader.stdout.readline()))
        try:
            profile.remove_profile(made.parent)
            assert not made.exists()
            assert select.select([begun], [], [], 5.0)[0]
            assert (leader.poll() is None) is not leads
        finally:
            leader.kill()
            os.close(begun)
