"""A state is taken while everything stands still, and whoever knows the token can restore it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import ONE_QUICK, SLOW
from supervised import PATIENCE_S, PREFORK, TOKEN, Service, Supervised, asked, python, supervised
from supervised.folders import CHANGES, apply, change, seen


def has_pipe(folder: Path) -> bool:
    return any(stat.S_ISFIFO(path.lstat().st_mode) for path in folder.rglob("*"))


CHANGED = st.lists(change, max_size=8)


@SLOW
@given(before=CHANGED, after=CHANGED)
def test_whatever_was_done_comes_back_and_whatever_was_done_since_goes(
    running: Supervised, before: list[tuple[str, str, str]], after: list[tuple[str, str, str]]
) -> None:
    running.rewind()
    apply(before, running.folder)
    wanted = seen(running.folder)
    with running.listen() as listener:
        listener.until_ready(running.generation)
        answer = listener.trusted().ask(ask="take")
    if has_pipe(running.folder):
        assert "is neither file, folder, link nor socket" in str(answer["error"])
        return
    apply(after, running.folder)
    running.restore(str(answer["taken"]))
    assert seen(running.folder) == wanted
    apply(after, running.folder)
    running.rewind()
    assert seen(running.folder) == seen(running.pristine)


@ONE_QUICK
@pytest.mark.parametrize("name", sorted(set(CHANGES) - {"make pipe"}))
def test_each_change_is_part_of_a_state(running: Supervised, name: str) -> None:
    running.rewind()
    path, other = {"move": ("a", "new"), "link hard": ("new", "a")}.get(name, ("b.txt", "a"))
    if name in {"make folder", "link"}:
        path = "new"
    apply([(name, path, other)], running.folder)
    wanted = seen(running.folder)
    assert wanted != seen(running.pristine)
    state = running.take()
    running.rewind()
    running.restore(state)
    assert seen(running.folder) == wanted


@SLOW
def test_a_state_is_as_small_as_what_it_changes(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    (tmp_path / "pristine" / "table").write_bytes(os.urandom(1 << 22))
    with supervised(tmp_path) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        with (running.folder / "table").open("r+b") as table:
            table.seek(1 << 21)
            table.write(b"one row more")
        wanted = (running.folder / "table").read_bytes()
        state = running.take()
        running.rewind()
        running.restore(state)
        assert (running.folder / "table").read_bytes() == wanted
        # Taken once more, though no mark of the table moved since.
        assert len(base64.b64decode(running.take())) < 8_000


def test_a_state_of_a_restored_state_is_the_same(running: Supervised) -> None:
    running.rewind()
    apply([("append", "b.txt", ""), ("remove", "a", ""), ("link", "new", "a")], running.folder)
    state = running.take()
    running.restore(state)
    assert running.take() == state


@SLOW
def test_what_is_written_by_several_processes_is_of_one_moment(tmp_path: Path) -> None:
    """One counts in the first file and then in the second: so they never differ by more than 1."""
    (tmp_path / "pristine").mkdir()
    folder = tmp_path / "state"
    counts = (
        f"import os; files = [open('{folder}/' + name, 'wb', 0) for name in ('first', 'second')]\n"
        "for number in range(10**9):\n"
        "    for file in files: os.pwrite(file.fileno(), b'%010d' % number, 0)\n"
    )
    services = [Service(name="writer", command=python(counts))]
    with supervised(tmp_path, *services) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        for _ in range(5):
            while not (folder / "second").is_file() or not (folder / "second").read_bytes():
                pass
            state = read_state(running.take())
            first, second = (int(block) for block in blocks_of(state))
            assert first - second in (0, 1)


def read_state(state: str) -> bytes:
    return zlib.decompress(base64.b64decode(state))


def blocks_of(plain: bytes) -> list[bytes]:
    end = 8 + int.from_bytes(plain[:8], "big")
    header = json.loads(plain[8:end])
    found, at = [], end
    for entry in header["changed"]:
        if entry["kind"] == "f":
            found.append(plain[at : at + entry["size"]])
            at += entry["size"]
    return found


def stands_still(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@SLOW
def test_all_processes_go_on_and_one_that_stood_still_does_not(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    code = (
        "import os, subprocess, sys, time\n"
        f"child = subprocess.Popen({python('import time; time.sleep(600)')!r})\n"
        "os.kill(child.pid, 19)\n"
        f"open('{tmp_path}/pid', 'w').write(f'{{child.pid}}\\n')\n"
        f"while True: open('{tmp_path}/beat', 'w').close(); time.sleep(0.001)\n"
    )
    with supervised(tmp_path, Service(name="parent", command=python(code))) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        pid = tmp_path / "pid"
        while not (pid.is_file() and pid.read_text().endswith("\n")):
            pass
        child = int(pid.read_text())
        while not stands_still(child):
            pass
        running.take()
        (tmp_path / "beat").unlink(missing_ok=True)
        while not (tmp_path / "beat").is_file():
            pass
        assert stands_still(child)
        running.rewind()  # a service that was frozen is stopped and started as ever


@SLOW
def test_a_recycled_service_goes_on_and_forgets_what_the_state_does_not_hold(
    tmp_path: Path,
) -> None:
    (tmp_path / "pristine").mkdir()
    (tmp_path / "pristine" / "note").write_text("golden")
    door = tmp_path / "scratch" / "door"
    command = (PREFORK_PYTHON, str(PREFORK), str(tmp_path / "state"))
    service = Service(name="app", command=command, rewind="recycle", listen=str(door))
    with supervised(tmp_path, service) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        parent, child, _, _ = asked(door)
        (running.folder / "note").write_text("taken")
        state = running.take()
        assert asked(door) == (parent, child, 2, "taken")
        (running.folder / "note").write_text("later")
        running.restore(state)
        other_parent, other_child, count, note = asked(door)
        assert other_parent == parent
        assert other_child != child
        assert (count, note) == (1, "taken")
        running.rewind()
        assert asked(door)[3] == "golden"


PREFORK_PYTHON = python("")[0]


@SLOW
def test_a_parent_that_compiled_other_code_than_the_states_is_started_anew(tmp_path: Path) -> None:
    (tmp_path / "pristine" / "code").mkdir(parents=True)
    (tmp_path / "pristine" / "note").write_text("golden")
    (tmp_path / "pristine" / "code" / "plugin").write_text("1")
    door = tmp_path / "scratch" / "door"
    command = (PREFORK_PYTHON, str(PREFORK), str(tmp_path / "state"))
    service = Service(
        name="app", command=command, rewind="recycle", listen=str(door), code=["code"]
    )
    with supervised(tmp_path, service) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        (running.folder / "code" / "plugin").write_text("2")
        state = running.take()
        running.rewind()
        golden, *_ = asked(door)
        running.restore(state)  # nothing was changed since the rewind, but will be
        with_plugin, *_ = asked(door)
        assert with_plugin != golden
        running.restore(state)
        assert asked(door)[0] != golden
        running.rewind()
        assert asked(door)[0] != with_plugin


def test_scratch_files_come_back_and_sockets_and_notes_of_processes_do_not(
    running: Supervised,
) -> None:
    running.rewind()
    inner = running.scratch / "sessions"
    inner.mkdir(mode=0o700)
    (inner / "sess_1").write_bytes(b"logged in" * 1000)
    (inner / "pid").write_text(f"{os.getpid()}\n")
    (running.scratch / "link").symlink_to("sessions")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(running.scratch / "door"))
        state = running.take()
    running.rewind()
    assert list(running.scratch.iterdir()) == []
    running.restore(state)
    assert sorted(path.name for path in running.scratch.iterdir()) == ["link", "sessions"]
    assert sorted(path.name for path in inner.iterdir()) == ["sess_1"]
    assert (inner / "sess_1").read_bytes() == b"logged in" * 1000
    assert stat.S_IMODE(inner.stat().st_mode) == 0o700
    running.rewind()
    assert list(running.scratch.iterdir()) == []


class TestWhoMay:
    @pytest.mark.parametrize(
        "ask", ["take", "restore", "close", "clock", "stamp", "scratch", "files"]
    )
    def test_nobody_without_the_token(self, running: Supervised, ask: str) -> None:
        running.rewind()
        with running.listen() as listener:
            listener.until_ready(running.generation)
            for token in ("", TOKEN[:-1], 7, None):
                assert "error" in listener.ask_untrusted(ask="trust", token=token)
            answer = listener.ask_untrusted(ask=ask, taken="", folders=[])
            assert answer == {
                "ask": ask,
                "error": "only a connection that knows the token may ask",
            }

    def test_without_a_token_a_state_is_read_and_nothing_else_is_done(self, tmp_path: Path) -> None:
        """What is sealed has none: it would become part of the image."""
        (tmp_path / "pristine").mkdir()
        with supervised(tmp_path, token=None) as running, running.listen() as listener:
            listener.until_ready(1)
            for ask in ("stamp", "files", "scratch"):
                assert "error" not in listener.ask_untrusted(ask=ask, folders=[])
            for token in ("", "None"):
                assert "error" in listener.ask_untrusted(ask="trust", token=token)
            for ask in ("take", "restore", "close", "clock"):
                assert "error" in listener.ask_untrusted(ask=ask, taken="")

    def test_services_do_not_inherit_the_token(self, tmp_path: Path) -> None:
        (tmp_path / "pristine").mkdir()
        code = f"import os; open('{tmp_path}/environment', 'w').write(repr(os.environ) + '.')"
        service = Service(name="s", command=python(f"{code}; import time; time.sleep(600)"))
        with supervised(tmp_path, service):
            seen_by_it = tmp_path / "environment"
            while not (seen_by_it.is_file() and seen_by_it.read_text().endswith(".")):
                pass
            assert TOKEN not in seen_by_it.read_text()


def changed_header(state: str, change: Callable[[dict[str, Any]], object]) -> str:
    plain = read_state(state)
    end = 8 + int.from_bytes(plain[:8], "big")
    header = json.loads(plain[8:end])
    change(header)
    head = json.dumps(header).encode()
    whole = len(head).to_bytes(8, "big") + head + plain[end:]
    return base64.b64encode(zlib.compress(whole)).decode()


def file_of(header: dict[str, Any]) -> dict[str, Any]:
    return next(one for one in header["changed"] if one["kind"] == "f")


FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "of another image": lambda h: h.update(pristine="0" * 64),
    "of a later version": lambda h: h.update(version=2),
    "a path that leads out": lambda h: file_of(h).update(path="../outside"),
    "an absolute path": lambda h: file_of(h).update(path="/outside"),
    "a path through a link": lambda h: file_of(h).update(path="link/outside"),
    "a path in no folder": lambda h: file_of(h).update(path="no/where"),
    "a removed path that leads out": lambda h: h["removed"].append("../outside"),
    "a removed path that is not there": lambda h: h["removed"].append("nowhere"),
    "a scratch file elsewhere": lambda h: h["scratch"].append(
        {**file_of(h), "path": "/outside", "blocks": [], "over_pristine": False, "size": 0}
    ),
    "another owner": lambda h: file_of(h).update(facts=[0o644, 4711, 0, 0]),
    "a kind that is none": lambda h: file_of(h).update(kind="p"),
    "a negative mode": lambda h: file_of(h).update(facts=[-1, 0, 0, 0]),
    "a block beyond its end": lambda h: file_of(h).update(blocks=[10**6]),
    "a block twice": lambda h: file_of(h).update(blocks=file_of(h)["blocks"] * 2),
    "a block less": lambda h: file_of(h).update(blocks=[]),
    "a file without end": lambda h: file_of(h).update(size=1 << 60),
    "a size that is text": lambda h: file_of(h).update(size="1"),
    "over what is not there": lambda h: file_of(h).update(path="fresh"),
    "an attribute of the system": lambda h: file_of(h).update(attributes={"trusted.x": ""}),
    "a missing key": lambda h: h.pop("removed"),
}


@pytest.fixture(scope="module")
def state(running: Supervised) -> str:
    running.rewind()
    apply([("append", "b.txt", "")], running.folder)
    return running.take()


class TestForged:
    def refusal(self, running: Supervised, state: str) -> str:
        with running.listen() as listener:
            listener.until_ready(running.generation)
            return str(listener.trusted().ask(ask="restore", taken=state)["error"])

    @pytest.mark.parametrize("name", sorted(FORGED))
    def test_a_forged_state_is_refused_and_all_goes_on(
        self, running: Supervised, state: str, name: str
    ) -> None:
        before = seen(running.folder)
        error = self.refusal(running, changed_header(state, FORGED[name]))
        assert error.startswith(("the state ", "its entry ")), error
        assert seen(running.folder) == before
        assert running.process.poll() is None
        running.restore(changed_header(state, lambda _: None))  # changed in nothing, it is taken

    def test_a_damaged_state_is_refused(self, running: Supervised, state: str) -> None:
        packed = base64.b64decode(state)
        middle = len(packed) // 2
        flipped = packed[:middle] + bytes([packed[middle] ^ 1]) + packed[middle + 1 :]
        for wrong in (packed[:-1], packed + b"more", flipped, b"", os.urandom(100)):
            error = self.refusal(running, base64.b64encode(wrong).decode())
            assert error.startswith("the state "), error

    @pytest.mark.parametrize("wrong", ["ä", "no base 64", 7, None, {}])
    def test_what_is_no_state_is_refused(self, running: Supervised, wrong: object) -> None:
        with running.listen() as listener:
            listener.until_ready(running.generation)
            assert "error" in listener.trusted().ask(ask="restore", taken=wrong)
            assert "error" not in listener.ask(ask="stamp")


@SLOW
def test_a_state_of_another_pristine_copy_is_refused(tmp_path: Path) -> None:
    states = []
    for name in ("one", "other"):
        place = tmp_path / name
        place.mkdir()
        (place / "pristine").mkdir()
        (place / "pristine" / "file").write_text(name)
        with supervised(place) as running:
            states.append(running.take())
            if name == "other":
                with running.listen() as listener:
                    listener.until_ready(1)
                    answer = listener.trusted().ask(ask="restore", taken=states[0])
                assert "belongs to another image" in str(answer["error"])
        shutil.rmtree(place / "state", ignore_errors=True)


@SLOW
def test_the_clock_goes_on_from_the_moment_that_was_taken(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    (tmp_path / "library").touch()
    extra = (
        f'clock = {{now = 2026-10-01T09:00:00Z, file = "{tmp_path}/scratch/clock",'
        f' library = "{tmp_path}/library"}}'
    )
    with supervised(tmp_path, extra=extra) as running:
        plain = read_state(running.take())
        taken = json.loads(plain[8 : 8 + int.from_bytes(plain[:8], "big")])["clock"]
        later = 10**18 * 2
        assert later > taken
        state = base64.b64encode(zlib.compress(plain)).decode()
        running.restore(changed_header(state, lambda header: header.update(clock=later)))
        again = read_state(running.take())
        now = json.loads(again[8 : 8 + int.from_bytes(again[:8], "big")])["clock"]
        assert later <= now < later + PATIENCE_S * 10**9


@SLOW
@pytest.mark.parametrize("where", ["folder", "scratch"])
def test_a_state_that_would_not_fit_into_memory_is_refused(tmp_path: Path, where: str) -> None:
    (tmp_path / "pristine").mkdir()
    with supervised(tmp_path) as running:
        with running.listen() as listener:
            listener.until_ready(1)
            large = getattr(running, where) / "large"
            large.write_bytes(os.urandom(1 << 20) * 25)
            answer = listener.trusted().ask(ask="take")
            assert answer["error"] == "the state differs from its image by more than 24 MB"
        with large.open("r+b") as file:
            file.truncate(1 << 20)
        running.restore(running.take())
