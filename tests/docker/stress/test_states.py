"""Random mutations, a state, more mutations, and back: nothing of the second ones is left.

That is judged by the tests' own witness too, which sees accounts, schemas and triggers.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from random import Random

import pytest
from mutations.catalogue import MUTATIONS
from mutations.golden import started
from mutations.mutation import draw, make_all
from mutations.subject import Accounts, Subject
from mutations.witness import parted, witness
from support.sites.kiosk_site import OWNER

from arena_core.errors import StateError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.strategies import Rewind
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.registry import SiteRegistry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=2)]

ROUNDS = 8


@pytest.mark.parametrize("name", sorted(MUTATIONS.keys() - {"kiosk"}))
async def test_a_state_comes_back_whatever_was_done_before_and_since(
    engine: Engine, sites: SiteRegistry, accounts: Accounts, dice: Random, name: str
) -> None:
    async with AsyncExitStack() as stack:
        replica = await stack.enter_async_context(started(engine, sites.site(name), OWNER))
        subject = Subject(engine, replica, accounts)
        watch = Watch.over(engine, replica, new=True)
        stack.push_async_callback(watch.close)
        restored = 0
        for _ in range(ROUNDS):
            done = await make_all(draw(MUTATIONS[name], dice, most=4), subject, dice)
            wanted = await witness(subject)
            try:
                taken = await take_state(engine, watch)
            except StateError as refusal:
                if "a state cannot hold" not in refusal.message:
                    raise
            else:
                for mutation in draw(MUTATIONS[name], dice, most=4):
                    with suppress(AssertionError):  # what the first ones took away cannot be done
                        await mutation.make(subject, dice)
                watch.aim(taken)
                reset = await reset_replica(engine, watch, strategies=(Rewind(),))
                assert reset.receipt.proven, done
                assert parted(await witness(subject), wanted) == "", done
                restored += 1
            watch.aim(None)
            await reset_replica(engine, watch, strategies=(Rewind(),))
        assert restored >= ROUNDS // 4  # of the others some could not be held: refused, by name
