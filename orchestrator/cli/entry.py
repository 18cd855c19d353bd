"""`arena`: parses the command line, runs one command, and turns errors into a line and an exit code."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass

import click
import typer
from typer.core import TyperGroup
from typer.main import get_command

from sites.errors import ArenaError


@dataclass(frozen=True, slots=True)
class _Command:
    """Where a command lives, and its line in `arena --help` (so that help imports nothing)."""

    module: str
    help: str
    panel: str


_COMMANDS: dict[str, _Command] = {
    "doctor": _Command("orchestrator.cli.doctor", "Say what is missing on this machine and what mends it.", "Set up"),
    "build": _Command("orchestrator.cli.build", "Build the sites' images and seal them as golden.", "Set up"),
    "pull": _Command("orchestrator.cli.pull", "Pull the images that their manifests say are published.", "Set up"),
    "up": _Command("orchestrator.cli.up", "Start sites, wait until they really serve, log the roles in.", "Sites"),
    "status": _Command("orchestrator.cli.status", "Show the running sites with URLs, health and memory.", "Sites"),
    "reset": _Command("orchestrator.cli.reset", "Bring sites back to golden, with a receipt.", "Sites"),
    "down": _Command("orchestrator.cli.down", "Remove every container that Arena started.", "Sites"),
    "logs": _Command("orchestrator.cli.logs", "Show a site's log.", "Sites"),
    "db": _Command("orchestrator.cli.db", "Run one read-only SELECT on a site's database.", "Sites"),
    "open": _Command("orchestrator.cli.open", "Print or open a URL of a site for a person's own browser.", "Sites"),
    "tasks": _Command("orchestrator.cli.tasks", "List, show and lint tasks.", "Studies"),
    "eval": _Command("orchestrator.cli.eval", "Run an agent on tasks, offline, online or both.", "Studies"),
    "report": _Command("orchestrator.cli.report", "Show a run side by side, in the terminal and as HTML.", "Studies"),
    "score": _Command("orchestrator.cli.score", "Score a finished run again from its evidence.", "Studies"),
}  # fmt: skip


class _LazyGroup(TyperGroup):
    """Commands whose modules are imported when they are called, not when help is shown."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = _COMMANDS.get(cmd_name)
        if known is None:
            return None
        if ctx.resilient_parsing or not _is_called(cmd_name):
            return typer.core.TyperCommand(cmd_name, help=known.help, rich_help_panel=known.panel)
        command = get_command(importlib.import_module(known.module).app)
        command.name = cmd_name
        return command


def _is_called(name: str) -> bool:
    return name in sys.argv[1:]


app = typer.Typer(
    cls=_LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="The same web-agent task on Docker replicas and on the live web, scored with one ruler.",
)


@app.callback()
def _root() -> None:
    """Hold the commands together."""


def main() -> None:
    """Run the command line and exit; an `ArenaError` becomes one clear line and its exit code."""
    try:
        app(standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.exceptions.Abort:
        sys.stderr.write("arena: interrupted\n")
        sys.exit(130)
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(2)
    except ArenaError as error:
        sys.stderr.write(f"arena: {error.message}\n")
        if error.hint:
            sys.stderr.write(f"  → {error.hint}\n")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("arena: interrupted\n")
        sys.exit(130)
