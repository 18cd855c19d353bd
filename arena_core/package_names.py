"""Arena's top-level packages are found, whatever else on the import path has their names."""

from __future__ import annotations

import sys
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Final

NAMES: Final = ("arena_core", "sites", "evaluators", "tasks")
_ROOT: Final = Path(__file__).resolve().parents[1]
_COMMAND: Final = "arena"


def claim_names() -> None:
    """Make the packages that are installed beside this one what their names stand for.

    Nothing happens where Python finds them by itself. A module of somebody else's that would be
    found first and is not imported yet cannot be imported in this process any more, and a warning
    says so, but for the `arena` command, which imports nothing of its user's. A folder without
    `__init__.py` that is imported already stays importable.
    """
    for name in NAMES:
        loaded = sys.modules.get(name)
        if loaded is not None:
            _keep(name, loaded)
        elif not _is_own(name, spec := find_spec(name)):
            _load(name)
            if spec is not None and spec.origin and Path(sys.argv[0]).stem != _COMMAND:
                warnings.warn(_hidden(name, spec.origin), stacklevel=3)


def _keep(name: str, loaded: ModuleType) -> None:
    """Leave Arena's own package alone, join a namespace, and refuse anything else."""
    if _is_own(name, loaded.__spec__):
        return
    file = getattr(loaded, "__file__", None)
    if file is not None:
        raise ImportError(_taken(name, file), name=name)
    _join(name, loaded)


def _join(name: str, namespace: ModuleType) -> None:
    """Turn a namespace that is imported already into Arena's package; its own folders stay."""
    for module in sorted(sys.modules):
        inner = module.removeprefix(f"{name}.").partition(".")[0]
        if module.startswith(f"{name}.") and PathFinder.find_spec(inner, [str(_ROOT / name)]):
            file = getattr(sys.modules[module], "__file__", None) or module
            raise ImportError(_taken(module, file), name=module)
    spec = _own(name)
    own = spec.submodule_search_locations or []
    locations = list(dict.fromkeys([*own, *getattr(namespace, "__path__", ())]))
    spec.submodule_search_locations = locations
    namespace.__spec__, namespace.__path__ = spec, locations
    namespace.__file__, namespace.__loader__ = spec.origin, spec.loader
    _execute(spec, namespace)


def _load(name: str) -> None:
    spec = _own(name)
    module = sys.modules[name] = module_from_spec(spec)
    _execute(spec, module)


def _execute(spec: ModuleSpec, module: ModuleType) -> None:
    if spec.loader is not None:
        spec.loader.exec_module(module)


def _own(name: str) -> ModuleSpec:
    """The spec of Arena's own package, beside this one."""
    spec = PathFinder.find_spec(name, [str(_ROOT)])
    if spec is None or spec.origin is None:
        message = (
            f"Arena's package '{name}' is not beside {_ROOT / 'orchestrator'}: install it anew"
        )
        raise ImportError(message, name=name)
    return spec


def _is_own(name: str, spec: ModuleSpec | None) -> bool:
    origin = spec.origin if spec is not None else None
    return origin is not None and Path(origin).resolve().parent == _ROOT / name


def _hidden(name: str, first: str) -> str:
    return (
        f"'{name}' is Arena's package in this process, so {first} cannot be imported: rename it"
        " or take its folder off the import path if this program needs it"
    )


def _taken(name: str, file: str) -> str:
    return (
        f"'{name}' is a package of Arena's, but {file} is imported under that name, and a name"
        " stands for one module in a process: rename it, import orchestrator in a process of its"
        " own, or call the arena command"
    )
