"""The base image that every Dockerfile starts from: pulled, or built where no registry answers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from arena_core.errors import EngineError, ImageError, PrerequisiteError
from orchestrator.engine.containers import ImageInfo
from orchestrator.engine.engine import Engine

TAG: Final = "debian:bookworm-slim"
_PULL_S: Final = 180.0
_BUILD_S: Final = 1200.0
_LAST_LINES: Final = 20
_MISSING_TOOL: Final = 4  # build.sh's exit code


async def ensure_base(engine: Engine, folder: Path, on_line: Callable[[str], None]) -> ImageInfo:
    """Return the base image; pull it, or else build it with debootstrap under the same tag.

    Args:
        engine: where it must be.
        folder: docker/.
        on_line: gets lines of progress.

    Raises:
        PrerequisiteError: it must be built, and a tool for that is missing.
        ImageError: it could be neither pulled nor built.
    """
    found = await engine.image(TAG)
    if found is not None:
        return found
    on_line(f"base: pulling {TAG}")
    try:
        return await engine.pull(TAG, TAG, lambda _: None, deadline_s=_PULL_S)
    except (ImageError, EngineError) as unreachable:
        on_line(f"base: no registry ({unreachable.message}); building it with debootstrap")
    await _run_script(folder / "base" / "build.sh", on_line)
    built = await engine.image(TAG)
    if built is None:
        message = f"docker/base/build.sh ended well, but the engine has no {TAG}"
        raise ImageError(message, hint="is DOCKER_HOST another engine than the `docker` command's?")
    return built


async def _run_script(script: Path, on_line: Callable[[str], None]) -> None:
    """Run the script that builds the base image, handing its lines on as they come."""
    process = await asyncio.create_subprocess_exec(
        "bash",
        str(script),
        TAG,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    last: deque[str] = deque(maxlen=_LAST_LINES)
    try:
        async with asyncio.timeout(_BUILD_S):
            while process.stdout and (line := await process.stdout.readline()):
                last.append(line.decode("utf-8", errors="replace").rstrip())
                on_line(last[-1])
            code = await process.wait()
    except TimeoutError as cause:
        message = f"docker/base/build.sh took longer than {_BUILD_S:g} s"
        raise ImageError(message) from cause
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    if code:
        shown = "\n".join(f"  {line}" for line in last)
        leaf = PrerequisiteError if code == _MISSING_TOOL else ImageError
        message = f"the base image {TAG} could not be built (exit code {code}):\n{shown}"
        raise leaf(message, hint="docker/bootstrap.sh installs what it needs")
