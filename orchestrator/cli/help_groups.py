"""The list of commands in `arena --help`, in plain text and under the titles of their groups."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from typer.core import TyperGroup

_WHOLE: Final = 300  # letters: a summary is wrapped, never cut

PRICES_HELP: Final = (
    "Table of what models cost, before Arena's own: YAML with date, source and models: {NAME:"
    " {input: 2.5, output: 10}}, in USD per million tokens."
)


DEFAULT: Final = "play"  # what a group with a command of this name does where none is named


class TitledGroup(TyperGroup):
    """A group whose help lists commands under their `rich_help_panel`, without rich."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Let words that name no command be those of the group's default one, if it has one."""
        if DEFAULT in self.commands and args and args[0] not in {*self.commands, "-h", "--help"}:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section a title, in the order in which commands were added."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        shown = [(name, command) for name, command in named if command and not command.hidden]
        for title, group in groupby(shown, key=lambda one: _title(one[1])):
            rows = [(name, command.get_short_help_str(_WHOLE)) for name, command in group]
            with formatter.section(title):
                formatter.write_dl(rows)


def _title(command: object) -> str:
    title = getattr(command, "rich_help_panel", None)
    return title if isinstance(title, str) else "Commands"
