"""Results on stdout, progress on stderr: the only two ways in which Arena speaks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from arena_core.logs import without_known
from orchestrator.cli.streams import takes_unicode

# A page's title or an agent's answer must not write to the terminal's other lines or clipboard.
_CONTROLS: Final = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"
}

Cell = str | int | float | bool | None
Json = Cell | Sequence["Json"] | Mapping[str, "Json"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result table; numbers are set to the right."""

    title: str
    right: bool = False


@dataclass(frozen=True, slots=True)
class Console:
    """Where a command writes.

    Attributes:
        as_json: results are one JSON document instead of a table.
        quiet: no progress lines.
    """

    as_json: bool = False
    quiet: bool = False

    def table(
        self, columns: Sequence[Column], rows: Iterable[Sequence[Cell]], document: Json
    ) -> None:
        """Print a result: `rows` as a table for people, `document` where JSON was asked for."""
        if self.as_json:
            self.json(document)
            return
        _print_table(columns, rows)

    def json(self, document: Json) -> None:
        """Print one JSON document on stdout."""
        ascii_only = not takes_unicode(sys.stdout)
        sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=ascii_only) + "\n")

    def line(self, text: str) -> None:
        """Print one line of result on stdout."""
        sys.stdout.write(printable(text) + "\n")

    def note(self, text: str) -> None:
        """Print one line of progress on stderr."""
        if not self.quiet:
            _write(sys.stderr, text)

    def warn(self, text: str) -> None:
        """Print one line on stderr that `--quiet` does not hide."""
        _write(sys.stderr, text)


def printable(text: str) -> str:
    """Return a text with the codes that control a terminal written out."""
    return text.translate(_CONTROLS)


def _write(stream: TextIO, text: str) -> None:
    stream.write(printable(without_known(text)) + "\n")
    stream.flush()


def _print_table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> None:
    """Print with rich on a terminal, and as plain aligned text into a pipe."""
    from rich.console import Console as RichConsole
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.title, justify="right" if column.right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else printable(str(cell))) for cell in row))
    terminal = sys.stdout.isatty()
    RichConsole(file=sys.stdout, width=None if terminal else 200, no_color=not terminal).print(
        table
    )
