"""The matchers there are, and how parts of checks are told apart by their own names."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from arena_core.errors import PluginError, PrerequisiteError
from arena_core.plugins import ExtensionPoint, Group, subclassing
from evaluators.matchers.base import Matcher

Base = TypeVar("Base", bound=BaseModel)

# What somebody may have meant as the name of an installed form.
_NAME: Final = re.compile(r"[A-Za-z][\w-]{0,60}")


MATCHERS: Final[ExtensionPoint[type[Matcher]]] = ExtensionPoint(
    Group.MATCHERS, "matcher", subclassing(Matcher)
)


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
            raise PydanticCustomError(kind, "must be a mapping of fields")
        name = given.get(self._mark)
        if name is None:
            raise ValueError(f"needs `{self._mark}`, which says what kind it is")
        model = models.get(name) if isinstance(name, str) else None
        if model is None:
            there_are = ", ".join(map(repr, models))
            message = f"`{self._mark}` must be one of {there_are}"
            if isinstance(name, str) and _NAME.fullmatch(name):
                message += f", not '{name}': {self._missing(name)}"
            raise ValueError(message)
        return model.model_validate(given, context=info.context)


Part = TypeVar("Part", bound=BaseModel)


def installed_matchers() -> Mapping[str, type[Matcher]]:
    """Return Arena's own, and what packages register as `arena.matchers`, as `installed_kinds`."""
    return _matchers_on(tuple(sys.path))


@lru_cache(maxsize=8)
def _matchers_on(_path: tuple[str, ...]) -> Mapping[str, type[Matcher]]:
    """Import them once for each import path."""
    MATCHERS.require_own()
    found, _ = MATCHERS.load_all()
    return by_own_name((one for name, one in found.items() if own_name(one, "how") == name), "how")


def missing_kind(kinds: ExtensionPoint[Any], mark: str, name: str) -> str:
    """Say why what a task names is not there, and what to do about it."""
    if name not in kinds.names():
        return (
            f"install the package that adds such a {kinds.noun} (entry point group `{kinds.group}`)"
        )
    try:
        found = kinds.load(name)
    except PluginError as broken:
        return f"{broken.message}; {broken.hint}"
    called = own_name(found, mark)
    return f"{_path(found)} is registered under that name, and calls itself '{called}'"


def own_name(one: type[BaseModel], mark: str) -> object:
    """Return what a locator (`by`) or matcher (`how`) calls itself."""
    return one.model_fields[mark].default


def by_own_name(classes: Iterable[type[Part]], mark: str) -> dict[str, type[Part]]:
    """Return classes by what they call themselves."""
    named: dict[str, type[Part]] = {}
    for one in classes:
        name = own_name(one, mark)
        if not isinstance(name, str):
            message = f"{_path(one)}: write `{mark}: Literal[NAME] = NAME`, which names it in tasks"
            raise PrerequisiteError(message)
        if name in named and named[name] is not one:
            message = f"`{mark}: {name}` is both {_path(named[name])} and {_path(one)}"
            raise PrerequisiteError(message, hint="uninstall one of the two packages")
        named[name] = one
    return named


def _path(one: type) -> str:
    return f"{one.__module__}.{one.__qualname__}"


def _matchers(context: object) -> Mapping[str, type[Matcher]]:
    found = getattr(context, "matchers", None)  # a registry of kinds, as `CheckKinds`
    return found if isinstance(found, Mapping) else installed_matchers()


# A field that holds any of them.
Match = Annotated[Matcher, OneOf("how", _matchers, partial(missing_kind, MATCHERS, "how"))]
