"""The mutations themselves: each one moves what a fingerprint shows."""

from __future__ import annotations

from random import Random

import pytest
from mutations.catalogue import MUTATIONS
from mutations.golden import started
from mutations.subject import Accounts, Subject
from mutations.witness import witness
from support.sites.kiosk_site import OWNER

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.fingerprint import take_fingerprint
from sites.registry import SiteRegistry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=2)]

# The account that Arena reads with sees no trigger.
_UNSEEN = {"create trigger"}


@pytest.mark.parametrize("name", sorted(MUTATIONS))
async def test_each_mutation_changes_the_state(
    engine: Engine, sites: SiteRegistry, accounts: Accounts, dice: Random, name: str
) -> None:
    async with started(engine, sites.site(name), OWNER) as replica:
        subject = Subject(engine, replica, accounts)
        seen = await witness(subject)
        digest = replica.golden
        for mutation in MUTATIONS[name]:
            said = await mutation.make(subject, dice)
            before, seen = seen, await witness(subject)
            assert seen != before, said
            found = await take_fingerprint(engine, replica.site, replica.container)
            assert found.digest != digest or mutation.name in _UNSEEN, said
            digest = found.digest
        assert digest != replica.golden
