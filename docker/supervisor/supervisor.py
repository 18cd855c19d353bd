"""Starts the services on a pristine state, and brings both back to that at each rewind."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

import ipc
from clock import Clock, written
from config import Config, Rewind, Service
from failure import Failure, Refusal, Stop
from freeze import frozen
from loop import Loop
from port import Line, Port
from restore import Restorer, Wanted
from room import LOOK_S, Room
from scratch import Scratch
from services import Services, say
from tree import Marks, marks_below

if TYPE_CHECKING:
    from listing import Listing
    from scratch_listing import ScratchListing
    from state import State


class Target(NamedTuple):
    """A state that the site was brought to, or will be.

    Attributes:
        digest: its name.
        folder: what the folder holds then.
    """

    digest: str
    state: State
    folder: Wanted


class Supervisor:
    """One image's state and services, from the start of the container to its end."""

    def __init__(
        self, config: Config, loop: Loop, *, alone: bool, token: str | None = None
    ) -> None:
        """Take the port.

        Args:
            config: the whole file.
            loop: waits for what comes.
            alone: whether every other process of the namespace is this image's, as in a container.
            token: what whoever takes and restores states must know; nobody can where it is None.

        Raises:
            Failure: the port is taken.
        """
        self._config = config
        self._loop = loop
        self._alone = alone
        self._clock = Clock(config.clock) if config.clock else None
        environment = self._clock.environment if self._clock else {}
        self._services = Services(config, loop, environment, alone=alone)
        self._scratch = Scratch(config.scratch)
        if self._clock:
            self._scratch.keep([self._clock.path])
        self._restorer = Restorer(config.folder, config.pristine)
        self._remade = frozenset(map(os.fsencode, config.remade))
        self._room = Room(config.folder, config.room_mb)
        self._code: dict[str, Marks] = {}
        self._target: Target | None = None
        self._next: Target | None = None
        self._is_ready = False
        self._is_closed = False
        self._close_asked = False
        self._restore_asked = False
        self._port = Port(loop, config.port, self._answer, token)
        self._listing: Listing | None = None
        self._scratch_listing: ScratchListing | None = None
        self._generation = 0
        self._seconds = 0.0

    def run(self) -> int:
        """Serve until TERM, or until something ends by itself or fails; return the exit code.

        Why it ends is said at once, and again as the last line: services that end say a lot.
        """
        why: Failure | None = None
        try:
            self._renew()
            while True:
                if not self._loop.until(self._must_act, LOOK_S):
                    self._room.check()
                    continue
                if self._must_renew():
                    if self._loop.rewind_asked:
                        self._next = None
                    self._loop.rewind_asked = self._restore_asked = False
                    self._renew()
                else:
                    self._close()
        except Stop:
            pass
        except Failure as failure:
            why = failure
            say(str(why))
        self._loop.finish()
        try:
            self._services.stop()
        except Failure as failure:
            why = why or failure
        if why is not None:
            say(str(why))
        return 0 if why is None else 1

    def _renew(self) -> None:
        """Begin a generation: at the start of the container and at each rewind, the same way."""
        began = time.monotonic()
        target = self._next
        self._is_ready = self._is_closed = self._close_asked = False
        self._tell("rewinding")
        self._services.halt()
        self._services.replace(self._is_spoilt)
        if self._alone:
            ipc.remove_all()
        self._scratch.empty()
        if self._clock:
            self._clock.put_back(target and target.state.clock)
        self._services.listen()
        self._scratch.keep(self._services.paths)
        self._services.start(Rewind.RECYCLE, Rewind.KEEP)
        self._restorer.restore(target and target.folder)
        if target:
            self._scratch.fill(target.state.scratch)
        self._services.go_on()
        self._services.start(Rewind.RESTART)
        self._services.check()
        self._services.note_traits()
        for service in self._config.services:
            self._code[service.name] = self._code_of(service)
        self._generation += 1
        self._seconds = round(time.monotonic() - began, 4)
        self._target = target
        self._is_ready = True
        self._tell("ready")

    def _close(self) -> None:
        """End the services, so that a state can be taken which no crash has made."""
        self._is_ready = False
        self._tell("closing")
        self._services.halt(gently=True)
        self._is_closed = True
        self._tell("closed")

    def _is_spoilt(self, service: Service) -> bool:
        """Whether code that a service holds compiled in its memory was changed, or will be."""
        if self._code_of(service) != self._code[service.name]:
            return True
        parts = tuple(map(os.fsencode, service.code))
        states = (self._target, self._next)
        return self._target is not self._next and any(
            one.state.changes.touch(parts) for one in states if one
        )

    def _code_of(self, service: Service) -> Marks:
        return marks_below(self._config.folder, service.code)

    def _must_act(self) -> bool:
        self._services.check()
        return self._must_renew() or (self._close_asked and not self._is_closed)

    def _must_renew(self) -> bool:
        return self._loop.rewind_asked or self._restore_asked

    def _tell(self, state: str) -> None:
        self._port.tell(
            {
                "generation": self._generation,
                "state": state,
                "folder": self._config.folder,
                "seconds": self._seconds,
                **({"restored": self._target.digest} if self._target else {}),
            }
        )

    def _answer(self, asked: Line) -> Line:
        """Answer a question about folders, put the clock back, take a state or restore one.

        `close` ends the services as soon as it can; they begin anew with the next generation.
        """
        if asked == {"ask": "clock"}:
            return self._put_clock_back()
        if asked == {"ask": "close"}:
            self._close_asked = True
            return {}
        if asked.get("ask") in ("take", "restore"):
            return self._about_states(asked)
        return self._about_folders(asked)

    def _about_folders(self, asked: Line) -> Line:
        # Its hashes take a moment to load: after the start.
        from listing import Listing  # noqa: PLC0415
        from scratch_listing import ScratchListing  # noqa: PLC0415

        listing = self._listing = self._listing or Listing(
            self._config.folder, self._config.counted
        )
        scratch = self._scratch_listing = self._scratch_listing or ScratchListing(
            self._config.scratch, self._config.passing, self._clock.path if self._clock else ""
        )
        try:
            match asked:
                case {"ask": "stamp"}:
                    return {"stamp": f"{listing.stamp()} {scratch.stamp()}"}
                case {"ask": "scratch"}:
                    return {"files": scratch.files()}
                case {"ask": "files", "folders": [*folders]}:
                    return {"files": listing.files([str(folder) for folder in folders])}
                case _:
                    return {"error": "no such question"}
        except OSError as cause:
            return {"error": str(cause)}

    def _about_states(self, asked: Line) -> Line:
        # Loaded when states are asked for: it takes a moment.
        import base64  # noqa: PLC0415
        import binascii  # noqa: PLC0415

        try:
            match asked:
                case {"ask": "take"}:
                    packed, seconds, clock = self._take()
                    return {
                        "taken": base64.b64encode(packed).decode(),
                        "frozen_seconds": round(seconds, 4),
                        **({"clock": clock} if clock else {}),
                    }
                case {"taken": str(text)}:
                    return {"restored": self._restore(base64.b64decode(text, validate=True))}
                case _:
                    return {"error": "no state is in the question"}
        except (Refusal, OSError, binascii.Error) as cause:
            return {"error": str(cause)}

    def _take(self) -> tuple[bytes, float, str | None]:
        """Return the present state, for how many seconds all stood still, and the site's time."""
        from blocks import Budget  # noqa: PLC0415
        from changes import changes_of  # noqa: PLC0415
        from state import MOST_TAKEN, State, pack  # noqa: PLC0415

        if not (self._is_ready or self._is_closed) or self._must_renew():
            raise Refusal("the site is being rewound")
        budget = Budget(MOST_TAKEN)
        began = time.monotonic()
        try:
            with frozen(self._services.others):
                clock = self._clock.now_ns() if self._clock else None
                changes = changes_of(self._restorer, budget, self._remade)
                scratch = tuple(self._scratch.entries(budget))
                seconds = time.monotonic() - began
        finally:
            if self._is_ready:  # else there is nobody who goes on
                self._services.note_thaw()
        packed = pack(State(changes, scratch, clock), self._restorer.golden())
        return packed, seconds, None if clock is None else written(clock)

    def _restore(self, packed: bytes) -> str:
        """Go to a state as soon as the present generation is complete; return the state's name."""
        from changes import with_changes  # noqa: PLC0415
        from state import digest_of, unpack  # noqa: PLC0415

        golden = self._restorer.golden()
        roots = map(os.fsencode, self._config.scratch)
        state = unpack(packed, golden, roots, self._config.room_mb << 20)
        digest = digest_of(packed)
        self._next = Target(digest, state, with_changes(golden, state.changes))
        self._restore_asked = True
        return digest

    def _put_clock_back(self) -> Line:
        if self._clock is None:
            return {"error": "its clock is the host's"}
        try:
            self._clock.put_back(self._target and self._target.state.clock)
        except Failure as failure:
            return {"error": str(failure)}
        return {"clock": self._clock.now()}
