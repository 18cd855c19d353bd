"""Raw values made typed by a schema: strictly for what a task expects, leniently for what is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluators.readings.upstream import NotInEvidenceError
from evaluators.readings.verified.site_urls import SiteUrls
from evaluators.readings.verified.typed import TYPES, String, Typed
from evaluators.readings.verified.urls import Url, UrlRules

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
            message = f"Schema type must be 'array', got: {kind!r}"
            raise ValueError(message)
        items = schema.get("items", {})
        name = items.get("type", "string")
        if name == "object":
            return tuple(self._objects(one, items) for one in raw)
        name = items.get("format") or name
        if name not in TYPES and name != Url.kind:
            message = f"Unknown type name: {name!r} during normalization"
            raise ValueError(message)
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
                message = f"Schema expects array but got {type(raw).__name__}: {raw!r}"
                raise ValueError(message)
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
                message = f"Failed to normalize property: {raw!r}"
                raise ValueError(message) from cause
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
            message = f"Unknown type name: {kind!r}"
            raise ValueError(message)
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
