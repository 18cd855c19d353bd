"""YAML files that people write, read into pydantic models; errors name file, line and field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from arena_core.errors import InputError
from arena_core.foreign import whole
from arena_core.regular_files import MEGABYTE, read_regular
from sites.faults import Location, Mistake, kind_of, mistakes

Model = TypeVar("Model", bound=BaseModel)

# How many mistakes of one file are listed at once.
SHOWN_FAULTS = 3
_DEEPEST = 100
LARGEST_DOCUMENT = 64 * MEGABYTE
# With aliases, a short file stands for a long one: this many nodes take some seconds to read.
_MOST_NODES = 5_000_000
# Of the tag `!` alone the two parsers make different things. In the midst of text it is no tag.
_BARE_TAG = re.compile(r"(?<![^\s\[{,:])!(?:[\s,\]}]|$)")


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file that holds a mapping, and knows where each of its fields stands."""

    path: Path
    content: Mapping[str, object]
    root: yaml.Node

    def line(self, location: Sequence[int | str]) -> int:
        """Return the line, from 1, of the deepest part of a field's path that the file has."""
        return _line_of(self.root, location)

    def describe(self, mistake: Mistake, at: Location | None = None) -> str:
        """Say file, line, field, what is wrong with it, and what stood there."""
        here = mistake if at is None else Mistake(at, mistake.message)
        return f"{self.path}:{self.line(here.at)}: {here}"


def open_document(path: Path, error: type[InputError]) -> Document:
    """Read one YAML file that holds a mapping; errors are as in `read_document`."""
    try:
        text = read_regular(path, follow=True, most=LARGEST_DOCUMENT).decode()
    except OSError as cause:
        raise error(f"{path}: cannot be read: {cause.strerror}") from cause
    except UnicodeDecodeError as cause:
        raise error(f"{path}: cannot be read: is not UTF-8 text (byte {cause.start})") from cause
    return document_of(text, path, error)


def read_document(path: Path, model: type[Model], error: type[InputError]) -> Model:
    """Read one YAML file into a model."""
    return validated(open_document(path, error), model, error)


def parse_document(text: str, path: Path, model: type[Model], error: type[InputError]) -> Model:
    """Parse the text of one YAML file into a model; errors are as in `read_document`."""
    return validated(document_of(text, path, error), model, error)


def validated(document: Document, model: type[Model], error: type[InputError]) -> Model:
    """Return a document as a model; errors are as in `read_document`."""
    try:
        return model.model_validate(document.content)
    except ValidationError as cause:
        found = mistakes(cause, document.content, model.model_fields)
        said = map(document.describe, found[:SHOWN_FAULTS])
        raise error("; ".join(said)) from cause


def document_of(text: str, path: Path, error: type[InputError]) -> Document:
    """Parse the text of one YAML file that holds a mapping; errors are as in `read_document`."""
    try:
        root = _composed(text)
        _refuse_nodes(root)
        twice = _repeated_key(root)
        content = None if root is None else yaml.SafeLoader("").construct_document(root)
    except yaml.MarkedYAMLError as cause:
        line = cause.problem_mark.line + 1 if cause.problem_mark else 1
        raise error(f"{path}:{line}: not valid YAML: {cause.problem or cause}") from cause
    except RecursionError as cause:
        raise error(f"{path}: not valid YAML: is nested deeper than {_DEEPEST}") from cause
    except (yaml.YAMLError, ValueError) as cause:
        # ValueError: YAML reads 2026-13-45 as a date, and there is none.
        raise error(f"{path}: not valid YAML: {yaml_in_words(cause)}") from cause
    if twice is not None:
        message = f"{path}:{twice.start_mark.line + 1}: {twice.value}: stands twice in one mapping"
        raise error(message)
    if root is None or not isinstance(content, Mapping):
        raise error(f"{path}:1: must hold a mapping of fields, holds {kind_of(content)}")
    return Document(path, content, root)


def yaml_in_words(cause: Exception) -> str:
    """Say what keeps text from being YAML, on one line, without the library's name for a text."""
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    text = " ".join(str(cause).split())
    return text.replace('in "<unicode string>", ', "at ").replace("at position", "at character")


def _composed(text: str) -> yaml.Node | None:
    """Return a document's nodes, by libyaml where it is there: ten times as fast.

    What it refuses is read again by PyYAML, whose errors say more. It ends the process on nodes
    nested very deep, and its events alone do not: they are counted before.
    """
    if yaml.__with_libyaml__:
        try:
            if not _BARE_TAG.search(text) and not _is_deep(text):
                return _single_node(yaml.CSafeLoader(text))
        except yaml.YAMLError:
            pass
    return _single_node(yaml.SafeLoader(text))


def _single_node(loader: yaml.SafeLoader | yaml.CSafeLoader) -> yaml.Node | None:
    found: yaml.Node | None = loader.get_single_node()
    return found


def _is_deep(text: str) -> bool:
    depth = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            return True
    return False


def _refuse_nodes(root: yaml.Node | None) -> None:
    """Refuse nodes that hold themselves, stand for far more than is written, or are no text."""
    sizes: dict[int, tuple[int, int]] = {}
    open_ones: set[int] = set()
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting[-1]
        members = [one for one in _members(node) if id(one) not in sizes]
        if id(node) in open_ones or not members:
            waiting.pop()
            if id(node) in sizes:
                continue
            open_ones.discard(id(node))
            inner = [sizes[id(one)] for one in _members(node)]
            count = 1 + sum(size for size, _ in inner)
            depth = 1 + max((deep for _, deep in inner), default=0)
            if count > _MOST_NODES or depth > _DEEPEST:
                too_deep = f"is nested deeper than {_DEEPEST}"
                message = too_deep if depth > _DEEPEST else "its aliases stand for too much"
                raise yaml.MarkedYAMLError(problem=message, problem_mark=node.start_mark)
            sizes[id(node)] = (count, depth)
            continue
        open_ones.add(id(node))
        for one in members:
            if isinstance(one, yaml.ScalarNode):  # most nodes are, and have nothing to wait for
                if whole(one.value) != one.value:
                    message = "holds half of a surrogate pair, which is no character"
                    raise yaml.MarkedYAMLError(problem=message, problem_mark=one.start_mark)
                sizes[id(one)] = (1, 1)
            elif id(one) in open_ones:
                message = "an alias stands in what it stands for"
                raise yaml.MarkedYAMLError(problem=message, problem_mark=one.start_mark)
            else:
                waiting.append(one)


def _members(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    if isinstance(node, yaml.MappingNode):
        return [one for pair in node.value for one in pair]
    return []


def _repeated_key(root: yaml.Node | None) -> yaml.ScalarNode | None:
    """Return a key that its mapping holds twice; YAML would silently keep the last one."""
    seen: set[int] = set()
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for number, key in enumerate(keys):
                if any(key.value == other.value for other in keys[:number]):
                    return key
            waiting.extend(value for _, value in node.value)
    return None


def _line_of(root: yaml.Node | None, location: Sequence[int | str]) -> int:
    """Return the line (from 1) of the deepest part of `location` that the document has."""
    node: Any = root
    line = 1
    for part in location:
        step = _child(node, part)
        if step is None:
            # A union adds names of its branches to the location: they stand in no file.
            continue
        line, node = step
    return line


def _child(node: Any, part: int | str) -> tuple[int, yaml.Node] | None:
    """Return line and node of one member of a mapping or sequence."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        value = node.value[part]
        return value.start_mark.line + 1, value
    return None
