"""Public names of a module that are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module


class LazyNames:
    """Where the public names of a module are.

    Args:
        module: its name.
        table: `package.module: Name Name …`, as many lines as it takes.
        whole: public names that are modules themselves.

    Attributes:
        places: the module that defines each name.
        names: all of them, sorted.
    """

    def __init__(self, module: str, table: str, whole: Mapping[str, str] | None = None) -> None:
        self.places: dict[str, str] = {}
        place = ""
        for word in table.split():
            if word.endswith(":"):
                place = word.removesuffix(":")
            else:
                self.places[word] = place
        self._module = module
        self._whole = whole or {}
        self.names = sorted([*self.places, *self._whole])

    def load(self, name: str) -> object:
        """Return what a name stands for.

        Raises:
            AttributeError: it is no public name.
        """
        if name in self._whole:
            return import_module(self._whole[name])
        if name not in self.places:
            message = f"module '{self._module}' has no attribute '{name}'"
            raise AttributeError(message, name=name, obj=None)
        return getattr(import_module(self.places[name]), name)
