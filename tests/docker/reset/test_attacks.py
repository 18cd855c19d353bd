"""What a shell in the container leaves behind, one attack after the other on one running shop."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from random import Random

import pytest
from mutations.attacks import ATTACKS, PREAMBLE, Attack
from mutations.beside import beside
from mutations.seeds import seeded
from mutations.subject import Accounts, Subject
from mutations.witness import parted
from support.sites.kiosk_site import OWNER

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import start_replica
from orchestrator.sandbox.reset.watch import Watch
from sites.registry import load_registry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=4)]

_PLACES = {
    "shop": "media=/srv/shop/state/media table=basket_basket",
    "forge": "media=$(ls -d /srv/forge/state/repositories/*.git | head -1) table=time_entries",
    "cms": "media=/srv/cms/state/uploads table=wp_comments",
}


@pytest.fixture
def dice(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Random:
    with capsys.disabled():
        return seeded(request.node.name)


@pytest.fixture
async def watch(engine: Engine, request: pytest.FixtureRequest) -> AsyncIterator[Watch]:
    """Over a new replica that was proven golden, of the shop unless the test names another site."""
    site = load_registry().site(getattr(request, "param", "shop"))
    replica = await start_replica(engine, await place(engine, site, owner=OWNER, slot=0))
    made = Watch.over(engine, replica, new=True)
    await made.prove()
    yield made
    await made.close()
    await engine.sweep(OWNER)


def places(watch: Watch) -> str:
    """What the scripts of attacks see of a site."""
    site = watch.replica.site.name
    return f"site={site} home=/srv/{site} state=/srv/{site}/state; {_PLACES[site]}\n"


@pytest.mark.parametrize("watch", ["shop", "forge"], indirect=True)
async def test_a_reset_leaves_nothing_of_any_attack(
    engine: Engine, watch: Watch, dice: Random
) -> None:
    """Resets are those of `arena reset`, which watched nobody; the order is random."""
    golden = await beside(Subject(engine, watch.replica, Accounts()))
    for attack in dice.sample(ATTACKS, k=len(ATTACKS)):
        try:
            watch = await undone(engine, watch, attack, golden)
        except BaseException as error:
            error.add_note(f"attack: {attack.name}")
            raise
    await watch.close()


async def undone(engine: Engine, watch: Watch, attack: Attack, golden: frozenset[str]) -> Watch:
    """Attack, reset, and compare what an independent witness sees; return the next watch."""
    subject = Subject(engine, watch.replica, Accounts())
    await subject.shell(places(watch) + PREAMBLE + attack.script)
    assert await beside(subject) != golden, "it had no effect"
    if attack.noticed:
        assert await watch.moved() is not None
    await watch.close()
    done = await reset_replica(engine, Watch.over(engine, watch.replica), wrote=False)
    assert (done.receipt.strategy, done.receipt.proven) == (attack.undone, True), done.receipt
    found = await beside(Subject(engine, done.replica, Accounts()))
    assert found == golden, parted(found, golden)
    return done.watch


# Changes one letter of a product's title in its data file and makes the page's CRC-32C right again.
_BEHIND_THE_SERVER = r"""
import glob, os, struct, sys

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return crc ^ 0xFFFFFFFF

[path] = glob.glob(sys.argv[1] + "/db/*/catalogue_product.ibd")
file, size = os.open(path, os.O_RDWR), 16384
for at in range(0, os.fstat(file).st_size, size):
    page = bytearray(os.pread(file, size, at))
    place = page.find(b"Kettle")
    if page[24:26] == b"\x45\xbf" and place > 0:
        assert crc32c(page[:-4]) == struct.unpack(">I", page[-4:])[0], "another checksum"
        page[place : place + 6] = b"Cattle"
        page[-4:] = struct.pack(">I", crc32c(page[:-4]))
        os.pwrite(file, bytes(page), at)
        break
else:
    raise SystemExit("no such page")
"""
_DIGEST = 'sha256sum "$(find $state -name catalogue_product.ibd)"'


async def test_a_row_that_was_written_behind_the_database_server_is_undone(
    engine: Engine, watch: Watch
) -> None:
    subject = Subject(engine, watch.replica, Accounts())
    golden = await subject.shell(places(watch) + _DIGEST)
    await subject.shell(f"{places(watch)} python3 -c {shlex.quote(_BEHIND_THE_SERVER)} $state")
    assert await subject.shell(places(watch) + _DIGEST) != golden
    # The server's counters do not move: it takes a shell, and a reset that watched nobody.
    await watch.close()
    done = await reset_replica(engine, Watch.over(engine, watch.replica), wrote=False)
    assert done.receipt.proven, done.receipt
    assert done.receipt.strategy != "clean"
    assert await Subject(engine, done.replica, Accounts()).shell(places(watch) + _DIGEST) == golden
    await done.watch.close()


# PHP keeps compiled code where a link leads to the image's own, and never looks at its sources.
_CODE = 'for one in /srv/cms/state/code/*; do ls -ld --time-style=+ "$one"; done'
_OTHER_CODE = """
link=$(find /srv/cms/state/code -type l) own=$(readlink "$link")
rm "$link"; mkdir -p "$link"; cp -r "$own/." "$link"
file=$(find "$link" -name 'wp-login.php.bin'); test -n "$file"
chmod u+w "$file"; printf x | dd of="$file" bs=1 seek=300 conv=notrunc status=none
"""


@pytest.mark.parametrize("watch", ["cms"], indirect=True)
async def test_code_that_was_compiled_anew_is_the_images_own_after_a_reset(
    engine: Engine, watch: Watch
) -> None:
    subject = Subject(engine, watch.replica, Accounts())
    golden = await subject.shell(_CODE)
    page = await subject.http(None, lambda visitor: visitor.open("/wp-login.php").status_code)
    await subject.shell(_OTHER_CODE)
    assert await subject.shell(_CODE) != golden
    await watch.close()
    done = await reset_replica(engine, Watch.over(engine, watch.replica), wrote=False)
    assert done.receipt.proven, done.receipt
    after = Subject(engine, done.replica, Accounts())
    assert await after.shell(_CODE) == golden
    assert await after.http(None, lambda one: one.open("/wp-login.php").status_code) == page
    await done.watch.close()
