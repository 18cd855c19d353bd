"""`match()` and `search()` of RFC 9535, by the engine of all patterns of tasks."""

from __future__ import annotations

from typing import Any

from jsonpath import JSONPathEnvironment
from jsonpath.exceptions import JSONPathTypeError
from jsonpath.filter import StringLiteral
from jsonpath.function_extensions import ExpressionType, FilterFunction
from jsonpath.token import Token

from evaluators.values.patterns import PatternError, from_i_regexp, matches, pattern_fault


class PatternFunction(FilterFunction):
    """Says whether a text matches a pattern of RFC 9485: all of it, or a part."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 - the base's attribute
    return_type = ExpressionType.LOGICAL

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole

    def __call__(self, value: object, pattern: object) -> bool:
        """Match; what is no text matches nothing."""
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        return matches(from_i_regexp(pattern), value, whole=self._whole)


class PatternEnvironment(JSONPathEnvironment):
    """JSONPath as the standard has it, with patterns as literals alone."""

    def setup_function_extensions(self) -> None:
        """Put the two functions in the place of the library's."""
        super().setup_function_extensions()
        self.function_extensions["match"] = PatternFunction(whole=True)
        self.function_extensions["search"] = PatternFunction(whole=False)

    def check_well_typedness(self, token: Token, func: FilterFunction, args: list[Any]) -> None:
        """Refuse what a document would say as a pattern, and what is none."""
        super().check_well_typedness(token, func, args)
        if not isinstance(func, PatternFunction):
            return
        pattern = args[1]
        if not isinstance(pattern, StringLiteral):
            message = f"the pattern of {token.value}() must be a text in quotes"
            raise JSONPathTypeError(message, token=token)
        fault = _fault(pattern.value)
        if fault is not None:
            raise JSONPathTypeError(f"the pattern of {token.value}() {fault}", token=token)


def _fault(pattern: str) -> str | None:
    try:
        return pattern_fault(from_i_regexp(pattern))
    except PatternError as error:
        return f"is not of RFC 9485: {error}"
