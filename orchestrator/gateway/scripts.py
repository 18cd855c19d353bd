"""The scripts of arms: looks, what lies over a page, and what its parts are called or stand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
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
        case VariationKind.CONTENT | VariationKind.LABELS | VariationKind.PAGE_MOVED:
            return ""
        case _:
            assert_never(variation.kind)


# Where heads and feet of a page stand: what has no number, its content above all, stands at 0.
_PLACES: Final = ({"heads": 1, "feet": 2}, {"heads": 2, "feet": -1}, {"heads": 1, "feet": 0})


def page_script_of(variation: Variation, repeat: int, labels: Mapping[str, str]) -> str | None:
    """Return what a variation does in the agent's pages beside their own scripts; None for nothing.

    It is a function of one that it calls where it altered a document. It returns `rest` and
    `resume`, which take back what it did and do it again, and `asSent(look)`: what `look` finds
    where everything is named as the site names it.

    Args:
        variation: one of an arm.
        repeat: of the episode.
        labels: what the arm calls controls.
    """
    match variation.kind:
        case VariationKind.LABELS:
            return _with("labels.js", labels)
        case VariationKind.PAGE_MOVED:
            return _with("moved.js", _PLACES[int(drawn(variation, repeat, "", 0) * len(_PLACES))])
        case _:
            return None


def _with(file: str, setting: Mapping[str, object]) -> str:
    return f"(altered) => ({_source(file)})({json.dumps(dict(setting))}, altered)"


@cache
def _source(file: str) -> str:
    return (files("orchestrator.gateway") / file).read_text("utf-8")


def drawn(variation: Variation, repeat: int, asked: str, number: int) -> float:
    """Return a number from 0 up to 1: the same for each agent, whatever came before."""
    said = f"{variation.seed}/{repeat}/{number}/{asked}".encode()
    return int.from_bytes(hashlib.sha256(said).digest()[:8]) / 2**64
