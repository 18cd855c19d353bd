from __future__ import annotations

from arena_core import errors
from arena_core.errors import ArenaError, ImageError, InputError


def _tree(root: type[ArenaError]) -> list[type[ArenaError]]:
    return [root, *(leaf for child in root.__subclasses__() for leaf in _tree(child))]


def test_every_error_has_an_exit_code_of_its_own() -> None:
    codes = [error.exit_code for error in _tree(ArenaError)]
    assert len(codes) == len(set(codes))
    assert 0 not in codes


def test_the_drawn_tree_is_the_real_one() -> None:
    for error in _tree(ArenaError):
        assert any(
            error.__name__ in line.split() and str(error.exit_code) in line.split()
            for line in (errors.__doc__ or "").splitlines()
        ), error.__name__


def test_an_error_carries_its_message_and_the_next_step() -> None:
    error = ArenaError("the engine does not answer", hint="arena doctor")
    assert str(error) == error.message == "the engine does not answer"
    assert error.hint == "arena doctor"


def test_what_a_file_says_makes_no_second_line_and_no_endless_one() -> None:
    forged = InputError("x: found 'a\narena: all is well'")
    assert forged.message == r"x: found 'a\narena: all is well'"
    assert len(InputError("9" * 100_000).message) == 1500
    log = ImageError("it could not be built:\n  line 1")
    assert log.message.count("\n") == 1
