"""Every command of the command line, as words."""

from __future__ import annotations

from collections.abc import Iterator

from typer.core import TyperGroup
from typer.main import get_command

from orchestrator.cli.entry import _PANELS, build_app


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and of every group, the whole first."""
    yield ()
    for name in [name for names in _PANELS.values() for name in names]:
        yield (name,)
        root = get_command(build_app([name]))
        assert isinstance(root, TyperGroup)
        if isinstance(inner := root.commands[name], TyperGroup):
            yield from ((name, one) for one in inner.commands)
