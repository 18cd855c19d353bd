"""Manifests of sites that nobody installed: enough to lint tasks that name them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import yaml

WEBARENA_ROLES: Mapping[str, tuple[str, ...]] = {
    "webarena-shopping": ("customer",),
    "webarena-shopping-admin": ("admin",),
    "webarena-reddit": ("member",),
    "webarena-gitlab": ("developer",),
    "webarena-wikipedia": (),
    "webarena-map": (),
}


def write_sites(
    folder: Path,
    roles: Mapping[str, Collection[str]],
    live: Mapping[str, str] | None = None,
) -> Path:
    """Write a manifest for each site, with its roles and live origin; return the folder of them."""
    for name, called in roles.items():
        manifest = _manifest(name, called)
        if live and name in live:
            manifest["live"] = {"origin": live[name]}
        (folder / name).mkdir(parents=True)
        (folder / name / "site.yaml").write_text(yaml.safe_dump(manifest))
    return folder


def _manifest(name: str, roles: Collection[str]) -> dict[str, object]:
    form = {"path": "/login", "fields": {"name": "{username}", "password": "{password}"}}
    return {
        "name": name,
        "title": name,
        "summary": "A stand-in",
        "host": f"{name}.arena.test",
        "stateful": True,
        "image": {"tag": f"own/{name}:1", "published": f"registry.example/{name}:1"},
        "port": 80,
        "health": {"path": "/", "contains": "here"},
        "resources": {"memory_mb": 64, "cpus": 1, "pids": 64},
        "roles": {
            role: {
                "username": role,
                "password": "secret",
                "login": form,
                "proof": {"path": "/me", "contains": role},
            }
            for role in roles
        },
    }
