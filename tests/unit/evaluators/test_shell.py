"""What a command's end and output say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from arena_core.errors import TaskError
from evaluators.episode_view import Ran
from evaluators.locators.shell import ShellLocator, ShellPart


async def found(ran: Ran, read: ShellPart = ShellPart.OUTPUT) -> tuple[str, ...]:
    async def shell(*_: object) -> Ran:
        return ran

    episode: Any = SimpleNamespace(shell=shell)
    locator = ShellLocator(site="shop", command="cat log", read=read)
    return (await locator.look(episode)).values


async def test_what_a_command_prints() -> None:
    assert await found(Ran(0, "a\nb\n", "")) == ("a\nb\n",)
    assert await found(Ran(0, "a\nb\n", ""), ShellPart.LINES) == ("a", "b")
    assert await found(Ran(0, "", ""), ShellPart.LINES) == ()
    assert await found(Ran(7, "", ""), ShellPart.EXIT_CODE) == ("7",)
    assert await found(Ran(1, "", "")) == ()


@pytest.mark.parametrize("ran", [Ran(1, "", "no such file"), Ran(2, "", ""), Ran(127, "x", "")])
async def test_a_command_that_broke_has_no_verdict(ran: Ran) -> None:
    with pytest.raises(TaskError, match="ended with"):
        await found(ran)
