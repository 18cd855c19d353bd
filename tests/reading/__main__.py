"""The reader's test: pages drawn by seed, as text, for a person who counts their defects.

`arena up shop forum forge hub cms office wiki`, then `PYTHONPATH=tests python -m reading`. With
`--shares` it prints instead how many sentences of each kind are said only once.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Final

from reading.drawing import drawn, links, plain, share
from reading.kinds import CORPORA, KINDS, PageKind

from arena_core.errors import ArenaError
from orchestrator.authoring.site_check.facts import RunningSites, Sources
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, origin_session
from orchestrator.sandbox.inventory import running_replica
from orchestrator.sandbox.logins import parse_html, replica_client
from orchestrator.sandbox.reset.replica import Replica
from sites.registry import load_registry

ARTICLES: Final = 6
_FOUND: Final = "/search?content=wiki&pattern=Merrowshire&pageLength=140&start={start}"
_STARTS: Final = (1, 141, 281, 421, 561, 701, 841, 981)


async def main() -> None:
    """Read the replicas of `arena up`."""
    parser = argparse.ArgumentParser(prog="python -m reading")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--shares", action="store_true")
    asked = parser.parse_args()
    registry = load_registry([])
    names = {one.site for one in KINDS} | (set() if asked.shares else {"wiki"})
    async with await Engine.connect() as engine:
        replicas = {name: await running_replica(engine, registry, name) for name in sorted(names)}
        if asked.shares:
            await shares(RunningSites(replicas))
        else:
            await pages(RunningSites(replicas), asked.seed)
            await asyncio.to_thread(articles, replicas["wiki"], asked.seed)


async def pages(sites: Sources, seed: int) -> None:
    """Print the pages of sites that have a database."""
    for kind in KINDS:
        for number in drawn(kind.name, await sites.rows(kind.site, kind.ids), kind.pages, seed):
            sys.stdout.write(
                f"\n##### {kind.site}, {kind.name} {number}\n{await _text(sites, kind, number)}\n"
            )


def articles(replica: Replica, seed: int) -> None:
    """Print articles on the county, as the encyclopedia's search finds them."""
    client = replica_client(replica.site, replica.endpoint)
    with origin_session(client) as session:

        def page(path: str) -> str:
            answer = session.get(client.url(path), timeout=PAGE_TIMEOUT_S)
            return answer.content.decode()

        found = [path for start in _STARTS for path in links(page(_FOUND.format(start=start)))]
        for path in drawn("article", found, ARTICLES, seed):
            sys.stdout.write(
                f"\n##### wiki, article {path}\n{plain(parse_html(page(path)).text_content())}\n"
            )


async def shares(sites: Sources) -> None:
    """Print the sentences of each kind, and how many differ with names and numbers masked."""
    for one in CORPORA:
        number, distinct = share(await sites.rows(one.site, one.texts))
        name = f"{one.site} {one.name}"
        sys.stdout.write(f"{name:24} {number:8} {distinct:8} {distinct / max(1, number):7.1%}\n")


async def _text(sites: Sources, kind: PageKind, number: str) -> str:
    (text,) = await sites.rows(kind.site, kind.text.format(id=number))
    return plain(text)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except ArenaError as error:
        sys.exit(f"{error}; first: arena up shop forum forge hub cms office wiki")
