"""Packages that only some parts need: imported by name where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arena_core.errors import PrerequisiteError


def extra(module: str, form: str, *, needed_by: str = "") -> Any:
    """Import a module of a package that the extra of a form's name installs.

    Args:
        module: what to import.
        form: the name of the extra, and of the form.
        needed_by: what cannot be done without it; the export of that form where omitted.
    """
    try:
        return import_module(module)
    except ImportError as cause:
        message = f"{needed_by or f'arena export {form}'} needs {module}: {cause}"
        hint = f"pip install 'arena-orchestrator[{form}]'"
        raise PrerequisiteError(message, hint=hint) from cause
