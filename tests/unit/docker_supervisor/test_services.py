"""Services that are real processes: started, rewound, stopped, and missed when they end."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from supervised import PATIENCE_S, PREFORK, Service, Supervised, asked, python, supervised

STAYS = "import time; time.sleep(600)"
NOTIFIES = (
    "import os, socket, time;"
    "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM);"
    "name = os.environ['NOTIFY_SOCKET']; {before};"
    "s.sendto(b'STATUS=there\\nREADY=1', chr(0) + name[1:]); time.sleep(600)"
)


def says_pid(path: Path, then: str = STAYS) -> tuple[str, ...]:
    return python(f"import os; open({str(path)!r}, 'a').write(f'{{os.getpid()}}\\n'); {then}")


def pids_in(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def pids_when(path: Path, count: int) -> list[int]:
    """The processes are there before they have written anything."""
    end = time.monotonic() + PATIENCE_S
    while len(pids := pids_in(path)) < count:
        assert time.monotonic() < end
        time.sleep(0.005)
    return pids


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def await_death(pid: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while is_alive(pid):
        assert time.monotonic() < end, f"{pid} lives"
        time.sleep(0.005)


@pytest.fixture
def prefork(tmp_path: Path) -> Iterator[tuple[Supervised, Path]]:
    (tmp_path / "pristine").mkdir()
    (tmp_path / "pristine" / "note").write_text("golden")
    door = tmp_path / "scratch" / "deep" / "door"
    command = (sys.executable, str(PREFORK), str(tmp_path / "state"))
    service = Service(name="app", command=command, rewind="recycle", listen=str(door))
    with supervised(tmp_path, service) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        yield running, door


@SLOW
def test_a_recycled_service_keeps_its_parent_and_gets_children_without_memory(
    prefork: tuple[Supervised, Path],
) -> None:
    running, door = prefork
    parent, child, _, _ = asked(door)
    assert asked(door) == (parent, child, 2, "golden")
    (running.folder / "note").write_text("dirty")
    assert asked(door)[3] == "dirty"
    running.rewind()
    other_parent, other_child, count, note = asked(door)
    assert other_parent == parent
    assert other_child != child
    assert (count, note) == (1, "golden")


def test_a_rewind_leaves_a_socket_on_which_a_service_can_wait(
    prefork: tuple[Supervised, Path],
) -> None:
    """Where it cannot, each of PHP's workers ends at once, and new ones are forked without end."""
    running, door = prefork
    parent = asked(door)[0]
    running.rewind()
    assert asked(door)[0] == parent
    flags = Path(f"/proc/{parent}/fdinfo/3").read_text().split("flags:")[1].split()[0]
    assert not int(flags, 8) & os.O_NONBLOCK
    assert "BlockingIOError" not in running.last_words()


@SLOW
def test_a_request_of_before_a_rewind_never_reaches_the_service_after_it(
    prefork: tuple[Supervised, Path],
) -> None:
    running, door = prefork
    _, child, _, _ = asked(door)
    os.kill(child, signal.SIGSTOP)
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.settimeout(PATIENCE_S)
        waiting.connect(str(door))
        waiting.sendall(b"?")
        running.rewind()
        assert asked(door)[2] == 1
        with contextlib.suppress(ConnectionResetError):
            assert waiting.recv(100) == b""


@SLOW
def test_a_restarted_service_is_killed_with_all_that_descends_from_it(tmp_path: Path) -> None:
    own, hidden = tmp_path / "own", tmp_path / "hidden"
    daemon = says_pid(hidden)
    code = f"import subprocess; subprocess.Popen({daemon!r}, start_new_session=True); {STAYS}"
    with supervised(tmp_path, Service(name="db", command=says_pid(own, code))) as running:
        before = [*pids_when(own, 1), *pids_when(hidden, 1)]
        running.rewind()
        assert not any(is_alive(pid) for pid in before)
        after = [pids_when(own, 2)[1], pids_when(hidden, 2)[1]]
        assert all(is_alive(pid) for pid in after)
    assert not any(is_alive(pid) for pid in after)


@SLOW
def test_an_orphan_that_forgot_its_service_ends_too(tmp_path: Path) -> None:
    """A daemon forks twice, so that no line of descent leads to the service any more."""
    own, orphan = tmp_path / "own", tmp_path / "orphan"
    twice = (
        "import os, subprocess, time; os.setsid(); os.fork() and os._exit(0);"
        f" open({str(orphan)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    )
    code = f"import subprocess; subprocess.run({python(twice)!r}); {STAYS}"
    with supervised(tmp_path, Service(name="db", command=says_pid(own, code))) as running:
        (pid,) = pids_when(orphan, 1)
        running.rewind()
        assert not is_alive(pid)


@SLOW
def test_a_kept_service_is_left_alone_and_so_are_its_children(tmp_path: Path) -> None:
    own, inner = tmp_path / "own", tmp_path / "inner"
    code = f"import subprocess; subprocess.Popen({says_pid(inner)!r}); {STAYS}"
    kept = Service(name="cache", command=says_pid(own, code), rewind="keep")
    with supervised(tmp_path, kept) as running:
        pids = [*pids_when(own, 1), *pids_when(inner, 1)]
        running.rewind()
        assert all(is_alive(pid) for pid in pids)
        assert len(pids_in(own)) == 1


@SLOW
def test_services_start_in_order_each_when_the_one_before_is_ready(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    slow = NOTIFIES.format(before=f"time.sleep(0.3); open({str(first)!r}, 'w').write('1')")
    code = f"import os; os.path.exists({str(first)!r}) or os._exit(1)"
    with supervised(
        tmp_path,
        Service(name="db", command=python(slow), ready="notify"),
        Service(name="web", command=python(f"{code}; exec({says_pid(second)[2]!r})")),
    ) as running:
        pids_when(second, 1)
        first.unlink()
        running.rewind()
        pids_when(second, 2)
        assert running.stop() == 0


def test_a_service_that_is_not_ready_in_time_ends_everything(tmp_path: Path) -> None:
    other = tmp_path / "other"
    with supervised(
        tmp_path,
        Service(name="web", command=says_pid(other), rewind="keep"),
        Service(name="db", command=python(STAYS), ready="notify", deadline_s=0.5),
    ) as running:
        assert running.end() == 1
        assert "service 'db' was not ready in 0.5 s" in running.last_words()
    assert not any(is_alive(pid) for pid in pids_in(other))


def test_a_service_that_ends_by_itself_ends_everything(tmp_path: Path) -> None:
    other = tmp_path / "other"
    with supervised(
        tmp_path,
        Service(name="db", command=says_pid(other)),
        Service(name="web", command=python("import time; time.sleep(0.3); raise SystemExit(7)")),
    ) as running:
        assert running.end() == 1
        words = "service 'web' ended with exit code 7 by itself"
        assert words in running.last_words()
    assert not any(is_alive(pid) for pid in pids_in(other))


def test_a_killed_service_is_named_with_its_signal(tmp_path: Path) -> None:
    own = tmp_path / "own"
    with supervised(tmp_path, Service(name="db", command=says_pid(own))) as running:
        os.kill(pids_when(own, 1)[0], signal.SIGKILL)
        assert running.end() == 1
        assert "service 'db' was killed by signal 9 by itself" in running.last_words()


def test_a_command_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with supervised(tmp_path, Service(name="db", command=("no-such-program",))) as running:
        assert running.end() == 1
        assert "service 'db' cannot be started: [Errno 2]" in running.last_words()


@SLOW
def test_term_stops_the_services_last_to_first_and_is_no_failure(tmp_path: Path) -> None:
    ends, own = tmp_path / "ends", tmp_path / "own"

    def polite(name: str) -> Service:
        # A handler may miss the TERM just before a sleep; blocked, it waits until it is asked for.
        code = (
            "import os, signal; asked = {signal.SIGTERM};"
            " signal.pthread_sigmask(signal.SIG_BLOCK, asked);"
            f" open({str(own)!r}, 'a').write(f'{{os.getpid()}}\\n'); signal.sigwait(asked);"
            f" open({str(ends)!r}, 'a').write({name!r})"
        )
        return Service(name=name, command=python(code))

    with supervised(tmp_path, polite("d"), polite("w")) as running:
        pids_when(own, 2)
        assert running.stop() == 0
        assert running.last_words() == ""
    assert ends.read_text() == "wd"


def test_a_supervisor_that_is_killed_takes_its_services_along(tmp_path: Path) -> None:
    own = tmp_path / "own"
    with supervised(tmp_path, Service(name="db", command=says_pid(own))) as running:
        (pid,) = pids_when(own, 1)
        running.process.kill()
        running.end()
        await_death(pid)


def test_a_restore_that_fails_ends_everything(tmp_path: Path) -> None:
    """As on a full disk; here a file may not become as long as the pristine one is."""
    own = tmp_path / "own"
    (tmp_path / "pristine").mkdir()
    (tmp_path / "pristine" / "long").write_bytes(bytes(100_000))
    kept = Service(name="db", command=says_pid(own), rewind="keep")
    with supervised(tmp_path, kept, limit=50_000) as running:
        assert running.end() == 1
        words = f"the state cannot be restored: [Errno 27] File too large: '{running.folder}/long'"
        assert words in running.last_words()
    assert not any(is_alive(pid) for pid in pids_in(own))


@ONE_QUICK
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("surprise = 1", "surprise"),
        ("port = 1", "Cannot overwrite a value"),
        ('[[service]]\nname = "x"\ncommand = ["x"]\nrewind = "sometimes"', "sometimes"),
    ],
)
def test_a_configuration_it_does_not_know_is_refused(
    tmp_path: Path, wrong: str, words: str
) -> None:
    with supervised(tmp_path, extra=wrong) as running:
        assert running.end() == 1
        assert words in running.last_words()
        assert running.last_words().count("\n") == 1


@SLOW
def test_a_socket_stays_while_the_folders_around_it_are_emptied(
    prefork: tuple[Supervised, Path],
) -> None:
    running, door = prefork
    inode = door.stat().st_ino
    (door.parent / "other").touch()
    running.rewind()
    assert sorted(running.scratch.rglob("*")) == [door.parent, door]
    assert door.stat().st_ino == inode
    assert asked(door)[3] == "golden"


def lower_files(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, 64))


CHANGES: dict[str, Callable[[int], object]] = {
    "niceness": lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 7),
    "limits": lower_files,
    "policy": lambda pid: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)),
    "killed early": lambda pid: Path(f"/proc/{pid}/oom_score_adj").write_text("700"),
}


@SLOW
@pytest.mark.parametrize("change", [*CHANGES, "processors"])
def test_a_recycled_parent_that_was_changed_from_outside_is_started_anew(
    prefork: tuple[Supervised, Path], change: str
) -> None:
    running, door = prefork
    parent, _, _, _ = asked(door)
    if change == "processors":
        one = min(os.sched_getaffinity(parent))
        if os.sched_getaffinity(parent) == {one}:
            pytest.skip("there is one processor only")
        os.sched_setaffinity(parent, {one})
    else:
        CHANGES[change](parent)
    running.rewind()
    other, _, count, note = asked(door)
    assert other != parent
    assert (count, note) == (1, "golden")
    assert "service 'app' is started anew" in running.last_words()
    running.rewind()
    assert asked(door)[0] == other


def test_a_supervisor_that_was_changed_from_outside_ends_everything(
    prefork: tuple[Supervised, Path],
) -> None:
    running, _ = prefork
    os.setpriority(os.PRIO_PROCESS, running.process.pid, 7)
    running.process.send_signal(signal.SIGUSR1)
    assert running.end() == 1
    assert "the supervisor's limits, priority or processors" in running.last_words()


@SLOW
@pytest.mark.parametrize("change", ["write", "put back"])
def test_a_parent_that_keeps_changed_code_in_its_memory_is_started_anew(
    tmp_path: Path, change: str
) -> None:
    code = tmp_path / "pristine" / "code" / "page"
    code.parent.mkdir(parents=True)
    code.write_text("golden")
    (tmp_path / "pristine" / "note").write_text("golden")
    door = tmp_path / "scratch" / "door"
    command = (sys.executable, str(PREFORK), str(tmp_path / "state"))
    service = Service(
        name="app", command=command, rewind="recycle", listen=str(door), code=("code",)
    )
    with supervised(tmp_path, service) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        parent = asked(door)[0]
        running.rewind()
        assert asked(door)[0] == parent
        live = running.folder / "code" / "page"
        live.write_text("dirty")
        if change == "put back":
            live.write_text("golden")
            os.utime(live, ns=(code.stat().st_atime_ns, code.stat().st_mtime_ns))
        running.rewind()
        assert asked(door)[0] != parent


@ONE_QUICK
@pytest.mark.parametrize("change", ["removed", "replaced"])
def test_a_socket_that_was_taken_away_ends_everything(
    prefork: tuple[Supervised, Path], change: str
) -> None:
    """It cannot be made again under a parent that holds the old one: a new container is."""
    running, door = prefork
    door.unlink()
    if change == "replaced":
        door.touch()
    running.process.send_signal(signal.SIGUSR1)
    assert running.end() == 1
    assert f"{door} was {change}" in running.last_words()


@SLOW
def test_the_mode_of_a_socket_and_of_the_folder_that_leads_to_it_is_undone(
    prefork: tuple[Supervised, Path],
) -> None:
    running, door = prefork
    before = door.lstat().st_mode, door.parent.lstat().st_mode
    door.chmod(0o000)
    door.parent.chmod(0o711)
    running.rewind()
    assert (door.lstat().st_mode, door.parent.lstat().st_mode) == before
    assert asked(door)[3] == "golden"


@SLOW
def test_run_by_hand_it_leaves_other_processes_alone(
    prefork: tuple[Supervised, Path], tmp_path: Path
) -> None:
    """This very test is one; in a container of its own it kills them all."""
    running, _ = prefork
    own = tmp_path / "own"
    with subprocess.Popen(says_pid(own)) as other:
        pids_when(own, 1)
        running.rewind()
        assert other.poll() is None
        other.kill()
