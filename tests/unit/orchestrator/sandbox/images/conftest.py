"""A docker/ folder with two small images, and the sites that have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sites.manifest import Site
from sites.registry import SiteRegistry


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docker = tmp_path / "docker"
    for name in ("alpha", "beta", "shared"):
        (docker / name).mkdir(parents=True)
        (docker / name / "Dockerfile").write_text("FROM debian:bookworm-slim\n")
        (docker / name / "data.txt").write_text(f"{name}\n")
    return docker


@pytest.fixture
def site() -> Callable[..., Site]:
    def make(name: str, **changed: Any) -> Site:
        fields: dict[str, Any] = {
            "name": name,
            "title": name.title(),
            "summary": "a site of a test",
            "host": f"{name}.arena.test",
            "stateful": True,
            "image": {
                "tag": f"arena-test/{name}:1",
                "build": {"dockerfile": f"{name}/Dockerfile", "context": [name]},
            },
            "port": 8000,
            "health": {"path": "/health", "contains": "ready"},
            "resources": {"memory_mb": 64, "cpus": 1.0, "pids": 32},
        }
        return Site.model_validate({**fields, **changed})

    return make


@pytest.fixture
def registry() -> Callable[..., SiteRegistry]:
    return lambda *sites: SiteRegistry({site.name: site for site in sites})
