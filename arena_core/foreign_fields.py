"""Types for fields of models that hold what comes from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, GetCoreSchemaHandler, JsonValue
from pydantic_core import CoreSchema, core_schema

from arena_core.foreign import storable, whole

_MOST_ID: Final = 2**53
_MOST_KEPT: Final = 64_000_000


@dataclass(frozen=True, slots=True)
class _Written:
    """Makes a field storable where Python fills it; what is read from JSON is so, and is free."""

    write: Callable[[Any], Any]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        field = handler(source)
        written = core_schema.no_info_before_validator_function(self.write, field)
        return core_schema.json_or_python_schema(json_schema=field, python_schema=written)


def _whole_if_text(value: object) -> object:
    return whole(value) if isinstance(value, str) else value


def _kept(value: object) -> JsonValue:
    return storable(value, most_chars=_MOST_KEPT)


def _identified(number: int) -> int:
    if abs(number) > _MOST_ID:
        raise ValueError("it has too many digits")
    return number


# `Kept` is what Arena found, `Data` what an agent hands in: the latter is checked as JSON too.
Text = Annotated[str, _Written(_whole_if_text)]
Kept = Annotated[JsonValue, _Written(_kept)]
KeptParts = Annotated[dict[str, JsonValue], _Written(_kept)]
Data = Annotated[JsonValue, BeforeValidator(storable)]
Id = Annotated[int, AfterValidator(_identified)]
