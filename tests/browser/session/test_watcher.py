"""What the watcher reports, and that pages can neither see, silence nor forge it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_core.actions import Click, Press, Select, Type
from evaluators.evidence import ElementEvent

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_click_is_reported_with_path_role_name_text_and_page(drive: Drive) -> None:
    await drive.open("<main><p>one<button>no</button></p><button id=b>Add to  cart</button></main>")
    assert await drive.do(Click(element=drive.id("button", "Add to cart"))) is None
    (acted,) = drive.drain().acted
    assert acted.event is ElementEvent.CLICK
    assert (acted.path, acted.tag, acted.role) == ("#b", "button", "button")
    assert (acted.name, acted.text, acted.logical) == ("Add to cart", "Add to cart", "shop:/")


async def test_a_click_that_navigates_away_at_once_is_reported_on_the_page_it_was_on(
    drive: Drive,
) -> None:
    drive.site.page("<p>next", "/next")
    await drive.open(
        "<script>addEventListener('mousedown', () => {}, true)</script>"
        "<a href=/next onclick=\"location.href='/next'\">go</a>"
    )
    await drive.do(Click(element=drive.id("link", "go")))
    activity = drive.drain()
    assert [(a.name, a.logical) for a in activity.acted] == [("go", "shop:/")]
    assert [visit.logical for visit in activity.visits] == ["shop:/next"]


async def test_a_page_that_stops_events_and_replaces_dom_methods_cannot_silence_it(
    drive: Drive,
) -> None:
    await drive.open("""
        <script>
          for (const type of ['click', 'mousedown', 'pointerdown'])
            addEventListener(type, (e) => {
              e.stopImmediatePropagation();
              e.preventDefault();
            }, true);
          EventTarget.prototype.addEventListener = () => {};
          JSON.stringify = () => '{}';
          Element.prototype.closest = () => null;
          Element.prototype.getAttribute = () => 'forged';
          window.arenaReport = () => {};
        </script><button>quiet</button>""")
    await drive.do(Click(element=drive.id("button", "quiet")))
    assert [acted.name for acted in drive.drain().acted] == ["quiet"]


async def test_events_that_scripts_make_are_not_reported(drive: Drive) -> None:
    await drive.open("""
        <input id=i><button id=b onclick="
          i.value = 'forged';
          for (const type of ['input', 'change', 'click'])
            i.dispatchEvent(new Event(type, {bubbles: true}));
          document.querySelector('a').click();
          i.dispatchEvent(new MouseEvent('click', {bubbles: true, isTrusted: true}));
        ">real</button><a href=#x>link</a>""")
    await drive.do(Click(element=drive.id("button", "real")))
    assert [(acted.event, acted.tag) for acted in drive.drain().acted] == [("click", "button")]


async def test_a_page_sees_no_trace_of_it(drive: Drive) -> None:
    await drive.open("""
        <p id=out></p><button>b</button><script>
          const ours = (name) => /arena|cdp|playwright/i.test(name);
          const plain = Object.getOwnPropertyNames(window).filter(ours);
          let moved = 0;
          new MutationObserver((list) => { moved += list.length; }).observe(
            document, {subtree: true, childList: true, attributes: true, characterData: true});
          const before = document.documentElement.outerHTML;
          addEventListener('click', () => {
            const same = before === document.documentElement.outerHTML;
            const seen = [plain.length, typeof arenaReport, typeof arena, moved, same];
            out.textContent = seen.join(' ');
          });
        </script>""")
    await drive.see()
    await drive.session.read_own("button")
    await drive.do(Click(element=drive.id("button", "b")))
    assert await drive.text("#out") == "0 undefined undefined 0 true"


async def test_typing_is_reported_once_with_the_live_value_and_change_and_submit_follow(
    drive: Drive,
) -> None:
    drive.site.page("<p>found", "/s")
    await drive.open("<form action=/s><label>Search <input name=q value=old></label></form>")
    field = drive.id("textbox", "Search")
    await drive.do(Type(element=field, text="kéttle ☕ 電", submit=True))
    activity = drive.drain()
    assert [(a.event, a.value) for a in activity.acted] == [
        ("click", "old"),
        ("input", "kéttle ☕ 電"),
        ("change", "kéttle ☕ 電"),
        ("submit", None),
    ]
    assert activity.acted[1].name == "Search"


async def test_a_password_is_never_reported_not_even_when_the_page_shows_it(drive: Drive) -> None:
    await drive.open(
        "<input id=p type=password aria-label=Secret>"
        "<button onclick=\"p.type='text'\">show</button>"
    )
    secret = drive.id("textbox", "Secret")
    await drive.do(Type(element=secret, text="hunter2"))
    await drive.do(Click(element=drive.id("button", "show")))
    await drive.do(Type(element=secret, text="hunter22"))
    reported = drive.drain().acted
    assert [a.event for a in reported].count(ElementEvent.INPUT) == 2
    assert "hunter2" not in str(reported)
    assert "hunter2" not in str(await drive.session.read_own("#p", "value"))


async def test_a_chosen_option_is_reported_by_its_label_as_one_trusted_change(drive: Drive) -> None:
    await drive.open("""
        <label>Colour <select id=s onchange="out.textContent += event.isTrusted + s.value + ' '">
          <option value=r>Red <option value=x disabled>Out
          <option value=g>Green <option value=b>Blue
        </select></label><p id=out>""")
    await drive.do(Select(element=drive.id("combobox", "Colour"), option="Blue"))
    acted = drive.drain().acted
    changes = [(a.role, a.name, a.value) for a in acted if a.event is ElementEvent.CHANGE]
    assert changes == [("combobox", "Colour", "Blue")]
    assert await drive.text("#out") == "trueb"


async def test_a_click_on_an_icon_counts_for_the_button_around_it(drive: Drive) -> None:
    await drive.open(
        "<button aria-label=Close>"
        "<svg width=40 height=40><circle r=20 cx=20 cy=20 /></svg></button>"
    )
    await drive.do(Click(element=drive.id("button", "Close")))
    assert [(a.tag, a.name) for a in drive.drain().acted] == [("button", "Close")]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_events_in_frames_of_any_origin_count_for_the_page_around_them(
    drive: Drive, host: str
) -> None:
    drive.site.page("<button onclick=\"this.textContent='ouch'\">inner</button>", "/frame")
    await drive.open(
        f"<h1>outer</h1><iframe style='margin:70px' src=http://{host}:{drive.site.port}/frame></iframe>"
    )
    assert await drive.do(Click(element=drive.id("button", "inner"))) is None
    assert [(a.name, a.logical) for a in drive.drain().acted] == [("inner", "shop:/")]
    assert drive.shows("button", "ouch")


async def test_events_in_a_popup_are_reported_from_its_first_document_on(drive: Drive) -> None:
    drive.site.page("<button>in popup</button>", "/popup")
    await drive.open("<a href=/popup target=_blank rel=noopener>open</a>")
    await drive.do(Click(element=drive.id("link", "open")))
    await drive.do(Click(element=drive.id("button", "in popup")))
    named = [(a.name, a.logical) for a in drive.drain().acted]
    assert named == [("open", "shop:/"), ("in popup", "shop:/popup")]


async def test_paths_fit_one_element_whatever_the_page_calls_its_elements(drive: Drive) -> None:
    await drive.open("""
        <div id="a:b.c"><i>x</i><button>one</button></div>
        <div id=twin><button>two</button></div><div id=twin><button>three</button></div>
        <button id="1st">four</button>""")
    for name in ("one", "two", "three", "four"):
        await drive.do(Click(element=drive.id("button", name)))
    acted = drive.drain().acted
    for each in acted:
        assert await drive.session.read_own(each.path) == (each.name,)


async def test_shadow_roots_are_seen_into(drive: Drive) -> None:
    await drive.open("""
        <my-card></my-card><script>
          const root = document.querySelector('my-card').attachShadow({mode: 'open'});
          root.innerHTML = '<button>deep</button>';
        </script>""")
    await drive.do(Click(element=drive.id("button", "deep")))
    (acted,) = drive.drain().acted
    assert (acted.name, acted.path) == ("deep", "html > body > my-card >>> button")


@pytest.mark.parametrize(
    ("html", "role", "name"),
    [
        (
            "<button aria-labelledby='x y'></button><i id=x>Big</i> <i id=y>deal</i>",
            "button",
            "Big deal",
        ),
        ("<a href=#><img alt=Home src=data:,></a>", "link", "Home"),
        ("<label for=c>Accept</label><input id=c type=checkbox>", "checkbox", "Accept"),
        ("<input type=submit>", "button", "Submit"),
        ("<input type=search placeholder=Find>", "searchbox", "Find"),
        ("<button><span>Add</span><div>now</div></button>", "button", "Add now"),
        (
            "<button>A<span hidden>hidden</span><span aria-hidden=true>x</span></button>",
            "button",
            "A",
        ),
        ("<div role=tab tabindex=0 title=Tip></div>", "tab", "Tip"),
        ("<textarea aria-label=Note></textarea>", "textbox", "Note"),
    ],
)
async def test_role_and_name_are_those_of_the_accessibility_tree(
    drive: Drive, html: str, role: str, name: str
) -> None:
    await drive.open(f"<style>* {{ min-width: 20px; min-height: 20px }}</style>{html}")
    assert await drive.do(Click(element=drive.id(role, name))) is None
    assert (role, name) in [(a.role, a.name) for a in drive.drain().acted]


async def test_keys_that_activate_a_button_count_as_a_click(drive: Drive) -> None:
    await drive.open("<button autofocus>go</button>")
    await drive.do(Press(keys="Enter"))
    assert [(a.event, a.name) for a in drive.drain().acted] == [("click", "go")]


async def test_half_a_code_point_on_a_page_or_in_a_field_breaks_nothing(drive: Drive) -> None:
    await drive.open(
        "<title>x</title><button>go</button><script>document.title = 'half \\ud83d';"
        "document.querySelector('button').textContent = 'go \\ud83d'</script>"
    )
    assert await drive.do(Click(element=drive.id("button"))) is None
    (acted,) = drive.drain().acted
    assert (acted.name, acted.text) == ("go \ufffd", "go \ufffd")
