"""Packages that only one form needs, and that are not installed with Arena."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arena_core.errors import PrerequisiteError


def extra(module: str, form: str) -> Any:
    """Import a module of a package that the extra of a form's name installs.

    Raises:
        PrerequisiteError: it is not there, or broken; says what installs it.
    """
    try:
        return import_module(module)
    except ImportError as cause:
        message = f"arena export {form} needs {module}: {cause}"
        hint = f"pip install 'arena-orchestrator[{form}]'"
        raise PrerequisiteError(message, hint=hint) from cause
