"""A field whose forms are not known when its model is written: installed packages add some."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

Base = TypeVar("Base", bound=BaseModel)

# What somebody may have meant as the name of an installed form.
_NAME: Final = re.compile(r"[A-Za-z][\w-]{0,60}")


class OneOf(Generic[Base]):
    """Annotates a field that holds one of several models, told apart by one field of theirs.

    The models are asked for when a value is validated, not before; a schema for editors holds those
    that there are when it is made. What is dumped is the whole model, whatever its class.

    Args:
        mark: the field that tells them apart.
        models: gives the models by the mark's value, given the validation's context.
        missing: says that there is none of a name, and what to do about it.
    """

    def __init__(
        self,
        mark: str,
        models: Callable[[object], Mapping[str, type[Base]]],
        missing: Callable[[str], str],
    ) -> None:
        self._mark = mark
        self._models = models
        self._missing = missing

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Validate by the model that the mark names."""
        del source, handler
        return core_schema.with_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the forms there are now."""
        del schema
        models = self._models(None)
        choices: dict[Any, CoreSchema] = {
            name: model.__pydantic_core_schema__ for name, model in models.items()
        }
        return handler(core_schema.tagged_union_schema(choices, self._mark))

    def _validate(self, given: object, info: core_schema.ValidationInfo) -> BaseModel:
        models = self._models(info.context)
        if isinstance(given, BaseModel) and isinstance(given, tuple(models.values())):
            return given
        if not isinstance(given, Mapping):
            kind = "model_type"
            message = "must be a mapping of fields"
            raise PydanticCustomError(kind, message)
        name = given.get(self._mark)
        if name is None:
            message = f"needs `{self._mark}`, which says what kind it is"
            raise ValueError(message)
        model = models.get(name) if isinstance(name, str) else None
        if model is None:
            there_are = ", ".join(map(repr, models))
            message = f"`{self._mark}` must be one of {there_are}"
            if isinstance(name, str) and _NAME.fullmatch(name):
                message += f", not '{name}': {self._missing(name)}"
            raise ValueError(message)
        return model.model_validate(given, context=info.context)
