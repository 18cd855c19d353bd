"""An episode of a running `arena serve`, for a program without Arena's own dependencies."""

from __future__ import annotations

import json
import os
import threading
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote, urlencode, urlsplit

from arena_core.errors import PrerequisiteError, UsageError

Record = dict[str, Any]

_ANSWER_S: Final = 900.0
_SCORING_S: Final = 120.0
_SLOT_S: Final = 3600.0
_HEARTBEATS: Final = 3
_CONFLICT, _FULL, _NOT_BEGUN = 409, 429, 503


class EpisodeUnscored(Exception):  # noqa: N818  what Arena's other adapters call it
    """An episode that counts for nothing, because the world broke and not the agent."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        super().__init__(unscored_words(result))
        self.result = dict(result)


class Refused(Exception):  # noqa: N818
    """The service did not do what was asked for."""

    def __init__(self, status: int, answer: Mapping[str, Any], retry_s: float) -> None:
        said = f"{answer.get('error', answer)}; {answer.get('hint', '')}".rstrip("; ")
        super().__init__(f"arena serve refused ({status}): {said}")
        self.status = status
        self.result: Record | None = answer.get("result")
        self.retry_s = retry_s


def unscored_words(result: Mapping[str, Any]) -> str:
    return f"unscored: {result['reason']}: {result['because']}"


def reward_of(result: Mapping[str, Any]) -> float:
    """Return 1.0 or 0.0; NaN where an episode is unscored, which no sum takes for a zero."""
    reward = result["reward"]
    return float("nan") if reward is None else float(reward)


@dataclass(frozen=True, slots=True)
class Service:
    """A running `arena serve`: its address, and the file with its token."""

    url: str
    token_file: str

    @classmethod
    def named(cls, url: str | None = None, token_file: str | None = None) -> Self:
        """Return the service at an address, or that of ARENA_URL and ARENA_TOKEN_FILE."""
        address = url or os.environ.get("ARENA_URL")
        file = token_file or os.environ.get("ARENA_TOKEN_FILE")
        if not address or not file:
            missing = "ARENA_TOKEN_FILE" if address else "ARENA_URL"
            hint = "start `arena serve`: it prints its URL and the file with its token"
            raise UsageError(f"{missing} is not set: where does Arena run?", hint=hint)
        return cls(address, file)

    def tasks(self, suite: str, tasks: str = "*", split: str | None = None) -> list[Record]:
        """Return what a client may know of tasks: `id`, `goal`, `max_steps` and others.

        Args:
            suite: its name, or its file on the service's machine.
            tasks: ids or patterns, with commas between.
            split: only those that the suite puts into it, such as `train`.
        """
        asked = [("suite", suite), *(("pattern", one) for one in tasks.split(",") if one != "*")]
        found = list(self.ask("GET", f"/tasks?{urlencode(asked)}"))
        return [one for one in found if split in {None, one["split"]}]

    def ask(self, method: str, path: str, body: Record | bytes | None = None) -> Any:
        return json.loads(self.fetch(method, path, body))

    def fetch(self, method: str, path: str, body: Record | bytes | None = None) -> bytes:
        """Return the answer as it comes; raises Refused for one that is an error."""
        connection, response = self.open(method, path, body)
        try:
            answer = response.read()
        finally:
            connection.close()
        if response.status >= 400:  # noqa: PLR2004  where errors begin
            retry_s = float(response.headers.get("Retry-After", "1"))
            raise Refused(response.status, json.loads(answer), retry_s)
        return answer

    def open(
        self,
        method: str,
        path: str,
        body: Record | bytes | None = None,
        *,
        limit_s: float = _ANSWER_S,
    ) -> tuple[HTTPConnection, HTTPResponse]:
        """Send a request; no proxy is asked, whatever the environment says."""
        at = urlsplit(self.url)
        connection = HTTPConnection(at.hostname or "", at.port, timeout=limit_s)
        try:
            token = Path(self.token_file).read_text(encoding="ascii").strip()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            sent = json.dumps(body) if isinstance(body, dict) else body
            connection.request(method, path, body=sent, headers=headers)
            return connection, connection.getresponse()
        except (OSError, HTTPException) as error:
            connection.close()
            message = f"no `arena serve` answers at {self.url}: {error}"
            raise PrerequisiteError(message, hint="start it, and set ARENA_URL") from error


@dataclass(slots=True, weakref_slot=True)
class Episode:
    """An episode that is this process's until it is over: a dead process frees its slot at once.

    Attributes:
        created: what the service said at its beginning.
        result: what it is worth, once it is over.
    """

    service: Service
    created: Record
    result: Record | None = None
    _held: HTTPResponse | None = None
    _gone: threading.Event = field(default_factory=threading.Event)
    _release: weakref.finalize[..., Any] | None = None

    @classmethod
    def begin(
        cls,
        service: Service,
        asked: Record,
        *,
        patience_s: float = _SLOT_S,
        checkpoint: bytes | None = None,
        is_kept: bool = True,
    ) -> Self:
        """Lease a slot, waiting for one to be free, and reset it.

        Args:
            service: where Arena runs.
            asked: as `POST /episodes` has it, or `POST /episodes/from-checkpoint`.
            patience_s: how long it waits.
            checkpoint: the file of one, where it begins.
            is_kept: it never counts as idle while this process lives.

        Raises:
            EpisodeUnscored: no replica could be made ready, or the world is not as it must be.
            Refused: the request is wrong, or no slot was free in time.
        """
        give_up = time.monotonic() + patience_s
        while (created := _created(service, asked, checkpoint, give_up)) is None:
            pass
        episode = cls(service, created)
        episode._hold(is_kept=is_kept)
        return episode

    @property
    def goal(self) -> str:
        return str(self.created["goal"])

    def step(self, action: str) -> Record:
        """Do the actions of one text; the answer's `result` is None while the episode goes on."""
        try:
            done: Record = self._ask("POST", "/step", {"action_str": action})
        except Refused as refused:
            if refused.status != _CONFLICT or self.ended() is None:
                raise
            # It ended between two steps: by its limit of time, or because it was taken back.
            done = {"observation": self._ask("GET", "")["observation"], "result": self.result}
        self.result = done["result"]
        return done

    def finish(self, answer: str | None = None, status: str = "done", reason: str = "") -> Record:
        """End and score it; what is over keeps its result."""
        if self.result is None:
            said = {"answer": answer, "status": status, "reason": reason}
            self.result = self._ask("POST", "/finish", said)
        self._let_go()
        return self.result

    def checkpoint(self, name: str) -> bytes:
        """Return the file of a checkpoint that is taken now, where the service has `--checkpoints`.

        It holds what the sites hold, and is for who serves episodes, not for who plays them.
        """
        self._ask("POST", "/checkpoints", {"checkpoint": name})
        return self.service.fetch("GET", f"{self._path}/checkpoints/{quote(name)}")

    def release(self) -> Record:
        """Give it back; one that is not over is unscored."""
        if self.result is None:
            self.result = self._ask("DELETE", "")
        self._let_go()
        return self.result

    def ended(self) -> Record | None:
        """Ask whether it is over: a limit ends an episode without its client."""
        if self.result is None:
            self.result = self._ask("POST", "/heartbeat")["result"]
        return self.result

    def wait_until_over(self) -> Record | None:
        """Wait for the result of what has hung up; None where no end is announced."""
        with suppress(OSError, HTTPException):
            while self._held is not None and (line := self._held.readline()):
                if line.startswith(b"event: end"):
                    break
        return self.ended()

    def _ask(self, method: str, of: str, body: Record | None = None) -> Any:
        return self.service.ask(method, f"{self._path}{of}", body)

    @property
    def _path(self) -> str:
        return f"/episodes/{quote(self.created['episode'])}"

    def _hold(self, *, is_kept: bool) -> None:
        """Bind the episode to a connection of this process, and say that its client is there."""
        path = self._path
        connection, self._held = self.service.open(
            "GET", f"{path}/events?hold=true", limit_s=_SCORING_S
        )
        self._release = weakref.finalize(self, _hang_up, self._gone, connection, self._held)
        if is_kept:
            every_s = self.created["idle_seconds"] / _HEARTBEATS
            threading.Thread(
                target=_keep_alive, args=(self.service, path, self._gone, every_s), daemon=True
            ).start()

    def _let_go(self) -> None:
        if self._release is not None:
            self._release()
        self._held = None


def _created(
    service: Service, asked: Record, checkpoint: bytes | None, give_up: float
) -> Record | None:
    """Begin an episode; None after a wait, where every slot is in use."""
    try:
        if checkpoint is None:
            return dict(service.ask("POST", "/episodes", asked))
        path = f"/episodes/from-checkpoint?{urlencode(asked)}"
        return dict(service.ask("POST", path, checkpoint))
    except Refused as refused:
        if refused.status == _NOT_BEGUN and refused.result is not None:
            raise EpisodeUnscored(refused.result) from refused
        if refused.status != _FULL or time.monotonic() + refused.retry_s > give_up:
            raise
        time.sleep(refused.retry_s)
        return None


def _keep_alive(service: Service, path: str, gone: threading.Event, every_s: float) -> None:
    """Keep an episode from being idle while its agent thinks; the limits of its task still hold."""
    with suppress(Refused, PrerequisiteError):
        while not gone.wait(every_s):
            if service.ask("POST", f"{path}/heartbeat")["is_over"]:
                return


def _hang_up(gone: threading.Event, connection: HTTPConnection, held: HTTPResponse) -> None:
    gone.set()
    held.close()
    connection.close()
