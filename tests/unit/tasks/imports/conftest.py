"""Published files as tests write them, and the reference halves where they lie on the machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.sites.stand_in_sites import WEBARENA_ROLES, write_sites

from sites.registry import SiteRegistry, load_registry

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a JSON file, and return its path."""

    def written(content: object, name: str = "published.json") -> Path:
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.fixture(scope="session")
def webarena_registry(tmp_path_factory: pytest.TempPathFactory) -> SiteRegistry:
    """The sites that the WebArena formats name by default, as stand-ins where not installed."""
    here = load_registry([])
    missing = {name: roles for name, roles in WEBARENA_ROLES.items() if name not in here.sites}
    return load_registry([write_sites(tmp_path_factory.mktemp("sites"), missing)])
