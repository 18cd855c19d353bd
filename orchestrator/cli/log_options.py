"""What every command takes about the log: `-v`, `-vv`, `--log-level`, and `ARENA_LOG`."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Annotated, Any, Final

import typer

from arena_core.errors import ArenaError, UsageError
from arena_core.logs import log_level as log_from
from arena_core.logs import no_log, stream_log

VARIABLE: Final = "ARENA_LOG"
_LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_VERBOSE: Final = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        show_default=False,
        help="Write the log to stderr; -vv: with every call and traceback.",
    ),
]
_LEVEL: Final = Annotated[
    str | None,
    typer.Option(
        "--log-level",
        show_default=False,
        help=f"debug, info, warning or error: of a run's arena.log (info), elsewhere of the log on"
        f" stderr (none); or {VARIABLE}.",
    ),
]
_OPTIONS: Final = (("verbose", _VERBOSE, 0), ("log_level", _LEVEL, None))
_LOG: Final = logging.getLogger(__name__)


def with_log_options(command: Callable[..., Any], *, has_run_folder: bool) -> Callable[..., Any]:
    """Return a command that takes the options about the log, and logs as they say.

    One that takes them already is returned as it is.

    Args:
        command: the function that Typer would call.
        has_run_folder: it writes the log into the folder of a run: stderr gets it with -v only.
    """
    signature = inspect.signature(command, eval_str=True)
    if "log_level" in signature.parameters:
        return command

    @wraps(command)
    def logged(*, verbose: int, log_level: str | None, **given: object) -> object:
        with log_as_chosen(verbose, log_level, os.environ, has_run_folder=has_run_folder):
            try:
                return command(**given)
            except ArenaError as error:
                _LOG.debug("the command ends: %s", error.message, exc_info=True)
                raise

    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, kind, default in _OPTIONS
    ]
    parameters = [*signature.parameters.values(), *more]
    logged.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return logged


@contextmanager
def log_as_chosen(
    verbose: int, log_level: str | None, environment: Mapping[str, str], *, has_run_folder: bool
) -> Iterator[None]:
    """Log as options and environment say, until the block ends."""
    if verbose and log_level is not None:
        message = "-v and --log-level both say how much is logged"
        raise UsageError(message, hint="omit one of them")
    if verbose:
        level: int | None = logging.INFO if verbose == 1 else logging.DEBUG
    else:
        level = _level(log_level, "--log-level") or _level(environment.get(VARIABLE), VARIABLE)
    with ExitStack() as stack:
        stack.enter_context(no_log())
        if level is not None:
            stack.enter_context(log_from(level))
            if verbose or not has_run_folder:
                stack.enter_context(stream_log(level))
        yield


def _level(name: str | None, source: str) -> int | None:
    if not name:
        return None
    found = _LEVELS.get(name.lower())
    if found is None:
        message = f"{source}: there is no level '{name}'"
        raise UsageError(message, hint=f"levels: {', '.join(_LEVELS)}")
    return found
