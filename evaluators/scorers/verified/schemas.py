"""Raw values made typed by a schema: strictly for what a task expects, leniently for what is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluators.scorers.base import NotInEvidenceError
from evaluators.scorers.verified.typed import TYPES, String, Typed
from evaluators.scorers.verified.urls import SiteUrls, Url, UrlRules

Schema = Mapping[str, Any]
NEVER = (NotInEvidenceError,)


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes typed values.

    Attributes:
        sites: whose URLs in texts become placeholders; None leaves them.
        strict: what cannot be read is an error; else it stays raw.
    """

    sites: SiteUrls | None
    strict: bool

    def typed(self, name: str, raw: Any) -> Typed:
        """Make a typed value; whatever it raises says that it cannot be read."""
        if name == Url.kind:
            sites = self.sites or SiteUrls((), {})
            return Url(raw, UrlRules(sites=sites, strict=self.strict))
        return TYPES[name](raw, self._derender if self.sites else None)

    def or_raw(self, name: str, raw: Any) -> Any:
        """Make a typed value; leniently the raw one where it cannot be read."""
        try:
            return self.typed(name, raw)
        except NEVER:
            raise
        except Exception as cause:
            if self.strict:
                message = f"Failed to normalize value {raw!r} with type {name!r}: {cause}"
                raise ValueError(message) from cause
            return raw

    def results(self, raw: tuple[Any, ...], schema: Schema) -> tuple[Any, ...]:
        """Make the typed values of retrieved data."""
        kind = schema.get("type", "array")
        if kind != "array":
            raise ValueError(f"Schema type must be 'array', got: {kind!r}")
        items = schema.get("items", {})
        name = items.get("type", "string")
        if name == "object":
            return tuple(self._objects(one, items) for one in raw)
        name = items.get("format") or name
        if name not in TYPES and name != Url.kind:
            raise ValueError(f"Unknown type name: {name!r} during normalization")
        return tuple(self.or_raw(name, one) for one in raw)

    def body(self, raw: Any, schema: Schema) -> Any:
        """Make the typed values of a body's or a query's parameters."""
        if not raw:
            return None
        if not schema:
            schema = {"type": "object" if isinstance(raw, dict) else "array"}
        kind, is_list = _kind(schema)
        if not isinstance(kind, str):
            return self._objects(raw, kind)
        if not is_list:
            return self.or_raw(kind, raw)
        if not isinstance(raw, (list, tuple)):
            if self.strict:
                raise ValueError(f"Schema expects array but got {type(raw).__name__}: {raw!r}")
            return raw
        return self._array(raw, kind)

    def _derender(self, text: str) -> str:
        return text if self.sites is None else self.sites.derendered(text, strict=False)

    def _objects(self, raw: Any, schema: Schema) -> Any:
        if isinstance(raw, (list, tuple)):
            return tuple(self._object(one, schema) for one in raw)
        return self._object(raw, schema)

    def _object(self, raw: Any, schema: Schema) -> Any:
        found = _from_json(raw, dict)
        if not isinstance(found, dict):
            if self.strict:
                message = f"Expected dict for object normalization, got {type(raw).__name__}"
                raise ValueError(message)
            return found
        properties = schema.get("properties", {})
        return {
            name: None if value is None else self._property(value, properties.get(name))
            for name, value in found.items()
        }

    def _property(self, raw: Any, schema: Schema | None) -> Any:
        if schema is None:
            return self.or_raw(String.kind, raw)
        kind, is_list = _kind(schema)
        try:
            if is_list:
                return self._array(raw, kind)
            if not isinstance(kind, str):
                return self._object(raw, kind)
            return self.typed(kind if kind in {*TYPES, Url.kind} else String.kind, raw)
        except NEVER:
            raise
        except Exception as cause:
            if self.strict:
                raise ValueError(f"Failed to normalize property: {raw!r}") from cause
            return raw

    def _array(self, raw: Any, kind: str | Schema) -> Any:
        found = _from_json(raw, list)
        if not isinstance(found, (list, tuple)):
            if self.strict:
                message = f"Property '{raw}' schema expects array but got {type(raw).__name__}"
                raise ValueError(message)
            return found
        if not isinstance(kind, str):
            return self._objects(found, kind)
        if kind not in TYPES and kind != Url.kind:
            raise ValueError(f"Unknown type name: {kind!r}")
        return tuple(self.or_raw(kind, one) for one in found)


def _kind(schema: Schema) -> tuple[str | Schema, bool]:
    """Return a type's name or an object's schema, and whether it is a list of these."""
    kind = schema.get("type")
    if kind == "array":
        return _kind(schema.get("items", {}))[0], True
    if kind == "object":
        return schema, False
    return schema.get("format") or kind or "string", False


def _from_json(raw: Any, wanted: type) -> Any:
    """Return what a text holds as JSON where it is of the wanted kind, else what was given."""
    if not isinstance(raw, str):
        return raw
    try:
        parsed = json.loads(raw)
    except json.JSONDecodeError:
        return raw
    return parsed if isinstance(parsed, wanted) else raw


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares two values, one line a difference.

    Attributes:
        ordered: the order of lists matters.
        unseen: keys whose values are not compared.
        more_keys: further keys of the actual value do not matter.
    """

    ordered: bool = False
    unseen: frozenset[str] = field(default=frozenset())
    more_keys: bool = False

    def differences(self, expected: Any, actual: Any, path: str) -> list[str]:
        return self._compared(expected, actual, path, set())

    def _compared(self, expected: Any, actual: Any, path: str, seen: set[int]) -> list[str]:
        if isinstance(actual, (dict, list, tuple)):
            if id(actual) in seen:
                raise ValueError(f"Circular reference detected at path '{path}'")
            seen.add(id(actual))
        if expected is None or actual is None:
            return [] if expected is actual else [f"{path}: expected {expected}, got {actual}"]
        if isinstance(expected, dict):
            return self._objects(expected, actual, path, seen)
        if isinstance(expected, (list, tuple)):
            return self._lists(expected, actual, path, seen)
        same = expected.equals(actual) if isinstance(expected, Typed) else expected == actual
        return [] if same else [f"{path}: expected {expected}, got {actual}"]

    def _objects(
        self, expected: dict[str, Any], actual: Any, path: str, seen: set[int]
    ) -> list[str]:
        if not isinstance(actual, dict):
            return [f"{path}: expected a structured object, but got {type(actual).__name__}"]
        if not expected:
            raise ValueError("Expected object must have at least one key")
        found: list[str] = []
        missing, more = {*expected} - {*actual}, {*actual} - {*expected}
        if missing:
            found.append(f"{path}: missing keys {sorted(missing)}")
        if more and not self.more_keys:
            found.append(f"{path}: extra keys {sorted(more)}")
        for name in [one for one in expected if one in actual and one not in self.unseen]:
            found += self._compared(expected[name], actual[name], f"{path}.{name}", seen)
        return found

    def _lists(self, expected: Any, actual: Any, path: str, seen: set[int]) -> list[str]:
        if not isinstance(actual, (list, tuple)):
            return [f"{path}: expected an array, but got {type(actual).__name__}"]
        if self.ordered:
            found = [*self._in_order(expected, actual, path, seen)]
            if len(expected) != len(actual):
                found.append(f"{path}: {len(actual)} elements and not {len(expected)}")
            return found
        return self._greedily(expected, actual, path, seen)

    def _in_order(self, expected: Any, actual: Any, path: str, seen: set[int]) -> Iterator[str]:
        for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
            yield from self._compared(one, other, f"{path}[{index}]", seen)

    def _greedily(self, expected: Any, actual: Any, path: str, seen: set[int]) -> list[str]:
        """Give each expected element the first free one that is equal: no other is tried after."""
        free = list(range(len(actual)))
        missing = 0
        for number, one in enumerate(expected):
            for index in free:
                tentative = {*seen}
                if not self._compared(one, actual[index], f"{path}[{number}]", tentative):
                    seen |= tentative
                    free.remove(index)
                    break
            else:
                missing += 1
        if not missing and not free:
            return []
        return [f"{path}: {missing} of {len(expected)} elements are missing, {len(free)} are extra"]
