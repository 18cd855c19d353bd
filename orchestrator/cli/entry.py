"""`arena`: runs one command, and turns errors into one clear line and an exit code."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from arena_core.bugs import PACKAGES, bug_in_words, place_of
from arena_core.errors import ArenaError, InternalError, PrerequisiteError
from arena_core.logs import without_known
from arena_core.plugins import ARENA
from orchestrator.cli.console import printable
from orchestrator.cli.help_groups import TitledGroup
from orchestrator.cli.log_options import with_log_options
from orchestrator.cli.streams import drop_stdout, of_the_machine, prepare

# One line each, so that `arena --help` imports no command; a command's module has its name, in the
# folder of its panel.
_PANELS: dict[str, dict[str, str]] = {
    "Set up": {
        "doctor": "Check your setup and print how to fix it.",
        "check-model": "Ask a model one question: endpoint, key and name.",
        "build": "Build the sites' images and seal them as golden.",
        "pull": "Pull the images that are published.",
        "load": "Load a site's image from a file, bake it and seal it.",
        "images": "Keep sites' images in one file, and load them elsewhere.",
        "node": "Check, prepare and clear one of several machines.",
        "plugins": "List plug-ins and whether they work.",
    },
    "Sites": {
        "up": "Start sites, wait until they serve, log the roles in.",
        "status": "Show the running sites with URLs, health and memory.",
        "reset": "Bring sites back to golden, with a receipt.",
        "state": "Save states of running sites, and go back to them.",
        "down": "Remove every container that Arena started.",
        "logs": "Show a site's log.",
        "db": "Run one read-only SELECT on a site's database.",
        "diff": "Show what changed in a site, row by row and file by file.",
        "open": "Open a page of a site in your own browser.",
        "browse": "Browse all running sites under their own names.",
        "tape": "Record live sites, and replay what was recorded.",
        "site": "Add a site of your own and check it.",
    },
    "Tasks": {
        "tasks": "List, show, write and lint tasks.",
        "record": "Record a task: do it in a browser, choose its checks on a page.",
        "canary": "Play references again and again: which tasks still hold.",
        "schema": "Print the JSON Schema of suites, manifests or a run's files.",
    },
    "Run": {
        "eval": "Run an agent on tasks, offline, online or both.",
        "ci": "Hold an agent to a baseline: fail for a significant drop.",
        "watch": "Show a run while it is played, on a local page.",
        "ctl": "Steer a run that is played: pause, go, stop one, requeue, workers.",
        "sample": "Play each task several times, for training data.",
        "human": "Let a person do tasks, as a baseline for agents.",
        "merge": "Make one run, or study, of the shards that several machines played.",
    },
    "Analyse": {
        "study": "Plan, play, report and verify a registered study.",
        "report": "Show a run side by side, in the terminal and as HTML.",
        "compare": "Compare runs on the tasks that they share.",
        "leaderboard": "Write a page of studies that verify, and of no others.",
        "export": "Write runs for other programs.",
        "score": "Score a finished run again from its evidence.",
        "judge": "Let a model judge free text, or measure how far to trust one.",
    },
    "Serve": {
        "serve": "Serve episodes over HTTP to agents and trainers on this machine.",
        "mcp": "Serve one episode to an MCP client, such as a coding agent.",
    },
}

_FOLDERS = {
    "Set up": "setup",
    "Sites": "sites",
    "Tasks": "tasks",
    "Run": "runs",
    "Analyse": "analysis",
    "Serve": "serve",
}

_EXIT_CODES = (
    "Exit codes: 0 done; 1 below the bar of arena ci; 2 options; 3-7 a file that you wrote, or an"
    " unknown name; 10-14 this machine; 20, 21 images; 30-37 sites; 40-42 the Docker engine; 45,"
    " 46 states; 50 gateway; 60, 61 browser; 70, 72, 74, 75 model; 71, 73 agent; 80-82 run folder,"
    " study; 90-92 nothing could be scored; 99 a bug of Arena's; 130 interrupted."
)


_WITH_RUN_FOLDER = {"ci", "eval", "sample", "human", "study"}


def build_app(words: Sequence[str]) -> typer.Typer:
    """Return the command line that `words` need: only the command they name is imported."""
    app = typer.Typer(
        cls=TitledGroup,
        no_args_is_help=True,
        rich_markup_mode=None,  # rich's tables leave help texts a few letters a line at 80 columns
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="The same task on Docker replicas and on the live web, scored with one ruler.",
        epilog=_EXIT_CODES,
    )
    app.callback()(_root)
    called = next((word for word in words if not word.startswith("-")), "")
    for panel, commands in _PANELS.items():
        for name, line in commands.items():
            if name == called:
                _register(app, name, line, panel)
            else:
                app.command(name, help=line, rich_help_panel=panel)(_unloaded)
    return app


def _show_version(asked: bool) -> None:
    if not asked:
        return
    # Read from what is installed, and only now: no other command waits for it.
    from importlib.metadata import version

    typer.echo(f"{ARENA} {version(ARENA)}")
    raise typer.Exit


def _root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Hold the commands together."""


def _unloaded() -> None:
    """Stand for a command that was not called."""


def _register(app: typer.Typer, name: str, line: str, panel: str) -> None:
    """Add the module of one command: a command, or a group where it holds several."""
    module = f"orchestrator.cli.{_FOLDERS[panel]}.{name.replace('-', '_')}"
    commands: typer.Typer = importlib.import_module(module).app
    for group in (commands, *(one.typer_instance for one in commands.registered_groups)):
        for command in group.registered_commands if group else ():
            if command.callback:
                command.callback = with_log_options(
                    command.callback, has_run_folder=name in _WITH_RUN_FOLDER
                )
    single = commands.registered_commands
    if len(single) == 1 and not commands.registered_callback and single[0].callback:
        app.command(name, rich_help_panel=panel)(single[0].callback)
    else:
        app.add_typer(commands, cls=TitledGroup, name=name, help=line, rich_help_panel=panel)


def main() -> None:
    """Run the command line and exit; an `ArenaError` becomes one clear line and its exit code."""
    prepare()
    try:
        try:
            build_app(sys.argv[1:])(prog_name="arena")
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output had enough, as `head` has after ten lines.
        drop_stdout()
        sys.exit(1)
    except ArenaError as error:
        _refuse(error)
    except OSError as failure:
        drop_stdout()
        told = of_the_machine(failure)
        if told is None:
            _end_by_bug(failure)
        _refuse(told)
    except ImportError as broken:
        drop_stdout()
        if (broken.name or "").partition(".")[0] in PACKAGES:
            _end_by_bug(broken)
        message = f"the installation is broken: {broken}"
        _refuse(PrerequisiteError(message, hint="arena doctor says what is missing"))
    except Exception as bug:  # noqa: BLE001  nothing lies above the entry point
        drop_stdout()
        _end_by_bug(bug)


def _end_by_bug(bug: Exception) -> NoReturn:
    """Print the traceback, which a report needs, and end with the exit code of a bug."""
    sys.stderr.write(without_known("".join(traceback.format_exception(bug))))
    message = f"a bug of Arena's: {bug_in_words(bug)} at {place_of(bug)}"
    _refuse(InternalError(message, hint="please report it, with the traceback above"))


def _refuse(error: ArenaError) -> NoReturn:
    sys.stderr.write(printable(without_known(f"arena: {error.message}\n")))
    if error.hint:
        sys.stderr.write(printable(without_known(f"  → {error.hint}\n")))
    sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
