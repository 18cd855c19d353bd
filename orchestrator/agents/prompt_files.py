"""Prompts that stand in files of their own, beside the agent that says them."""

from __future__ import annotations

from importlib.resources import files
from string import Template

_FOLDER = "prompts"


def prompt_text(package: str, name: str) -> str:
    """Return the text of `prompts/NAME` in an agent's package, without line breaks at its end."""
    return files(package).joinpath(_FOLDER, name).read_text(encoding="utf-8").rstrip("\n")


def filled(package: str, name: str, **parts: object) -> str:
    """Return such a text with `$part` replaced; a part that is missing is an error.

    What is put in is never searched for parts itself, so a page cannot name one.
    """
    return Template(prompt_text(package, name)).substitute(parts)
