"""`arena images`: sites' images in one file, for machines that shall not build them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.arena import in_live_arena
from orchestrator.cli.console import Console
from orchestrator.cli.setup.build import as_document, show

if TYPE_CHECKING:
    from orchestrator.sandbox.images.image_file import ImageFile

app = typer.Typer(no_args_is_help=True)


@app.command()
def save(
    file: Annotated[Path, typer.Argument(help="The file to write, a tar; it must not exist.")],
    sites: Annotated[
        list[str] | None, typer.Argument(help="Sites, or `all`; default: all.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="Save the sites that this suite's tasks use.")
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Also save the sites' staged live origins.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write sites' sealed images, and what they are built on, to one file.

    Shared layers are written once. FILE.cdx.json lists images and packages (CycloneDX); send it
    along, and `load` checks it. Compress the file if you send it: `zstd FILE`.

    Example: arena images save smoke.tar --suite smoke
    """
    console = Console(as_json)
    done = in_live_arena(
        console,
        lambda arena: arena.sites.save_images(file, sites or (), suite=suite, staged=staged),
    )
    _show(console, done)


@app.command()
def load(
    file: Annotated[Path, typer.Argument(help="A file of `arena images save`.")],
    sha256: Annotated[
        str | None, typer.Option(metavar="HEX", help="Load nothing if its SHA-256 is another.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Load the images of a file, sealed as they were saved: nothing is built.

    An image `of other sources` is not what this version of Arena builds; `arena build` renews it.
    """
    console = Console(as_json)
    done = in_live_arena(console, lambda arena: arena.sites.load_images(file, sha256=sha256))
    _show(console, done)


def _show(console: Console, found: ImageFile) -> None:
    if console.as_json:
        console.json(
            {
                "file": str(found.path),
                "sha256": found.sha256,
                "size_bytes": found.size_bytes,
                "bill": None if found.bill is None else str(found.bill),
                "images": [as_document(image) for image in found.images],
            }
        )
        return
    show(console, found.images)
    console.line(f"{found.path}: {found.size_bytes / 1e6:.0f} MB, SHA-256 {found.sha256}")
    console.line(f"bill of materials: {found.bill or 'none beside it'}")
