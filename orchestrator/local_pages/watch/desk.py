"""What the page of a run that is played shows, and the orders that it takes."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from arena_core.errors import StoreError, UsageError
from evaluators.evidence import Evidence
from evaluators.verdicts import CheckStatus, verdicts
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.analysis.wording import step_in_words
from orchestrator.local_pages.serving import serve_page
from orchestrator.runs.control import Order, RunState, film, give_order, look
from orchestrator.runs.store.ledger import EpisodeKey, FinishedEpisode, attempt_of
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task

_MOST_BYTES: Final = 64 * 1024
_LISTED: Final = 200
_KINDS: Final = {".webp": "image/webp", ".png": "image/png"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """An episode that ended, and the folder of the attempt that counts."""

    run: str
    key: EpisodeKey
    folder: str
    outcome: str


@dataclass(slots=True)
class WatchDesk:
    """Shows a run or a study to the pages that ask, and gives their orders to its process.

    Attributes:
        path: of its folder.
        runs: by what the run's process calls each.
    """

    path: Path
    runs: Mapping[str, RunFolder]
    _done: int = -1
    _ended: tuple[_Ended, ...] = ()
    _mean_s: float | None = None
    _tasks: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> WatchDesk:
        """Return the desk of a run's folder or a study's.

        Raises:
            StoreError: it is neither.
        """
        if (path / "lock.json").is_file():
            run = RunFolder.open(path)
            return cls(path, {run.lock().run: run})
        study = StudyFolder.open(path)
        names = [one.folder for one in study.registration().all_runs]
        return cls(path, {name: study.run_folder(name) for name in names})

    @property
    def routes(self) -> tuple[web.RouteDef, ...]:
        """What the page asks."""
        return (
            web.get("/state", self._state),
            web.get("/episode", self._episode),
            web.get("/shot", self._shot),
            web.get("/film", self._film),
            web.post("/order", self._order),
        )

    async def _state(self, _: web.Request) -> web.Response:
        try:
            state = await give_order(self.path, Order())
        except StoreError:  # nobody plays it any more
            state = None
        return web.json_response(self._document(state))

    async def _order(self, request: web.Request) -> web.Response:
        order = Order.model_validate_json(await request.read())
        return web.json_response(self._document(await give_order(self.path, order)))

    async def _episode(self, request: web.Request) -> web.Response:
        """Answer with an episode that ended, or with one that is played, from a step on."""
        run, name = self._run(request), request.query.get("name", "")
        if attempt_of(name) is not None:
            return web.json_response(self._of_evidence(run, run.evidence(name), is_over=True))
        seen = request.query.get("seen", "0")
        wanted = f"{request.query['run']}/{name}"
        shown = await look(self.path, wanted, int(seen) if seen.isdecimal() else 0)
        found: dict[str, Any] = {"seen": shown.steps}
        if shown.evidence:
            evidence = Evidence.model_validate_json(shown.evidence)
            found |= self._of_evidence(run, evidence, is_over=False)
            found["picture"] = _data_url(shown.picture)
        return web.json_response(found)

    async def _film(self, request: web.Request) -> web.StreamResponse:
        """Answer with lines of what is played as it changes, until the page is gone or hidden."""
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        async with aclosing(film(self.path)) as pictures:
            with suppress(ConnectionError, ValueError):  # the page, or the run, is gone
                async for one in pictures:
                    if not response.prepared:
                        await response.prepare(request)
                    await response.write(one.model_dump_json().encode() + b"\n")
        return response

    async def _shot(self, request: web.Request) -> web.Response:
        run, name = self._run(request), request.query.get("name", "")
        shot = request.query.get("shot", "")
        path = run.evidence_folder(name) / shot
        kind = _KINDS.get(path.suffix)
        if kind is None or shot != path.name or path.is_symlink() or not path.is_file():
            raise web.HTTPNotFound(text="there is no such picture")
        return web.Response(body=path.read_bytes(), content_type=kind)

    def _run(self, request: web.Request) -> RunFolder:
        run = self.runs.get(request.query.get("run", ""))
        if run is None:
            raise UsageError("there is no such run here")
        return run

    def _document(self, state: RunState | None) -> dict[str, Any]:
        if state is None or state.done != self._done:
            self._read_ended()
            self._done = -1 if state is None else state.done
        left = None if state is None else state.total - state.done
        return {
            "name": self.path.name,
            "state": None if state is None else state.document(),
            "said": "" if state is None else state.said,
            "queued": None if left is None or state is None else left - len(state.playing),
            "left_s": self._left_s(state),
            "runs": len(self.runs),
            "ended": [
                {
                    "run": one.run,
                    "name": one.folder,
                    "episode": one.key.name,
                    "outcome": one.outcome,
                }
                for one in self._ended[:_LISTED]
            ],
            "more": max(0, len(self._ended) - _LISTED),
        }

    def _left_s(self, state: RunState | None) -> float | None:
        """Reckon the time left from the episodes that ended, with as many side by side as now."""
        if state is None or self._mean_s is None or state.is_paused:
            return None
        side_by_side = max(1, len(state.playing))
        return self._mean_s * (state.total - state.done) / side_by_side

    def _read_ended(self) -> None:
        ended: list[tuple[str, _Ended]] = []
        known: list[FinishedEpisode] = []
        for name, run in self.runs.items():
            if not run.is_begun:
                continue
            with run.reading() as ledger:
                known += ledger.finished_episodes()
                ended += [
                    (
                        run.path.name,
                        _Ended(run=name, key=one.key, folder=one.folder, outcome=one.outcome or ""),
                    )
                    for one in ledger.finished()
                ]
        self._ended = tuple(one for _, one in reversed(ended))
        seconds = [one.seconds for one in known if one.seconds is not None]
        self._mean_s = sum(seconds) / len(seconds) if seconds else None

    def _of_evidence(self, run: RunFolder, evidence: Evidence, *, is_over: bool) -> dict[str, Any]:
        task = self._tasks_of(run)[evidence.task]
        score = score_task(task, evidence) if is_over else None
        checks = verdicts(task.checks, evidence) if score is None else score.verdicts
        return {
            "task": task.id,
            "intent": task.intent,
            "outcome": "" if score is None else str(score.outcome),
            "because": "" if score is None else score.because,
            "seconds": evidence.seconds,
            "steps": [
                {
                    "said": step_in_words(step),
                    "url": step.logical or step.url,
                    "error": step.error or "",
                    "thought": step.thought or "",
                    "shot": step.screenshot or "",
                }
                for step in evidence.steps
            ],
            "checks": [
                {"name": one.check, "status": one.status.value, "reason": one.reason}
                if is_over or one.status is CheckStatus.MET
                else {"name": one.check, "status": "pending", "reason": "not yet"}
                for one in checks
            ],
        }

    def _tasks_of(self, run: RunFolder) -> dict[str, Any]:
        key = str(run.path)
        if key not in self._tasks:
            self._tasks[key] = {task.id: task for task in run.suite().tasks}
        return self._tasks[key]


def _data_url(picture: str) -> str:
    kind = "image/png" if base64.b64decode(picture[:16]).startswith(b"\x89PNG") else "image/webp"
    return f"data:{kind};base64,{picture}" if picture else ""


@asynccontextmanager
async def watch_page(path: Path, port: int = 0) -> AsyncIterator[str]:
    """Serve the page of a run or a study until the block ends; yield its address with its token.

    Raises:
        StoreError: the folder is of no run or study.
        PortTakenError: the port is in use.
    """
    desk = WatchDesk.of(path)
    async with serve_page(
        "orchestrator.local_pages.watch", desk.routes, port=port, most_bytes=_MOST_BYTES
    ) as url:
        yield url
