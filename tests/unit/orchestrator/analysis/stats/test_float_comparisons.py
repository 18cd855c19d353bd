"""No figure is compared exactly: rounding makes two equal figures differ in the last digit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from quick_cases import SLOW

import orchestrator

_EXACT = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)


def modules() -> Iterator[Path]:
    return iter(sorted((Path(orchestrator.__file__).parent / "analysis").rglob("*.py")))


def floats(trees: list[ast.Module]) -> set[str]:
    """Return the names of all that is annotated as a float, or none, and never as else."""
    annotated = [
        (name, ast.unparse(note)) for tree in trees for name, note in _annotations(tree) if note
    ]
    others = {name for name, note in annotated if note not in {"float", "float | None"}}
    return {name for name, _ in annotated} - others


def _annotations(tree: ast.Module) -> Iterator[tuple[str, ast.expr | None]]:
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name("Final"), value=value)
            ):
                if isinstance(value, ast.Constant):
                    yield name, ast.Name(type(value.value).__name__)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=note):
                yield name, note
            case ast.arg(arg=name, annotation=note):
                yield name, note
            case ast.FunctionDef(name=name, returns=note):
                yield name, note
            case _:
                pass


def exact(tree: ast.Module, names: set[str]) -> Iterator[tuple[int, str]]:
    """Yield line and text of each exact comparison of a float, and of its truth."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                parts = [node.left, *node.comparators]
                for left, how, right in zip(parts, node.ops, parts[1:], strict=False):
                    if isinstance(how, _EXACT) and (_is(left, names) or _is(right, names)):
                        yield node.lineno, ast.unparse(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand) if _is(operand, names):
                yield node.lineno, ast.unparse(node)


def _is(node: ast.expr, names: set[str]) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, float)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in names
        case ast.Call(func=ast.Name() as called):
            return _is(called, names)
        case ast.BinOp(left=left, op=how, right=right):
            return isinstance(how, ast.Div) or _is(left, names) or _is(right, names)
        case ast.UnaryOp(operand=operand):
            parts = [operand]
        case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            pass
        case _:
            parts = []
    return any(_is(part, names) for part in parts)


@SLOW
def test_no_figure_is_compared_exactly() -> None:
    trees = {path: ast.parse(path.read_text()) for path in modules()}
    names = floats(list(trees.values()))
    assert {"tau", "effect", "share", "_TIE"} <= names

    found = [
        f"{path}:{line}: {text}"
        for path, tree in trees.items()
        for line, text in exact(tree, names)
    ]

    assert not found


@pytest.mark.parametrize(
    "text",
    ["tau == 1", "one.tau != 1", "0.5 in {first, second}", "not tau", "a / b == c", "x == -1.0"],
)
def test_what_compares_exactly_is_seen(text: str) -> None:
    assert list(exact(ast.parse(text), {"tau"}))
