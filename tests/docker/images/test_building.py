from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest
from quick_cases import SLOW

from arena_core.errors import ImageError, NotAllBuiltError, PrerequisiteError, SiteGoneError
from orchestrator.sandbox.engine.containers import Container, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import golden_of, is_sealed, unstarted
from orchestrator.sandbox.images import build, seal
from orchestrator.sandbox.images.build import BuildOutcome, BuildResult
from orchestrator.sandbox.reset.fingerprint import Fingerprint, take_fingerprint
from sites.manifest import Site
from sites.registry import SiteRegistry

pytestmark = pytest.mark.docker


async def test_a_built_image_is_sealed_and_carries_its_golden_state(trial: Any) -> None:
    [outcome] = await trial.build(trial.site())

    image = await trial.engine.image(trial.tag)
    golden = await golden_of(trial.engine, image)
    state = Fingerprint.from_json(golden.document)
    assert outcome.outcome is BuildOutcome.BUILT
    assert outcome.golden == golden.digest == state.digest == image.labels[Labels.GOLDEN]
    assert [file.path for file in state.files] == ["/srv/state", "/srv/state/baked"]
    assert await trial.engine.image(f"{trial.tag}-unsealed") is None
    assert await trial.left_behind() == []


async def test_an_unchanged_site_is_left_alone(trial: Any) -> None:
    [first] = await trial.build(trial.site())
    before = await trial.engine.image(trial.tag)
    trial.lines.clear()

    [second] = await trial.build(trial.site(title="Another title"))

    assert second.outcome is BuildOutcome.UNCHANGED
    assert second.golden == first.golden
    assert second.seconds < 1
    assert await trial.engine.image(trial.tag) == before
    assert trial.lines == []


async def test_a_site_that_cannot_be_built_leaves_the_others_built_and_is_named(
    trial: Any,
) -> None:
    tag = f"own/{trial.name}-bad:1"
    image = {"tag": tag, "build": {"dockerfile": "kiosk/Dockerfile", "context": ["kiosk"]}}
    bad = trial.site(name=f"{trial.name}-bad", image=image, warm=["/nothing"])
    good = trial.site()
    try:
        with pytest.raises(NotAllBuiltError) as failed:
            await build.build_images(
                trial.engine,
                SiteRegistry({one.name: one for one in (bad, good)}),
                [bad, good],
                on_line=trial.lines.append,
            )
    finally:
        for left in (tag, f"{tag}-unsealed"):
            await trial.engine.remove_image(left)
    results = cast("tuple[BuildResult, ...]", failed.value.results)
    assert [one.outcome for one in results] == [
        BuildOutcome.FAILED,
        BuildOutcome.BUILT,
    ]
    assert failed.value.message.startswith(f"1 of 2 images could not be built:\n{bad.name}: ")
    assert f"arena build {bad.name}" in failed.value.hint
    assert is_sealed(await trial.engine.image(trial.tag))


@SLOW
async def test_a_changed_file_means_another_image_and_the_old_one_goes(trial: Any) -> None:
    [first] = await trial.build(trial.site())
    before = await trial.engine.image(trial.tag)
    trial.write("kiosk/server.pl", (trial.folder / "kiosk/server.pl").read_text() + "# more\n")

    [second] = await trial.build(trial.site())

    assert second.outcome is BuildOutcome.BUILT
    assert second.golden == first.golden  # the state is the same: only its program changed
    assert await trial.engine.image(before.id) is None


@SLOW
async def test_force_builds_what_is_unchanged(trial: Any) -> None:
    await trial.build(trial.site())

    [outcome] = await trial.build(trial.site(), force=True)

    assert outcome.outcome is BuildOutcome.BUILT
    assert any("step 1/" in line for line in trial.lines)


@SLOW
async def test_a_warm_up_that_writes_nothing_adds_no_layer_to_speak_of(trial: Any) -> None:
    [outcome] = await trial.build(trial.site())
    base = await trial.engine.image("debian:bookworm-slim")

    assert outcome.size_bytes - base.size_bytes < 50_000


@SLOW
async def test_what_the_warm_up_writes_goes_into_the_image(trial: Any) -> None:
    await trial.build(trial.site(warm=["/write?a", "/write?b"]))

    image = await trial.engine.image(trial.tag)
    fresh = await trial.engine.create(unstarted(image.id))
    written = await trial.engine.copy_out(fresh.id, "/srv/state/written")
    await trial.engine.remove(fresh.id)
    golden = await golden_of(trial.engine, image)
    assert written == b"/write?a/write?b"
    assert "/srv/state/written" in golden.document.decode()
    assert Labels.OWNER not in image.labels


async def test_an_image_that_starts_differently_each_time_is_not_sealed(trial: Any) -> None:
    random = 'open my $f, ">", "/srv/state/dice"; print $f rand; close $f;\n'
    trial.write("kiosk/server.pl", random + (trial.folder / "kiosk/server.pl").read_text())

    with pytest.raises(ImageError, match="/srv/state/dice: other content") as refused:
        await trial.build(trial.site())

    assert "volatile" in refused.value.hint
    assert await trial.engine.image(trial.tag) is None
    assert await trial.left_behind() == []


@SLOW
async def test_a_page_of_the_warm_up_that_fails_is_named(trial: Any) -> None:
    with pytest.raises(ImageError, match=r"http://kiosk\.arena\.test/nothing failed: 404"):
        await trial.build(trial.site(warm=["/health", "/nothing"]))

    assert await trial.left_behind() == []


@SLOW
async def test_a_container_that_ignores_term_is_not_sealed(
    trial: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seal, "_STOP_S", 1)
    deaf = (trial.folder / "kiosk/server.pl").read_text().replace("sub { exit 0 }", "'IGNORE'")
    trial.write("kiosk/server.pl", deaf)

    with pytest.raises(ImageError, match="did not stop within 1 s"):
        await trial.build(trial.site())


@SLOW
async def test_a_container_that_dies_shows_its_last_words(trial: Any) -> None:
    trial.write("kiosk/server.pl", 'print STDERR "no such database\\n"; exit 3;')

    with pytest.raises(SiteGoneError, match=r"code 3(.|\n)*no such database"):
        await trial.build(trial.site())

    assert await trial.left_behind() == []


@SLOW
async def test_a_sealing_that_broke_off_is_taken_up_without_building_again(
    trial: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_engine: Engine, _site: Site, _container: Container) -> Fingerprint:
        message = "the database went away"
        raise ImageError(message)

    with monkeypatch.context() as patch:
        patch.setattr(seal, "take_fingerprint", broken)
        with pytest.raises(ImageError):
            await trial.build(trial.site())
    trial.lines.clear()

    [outcome] = await trial.build(trial.site())

    assert outcome.outcome is BuildOutcome.SEALED
    assert not any("step" in line for line in trial.lines)


@pytest.mark.parametrize("moment", ["step 2/", "seal: started"])
async def test_an_interrupt_leaves_no_container_and_no_half_made_image(
    trial: Any, moment: str
) -> None:
    slow = f"RUN echo {trial.name} && sleep 2\nUSER 10001"
    dockerfile = (trial.folder / "kiosk/Dockerfile").read_text()
    trial.write("kiosk/Dockerfile", dockerfile.replace("USER 10001", slow))
    reached = asyncio.Event()
    trial.lines = Watched(moment, reached)
    building = asyncio.create_task(trial.build(trial.site()))
    async with asyncio.timeout(60):
        await reached.wait()

    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building

    assert await trial.left_behind() == []
    assert await trial.engine.image(trial.tag) is None


class Watched(list[str]):
    """Lines of progress that tell when one comes by."""

    def __init__(self, awaited: str, reached: asyncio.Event) -> None:
        self._awaited = awaited
        self._reached = reached

    def append(self, line: str) -> None:
        super().append(line)
        if self._awaited in line:
            self._reached.set()


@SLOW
async def test_a_staged_image_stands_on_the_sealed_one_and_is_not_sealed_itself(
    trial: Any,
) -> None:
    trial.write("live/Dockerfile", f"FROM {trial.tag}\nCOPY live/later /later\n")
    trial.write("live/later", "a year later")
    image = {
        "tag": trial.staged_tag,
        "build": {"dockerfile": "live/Dockerfile", "context": ["live"]},
        "needs": [trial.tag],
    }
    staged = {"image": image, "port": 8443, "health": {"path": "/", "contains": "x"}}
    site = trial.site(live={"origin": "https://kiosk.example", "staged": staged})

    first = await trial.build(site, staged=True)
    again = await trial.build(site, staged=True)

    assert [outcome.outcome for outcome in first] == [BuildOutcome.BUILT] * 2
    assert [outcome.outcome for outcome in again] == [BuildOutcome.UNCHANGED] * 2
    made = await trial.engine.image(trial.staged_tag)
    assert not is_sealed(made)
    assert first[1].golden is None


@SLOW
async def test_the_bundle_reaches_the_build_and_does_not_count(
    trial: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    bundle = tmp_path / "lab.pem"
    bundle.write_text("LAB")
    monkeypatch.setenv("ARENA_CA_BUNDLE", str(bundle))
    proof = "COPY ca-bundle.crt /tmp/ca\nRUN cp /tmp/ca /srv/state/proof\n"
    dockerfile = (trial.folder / "kiosk/Dockerfile").read_text()
    trial.write("kiosk/Dockerfile", dockerfile.replace("COPY kiosk", f"{proof}COPY kiosk"))
    await trial.build(trial.site())
    fresh = await trial.engine.create(unstarted(trial.tag))
    proven = await trial.engine.copy_out(fresh.id, "/srv/state/proof")
    await trial.engine.remove(fresh.id)
    assert proven == b"LAB"

    bundle.write_text("ANOTHER")
    [outcome] = await trial.build(trial.site())
    assert outcome.outcome is BuildOutcome.UNCHANGED

    monkeypatch.setenv("ARENA_CA_BUNDLE", str(tmp_path / "none.pem"))
    with pytest.raises(PrerequisiteError):
        await trial.build(trial.site())


@SLOW
async def test_the_golden_state_of_an_image_that_is_not_sealed_is_an_error(trial: Any) -> None:
    image = await trial.engine.image("debian:bookworm-slim")

    with pytest.raises(ImageError, match="not sealed"):
        await golden_of(trial.engine, image)


@SLOW
async def test_a_replica_of_the_sealed_image_is_golden(trial: Any) -> None:
    [outcome] = await trial.build(trial.site())
    site = trial.site()

    async with seal.serving(trial.engine, site, trial.tag) as container:
        state = await take_fingerprint(trial.engine, site, container)

    assert state.digest == outcome.golden
    assert json.loads(state.to_json())["files"]
