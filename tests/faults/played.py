"""One run under faults, drawn by its seed: played and resumed until it is done, then judged.

`arena eval` runs as a user's does, on real containers and a real Chromium. Faults strike it until
as many as were asked for have; what is left of it is then resumed in peace.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from faults.clock import own_clock
from faults.judging import (
    Injected,
    blamed,
    files_left,
    now,
    plays,
    processes_left,
    rows_of,
    say_what_came,
    unproven,
)
from faults.kinds import KINDS, Kind, ModelFaults, Scene, Struck
from faults.scarcity import OwnDisk, own_disk
from faults.waiting import PROGRAM, say_waits, waits_in
from sabotage.engine_cli import containers_of, remove_all, volumes_of
from sabotage.relay import Relay
from support.agents.arena_process import ArenaProcess, Ended, arena
from support.agents.scripted_model import ChatRequest, Says, ScriptedModel, ScriptedReply
from support.runs.ledger_check import ledger_faults

from arena_core.actions import Click, Stop

_LEG_S: Final = 420.0
# How often a run is started: under faults, and then without.
_LEGS_UNDER_FAULTS: Final = 20
_LEGS_IN_PEACE: Final = 4
_MARK: Final = "ARENA_FAULTS_OF"
_TOOLS: Final = ("tools-label-the-dentist", "tools-pin-the-train", "tools-note-the-kettle")
_WIKI: Final = ("wiki-ground-of-the-oldest-club", "wiki-head-of-the-kettle-museum")
_SMALL: Final = ("--suite", "arena-120", *_TOOLS, *_WIKI, "--agent")
# What is played in turn, by the seed.
_PLAYS: Final = (
    (*_SMALL, "oracle"),
    (*_SMALL, "chat"),
    ("--suite", "miniwob", "ascending-numbers-s[123]", "click-link-s[123]", "--agent", "oracle"),
)
_STRATEGIES: Final = ("auto", "recreate", "swap", "rewind")
# These end the driver, which costs a start of all; fewer of them leave time for others.
_ENDING: Final = frozenset({("driver", "killed"), ("driver", "interrupted")})
_ENDS: Final = 0.3
# How many of a run's starts are struck from their beginning; others once an episode is played.
_WHILE_STARTING: Final = 0.25
# What an exception ends with that no code expected.
_INTERNAL: Final = 99
_INTERRUPTED: Final = 130


@dataclass(slots=True)
class Played:
    """A run under faults: what was injected, and all that should not be."""

    seed: int
    injected: list[Injected] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    legs: list[str] = field(default_factory=list)
    trials: int = 0
    attempts: int = 0

    def document(self) -> dict[str, Any]:
        return asdict(self)


def play(seed: int, count: int, folder: Path) -> Played:
    """Play a run under so many faults below a folder, remove it from the engine, and judge it."""
    with ExitStack() as disks:
        played = Played(seed)
        places = {
            name: disks.enter_context(own_disk(folder / name, kept=lambda: bool(played.wrong)))
            for name in ("run", "temporary")
        }
        under = _UnderFaults(played, count, folder, places)
        try:
            under.play()
        finally:
            under.remove()
    return played


class _UnderFaults:
    def __init__(self, played: Played, count: int, folder: Path, disks: dict[str, OwnDisk]) -> None:
        seed = played.seed
        self.played = played
        self._dice = Random(f"faults:{seed}")
        self._left = count
        self._armed: list[tuple[Injected, Struck]] = []
        self._deck: list[Kind] = []
        self._disks = disks
        self._cwd, self._temporary = disks["run"].path, disks["temporary"].path
        self._run = self._cwd / "run"
        self._clock = own_clock(folder)
        self._folder = folder
        self._mark = f"{os.getpid()}-{seed}"
        words = _PLAYS[seed % len(_PLAYS)]
        self._model = ModelFaults() if "chat" in words else None
        # In turn too: drawn, one was missing in nine runs, and its faults found nothing to strike.
        strategy = _STRATEGIES[seed // len(_PLAYS) % len(_STRATEGIES)]
        # MiniWoB++ keeps no state: nothing of it is ever reset.
        more = ("6",) if "miniwob" in words else ("4", "--strategy", strategy)
        self._words = (*words, "--repeats", *more, "--out", "run")

    def play(self) -> None:
        with Relay() as relay, self._endpoint() as told:
            env = {
                "DOCKER_HOST": relay.url,
                "TMPDIR": str(self._temporary),
                "OPENAI_API_KEY": "none",
                _MARK: self._mark,
                **(self._clock.env if self._clock else {}),
            }
            self._leg(
                ("eval", *self._words, *told, "--workers", "2", "--attempts", "40"), env, relay
            )
            in_peace = 0
            while self._run.exists() and not self._is_done() and in_peace < _LEGS_IN_PEACE:
                if len(self.played.legs) >= _LEGS_UNDER_FAULTS:
                    self._left = 0
                in_peace += self._left <= 0
                self._leg(("eval", "--resume", "run"), env, relay)
            relay.forget()
            self._judge(env)

    @contextmanager
    def _endpoint(self) -> Iterator[tuple[str, ...]]:
        """Yield the options that lead to a model, where the agent asks one."""
        if self._model is None:
            yield ()
            return
        with ScriptedModel(self._reply) as model:
            yield "--model", "scripted", "--model-url", model.url

    def _reply(self, _: ChatRequest) -> ScriptedReply:
        planned = self._model.take() if self._model else None
        if planned is not None:
            return planned
        action = self._dice.choice((Click(element=1), Click(element=2), Stop(answer="7")))
        return Says.action(action)

    def _leg(self, words: Sequence[str], env: dict[str, str], relay: Relay) -> None:
        """Run one command under faults, or in peace where enough were injected."""
        began = now()
        waits = self._folder / f"waits-{len(self.played.legs) + 1}"
        env = {**env, **waits_in(waits)}
        while_it_starts = self._dice.random() < _WHILE_STARTING
        if self._left <= 0:
            relay.forget()
        with ArenaProcess(*words, cwd=self._cwd, env=env, program=PROGRAM) as process:
            first = len(self.played.injected)
            while self._left > 0 and not process.has_ended:
                threading.Event().wait(self._dice.uniform(0.2, 1.5))  # faults keep no timetable
                if while_it_starts or plays(self._run, began):
                    self._strike(process, relay)
            try:
                ended = process.wait(_LEG_S)
            except subprocess.TimeoutExpired:
                say_waits(process, waits)
                self.played.legs.append(f"a start of {began} hangs at {now()}")
                self.played.wrong.append(f"start {len(self.played.legs)} hangs, see {waits.name}")
                return
        self._look_at(ended, self.played.injected[first:])

    def _strike(self, process: ArenaProcess, relay: Relay) -> None:
        """Inject one fault; where there is nothing for one to strike, another is drawn."""
        if not (self._run / "lock.json").exists():
            return
        scene = Scene(
            self._owner, process, relay, self._model, self._dice, self._disks, self._clock
        )
        struck = None
        while struck is None and not process.has_ended:
            kind = self._drawn()
            at, struck = now(), kind.strike(scene)
            one = Injected(self.played.seed, kind.area, kind.name, at)
            self.played.injected.append(one)
            if struck is not None:
                one.struck = struck.what
                self._armed.append((one, struck))
        self._left -= struck is not None

    def _drawn(self) -> Kind:
        """Draw a kind of fault: none a second time before all have been drawn."""
        while not self._deck:
            self._deck = [
                kind
                for kind in self._dice.sample(KINDS, len(KINDS))
                if (kind.area, kind.name) not in _ENDING or self._dice.random() < _ENDS
            ]
        return self._deck.pop()

    @property
    def _owner(self) -> str:
        lock: dict[str, Any] = json.loads((self._run / "lock.json").read_bytes())
        return str(lock["run"])

    def _look_at(self, ended: Ended, injected: Sequence[Injected]) -> None:
        said = f"start {len(self.played.legs) + 1} ended with {ended.code} at {now()}"
        self.played.legs.append(f"{said}: {ended.err.strip()[-300:]}")
        if ended.code == _INTERNAL or "Traceback" in ended.err:
            self.played.wrong.append(f"{said}: {ended.err[-2000:]}")
        if 0 < ended.code < _INTERRUPTED and "arena: " not in ended.err:
            self.played.wrong.append(f"{said} without a word: {ended.err[-500:]}")
        struck = [one for one in injected if one.struck is not None]
        if struck and not self._is_done():
            drivers = [one for one in struck if (one.area, one.name) in _ENDING]
            [*_, last] = drivers or struck
            last.came = f"the run ended with {ended.code}, and was resumed"

    def _is_done(self) -> bool:
        try:
            return not ledger_faults([self._run])
        except (OSError, sqlite3.Error):
            return False  # it was killed before there was a ledger

    def _judge(self, env: dict[str, str]) -> None:
        wrong = self.played.wrong
        if not (self._run / "lock.json").exists():
            wrong.append(f"there is no run: {self.played.legs}")
            return
        owner = self._owner
        wrong += ledger_faults([self._run])
        rows = rows_of(self._run)
        self.played.attempts = len(rows)
        self.played.trials = len({row[:3] for row in rows})
        wrong += blamed(rows) if self._model is None else []
        wrong += unproven(self._run)
        for one, struck in self._armed:
            if not struck.met.is_set():
                one.struck = None  # nothing that it waited for came by
        say_what_came(self.played.injected, rows)
        down = arena("down", "--owner", owner, cwd=self._cwd, env=env, limit_s=_LEG_S)
        if down.code != 0:
            wrong.append(f"arena down ended with {down.code}: {down.err[-500:]}")
        wrong += [f"container {one[:12]} is left" for one in containers_of(owner)]
        wrong += [f"volume {one[:12]} is left" for one in volumes_of(owner)]
        wrong += [
            f"process is left: {line[:200]}" for line in processes_left(f"{_MARK}={self._mark}")
        ]
        wrong += [f"temporary {name} is left" for name in files_left(self._temporary)]

    def remove(self) -> None:
        """Remove whatever is left of it on the engine, wherever it was broken off."""
        if (self._run / "lock.json").exists():
            remove_all(self._owner)
