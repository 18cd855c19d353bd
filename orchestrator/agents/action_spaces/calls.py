"""Calls as Python writes them, read as data: parsed within bounds, and never run."""

from __future__ import annotations

import ast
import inspect
import textwrap
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from orchestrator.agents.action_spaces.parser import Misread

LONGEST = 20_000
_DEEPEST = 4  # of lists in lists: no call takes more
_FENCE = "```"

Result = TypeVar("Result")
Value = str | int | float | bool | None | list["Value"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose arguments are literals, with the line of the text on which it stands."""

    name: str
    arguments: tuple[Value, ...]
    named: Mapping[str, Value]
    line: int = 1


def expressions(said: str) -> tuple[ast.expr, ...] | Misread:
    """Return the expressions of a text, one a statement; a fence around the whole is put aside.

    No text makes it raise: it is bounded in length, and what nests too deeply for Python's parser
    is as wrong as any other syntax.
    """
    if len(said) > LONGEST:
        return Misread(f"it is longer than {LONGEST} characters")
    try:
        # A text may hold `\d`: no warning of Python's to anybody, and never an error.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statements = ast.parse(_unfenced(said)).body
    except SyntaxError as cause:
        return Misread(f"line {cause.lineno or 1} cannot be read as a call: {cause.msg}")
    except (ValueError, RecursionError, MemoryError):
        return Misread("it cannot be read as a call: it nests too deeply, or holds half characters")
    if not statements:
        return Misread("it holds no call")
    found: list[ast.expr] = []
    for one in statements:
        if not isinstance(one, ast.Expr):
            return Misread(f"line {one.lineno} is no call: only calls can be read")
        found.append(one.value)
    return tuple(found)


def read_calls(said: str) -> tuple[Call, ...] | Misread:
    """Return the calls of a text such as `click("12")`, in order; at least one."""
    found = expressions(said)
    if isinstance(found, Misread):
        return found
    calls: list[Call] = []
    for one in found:
        call = _plain_call(one)
        if isinstance(call, Misread):
            return call
        calls.append(call)
    return tuple(calls)


def read_call(node: ast.Call, name: str) -> Call | Misread:
    """Return a call with its arguments as values, if all are literals."""
    arguments: list[Value] = []
    for one in node.args:
        value = literal(one)
        if isinstance(value, Misread):
            return value
        arguments.append(value)
    named: dict[str, Value] = {}
    for keyword in node.keywords:
        value = literal(keyword.value)
        if isinstance(value, Misread):
            return value
        if keyword.arg is None or keyword.arg in named:
            return Misread(f"{name}: each argument stands alone, and once")
        named[keyword.arg] = value
    return Call(name, tuple(arguments), named, node.lineno)


def bound(takes: Callable[..., Result], call: Call, *first: object) -> Result | Misread:
    """Call one of Arena's own readers with what was said, where its parameters fit."""
    try:
        arguments = inspect.signature(takes).bind(*first, *call.arguments, **call.named)
    except TypeError as cause:
        return Misread(f"{call.name}: {cause}")
    return takes(*arguments.args, **arguments.kwargs)


def literal(node: ast.expr, depth: int = 0) -> Value | Misread:
    """Return the value of a literal: a text, a number, True, False, None, or a list of these."""
    match node:
        case ast.Constant(value=str() | int() | float() | bool() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=elements) | ast.Tuple(elts=elements) if depth < _DEEPEST:
            values: list[Value] = []
            for one in elements:
                inner = literal(one, depth + 1)
                if isinstance(inner, Misread):
                    return inner
                values.append(inner)
            return values
        case _:
            return Misread(f"line {node.lineno}: only texts, numbers and lists of them can be read")


def _plain_call(node: ast.expr) -> Call | Misread:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return Misread(f"line {node.lineno} is no call of the form name(…)")
    return read_call(node, node.func.id)


def _unfenced(said: str) -> str:
    text = textwrap.dedent(said).strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE) and "\n" in text:
        text = text.removesuffix(_FENCE).partition("\n")[2]
    return textwrap.dedent(text).strip()
