"""The grammar of CSS selectors as `querySelectorAll` holds to it, which knows no namespaces."""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = r"\\(?:[0-9a-fA-F]{1,6}[ \t\n\r\f]?|[^0-9a-fA-F\n\r\f])"
_START: Final = rf"(?:[A-Za-z_]|[^\x00-\x7f]|{_ESCAPE})"
_INNER: Final = rf"(?:[A-Za-z0-9_-]|[^\x00-\x7f]|{_ESCAPE})"
_IDENT: Final = rf"(?:--{_INNER}*|-?{_START}{_INNER}*)"
_TEXT: Final = r"(?:'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"

_SPACE: Final = re.compile(r"[ \t\n\r\f]*")
_NAME: Final = re.compile(_IDENT)
_HASH: Final = re.compile(rf"#{_IDENT}")
_CLASS: Final = re.compile(rf"\.{_IDENT}")
_TYPE: Final = re.compile(rf"(?:\*?\|)?(?:{_IDENT}|\*)")
_ATTRIBUTE: Final = re.compile(
    rf"\[\s*(?:\*?\|)?{_IDENT}\s*(?:[~|^$*]?=\s*(?:{_IDENT}|{_TEXT})\s*[iI]?\s*)?\]"
)
_COMBINATOR: Final = re.compile(r"[ \t\n\r\f]*(?:>|\+|~)[ \t\n\r\f]*|[ \t\n\r\f]+(?=[^ ,)])")
_NTH: Final = re.compile(r"\s*(?:odd|even|[+-]?\d*n(?:\s*[+-]\s*\d+)?|[+-]?\d+)\s*", re.IGNORECASE)
_OF: Final = re.compile(r"of\s+", re.IGNORECASE)
_WORDS: Final = re.compile(rf"\s*(?:{_IDENT}|{_TEXT})(?:\s*,\s*(?:{_IDENT}|{_TEXT}))*\s*")

_OF_SELECTORS: Final = frozenset(
    {"not", "is", "where", "matches", "-webkit-any", "has", "host", "host-context", "current"}
)
_OF_NUMBERS: Final = frozenset({"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type"})
_OF_WORDS: Final = frozenset({"lang", "dir", "state", "active-view-transition-type"})
_PLAIN: Final = frozenset(
    (
        *("active", "any-link", "autofill", "checked", "closed", "current", "default", "defined"),
        *("disabled", "empty", "enabled", "first-child", "first-of-type", "focus"),
        *("focus-visible", "focus-within", "fullscreen", "future", "host", "hover", "in-range"),
        *("indeterminate", "invalid", "last-child", "last-of-type", "link", "modal", "muted"),
        *("only-child", "only-of-type", "open", "optional", "out-of-range", "past", "paused"),
        *("picture-in-picture", "placeholder-shown", "playing", "popover-open", "read-only"),
        *("read-write", "required", "root", "scope", "seeking", "stalled", "target"),
        *("target-current", "user-invalid", "user-valid", "valid", "visited", "volume-locked"),
        *("before", "after", "first-line", "first-letter", "buffering", "target-within"),
    )
)


class _GrammarError(Exception):
    """What stands in a selector where something else must."""


def grammar_fault(selector: str) -> str | None:
    """Say what is wrong with a selector; None for one that browsers take.

    Pseudo-elements are taken by any name: browsers have many of their own.
    """
    reader = _Reader(selector)
    try:
        reader.selectors(relative=False)
        if reader.at < len(selector):
            reader.refuse()
    except _GrammarError as fault:
        return str(fault)
    except RecursionError:
        return "it is nested too deeply"
    return None


class _Reader:
    """Walks over a selector from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def selectors(self, *, relative: bool) -> None:
        """Read selectors that commas part; relative ones may begin with a combinator."""
        while True:
            self._take(_SPACE)
            self._complex(relative=relative)
            self._take(_SPACE)
            if not self._skip(","):
                return

    def refuse(self) -> None:
        rest = self._text[self.at :].strip()
        where = f"'{rest[:20]}'" if rest else "the end"
        message = f"a name, '.class', '#id', '[attribute]' or ':state' must stand before {where}"
        if rest.startswith("["):
            message = f"{where} is no [attribute] or [attribute='value']: values stand in quotes"
        elif rest[:1] in ".#" and rest:
            message = f"{where} names no class or id: one begins with a letter, '-' or '_'"
        raise _GrammarError(message)

    def _complex(self, *, relative: bool) -> None:
        if relative:
            self._take(_COMBINATOR)
        self._compound()
        while self._take(_COMBINATOR):
            self._compound()

    def _compound(self) -> None:
        began = self.at
        self._take(_TYPE)
        while self._take(_HASH) or self._take(_CLASS) or self._take(_ATTRIBUTE) or self._pseudo():
            pass
        if self.at == began or self._text[self.at : self.at + 1] in {"[", ".", "#"}:
            self.refuse()

    def _pseudo(self) -> bool:
        if not self._skip(":"):
            return False
        is_element = self._skip(":")
        name = (self._take(_NAME) or "").lower()
        if not name:
            message = "':' must be followed by a name"
            raise _GrammarError(message)
        if not self._skip("("):
            if not is_element and name not in _PLAIN and not name.startswith("-"):
                message = f"browsers do not know ':{name}'"
                raise _GrammarError(message)
            return True
        self._arguments(name, is_element=is_element)
        self._take(_SPACE)
        if not self._skip(")"):
            message = f"':{name}(…)' holds what it does not take: '{self._text[self.at :][:20]}'"
            raise _GrammarError(message)
        return True

    def _arguments(self, name: str, *, is_element: bool) -> None:
        if name in _OF_SELECTORS or (is_element and name in {"slotted", "cue"}):
            self.selectors(relative=name == "has")
        elif name in _OF_NUMBERS:
            if not self._take(_NTH):
                message = f"':{name}(…)' takes odd, even, or a step such as 2n+1"
                raise _GrammarError(message)
            if self._take(_OF):
                self.selectors(relative=False)
        elif name in _OF_WORDS or is_element:
            self._take(_WORDS)
        else:
            message = f"browsers do not know ':{name}(…)'"
            raise _GrammarError(message)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found.group()

    def _skip(self, mark: str) -> bool:
        if not self._text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True
