"""`arena record`: what it refuses before anything is started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.agents.arena_process import Ended

Call = Callable[..., Ended]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "record where?"),
        (("--open", "it", "wiki"), "--open reads a recording"),
        (("wiki", "--terminal", "--from", "x"), "the steps come from one of them"),
        (("wiki", "--intent", "x"), "no effect without --terminal"),
        (("wiki", "--from", "none", "--folder", "it"), "cannot be read"),
    ],
)
def test_what_has_no_effect_is_refused_in_one_line(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = call("record", *words)
    assert ended.code in {2, 3}
    assert why in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "it").exists()
