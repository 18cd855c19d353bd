"""The HTTP service: episodes as resources."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from arena_core.bugs import bug_in_words
from arena_core.errors import (
    ArenaError,
    InputError,
    InternalError,
    StateError,
    StoreError,
    UnknownNameError,
    UsageError,
)
from arena_core.foreign import cut, whole
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.episode.checkpoint_file import load_checkpoint, packed_checkpoint
from orchestrator.serve.host import (
    ConflictError,
    EpisodeHost,
    FullError,
    HostedEpisode,
    NotBegunError,
)
from orchestrator.serve.mcp_server import McpRoute, mcp_path
from orchestrator.serve.messages import (
    FROM_CHECKPOINT,
    ContinuedEpisode,
    CreatedEpisode,
    CreateEpisode,
    EpisodeState,
    FinishedEpisode,
    FinishEpisode,
    ForkEpisode,
    GoOnEpisode,
    NamedCheckpoint,
    SeenEpisode,
    StepAnswer,
    StepEpisode,
    TakenCheckpoint,
    TooLongError,
    observation_as_json,
    task_as_json,
)
from orchestrator.serve.session import ORACLE, Stepped

if TYPE_CHECKING:
    from orchestrator.api.arena import Arena
    from orchestrator.episode.checkpoint import Checkpoint
    from orchestrator.serve.session import TextActions

_TITLE = "Arena"
_ABOUT = (
    "Episodes of web agents: create one, step it, finish it. What could not be scored has"
    " `outcome: unscored` and `reward: null` in every answer."
)
_A_FILE: Final = {
    "required": True,
    "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
}
_BUSY_AGAIN_S = 5
_MOST_SAID = 500
# Else FastAPI sends spans to wherever the environment names a collector.
_NO_TELEMETRY: TelemetryConfig = {
    "auto_configure": False,
    "tracing": False,
    "metrics": False,
    "logs": False,
}


def make_app(
    arena: Arena, host: EpisodeHost, action_space: TextActions, *, references: bool = False
) -> FastAPI:
    """Return the service over an open Arena; with `references`, the oracle plays for clients."""
    app = FastAPI(
        title=_TITLE,
        description=_ABOUT,
        docs_url=None,  # it loads its scripts from the web
        redoc_url=None,
        telemetry=_NO_TELEMETRY,
    )
    _add_errors(app)
    _add_lists(app, arena, host)
    _add_episodes(app, host)
    _add_play(app, host, action_space)
    if references:
        _add_references(app, host)
    app.router.routes.append(Route(f"/{mcp_path('{name}')}", endpoint=McpRoute(host)))
    return app


def _add_lists(app: FastAPI, arena: Arena, host: EpisodeHost) -> None:
    @app.get("/health", summary="Whether the service answers, and how many slots are free")
    async def health() -> dict[str, Any]:
        return {"status": "ok", "slots": host.slots, "free": host.free}

    @app.get("/suites", summary="The suites that ship with Arena")
    async def suites() -> list[str]:
        return list(arena.suites.names())

    @app.get("/tasks", summary="The tasks of a suite: no keys, no reference, no checks")
    def tasks(
        suite: Annotated[str, Query(description="a suite's name, or its file")] = "demo",
        pattern: Annotated[tuple[str, ...], Query(description="task ids, or patterns")] = (),
    ) -> list[dict[str, Any]]:
        return [task_as_json(suite, task) for task in arena.suites.tasks(suite, pattern)]


def _add_episodes(app: FastAPI, host: EpisodeHost) -> None:
    @app.get("/episodes", summary="The episodes that are played, and the last that were")
    async def episodes() -> list[EpisodeState]:
        return [_state(one) for one in host.episodes]

    @app.post("/episodes", status_code=201, summary="Begin an episode")
    async def create(asked: CreateEpisode, request: Request) -> CreatedEpisode:
        hosted = await host.create(asked)
        return CreatedEpisode(**hosted.answer, **_urls(hosted, str(request.base_url)))

    @app.post(
        FROM_CHECKPOINT,
        status_code=201,
        summary="Begin an episode at the file of a checkpoint",
        openapi_extra={"requestBody": _A_FILE},
    )
    async def go_on(asked: Annotated[GoOnEpisode, Query()], request: Request) -> CreatedEpisode:
        host.require_checkpoints()
        try:
            mark, digest = await _received(host, request)
            whole = ContinuedEpisode(**dict(asked), world=mark.world, sha256=digest)
            hosted = await host.create(whole, mark)
        except StateError as unfit:  # the file, or the images here: it will be no other next time
            raise UsageError(unfit.message, hint=unfit.hint) from unfit
        return CreatedEpisode(**hosted.answer, **_urls(hosted, str(request.base_url)))

    @app.get("/episodes/{name}", summary="How an episode stands, and what is seen")
    async def get(name: str) -> SeenEpisode:
        hosted = host.find(name)
        host.touch(hosted)
        seen = observation_as_json(hosted.session.seen)
        return SeenEpisode(**dict(_state(hosted)), observation=seen)

    @app.post("/episodes/{name}/heartbeat", summary="Say that the client is still there")
    async def heartbeat(name: str) -> EpisodeState:
        hosted = host.find(name)
        host.touch(hosted)
        return _state(hosted)

    @app.get(
        "/episodes/{name}/storage_state",
        summary="The logins of an episode that is played over CDP, as Playwright's storage state",
    )
    async def storage_state(name: str) -> FileResponse:
        hosted = _played(host, name)
        return FileResponse(hosted.session.storage_state, media_type="application/json")

    @app.get("/episodes/{name}/events", summary="What happens to an episode, as it happens (SSE)")
    async def events(
        name: str,
        hold: Annotated[  # noqa: FBT002  a query parameter
            bool, Query(description="take the episode back when this connection ends")
        ] = False,
    ) -> StreamingResponse:
        lines = _events(host, host.find(name), hold=hold)
        return StreamingResponse(lines, media_type="text/event-stream")


async def _received(host: EpisodeHost, request: Request) -> tuple[Checkpoint, str]:
    """Return the checkpoint whose file is the body of a request, and the file's SHA-256.

    The file lies on disk until it is read: Arena's own readers bound what they unpack.

    Raises:
        HTTPException: it is too long, or too slow.
        StateError: it is not the file of a checkpoint.
        StoreError: it cannot be put aside here.
    """
    digest = hashlib.sha256()
    try:
        async with host.receiving():
            with TemporaryFile() as file:
                async for part in request.stream():
                    digest.update(part)
                    file.write(part)
                file.seek(0)
                return await asyncio.to_thread(load_checkpoint, file), digest.hexdigest()
    except TooLongError as error:
        raise HTTPException(413, str(error)) from error
    except (TimeoutError, ClientDisconnect) as error:
        raise HTTPException(408, "the file did not arrive in time") from error
    except OSError as cause:
        raise StoreError(f"the file cannot be put aside: {cause.strerror or cause}") from cause


def _add_play(app: FastAPI, host: EpisodeHost, action_space: TextActions) -> None:
    @app.post("/episodes/{name}/step", summary="Do one action")
    async def step(name: str, asked: StepEpisode) -> StepAnswer:
        hosted = _played(host, name)
        return _stepped(await host.perform(hosted, lambda: _step(hosted, asked, action_space)))

    @app.post(
        "/episodes/{name}/checkpoints",
        status_code=201,
        summary="Take an episode as it is now, to go back to it or fork from it",
    )
    async def checkpoint(name: str, asked: NamedCheckpoint) -> TakenCheckpoint:
        host.require_checkpoints()
        hosted = _played(host, name)
        mark = await host.perform(hosted, lambda: hosted.session.checkpoint(asked.checkpoint))
        digests = {site: taken.digest for site, taken in mark.sites.items()}
        return TakenCheckpoint(checkpoint=mark.name, step=mark.step, states=digests)

    @app.get(
        "/episodes/{name}/checkpoints/{checkpoint:path}",
        summary="A checkpoint as a file, which another process can go on from",
    )
    async def checkpoint_file(name: str, checkpoint: str) -> Response:
        host.require_checkpoints()
        mark = host.find(name).session.mark(checkpoint)
        content = await asyncio.to_thread(packed_checkpoint, mark)
        return Response(content, media_type="application/zip")

    @app.post("/episodes/{name}/restore", summary="Go back to a checkpoint")
    async def restore(name: str, asked: NamedCheckpoint) -> StepAnswer:
        host.require_checkpoints()
        hosted = _played(host, name)
        return _stepped(
            await host.perform(hosted, lambda: hosted.session.restore(asked.checkpoint))
        )

    @app.post(
        "/episodes/{name}/forks",
        status_code=201,
        summary="Begin episodes that go on from a checkpoint",
    )
    async def fork(name: str, asked: ForkEpisode, request: Request) -> list[CreatedEpisode]:
        host.require_checkpoints()
        hosted = _played(host, name)
        branches = await host.perform(
            hosted, lambda: host.fork(hosted, asked.count, asked.checkpoint)
        )
        base = str(request.base_url)
        return [CreatedEpisode(**one.answer | _urls(one, base)) for one in branches]

    @app.post("/episodes/{name}/finish", summary="End an episode, and score it")
    async def finish(name: str, asked: FinishEpisode) -> FinishedEpisode:
        hosted = host.find(name)
        session, result = hosted.session, hosted.session.result
        usage = None if asked.usage is None else asked.usage.model_dump()
        if result is None:
            result = await host.perform(
                hosted,
                lambda: session.finish(
                    asked.answer,
                    asked.status,
                    asked.reason,
                    usage,
                    asked.data,
                    confidence=asked.confidence,
                ),
            )
        return FinishedEpisode(episode=name, **dict(result))

    @app.delete("/episodes/{name}", summary="Give an episode's slot back; unscored if not over")
    async def delete(name: str) -> FinishedEpisode:
        hosted = host.find(name)
        result = hosted.session.result
        if result is None:
            result = await host.abandon(hosted, "its client gave it back")
        return FinishedEpisode(episode=name, **dict(result))


def _add_references(app: FastAPI, host: EpisodeHost) -> None:
    @app.post("/episodes/{name}/reference", summary="Let the oracle play an episode to its end")
    async def reference(name: str) -> FinishedEpisode:
        hosted = _played(host, name)
        if hosted.asked.agent != ORACLE:  # else its evidence would say that somebody else did it
            message = f"the oracle plays no episode of '{hosted.asked.agent}'"
            raise UsageError(message, hint=f'begin one with "agent": "{ORACLE}"')
        result = await host.perform(hosted, hosted.session.play_reference)
        return FinishedEpisode(episode=name, **dict(result))


def _played(host: EpisodeHost, name: str) -> HostedEpisode:
    """Return an episode that is not over."""
    hosted = host.find(name)
    if hosted.session.result is not None:
        raise ConflictError(f"episode {name} is over")
    return hosted


def _urls(hosted: HostedEpisode, base: str) -> dict[str, str | None]:
    """Return where an episode is played by, below the service's URL; None for what it has not."""
    below = f"{base}episodes/{hosted.id}"
    over_cdp = hosted.session.is_over_cdp
    return {
        "mcp_url": f"{base}{mcp_path(hosted.id)}" if hosted.has_tools else None,
        "storage_state_url": f"{below}/storage_state" if over_cdp else None,
    }


async def _step(hosted: HostedEpisode, asked: StepEpisode, action_space: TextActions) -> Stepped:
    session = hosted.session
    if asked.action is not None:
        return await session.step(asked.action, thought=asked.thought)
    read = action_space.script(asked.action_str or "", session.seen)
    if isinstance(read, Misread):
        return await session.misread(read.why)
    return await session.play(read, thought=asked.thought)


def _stepped(done: Stepped) -> StepAnswer:
    result = done.result
    return StepAnswer(
        observation=observation_as_json(done.observation),
        reward=0.0 if result is None else result.reward,
        terminated=result is not None and not result.truncated,
        truncated=result is not None and result.truncated,
        error=done.observation.last_error,
        result=result,
    )


def _state(hosted: HostedEpisode) -> EpisodeState:
    result = hosted.session.result
    return EpisodeState(
        episode=hosted.id,
        task=hosted.asked.task,
        world=hosted.asked.world,
        key=hosted.asked.key,
        is_over=result is not None,
        result=result,
    )


async def _events(host: EpisodeHost, hosted: HostedEpisode, *, hold: bool) -> AsyncIterator[str]:
    try:
        yield ": follows\n\n"
        async for event in host.events(hosted):
            yield f"event: {event['event']}\ndata: {json.dumps(event)}\n\n"
    finally:
        if hold:
            host.take_back(hosted, "its client is gone: the connection that held it ended")


def _add_errors(app: FastAPI) -> None:
    """Answer every error in one form: `error`, and where there is one the next step as `hint`."""

    @app.exception_handler(ArenaError)
    async def refused(_: Request, error: ArenaError) -> JSONResponse:
        return JSONResponse(_words(error.message, error.hint), _status_of(error))

    @app.exception_handler(NotBegunError)
    async def not_begun(_: Request, error: NotBegunError) -> JSONResponse:
        known = error.result.model_dump(mode="json")
        return JSONResponse({**_words(f"the reset failed: {error}"), "result": known}, 503)

    @app.exception_handler(FullError)
    async def full(_: Request, error: FullError) -> JSONResponse:
        again = {"Retry-After": str(_BUSY_AGAIN_S)}
        hint = "wait, finish or delete an episode, or start arena serve with more --workers"
        return JSONResponse(_words(str(error), hint), 429, headers=again)

    @app.exception_handler(ConflictError)
    async def conflict(_: Request, error: ConflictError) -> JSONResponse:
        return JSONResponse(_words(str(error)), 409)

    @app.exception_handler(HTTPException)
    async def unknown(asked: Request, error: HTTPException) -> JSONResponse:
        why = f"{asked.method} {asked.url.path}: {str(error.detail).lower()}"
        hint = "GET /openapi.json lists what can be asked"
        return JSONResponse(_words(why, hint), error.status_code, headers=error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = ".".join(str(one) for one in first["loc"] if one != "body")
        said = f"{field}: {first['msg']}" if field else first["msg"]
        return JSONResponse(_words(cut(said, _MOST_SAID)), 422)

    @app.exception_handler(Exception)
    async def bug(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse(_words(f"a bug of Arena's: {bug_in_words(error)}"), 500)


def _words(error: str, hint: str = "") -> dict[str, str]:
    error = whole(error)
    return {"error": error, "hint": hint} if hint else {"error": error}


def _status_of(error: ArenaError) -> int:
    """Return 404 for a name that there is not, 4xx for what the client does wrong, else 503."""
    match error:
        case UnknownNameError():
            return 404
        case UsageError() | InputError():
            return 422
        case InternalError():
            return 500
        case _:
            return 503
