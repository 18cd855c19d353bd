"""Regular expressions of tasks, by an engine that cannot blow up (RE2).

Its time is linear in the text whatever the pattern is, and the bounds here keep the factor small:
a pattern that would need more memory is refused when it is read. It knows no look-around and no
back-references. `.` is any character but a line end, `^` and `$` are the ends of the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

LONGEST_PATTERN: Final = 1_000
LONGEST_TEXT: Final = 100_000
_MEMORY: Final = 256 * 1024
_I_ESCAPES: Final = frozenset("()*+-.?[\\]^nrt{|}")
_QUANTIFIER: Final = re.compile(r"\{\d+(?:,\d*)?\}|[*+?]")
_CATEGORY: Final = re.compile(
    r"\\[pP]\{(?:C[cfon]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?)\}"
)


class PatternError(ValueError):
    """A pattern cannot be used; the message says why."""


def matches(pattern: str, text: str, *, case: bool = True, whole: bool = True) -> bool:
    """Say whether a task's pattern matches a text.

    Args:
        pattern: of a task, never of an answer or a page.
        text: one of more than `LONGEST_TEXT` characters matches nothing.
        case: whether letters of another case differ.
        whole: whether all of the text must match, not a part of it.
    """
    if len(text) > LONGEST_TEXT:
        return False
    found = _compiled(pattern, case)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()  # halves of characters have no UTF-8
    return (found.fullmatch(text) if whole else found.search(text)) is not None


def first_groups(pattern: str, text: str) -> list[str]:
    """Return of each match the first group that took part; texts of any length are searched."""
    found = _compiled(pattern, True).finditer(text)  # noqa: FBT003 - the cache's key
    return [next(group for group in one.groups() if group is not None) for one in found]


def pattern_fault(pattern: str) -> str | None:
    """Say why a text is no pattern; None where it is one."""
    try:
        _compiled(pattern, True)  # noqa: FBT003 - the cache's key
    except PatternError as error:
        return str(error)
    return None


def from_i_regexp(pattern: str) -> str:
    r"""Return a pattern of RFC 9485 as one of the engine's.

    There, `^` and `$` are letters like others, `.` is neither of the line ends, and escapes like
    `\d` do not exist.
    """
    parts: list[str] = []
    at, may_repeat = 0, False
    while at < len(pattern):
        letter = pattern[at]
        quantifier = _QUANTIFIER.match(pattern, at)
        if quantifier is not None:
            if not may_repeat:
                raise PatternError(f"'{quantifier[0]}' at {at} repeats nothing")
            part, may_repeat = quantifier[0], False
            step = len(part)
        elif letter == "[":
            part = _i_class(pattern, at)
            step, may_repeat = len(part), True
        elif letter == "\\":
            part = _i_escape(pattern, at)
            step, may_repeat = len(part), True
        elif letter in "{}]":
            raise PatternError(f"'{letter}' at {at} must be escaped")
        else:
            part = {".": r"[^\n\r]", "^": r"\^", "$": r"\$"}.get(letter, letter)
            step, may_repeat = 1, letter not in "(|"
        parts.append(part)
        at += step
    return "".join(parts)


def _i_escape(pattern: str, at: int) -> str:
    category = _CATEGORY.match(pattern, at)
    if category is not None:
        return category[0]
    escaped = pattern[at : at + 2]
    if escaped[1:] and escaped[1] in _I_ESCAPES:
        return escaped
    raise PatternError(f"'{escaped}' at {at} is no escape of RFC 9485")


def _i_class(pattern: str, start: int) -> str:
    at = start + 1
    if pattern[at : at + 1] == "^":
        at += 1
    first = at
    while at < len(pattern):
        letter = pattern[at]
        if letter == "]" and at > first:
            return pattern[start : at + 1]
        if letter in "[]":
            raise PatternError(f"'{letter}' at {at} must be escaped")
        at += len(_i_escape(pattern, at)) if letter == "\\" else 1
    raise PatternError(f"'[' at {start} is not closed")


@lru_cache(maxsize=512)
def _compiled(pattern: str, case: bool) -> Any:  # noqa: FBT001 - the cache's key
    import re2  # noqa: PLC0415  only where a task has a pattern

    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"has {len(pattern)} characters; at most {LONGEST_PATTERN} are allowed")
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    options.case_sensitive = case
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else "not accepted"
        told = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise PatternError(f"is no pattern that RE2 takes: {told}") from error
    except UnicodeEncodeError as error:
        raise PatternError("holds half of a character") from error
