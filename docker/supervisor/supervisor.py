"""Starts the services on a pristine state, and brings both back to that at each rewind."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import ipc
from clock import Clock
from config import Config, Rewind, Service
from failure import Failure, Stop
from loop import Loop
from port import Line, Port
from restore import Restorer
from room import LOOK_S, Room
from scratch import Scratch
from services import Services, say
from tree import Marks, marks_below

if TYPE_CHECKING:
    from listing import Listing
    from scratch_listing import ScratchListing


class Supervisor:
    """One image's state and services, from the start of the container to its end."""

    def __init__(self, config: Config, loop: Loop, *, alone: bool) -> None:
        """Take the port.

        Args:
            config: the whole file.
            loop: waits for what comes.
            alone: whether every other process of the namespace is this image's, as in a container.

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
        self._room = Room(config.folder, config.room_mb)
        self._code: dict[str, Marks] = {}
        self._port = Port(loop, config.port, self._answer)
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
                self._loop.rewind_asked = False
                self._renew()
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
        self._tell("rewinding")
        self._services.halt()
        self._services.replace(self._is_spoilt)
        if self._alone:
            ipc.remove_all()
        self._scratch.empty()
        if self._clock:
            self._clock.put_back()
        self._services.listen()
        self._scratch.keep(self._services.paths)
        self._services.start(Rewind.RECYCLE, Rewind.KEEP)
        self._restorer.restore()
        self._services.go_on()
        self._services.start(Rewind.RESTART)
        self._services.check()
        self._services.note_traits()
        for service in self._config.services:
            self._code[service.name] = self._code_of(service)
        self._generation += 1
        self._seconds = round(time.monotonic() - began, 4)
        self._tell("ready")

    def _is_spoilt(self, service: Service) -> bool:
        """Whether code that a service holds compiled in its memory was changed since."""
        return self._code_of(service) != self._code[service.name]

    def _code_of(self, service: Service) -> Marks:
        return marks_below(self._config.folder, service.code)

    def _must_act(self) -> bool:
        self._services.check()
        return self._loop.rewind_asked

    def _tell(self, state: str) -> None:
        self._port.tell(
            {
                "generation": self._generation,
                "state": state,
                "folder": self._config.folder,
                "seconds": self._seconds,
            }
        )

    def _answer(self, asked: Line) -> Line:
        """Answer a question about the folder or the scratch folders, or put the clock back."""
        if asked == {"ask": "clock"}:
            return self._put_clock_back()
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

    def _put_clock_back(self) -> Line:
        if self._clock is None:
            return {"error": "its clock is the host's"}
        try:
            self._clock.put_back()
        except Failure as failure:
            return {"error": str(failure)}
        return {"clock": self._clock.now()}
