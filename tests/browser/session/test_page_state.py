"""Pages captured in one session and restored in another, without a request to the site."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from browser.session.branches import (
    FORMS,
    FORUM,
    SHOP,
    Branches,
    equal_branch,
    plain,
)
from browser.session.conftest import Answer, Site

from arena_core.actions import (
    Back,
    Click,
    CloseTab,
    FocusTab,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Select,
    Type,
)
from arena_core.cookie import Cookie
from evaluators.network import Recording
from orchestrator.browser.observation import Observation
from orchestrator.browser.observations.equality import first_difference
from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def branches(browser: Browser, outer_site: Site) -> AsyncIterator[Branches]:
    async with Branches(browser, outer_site).running() as made:
        yield made


def said_of(seen: Observation) -> list[tuple[object, ...]]:
    """Return what a tree says of its elements beside their ids."""
    return [(one.depth, one.role, one.name, one.value, one.states) for one in seen.nodes]


async def test_the_answer_of_a_post_comes_back_without_a_post_or_a_get(branches: Branches) -> None:
    site = branches.site
    site.page("<form method=post action=/login><button>in</button></form>")
    site.page("<h1>Wrong password</h1>", "/login", status=401)
    source = await branches.session()
    await source.start(f"{SHOP}/")
    assert await source.do(Click(element=source.id("button"))) is None
    before = len(site.requests)
    branch = await equal_branch(branches, source)
    assert branch.shows("heading", "Wrong password")
    assert branch.session.status == 401
    assert len(site.requests) == before
    assert [(one.recorded, one.may_write) for one in branch.gateway.journal.since(0)] == [
        (True, False)
    ]
    assert branch.gateway.journal.writes("shop") == 0


async def test_a_message_that_a_reload_would_lose_comes_back(branches: Branches) -> None:
    site = branches.site
    later = Answer(body=b"<h1>Basket</h1>")
    site.answers["/"] = Answer(body=b"<p role=alert>Kettle added</p><h1>Basket</h1>", then=later)
    source = await branches.session()
    await source.start(f"{SHOP}/")
    branch = await equal_branch(branches, source)
    assert branch.shows("alert")
    assert site.asked("/") == 1
    await branch.do(Goto(url=f"{SHOP}/"))
    assert not branch.shows("alert")
    assert site.asked("/") == 2  # the second request goes to the site


FIELDS = """<title>Fields</title><form>
  <input aria-label=text value=old><input aria-label=untouched value=as-it-was>
  <textarea aria-label=area>old</textarea><input type=date aria-label=date>
  <input type=range aria-label=range min=0 max=9><input type=password aria-label=secret>
  <input type=checkbox aria-label=tick><input type=checkbox aria-label=ticked checked>
  <input type=radio name=r aria-label=one checked><input type=radio name=r aria-label=two>
  <select aria-label=choice><option>a<option>b<option>c</select>
  <select aria-label=several multiple><option>x<option>y<option>z</select>
</form>
<details id=d><summary>more</summary>inside</details>
<details open><summary>open</summary>in</details>
<div id=box style="height:60px;overflow:auto"><div style="height:900px">long</div></div>
<div id=host></div><div style="height:3000px"></div><a href=#end id=end>end</a>
<script>host.attachShadow({mode:'open'}).innerHTML = '<input aria-label=shadowed>'</script>"""


async def test_what_was_filled_in_ticked_chosen_opened_and_scrolled_comes_back(
    branches: Branches,
) -> None:
    branches.site.page(FIELDS)
    source = await branches.session()
    await source.start(f"{SHOP}/")
    for name in ("text", "area", "secret", "shadowed"):
        assert await source.do(Type(element=source.id("textbox", name), text=f"my {name}")) is None
    assert await source.do(Type(element=source.id("Date", "date"), text="2026-05-04")) is None
    assert await source.do(Type(element=source.id("slider", "range"), text="7")) is None
    for role, name in (("checkbox", "tick"), ("checkbox", "ticked"), ("radio", "two")):
        assert await source.do(Click(element=source.id(role, name))) is None
    assert await source.do(Select(element=source.id("combobox", "choice"), option="c")) is None
    assert await source.do(Select(element=source.id("listbox", "several"), option="y")) is None
    for name in ("more", "open"):
        assert await source.do(Click(element=source.id("DisclosureTriangle", name))) is None
    assert await source.do(Click(element=source.id("textbox", "text"))) is None
    assert await source.do(Press(keys="Home")) is None
    await source.run("function () { box.scrollTop = 120; scrollTo(0, 700); return 1; }")
    await source.see()
    branch = await equal_branch(branches, source)
    assert (await branch.session.read_own("#box", "id")) == ("box",)
    places = "function () { return [scrollY, box.scrollTop, document.activeElement.ariaLabel]; }"
    assert await branch.run(places) == [700, 120, "text"]
    assert await branch.do(Press(keys="X")) is None  # the caret stands where it stood
    assert await branch.session.read_own("[aria-label=text]", "value") == ("Xmy text",)


async def test_without_fields_the_page_is_as_it_came(branches: Branches) -> None:
    branches.site.page(FIELDS)
    source = await branches.session()
    await source.start(f"{SHOP}/")
    fresh = source.seen
    await source.do(Type(element=source.id("textbox", "text"), text="typed"))
    await source.do(Scroll(direction="down"))
    branch = await branches.branch(source)
    assert not await branch.restore(with_fields=False)
    assert said_of(fresh) == said_of(branch.seen)
    assert await branch.session.adopt_ids(fresh)
    await branch.see()
    assert first_difference(fresh, branch.seen) is None


async def test_what_the_mouse_is_over_stays_shown(branches: Branches) -> None:
    branches.site.page("""<style>#s { display: none } #m:hover #s { display: block }</style>
        <div id=m>Products<div id=s><a href=/kettles>Kettles</a></div></div>
        <div draggable=true style="margin-top:99px">elsewhere</div>""")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    assert await source.do(Hover(element=source.id("StaticText", "Products"))) is None
    assert source.shows("link", "Kettles")
    branch = await equal_branch(branches, source)
    assert await branch.do(Click(element=source.id("link", "Kettles"))) is None
    assert branch.session.url == f"{SHOP}/kettles"


async def test_what_a_page_does_at_loading_is_undone_where_it_was_undone(
    branches: Branches,
) -> None:
    branches.site.page("""<input aria-label=first>
        <div id=box style="height:60px;overflow:auto"><div style="height:900px">long</div></div>
        <script>document.querySelector('input').focus(); box.scrollTop = 300</script>""")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    undone = "function () { document.activeElement.blur(); box.scrollTop = 0; return 1; }"
    await source.run(undone)
    branch = await equal_branch(branches, source)
    places = "function () { return [box.scrollTop, document.activeElement.localName]; }"
    assert await branch.run(places) == [0, "body"]


STORES = """<title>Stores</title><p id=o></p><script>
  sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1;
  localStorage.loads = Number(localStorage.loads ?? 0) + 1;
  o.textContent = document.cookie;
  const asked = indexedDB.open('shelf', 3);
  asked.onupgradeneeded = () => {
    const store = asked.result.createObjectStore('books', {keyPath: 'id'});
    store.createIndex('by', 'name');
    store.put({id: 1, name: 'Kettle', when: new Date(5)});
  };
  asked.onsuccess = () => { document.title = 'Stored'; };
</script>"""


async def test_cookies_and_every_kind_of_storage_are_equal(branches: Branches) -> None:
    branches.site.page(STORES, headers={"set-cookie": "hidden=yes; HttpOnly; SameSite=Strict"})
    source = await branches.session()
    await source.start(f"{SHOP}/")
    await source.session._bar.current.page.wait_for_function("document.title === 'Stored'")
    state = await source.session.capture()
    assert state.tabs[0].session_storage == {SHOP: (("loads", "1"),)}
    assert {one["name"]: one["httpOnly"] for one in state.cookies[""]} == {"hidden": True}
    assert "Kettle" in str(state.storage[""])
    branch = await branches.session(state)
    await branch.restore()
    assert plain(await branch.session.capture()) == plain(state)


async def test_a_pages_own_scripts_find_its_session_storage(branches: Branches) -> None:
    branches.site.page("""<p id=o></p><script>
        o.textContent = sessionStorage.name ?? 'nobody'; sessionStorage.name = 'Ann'</script>""")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    await source.do(Goto(url=f"{SHOP}/"))
    branch = await equal_branch(branches, source)
    assert await branch.text("#o") == "Ann"


def _cookie(name: str, value: str) -> Cookie:
    return Cookie(
        name=name,
        value=value,
        domain="shop.arena.test",
        path="/",
        secure=False,
        http_only=False,
        expires=None,
    )


async def test_tabs_of_two_logins_come_back_with_their_numbers(branches: Branches) -> None:
    site = branches.site
    site.page("<title>In</title><script>document.write(`<p>${document.cookie}</p>`)</script>")
    site.page("<title>Other</title><button>b</button>", "/other")
    source = await branches.session(
        cookies=[_cookie("as", "customer")], apart={"shop: merchant": [_cookie("as", "merchant")]}
    )
    await source.start(f"{SHOP}/", f"{SHOP}/", logins=("", "shop: merchant"))
    await source.do(NewTab(url=f"{SHOP}/other"))  # 2
    await source.do(FocusTab(index=1))
    await source.do(NewTab(url=f"{SHOP}/"))  # 3
    await source.do(NewTab())  # 4, and nobody's from now on, like 0
    await source.do(CloseTab())
    await source.do(FocusTab(index=0))
    await source.do(CloseTab())
    await source.do(FocusTab(index=2))
    before = len(site.requests)
    branch = await equal_branch(branches, source)
    assert [(tab.index, tab.login, tab.is_current) for tab in branch.seen.tabs] == [
        (1, "shop: merchant", False),
        (2, "", True),
        (3, "shop: merchant", False),
    ]
    assert len(site.requests) == before
    await branch.do(FocusTab(index=3))
    assert await branch.text("p") == "as=merchant"
    await branch.do(NewTab())
    assert [tab.index for tab in branch.seen.tabs] == [1, 2, 3, 5]
    assert await branch.session.read_fresh(f"{SHOP}/", "p") == ("as=customer",)


async def test_two_tabs_of_one_url_get_each_its_own_document(branches: Branches) -> None:
    # Without its Cache-Control such a response is good for years.
    head = {"cache-control": "no-cache", "last-modified": "Sat, 01 Jan 2000 00:00:00 GMT"}
    second = Answer(body=b"<h1>second</h1>", headers=head)
    branches.site.answers["/"] = Answer(body=b"<h1>first</h1>", headers=head, then=second)
    source = await branches.session()
    await source.start(f"{SHOP}/")
    await source.do(NewTab(url=f"{SHOP}/"))
    branch = await equal_branch(branches, source)
    await branch.do(FocusTab(index=0))
    assert branch.shows("heading", "first")


MENU = """<title>Menu</title><button id=m>menu</button><script>
  m.onclick = () => {
    const item = document.createElement('button');
    item.textContent = 'Save'; item.onclick = () => { document.title = 'Saved'; };
    document.body.append(item);
  };
</script>"""


async def test_what_a_script_built_differs_in_words_until_its_actions_are_done_again(
    branches: Branches,
) -> None:
    branches.site.page(MENU)
    source = await branches.session()
    await source.start(f"{SHOP}/")
    at_first = source.seen
    opening = Click(element=source.id("button", "menu"))
    await source.do(opening)
    open_menu = source.seen
    state = await source.session.capture()
    assert state.tabs[0].actions == 0
    branch = await branches.session(state)
    assert not await branch.restore()
    assert first_difference(open_menu, branch.seen) == (
        "axtree differs: line 1 is '[3] button \"menu\" focused' instead of "
        "'[1] button \"menu\" focused'"
    )
    assert said_of(open_menu) != said_of(branch.seen)

    again = await branches.session(state)
    await again.session.restore(with_fields=False)
    await again.rest()
    assert await again.session.adopt_ids(at_first)
    assert await again.do(opening) is None
    assert await again.session.adopt_ids(open_menu)
    await again.see()
    assert first_difference(open_menu, again.seen) is None
    assert await again.do(Click(element=source.id("button", "Save"))) is None
    assert again.seen.title == "Saved"


async def test_the_actions_before_a_document_came_are_counted(branches: Branches) -> None:
    branches.site.page("<a href=/two>on</a>")
    branches.site.page("<a href=#here>stay</a>", "/two")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    await source.do(Click(element=source.id("link")))
    await source.do(Click(element=source.id("link")))
    await source.do(NewTab())
    state = await source.session.capture()
    assert [(tab.url, tab.actions) for tab in state.tabs] == [
        (f"{SHOP}/two#here", 1),
        ("about:blank", 3),
    ]


async def test_old_ids_still_name_their_elements_and_new_ones_are_new(branches: Branches) -> None:
    branches.site.page("""<button onclick="document.title='clicked'">b</button>
        <div onclick="document.title='bare'" style="width:50px;height:20px"></div>
        <iframe srcdoc="<button onclick='parent.document.title=`framed`'>inner</button>"></iframe>
        <button onclick="document.body.append(Object.assign(document.createElement('a'),
          {href: '/', textContent: 'more'}))">add</button>""")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    await source.see_as(FORMS)  # gives the bare element its id, which the tree does not show
    given = source.session._ids.next
    bare = next(
        element
        for element in range(1, given)
        if element not in {node.id for node in source.seen.nodes}
    )
    old = {name: source.id("button", name) for name in ("b", "inner", "add")}
    branch = await equal_branch(branches, source)
    for element, title in ((old["b"], "clicked"), (old["inner"], "framed"), (bare, "bare")):
        assert await branch.do(Click(element=element)) is None
        assert branch.seen.title == title
    await branch.do(Click(element=old["add"]))
    assert branch.id("link", "more") >= given
    assert await branch.session.act(Click(element=given + 50)) == (
        f"there is no element [{given + 50}]"
    )


async def test_a_page_that_is_not_the_sources_takes_no_ids(branches: Branches) -> None:
    branches.site.page("<button>b</button><p id=o></p><script src=/now.js></script>")
    branches.site.page("o.textContent = 'then'", "/now.js", content_type="text/javascript")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    state = await source.session.capture()
    branches.site.page("o.textContent = 'now'", "/now.js", content_type="text/javascript")
    branch = await branches.session(state)
    assert not await branch.restore()
    assert {node.id for node in branch.seen.nodes}.isdisjoint(node.id for node in source.seen.nodes)
    assert said_of(source.seen) != said_of(branch.seen)


async def test_a_page_of_the_gateway_comes_back_too(branches: Branches) -> None:
    source = await branches.session()
    assert await source.session.act(Goto(url="http://elsewhere.test/")) is None
    await source.rest()
    branch = await equal_branch(branches, source)
    assert "is not available" in await branch.text("h1")


async def test_a_page_cannot_see_that_it_was_restored(branches: Branches) -> None:
    site = branches.site
    site.page("<a href=/two>on</a>")
    site.page(
        FIELDS.replace("</title>", "</title><script>window.noted = [];"
        "new MutationObserver((all) => all.forEach((one) => noted.push(one.type)))"
        ".observe(document, {subtree: true, attributes: true, childList: true});"
        "for (const kind of ['input', 'change', 'error', 'message', 'storage'])"
        " addEventListener(kind, () => noted.push(kind), true);</script>"), "/two",
        headers={"x-a": "1", "content-security-policy": "img-src 'none'", "x-b": "2"},
    )  # fmt: skip
    source = await branches.session()
    await source.start(f"{SHOP}/")
    await source.do(Click(element=source.id("link")))
    await source.do(Type(element=source.id("textbox", "text"), text="typed"))
    branch = await equal_branch(branches, source)
    looks = """function () { return [
        this.documentElement.outerHTML, this.referrer, this.URL, this.lastModified.length,
        Object.keys(window).sort(), performance.getEntriesByType('navigation')[0].responseStatus,
        performance.getEntriesByType('navigation')[0].serverTiming.length]; }"""
    assert await source.run(looks) == await branch.run(looks)
    parsed = await branch.run("function () { return noted.filter((one) => one !== 'childList'); }")
    assert parsed == []


async def test_capturing_changes_nothing_and_records_nothing(branches: Branches) -> None:
    branches.site.page(STORES, headers={"set-cookie": "a=b"})
    branches.site.page("<script>localStorage.b = 1</script><a href=/>x</a>", "/b")
    source = await branches.session(records=frozenset({Recording.REQUESTS}))
    await source.start(f"{FORUM}/b")
    await source.do(Goto(url=f"{SHOP}/"))
    source.drain()
    await source.run("""function () { window.noted = 0;
        new MutationObserver(() => { noted += 1; }).observe(document,
          {subtree: true, attributes: true, childList: true, characterData: true});
        for (const kind of ['focus', 'blur', 'storage', 'visibilitychange', 'resize', 'scroll'])
          addEventListener(kind, () => { noted += 1; }, true);
        return 1; }""")
    record = await source.session.network()
    asked = len(branches.site.requests)
    state = await source.session.capture()
    assert {one["origin"] for one in state.storage[""]} == {SHOP, FORUM}
    assert state.tabs[0].unread_origins == (FORUM,)
    assert await source.run("function () { return noted; }") == 0
    assert await source.session.network() == record
    assert len(branches.site.requests) == asked
    assert source.drain().visits == ()
    await source.do(NewTab())
    assert [tab.index for tab in source.seen.tabs] == [0, 1]


async def test_redirects_errors_fragments_and_history_entries(branches: Branches) -> None:
    site = branches.site
    site.page("", "/old", status=302, headers={"location": "/new?x=1"})
    site.page(
        """<h1>Gone</h1><a href=#part>part</a><p id=part style=margin-top:2000px>part</p>
        <button onclick="history.pushState(1, '', '/else')">push</button>""",
        "/new",
        status=404,
    )
    source = await branches.session()
    await source.start(f"{SHOP}/old")
    await source.do(Click(element=source.id("link", "part")))
    branch = await equal_branch(branches, source)
    assert branch.session.url == f"{SHOP}/new?x=1#part"
    assert branch.session.status == 404
    await source.do(Click(element=source.id("button", "push")))
    state = await source.session.capture()
    assert (state.tabs[0].has_moved, state.tabs[0].url) == (True, f"{SHOP}/else")
    moved = await branches.session(state)
    await moved.restore(with_fields=False)
    assert moved.session.url == f"{SHOP}/new?x=1"
    assert (first_difference(source.seen, moved.seen) or "").startswith("the URL is")
    await moved.session.adopt_ids(source.seen)
    await moved.do(Click(element=moved.id("link", "part")))
    await moved.do(Click(element=moved.id("button", "push")))
    assert moved.session.url == f"{SHOP}/else"
    assert site.asked("/new") == 1


async def test_frames_and_parts_are_asked_of_the_site_as_usual(branches: Branches) -> None:
    site = branches.site
    site.page("<p>outer</p><iframe src=/></iframe><script src=/more.js></script>")
    site.page("document.title = 'more'", "/more.js", content_type="text/javascript")
    inner = Answer(body=b"<p>inner</p>")
    site.answers["/"].then = inner
    source = await branches.session()
    await source.start(f"{SHOP}/")
    before = {path: site.asked(path) for path in ("/", "/more.js")}
    branch = await equal_branch(branches, source)
    assert branch.shows("paragraph", "inner")
    assert {path: site.asked(path) - before[path] for path in before} == {"/": 1, "/more.js": 1}


async def test_a_restored_page_is_captured_and_restored_again(branches: Branches) -> None:
    branches.site.answers["/"] = Answer(
        body=MENU.encode(), headers={"set-cookie": "a=b"}, then=Answer(body=b"<p>other")
    )
    source = await branches.session()
    await source.start(f"{SHOP}/")
    child = await equal_branch(branches, source)
    await child.do(Click(element=child.id("button", "menu")))
    newest = child.id("button", "Save")
    first = child.seen
    state = await child.session.capture()
    assert state.tabs[0].actions == 0
    grandchild = await branches.session(state)
    assert not await grandchild.restore()
    assert {node.id for node in grandchild.seen.nodes}.isdisjoint({*range(1, newest + 1)})
    await grandchild.do(Click(element=grandchild.id("button", "menu")))
    assert await grandchild.session.adopt_ids()
    assert first_difference(first, await grandchild.see()) is None
    assert await grandchild.do(Back()) == "there is no page to go back to"
    assert branches.site.asked("/") == 1
