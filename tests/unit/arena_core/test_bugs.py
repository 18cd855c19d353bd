"""What counts as a bug of Arena's, and where it is said to lie."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from arena_core.bugs import bug_in_words, is_bug, place_of, place_outside, runs_outside
from arena_core.errors import AgentError, EngineError, InputError
from arena_core.worlds import World


def raised(work: Callable[[], object]) -> Exception:
    try:
        work()
    except Exception as error:  # noqa: BLE001
        return error
    pytest.fail("nothing was raised")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyError("x"), True),
        (TimeoutError(), True),
        (ConnectionResetError(errno.ECONNRESET, "reset"), True),
        (AssertionError(), True),
        (EngineError("the engine stalls"), False),
        (AgentError("gave up"), False),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (OSError(errno.EMFILE, "Too many open files"), False),
        (MemoryError(), False),
        (KeyboardInterrupt(), False),
    ],
    ids=repr,
)
def test_a_bug_is_what_neither_arena_nor_a_full_machine_explains(
    error: BaseException, *, expected: bool
) -> None:
    assert is_bug(error) is expected


def test_the_place_is_the_innermost_one_in_arenas_own_code() -> None:
    from sites.documents import open_document  # noqa: PLC0415

    broken: Path = None  # type: ignore[assignment]
    place = place_of(raised(lambda: open_document(broken, InputError)))
    assert place.startswith("arena_core/regular_files.py:")
    assert os.sep + "home" not in place


def test_code_from_outside_is_named_by_its_own_file_not_pythons() -> None:
    error = raised(lambda: json.loads("{"))
    assert runs_outside(error)
    assert place_outside(error).startswith("arena_core/test_bugs.py:")
    assert not runs_outside(ValueError("never raised"))


def test_a_bug_in_enums_of_arenas_is_placed_even_if_nothing_of_arenas_runs() -> None:
    assert place_of(raised(lambda: World("nowhere"))).split(":")[0].endswith(".py")


def test_the_words_are_one_line_and_bounded() -> None:
    assert bug_in_words(ValueError("first\nsecond")) == "ValueError: first"
    assert bug_in_words(KeyError()) == "KeyError"
    assert len(bug_in_words(ValueError("x" * 5000))) == 300
