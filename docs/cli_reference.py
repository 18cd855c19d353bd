"""Writes the page `cli.md` from the commands themselves, at each build of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from orchestrator.cli.entry import build_app

PAGE = "cli.md"
# Typer carries a copy of click of its own, so its objects are known by what they have.
Command = Any
Parameter = Any

_HEAD = """# Command line

Every command, from its own help. Results go to stdout, as a table or with `--json`; progress goes
to stderr. An error is one line with the next step, and each kind has an
[exit code of its own](file-formats.md#exit-codes).
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated page to the files of the site."""
    files.append(File.generated(config, PAGE, content=reference()))
    return files


def reference() -> str:
    """Return the page: each command and each of its subcommands, with arguments and options."""
    sections = [_HEAD]
    root: Command = typer.main.get_command(build_app([]))
    for name in root.commands:
        loaded: Command = typer.main.get_command(build_app([name]))  # only this one is imported
        sections += [
            f"## {path}\n\n{_text(command.help)}\n\n{_parameters(command)}"
            for path, command in _commands(loaded.commands[name], f"arena {name}")
        ]
    return "\n".join(sections)


def _commands(command: Command, path: str) -> Iterator[tuple[str, Command]]:
    """Yield a command, or all below a group, in the order of the help."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, one in inner.items():
        yield from _commands(one, f"{path} {name}")


def _parameters(command: Command) -> str:
    rows = [f"| {_names(one)} | {_meaning(one)} |" for one in command.params if not one.hidden]
    return "\n".join(["| option or argument | meaning |", "|---|---|", *rows, ""]) if rows else ""


def _names(parameter: Parameter) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    return " ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _meaning(parameter: Parameter) -> str:
    default = getattr(parameter.default, "value", parameter.default)
    told = isinstance(default, (str, int, float)) and default not in {"", False, True}
    return _text(parameter.help) + (f" Default: `{default}`." if told else "")


def _text(words: str | None) -> str:
    lines = (words or "").replace("\f", "").replace("|", "\\|").replace("<", "&lt;")
    return "\n\n".join(" ".join(part.split()) for part in lines.split("\n\n"))
