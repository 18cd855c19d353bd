"""Functions of suites' own packages, which checks `by: python` name.

Each runs in a process of its own: evidence on stdin, its values as JSON on stdout. The process
limits itself before it imports the function: processor time, memory, no files written, and, where
the kernel lets it, no network.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

from pydantic import JsonValue

from arena_core.plugins import ExtensionPoint, Group
from evaluators.evidence import Evidence
from evaluators.values.text import as_text

# What a function finds in the evidence of an episode, given a check's arguments; values that are
# no text become it as JSON's do.
CheckFunction = Callable[[Evidence, Mapping[str, JsonValue]], Iterable[JsonValue]]


_NEW_NET: Final = 0x40000000
_NEW_USER: Final = 0x10000000
_MEMORY: Final = 2 << 30
MAX_LETTERS: Final = 1 << 20


def accept_function(found: object) -> CheckFunction:
    """Return an object that was registered as a function."""
    if callable(found):
        return cast("CheckFunction", found)
    raise TypeError("it is no function (evidence, arguments)")


FUNCTIONS: Final[ExtensionPoint[CheckFunction]] = ExtensionPoint(
    Group.FUNCTIONS, "check function", accept_function
)


def main() -> None:
    """Answer one question."""
    asked = json.load(sys.stdin)
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the function prints is no answer
    _limit(int(asked["seconds"]))
    try:
        said: object = _values(asked)
    except Exception as error:  # noqa: BLE001 - whatever it raises is reported, and no verdict
        said = {"raised": f"{type(error).__name__}: {error}"[:500]}
    text = json.dumps(said)
    if len(text) > MAX_LETTERS:
        text = json.dumps({"raised": f"it returned more than {MAX_LETTERS:,} letters"})
    answer.write(text)
    answer.close()


def _values(asked: dict[str, Any]) -> list[str]:
    function = FUNCTIONS.load(asked["function"])
    evidence = Evidence.model_validate(asked["evidence"])
    return [as_text(one) for one in _listed(function(evidence, asked["arguments"]))]


def _listed(found: object) -> list[object]:
    if isinstance(found, list | tuple):
        return list(found)
    raise TypeError(f"a function returns a list of values, not {type(found).__name__}")


def _limit(seconds: int) -> None:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    processor_s = int(spent.ru_utime + spent.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (processor_s, processor_s))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    unshare = ctypes.CDLL(None).unshare
    if unshare(_NEW_NET) != 0:
        unshare(_NEW_USER | _NEW_NET)


if __name__ == "__main__":
    main()
