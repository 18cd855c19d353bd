"""Checks the types of the Python in docker/: `python -m docker_types`.

An image's folders are import roots of their own, whose modules may be called alike, so each is
checked for itself. None of them is a package of this repository.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

DOCKER = Path(__file__).parents[1] / "docker"

# Django, Oscar and Jinja stand for Any where they are not installed: what is made of them is not
# known. Definitions without types, calls with wrong arguments and unknown names are found still.
_UNTYPED = (
    *("arg-type", "assignment", "attr-defined", "dict-item", "misc", "return-value", "union-attr"),
    *("valid-type", "var-annotated"),
)


@dataclass(frozen=True)
class Root:
    """A folder that its modules are imported from.

    Attributes:
        path: below docker/.
        also: further folders that it imports from.
        untyped: whether it is made of libraries that ship no types.
        deep: whether the folders below it belong to it.
    """

    path: str
    also: tuple[str, ...] = ()
    untyped: bool = False
    deep: bool = True

    def files(self) -> list[Path]:
        """Return its modules, in order."""
        pattern = "**/*.py" if self.deep else "*.py"
        return sorted((DOCKER / self.path).glob(pattern))


@dataclass(frozen=True)
class Finding:
    """What mypy says of a root that is not sound."""

    root: str
    lines: str = field(repr=False)


ROOTS = (
    Root("cms/seed", also=("shop/seed", "talk", "wiki/articles")),
    Root("erp", deep=False),
    Root("erp/app", untyped=True),
    Root("erp/seed", untyped=True),
    Root("forge/bake"),
    Root("forge/seed", also=("shop/seed",)),
    Root("forum", deep=False),
    Root("forum/app", untyped=True),
    Root("forum/seed", also=("forum/app", "shop/seed", "talk", "wiki/articles"), untyped=True),
    Root("home"),
    Root("hub", deep=False),
    Root("hub/app", untyped=True),
    Root("hub/seed", also=("forge/seed", "shop/seed"), untyped=True),
    Root("map/app"),
    Root("map/bake"),
    Root("map/seed"),
    Root("miniwob"),
    Root("office/postroom", untyped=True),
    Root("office/seed"),
    Root("shop", deep=False),
    Root("shop/app", untyped=True),
    Root("shop/seed", also=("shop/app",), untyped=True),
    Root("shop-live/app", also=("shop/app",), untyped=True),
    Root("supervisor"),
    Root("talk", also=("shop/seed",)),
    Root("tools", deep=False),
    Root("tools/app", untyped=True),
    Root("tools/seed", also=("tools/app",), untyped=True),
    Root("wiki", also=("wiki/articles",), deep=False),
    Root("wiki/articles"),
    Root("wiki-live", also=("wiki/articles",)),
)


def check(root: Root) -> Finding | None:
    """Run mypy on one root."""
    paths = [str(DOCKER / path) for path in (root.path, *root.also)]
    relaxed = [f"--disable-error-code={code}" for code in _UNTYPED] if root.untyped else []
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--config-file", str(DOCKER / "mypy.ini")),
            *("--cache-dir", f".mypy_cache/docker/{root.path}"),
            *relaxed,
            *map(str, root.files()),
        ],
        env={"MYPYPATH": ":".join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    return Finding(root.path, ran.stdout + ran.stderr) if ran.returncode else None


def main() -> int:
    """Check every root, and say what is wrong."""
    found = [finding for finding in map(check, ROOTS) if finding is not None]
    for finding in found:
        sys.stdout.write(f"docker/{finding.root}:\n{finding.lines}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
