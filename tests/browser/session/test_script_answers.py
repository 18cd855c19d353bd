"""Scripts of a restored page get the answers that they got before; no site is asked again."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from browser.session.branches import SHOP, Branches
from browser.session.conftest import Answer, Site

from arena_core.actions import Click
from orchestrator.browser.observations.equality import first_difference
from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def branches(browser: Browser, outer_site: Site) -> AsyncIterator[Branches]:
    async with Branches(browser, outer_site).running() as made:
        yield made


ADDING = """<button onclick="add()">add</button><ul id=rows></ul>
<script>
  const show = async (asked) => { rows.innerHTML += `<li>${await (await asked).text()}</li>`; };
  const add = () => show(fetch('/add', {method: 'POST', body: 'row=' + rows.children.length}));
  show(fetch('/list'));
</script>"""


async def test_what_scripts_asked_for_is_answered_again_and_the_site_hears_nothing_of_it(
    branches: Branches,
) -> None:
    """A row that a script adds stands on the site already: to add it again would add another."""
    site = branches.site
    site.page(ADDING)
    site.answers["/list"] = Answer(body=b"one", then=Answer(body=b"one, two"))
    twice = Answer(body="two \u2713".encode(), then=Answer(body=b"exists already"))
    site.answers["/add"] = twice
    source = await branches.session()
    await source.start(f"{SHOP}/")
    at_first, adding = source.seen, Click(element=source.id("button"))
    assert await source.do(adding) is None
    with_row = source.seen
    before = len(site.requests)
    branch = await branches.branch(source)
    await branch.session.restore(with_fields=False)
    await branch.rest()
    assert await branch.session.adopt_ids(at_first)
    assert await branch.do(adding) is None
    await branch.session.end_answers()
    assert await branch.session.adopt_ids(with_row)
    await branch.see()
    assert first_difference(with_row, branch.seen) is None
    assert len(site.requests) == before
    assert branch.gateway.journal.writes("shop") == 0
    assert await branch.do(adding) is None  # from here on it is the site that answers
    assert branch.shows("listitem", "exists already")
    assert len(site.requests) == before + 1


async def test_what_scripts_ask_otherwise_than_before_goes_to_the_site(branches: Branches) -> None:
    """An answer is for its own question: the same address with another body has another one."""
    site = branches.site
    site.page(ADDING)
    site.answers["/list"] = Answer(body=b"one")
    site.answers["/add"] = Answer(body=b"two", then=Answer(body=b"three"))
    source = await branches.session()
    await source.start(f"{SHOP}/")
    at_first, adding = source.seen, Click(element=source.id("button"))
    assert await source.do(adding) is None
    branch = await branches.branch(source)
    await branch.session.restore(with_fields=False)
    await branch.rest()
    assert await branch.session.adopt_ids(at_first)
    await branch.run("() => rows.append(document.createElement('li')) ?? true")
    assert await branch.do(adding) is None
    assert branch.gateway.journal.writes("shop") == 1
    await branch.session.end_answers()


async def test_what_was_sent_elsewhere_is_asked_again(branches: Branches) -> None:
    """The page asked one address and was answered by another: neither alone is the answer."""
    site = branches.site
    site.page(ADDING)
    site.answers["/list"] = Answer(body=b"", status=302, headers={"Location": "/real"})
    site.answers["/real"] = Answer(body=b"one", then=Answer(body=b"two"))
    source = await branches.session()
    await source.start(f"{SHOP}/")
    assert source.shows("listitem", "one")
    branch = await branches.branch(source)
    await branch.session.restore(with_fields=False)
    await branch.rest()
    await branch.session.end_answers()
    await branch.see()
    assert branch.shows("listitem", "two")
