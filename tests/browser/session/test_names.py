"""The page watcher names elements as Chromium does, in the ways that pages name them."""

from __future__ import annotations

import pytest
from support.worlds.named_by_chromium import differences, opened

pytestmark = pytest.mark.browser

_STYLE = """
.u{text-transform:uppercase}
.l{text-transform:lowercase}
.c{text-transform:capitalize}
.b::before{content:"→ "}
.a::after{content:" (new)"}
.blk{display:block}
.ib{display:inline-block}
.ct{display:contents}
.vh{visibility:hidden}
.dn{display:none}
.sr{position:absolute;clip:rect(0 0 0 0);width:1px;height:1px;overflow:hidden}
.q::before{content:"a\"b" "c"}
.alt::after{content:"★" / "star"}
.blkb::before{content:"blk";display:block}
.emp::before{content:""}
.ctr::before{content:counter(x) ". "}
.im::before{content:url(x.png)}
"""
_PAGE = """
<a href=#1 class=u>Straße link</a><a href=#2 class=l>LOUD Link</a>
<a href=#4 class=b>before</a><a href=#5 class=a>after</a>
<button><span class=blk>one</span><span class=blk>two</span></button><button><span class=ib>one</span><span class=ib>two</span></button><button>a<b>b</b>c</button><button>line<br>break</button>
<button><img src="x.png" alt="Alt text"></button><button><img src="x.png" alt=""> icon</button><button aria-label="Close it">x</button><button title="A title"></button><button title="A title">text</button>
<button><svg width=9 height=9><title>Svg title</title><path d="M0 0h9v9z"/></svg></button>
<button>visible<span class=dn>none</span><span class=vh>hid</span><span class=sr>reader</span></button><button><span aria-hidden=true>x</span>seen</button>
<div role=button tabindex=0><span aria-label="inner label">ignored</span> rest</div><div role=button tabindex=0>  spaced   out  </div>
<label>Name <input id=i1></label><label for=i2>For label</label><input id=i2><input placeholder="Ph"><input title=T placeholder=P><input aria-labelledby="h1 h2"><span id=h1>First</span><span id=h2 hidden>Hidden second</span>
<input type=submit><input type=reset><input type=button value=Go><input type=image alt=Img src=x.png><input type=image src=x.png><input type=checkbox id=c1><label for=c1>Tick <b>me</b></label><input type=radio aria-label=R>
<label>Pick <select><option>One</option><option selected>Two</option></select> please</label><label>Qty <input type=number value=3> pieces</label>
<select aria-label=S><optgroup label=G><option>x</option></optgroup></select><textarea placeholder="Write"></textarea><label>Area<textarea>content</textarea></label>
<h1>Heading <small>sub</small></h1><h2 class=u>Upper <a href=#6>inner</a></h2><fieldset><legend>Legend <i>it</i></legend><input></fieldset><table><caption>Cap</caption><tr><th>H<td>d</table>
<details open><summary>Sum <b>mary</b></summary>body</details><a href=#7><div>block <p>para</p></div>tail</a><a href=#8><span class=ct><span>cont</span>ents</span></a>
<div contenteditable aria-label=Edit>text</div><div contenteditable>plain</div><div role=tab>Tab<sup>2</sup></div><div role=checkbox aria-checked=true>Chk</div><div role=navigation aria-label=Nav>x</div><div role=dialog aria-labelledby=dh><h3 id=dh>Dialog head</h3></div>
<a href=#9 aria-labelledby=self1 id=self1 aria-label="own label">content</a><a href=#10><img src=x.png title="img title"></a><a href=#11 title=tt><img src=x.png></a><img src=x.png title=onlytitle width=9 height=9><a href=#12>x&nbsp;y</a><a href=#13>a
  b</a><button><span>in</span> <span>line</span></button><a href=#14><ul><li>one<li>two</ul></a><a href=#15><table><tr><td>c1<td>c2</table></a><button disabled>dis</button><div role=link tabindex=0>rl</div><div role=listbox aria-label=lb><div role=option>op</div></div><div role=textbox contenteditable>tb</div><meter value=.5>half</meter><a href=#16><q>quoted</q></a><a href=#17><abbr title="World Wide">WW</abbr></a><div tabindex=0>focusable text</div><input type=search aria-label="" title="fallback"><input type=file><label>File <input type=file></label><input type=date aria-label=D><input type=color title=col><input type=range aria-labelledby=nope title=rng>
<a href=#20 class=c>well met</a><a href=#22 class=q>q</a><a href=#24 class=blkb>x</a><a href=#25 class=emp>e</a><input type=file multiple><input type=image title=ti src=x.png><a href=#26><i class=b></i>icon</a><a href=#27 class="u b">Both</a><label class=b for=zz>Lab</label><input id=zz><a href=#28><svg aria-label=sl></svg></a><a href=#29><svg><g><title>deep</title></g></svg>t</a><a href=#30><span role=img aria-label=Ri></span></a><a href=#31 class=im>im</a><h3 class=b>hb</h3><a href=#32><img alt="" title=tt src=x.png>n</a>
<h3>Counted <span role=group>25</span> so</h3><h3>A <fieldset>B</fieldset></h3><h3>A <span role=toolbar>B</span></h3><h3>A <span role=list>B</span></h3><h3>A <details open><summary>S</summary>B</details></h3><h3>A <nav>B</nav></h3><h3>A <figure>B</figure></h3><h3>A <form>B</form></h3><h3>A <article>B</article></h3><h3>A <span role=status>B</span></h3><a href=#33>A <span role=menu>B</span></a><h3 aria-labelledby=gr>A</h3><div id=gr>X <span role=group>B</span></div><label>L <span role=group>B</span><input></label>
"""  # noqa: E501  whitespace inside elements counts


async def test_every_way_to_name_an_element_gives_the_browsers_own_name() -> None:
    async with opened() as page:
        await page.set_content(f"<!doctype html><style>{_STYLE}</style>{_PAGE}")
        assert await differences(page) == []


async def test_a_difference_would_be_seen() -> None:
    async with opened() as page:
        await page.set_content("<button><progress value=.3></progress>Go</button>")
        assert await differences(page) == [
            "button 'Go', not '0.3 Go': <button><progress value=\".3\"></progress>Go</button>"
        ]
