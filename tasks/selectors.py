"""Whether text can be a CSS selector, seen without a browser."""

from __future__ import annotations

from tasks.css_grammar import grammar_fault

_NOT_CSS = ("/", "..", "xpath=", "text=", "css=", "role=", "id=", "internal:")
_PLAYWRIGHT_ONLY = (":has-text(", ":text(", ":text-is(", ":visible", ":nth-match(", ">>")
_CLOSING = {"[": "]", "(": ")"}


def selector_fault(selector: str) -> str | None:
    """Say what keeps text from being a CSS selector, None where nothing is seen.

    A page's own `querySelectorAll` has the last word; this finds what people write by mistake:
    XPath, the engines and pseudo-classes of testing tools, brackets that do not close, and all else
    that breaks CSS's grammar.
    """
    text = selector.strip()
    if not text:
        return "the selector is empty"
    for mark in _NOT_CSS:
        if text.startswith(mark):
            return f"'{text}' is no CSS selector: CSS does not begin with '{mark}'"
    for mark in _PLAYWRIGHT_ONLY:
        if mark in text:
            return f"'{text}' is no CSS selector: browsers do not know '{mark}'"
    fault = _unbalanced(text)
    if fault is None:
        wrong = grammar_fault(text)
        fault = f"'{text}' is no CSS selector: {wrong}" if wrong else None
    return fault


def _unbalanced(text: str) -> str | None:
    expected: list[str] = []
    quote = ""
    is_escaped = False
    for character in text:
        if is_escaped:
            is_escaped = False
        elif character == "\\":
            is_escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in _CLOSING:
            expected.append(_CLOSING[character])
        elif character in _CLOSING.values() and (not expected or expected.pop() != character):
            return f"'{text}' is no CSS selector: '{character}' closes nothing"
    if quote or expected:
        return f"'{text}' is no CSS selector: '{quote or expected[-1]}' is missing"
    return None
