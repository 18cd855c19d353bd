"""A state is taken while the services are ended, of what no crash leaves whole."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from quick_cases import SLOW
from supervised import PREFORK, Listener, Service, Supervised, python, supervised


def keeps_in_memory(place: Path) -> Service:
    """A service that writes what it knows when it is asked to end, as some databases do."""
    code = (
        "import os, signal, sys\n"
        f"note = {str(place / 'state' / 'note')!r}\n"
        "known = open(note).read() + '+' if os.path.exists(note) else ''\n"
        "if os.path.exists(note): os.unlink(note)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
        f"open({str(place / 'begun')!r}, 'w').close()\n"
        "signal.sigwait([signal.SIGTERM])\n"
        "open(note, 'w').write(known + 'ended')\n"
    )
    return Service(name="keeper", command=python(code))


def until_begun(place: Path) -> None:
    """Wait until it runs, which may be for another time."""
    while not (place / "begun").is_file():
        pass
    (place / "begun").unlink()


def closed_state(listener: Listener) -> str:
    """Take a state while the services are ended; they are not begun anew yet."""
    assert listener.trusted().ask(ask="close") == {"ask": "close"}
    listener.until("closed")
    answer = listener.ask(ask="take")
    assert "error" not in answer, answer
    return str(answer["taken"])


def go_to(running: Supervised, listener: Listener, state: str) -> None:
    assert "error" not in listener.ask(ask="restore", taken=state)
    running.generation += 1
    listener.until_ready(running.generation)


@SLOW
def test_it_holds_what_services_write_as_they_end(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    with supervised(tmp_path, keeps_in_memory(tmp_path)) as running:
        note = running.folder / "note"
        with running.listen() as listener:
            until_begun(tmp_path)
            state = closed_state(listener)
            assert note.read_text() == "ended"
            assert listener.ask(ask="take")["taken"] == state
            go_to(running, listener, state)
        until_begun(tmp_path)
        assert not note.exists()  # whoever began anew has read it
        running.close()
        assert note.read_text() == "ended+ended"


@SLOW
def test_a_rewind_begins_closed_services_anew(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    with supervised(tmp_path, keeps_in_memory(tmp_path)) as running:
        until_begun(tmp_path)
        running.close()
        assert (running.folder / "note").is_file()
        with running.listen() as listener:
            running.process.send_signal(signal.SIGUSR1)
            running.generation += 1
            listener.until_ready(running.generation)
        until_begun(tmp_path)
        assert not (running.folder / "note").exists()
        assert running.stop() == 0


def test_a_recycled_parent_stands_still_meanwhile_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    (tmp_path / "pristine" / "note").write_text("golden")
    door = tmp_path / "scratch" / "door"
    command = (sys.executable, str(PREFORK), str(tmp_path / "state"))
    app = Service(name="app", command=command, rewind="recycle", listen=str(door))
    with supervised(tmp_path, app) as running, running.listen() as listener:
        listener.until_ready(1)
        (running.folder / "note").write_text("taken")
        for _ in range(2):
            state = closed_state(listener)
            (running.folder / "note").write_text("later")
            go_to(running, listener, state)
            assert (running.folder / "note").read_text() == "taken"


@SLOW
def test_whoever_ends_the_services_and_goes_leaves_a_site_that_a_rewind_brings_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "pristine").mkdir()
    with supervised(tmp_path, keeps_in_memory(tmp_path)) as running:
        until_begun(tmp_path)
        running.close()  # and hangs up
        with running.listen() as listener:
            assert listener.hear()["state"] == "closed"
            assert "error" in listener.ask(ask="restore", taken="none")
            assert "error" not in listener.ask(ask="stamp")
            running.process.send_signal(signal.SIGUSR1)
            running.generation += 1
            listener.until_ready(running.generation)


@SLOW
def test_services_are_ended_once_however_often_that_is_asked(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    with supervised(tmp_path, keeps_in_memory(tmp_path)) as running:
        until_begun(tmp_path)
        running.close()
        with running.listen() as listener:
            assert listener.ask(ask="close") == {"ask": "close"}
            state = str(listener.ask(ask="take")["taken"])
            go_to(running, listener, state)
            listener.ask(ask="stamp")
        until_begun(tmp_path)
        assert not (running.folder / "note").exists()
