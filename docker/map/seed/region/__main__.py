"""`python3 -m region FOLDER`: write region.osm, objects.tsv and the layers that tiles are drawn from."""

from __future__ import annotations

import sys
from pathlib import Path

from region.build import build
from region.layers import write_layers


def main(folder: Path) -> None:
    """Write everything into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    region = build()
    region.osm.write(folder / "region.osm")
    region.osm.write_objects(folder / "objects.tsv")
    write_layers(region, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
