"""The scripts that arms put into documents: looks as style sheets, and what lies over a page."""

from __future__ import annotations

import json
from typing import Final, assert_never

from orchestrator.gateway.detours import ACCEPT, WALL
from orchestrator.gateway.variations import Variation, VariationKind

# A colour keeps its hue, so that red still warns; pictures are turned back.
_DARK: Final = (
    ":root{background:#fff;filter:invert(.92) hue-rotate(180deg);color-scheme:light}"
    "img,video,canvas,iframe,embed,object{filter:invert(1) hue-rotate(180deg)}"
)
_LARGE: Final = ":root{{font-family:Georgia,'DejaVu Serif',serif;zoom:{}%}}"
# No element of the document: a style sheet of its own, which no policy on styles forbids.
_STYLED: Final = (
    "const s=new CSSStyleSheet();s.replaceSync({});"
    "document.adoptedStyleSheets=[...document.adoptedStyleSheets,s];"
)
_NOTICE_STYLE: Final = (
    ":host{all:initial}"
    "div{position:fixed;left:0;right:0;bottom:0;z-index:2147483647;display:flex;gap:16px;"
    "align-items:center;justify-content:space-between;padding:12px 20px;background:#1f2937;"
    "color:#fff;font:15px/1.4 sans-serif}button{font:inherit;padding:6px 14px;flex:none}"
)
# Its words stand in a shadow tree beside the body: no text of the page that a check may read.
_NOTICE: Final = (
    "document.addEventListener('DOMContentLoaded',()=>{"
    "const h=document.createElement('site-notice'),r=h.attachShadow({mode:'open'}),"
    "e=(n,t)=>{const x=document.createElement(n);x.textContent=t;return x},"
    "d=e('div',''),p=e('span','We have updated our terms of use. They apply from today.'),"
    "b=e('button','Dismiss notice'),c=new CSSStyleSheet();"
    f"c.replaceSync({json.dumps(_NOTICE_STYLE)});r.adoptedStyleSheets=[c];"
    "d.setAttribute('role','dialog');d.setAttribute('aria-label','Notice');"
    "b.type='button';b.addEventListener('click',()=>h.remove());"
    "d.addEventListener('keydown',k=>{if(k.key==='Escape')h.remove()});"
    "d.append(p,b);r.append(d);document.documentElement.append(h)});"
)
_WALL_STYLE: Final = (
    ":host{all:initial}"
    "dialog{width:100vw;height:100vh;max-width:none;max-height:none;margin:0;padding:0;border:0;"
    "background:rgba(15,23,42,.8);font:15px/1.5 sans-serif}"
    "dialog[open]{display:flex;align-items:center;justify-content:center}"
    "div{box-sizing:border-box;width:90%;max-width:520px;padding:24px;background:#fff;color:#111}"
    "h2{margin:0 0 12px;font-size:20px}p{margin:0 0 20px}"
    "button{font:inherit;padding:8px 18px;margin-right:12px}"
)
# A modal dialog: all behind it is inert until one of the two buttons was clicked, and no key that
# closes dialogs helps. Its words stand where those of a notice do.
_WALL: Final = (
    "document.addEventListener('DOMContentLoaded',()=>{"
    "const h=document.createElement('site-consent'),r=h.attachShadow({mode:'open'}),"
    "e=(n,t)=>{const x=document.createElement(n);x.textContent=t;return x},"
    "d=e('dialog',''),b=e('div',''),c=new CSSStyleSheet(),"
    "k=t=>{const x=e('button',t);x.type='button';"
    "x.addEventListener('click',()=>{h.remove()});return x};"
    f"c.replaceSync({json.dumps(_WALL_STYLE)});r.adoptedStyleSheets=[c];"
    f"d.setAttribute('aria-label',{json.dumps(WALL)});"
    "d.addEventListener('cancel',v=>v.preventDefault());"
    "d.addEventListener('close',()=>{if(h.isConnected)d.showModal()});"
    f"b.append(e('h2',{json.dumps(WALL)}),"
    "e('p','We and our partners store cookies to measure visits and to show offers. Choose whether"
    " we may.'),"
    f"k({json.dumps(ACCEPT)}),k('Reject all'));"
    "d.append(b);r.append(d);document.documentElement.append(h);d.showModal()});"
)


def script_of(variation: Variation, number: int) -> str:
    """Return what a variation does in the N-th document of an episode; empty for nothing."""
    match variation.kind:
        case VariationKind.LOOK_DARK:
            return _STYLED.format(json.dumps(_DARK))
        case VariationKind.LOOK_LARGE:
            return _STYLED.format(json.dumps(_LARGE.format(variation.parameter)))
        case VariationKind.PAGE_NOTICE:
            return _NOTICE if number == variation.parameter else ""
        case VariationKind.PAGE_WALL:
            return _WALL if number == variation.parameter else ""
        case VariationKind.LOOK_MOBILE | VariationKind.NETWORK_FLAKY | VariationKind.NETWORK_SLOW:
            return ""
        case VariationKind.CONTENT:
            return ""
        case _:
            assert_never(variation.kind)
