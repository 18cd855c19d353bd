"""What is refused before anything is asked of a site; the rest: tests/docker/states."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.sites.watched_replica import NO_ENGINE, watched

from arena_core.errors import StateError
from orchestrator.sandbox.reset import taking
from orchestrator.sandbox.reset.state import FileState, Fingerprint, TakenState
from orchestrator.sandbox.reset.strategies import Clean
from orchestrator.sandbox.reset.taking import require_same_image, take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Clock


async def nothing(*_: object) -> None:
    """Find nothing that a state cannot hold."""


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A site that serves and is whole after a crash."""

    async def survives(*_: object) -> bool:
        return True

    monkeypatch.setattr(taking, "_survives_a_crash", survives)
    monkeypatch.setattr(taking, "_require_serving", nothing)


@pytest.mark.usefixtures("whole")
async def test_a_site_that_tidies_up_after_a_write_is_taken_once_it_is_still() -> None:
    asked: list[str] = []
    moving = 5
    async with watched(
        asked,
        clock=Clock(),
        shown=None,
        stamp=lambda: f"s{min(asked.count('take'), moving)}",
    ) as watch:
        taken = await take_state(NO_ENGINE, watch)
    assert taken.packed == b"state"
    assert asked.count("take") == moving + 1  # the one during which nothing moved


@pytest.mark.usefixtures("whole")
async def test_a_site_that_is_always_written_to_is_refused_with_what_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(taking, "_STILL_WITHIN_S", 0.0)
    asked: list[str] = []
    async with watched(
        asked, clock=Clock(), shown=None, stamp=lambda: f"s{asked.count('take')}"
    ) as watch:
        with pytest.raises(StateError, match="all the time: a stateful or scratch file was"):
            await take_state(NO_ENGINE, watch)
    assert asked.count("take") == 3


@pytest.mark.usefixtures("whole")
async def test_what_moves_is_read_before_it_is_asked_what_is_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A transaction that has written, and is seen by neither, would be lost without a word."""
    asked: list[str] = []

    async def under_way(*_: object) -> None:
        asked.append("under way")

    monkeypatch.setattr(taking, "_require_quiet", under_way)
    async with watched(asked, clock=Clock(), shown=None) as watch:
        await take_state(NO_ENGINE, watch)
    assert asked.index("stamp") < asked.index("under way") < asked.index("take")


@pytest.mark.usefixtures("whole")
async def test_a_request_under_way_refuses_a_state_also_while_it_is_being_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    async def under_way(*_: object) -> None:
        raise StateError("connection 7 has an open transaction")

    monkeypatch.setattr(taking, "_require_quiet", under_way)
    async with watched(asked, clock=Clock(), shown=None) as watch:
        with pytest.raises(StateError, match="connection 7"):
            await take_state(NO_ENGINE, watch)
    assert "take" not in asked


@pytest.fixture
def fingerprints(monkeypatch: pytest.MonkeyPatch) -> list[Fingerprint]:
    """What is read of a site that serves, one after the other; the last one stays."""
    states = [Fingerprint()]

    async def read(*_: object, **__: object) -> Fingerprint:
        return states.pop(0) if len(states) > 1 else states[0]

    monkeypatch.setattr("orchestrator.sandbox.reset.watch.take_fingerprint", read)
    monkeypatch.setattr(taking, "_require_serving", nothing)
    monkeypatch.setattr(taking, "await_health", _healthy)
    return states


async def _healthy(*_: object, **__: object) -> None:
    """Serve."""


OTHER = Fingerprint(files=(FileState(path="/f", kind="f", mode="600", owner="0:0", content="a"),))


@pytest.mark.usefixtures("fingerprints")
async def test_the_services_are_ended_of_a_site_that_may_be_broken_after_a_crash() -> None:
    asked: list[str] = []
    async with watched(asked, clock=Clock(), shown=None) as watch:
        await watch.prove()
        assert Clean().applies(watch, wrote=False)
        asked.clear()
        taken = await take_state(NO_ENGINE, watch)
        assert not Clean().applies(watch, wrote=False)  # its clock is no longer golden's
    assert taken.packed == b"state"
    assert [one for one in asked if one != "stamp"] == ["take", "close", "take", "restore"]


async def test_a_site_that_is_another_when_its_services_begin_anew_is_refused(
    fingerprints: list[Fingerprint],
) -> None:
    """A table that is kept in memory only, say, or a page that wrote meanwhile."""
    fingerprints.append(OTHER)
    async with watched([], clock=Clock(), shown=None) as watch:
        with pytest.raises(StateError, match=r"is not the same after .* anew: file /f"):
            await take_state(NO_ENGINE, watch)


@pytest.mark.usefixtures("fingerprints")
async def test_a_site_that_is_written_to_as_its_services_begin_anew_is_refused() -> None:
    asked: list[str] = []
    async with watched(
        asked,
        clock=Clock(),
        shown=None,
        stamp=lambda: f"s{asked.count('stamp') if 'restore' in asked else 0}",
    ) as watch:
        with pytest.raises(StateError, match="anew: a stateful or scratch file was changed"):
            await take_state(NO_ENGINE, watch)


@pytest.mark.usefixtures("fingerprints")
async def test_a_site_whose_writes_nothing_shows_is_refused_while_it_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def unseen(_: Watch) -> None:
        """Show nothing."""

    monkeypatch.setattr(Watch, "mark", unseen)
    asked: list[str] = []
    async with watched(asked, clock=Clock(), shown=None) as watch:
        with pytest.raises(StateError, match="nothing shows whether it is written to"):
            await take_state(NO_ENGINE, watch)
    assert "close" not in asked


async def test_a_state_of_another_image_is_refused_with_both_ids() -> None:
    async with watched([], clock=Clock(), shown=None) as watch:
        own = TakenState(
            site="shelf",
            image_id=watch.replica.placement.image_id,
            packed=b"",
            fingerprint=Fingerprint(),
        )
        require_same_image(watch.replica, own)
        require_same_image(watch.replica, None)
        other = replace(own, image_id=f"sha256:{'7' * 64}")
        with pytest.raises(StateError, match=r"taken of image sha256:7777777.* the site runs i"):
            require_same_image(watch.replica, other)
