from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW

from arena_core.errors import ImageError, InputError
from orchestrator.sandbox.golden import is_sealed
from orchestrator.sandbox.images import image_file
from orchestrator.sandbox.images.build import BuildOutcome
from sites.registry import SiteRegistry

pytestmark = pytest.mark.docker


def billed(bill: Path, tag: str) -> set[str]:
    """Return Debian's packages of an image, as its bill of materials has them."""
    document = json.loads(bill.read_bytes())
    parts = {one["bom-ref"]: one for one in document["components"]}
    [needed] = [one["dependsOn"] for one in document["dependencies"] if one["ref"] == tag]
    found = [parts[one] for one in needed if one.startswith("pkg:deb/debian/")]
    return {f"{one['name']} {one['version']}" for one in found}


def installed(tag: str) -> set[str]:
    """Return the same as dpkg says it in a container."""
    ask = ("dpkg-query", "--show", "--showformat", "${Package} ${Version}\\n")
    command = ("docker", "run", "--rm", "--network", "none", "--entrypoint", ask[0], tag, *ask[1:])
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(said.stdout.splitlines())


@SLOW
async def test_saved_images_are_golden_where_they_are_loaded_and_need_no_build(
    trial: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_file, "docker_folder", lambda: trial.folder)
    site = trial.site()
    registry = SiteRegistry({site.name: site})
    path = tmp_path / "images.tar"

    async def load(**options: Any) -> image_file.ImageFile:
        return await image_file.load_images(
            trial.engine, registry, path, on_line=trial.lines.append, **options
        )

    async def save() -> image_file.ImageFile:
        return await image_file.save_images(
            trial.engine, registry, [site], path, on_line=trial.lines.append
        )

    with pytest.raises(ImageError, match="is not here"):
        await save()
    [built] = await trial.build(site)
    saved = await save()
    with pytest.raises(InputError, match="is there already"):
        await save()
    assert saved.bill is not None
    assert billed(saved.bill, trial.tag) == installed(trial.tag)
    await trial.clear()
    assert await trial.engine.image(trial.tag) is None

    loaded = await load(sha256=saved.sha256)
    [again] = await trial.build(site)

    assert [one.outcome for one in loaded.images] == [BuildOutcome.LOADED]
    assert loaded.images[0].golden == built.golden
    assert is_sealed(await trial.engine.image(trial.tag))
    assert again.outcome is BuildOutcome.UNCHANGED
    assert [one.outcome for one in (await load()).images] == [BuildOutcome.UNCHANGED]

    trial.write("kiosk/server.pl", "# another program")
    assert [one.outcome for one in (await load()).images] == [BuildOutcome.OUTDATED]
    saved.bill.write_text(saved.bill.read_text().replace(saved.sha256, "0" * 64))
    with pytest.raises(InputError, match=r"and images\.tar\.cdx\.json says 000"):
        await load()
    path.unlink()
    saved.bill.unlink()
    with pytest.raises(ImageError, match="is older than its sources"):
        await save()

    damaged = tmp_path / "damaged.tar"
    path = damaged
    damaged.write_bytes(b"\0" * 10_240)
    with pytest.raises(InputError, match="no file of images"):
        await load()
    assert not list(tmp_path.glob("*.part"))  # noqa: ASYNC240
