"""What an agent says beside its answer: what it did, where it read it, and kind words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from evaluators.answers.words import (
    FRAME,
    FUNCTION,
    HEDGES,
    NEGATIONS,
    REVOCATIONS,
    SAID,
    SOURCES,
    VALUE,
    is_turning,
    tokens_of,
    words,
)

# Sentences, openings and endings that are mere politeness, or that only announce an answer.
_POLITE: Final = r"""
    sure(?:\sthing)?|certainly|unfortunately|sadly|luckily|fortunately
  | of\scourse|absolutely|ok(?:ay)?|alright|great(?:\squestion)?|well
  | thus|hence|therefore|hi(?:\sthere)?|hello(?:\sthere)?
  | (?:many\s)?thanks(?:\s(?:again|a\slot|so\smuch|very\smuch))?
  | thank\syou(?:\s(?:again|so\smuch|very\smuch|for\s(?:asking|your\s(?:question|patience))))?
  | please|got\sit|done|all\sdone|gladly|(?:with|my)\spleasure|no\sproblem|understood|perfect
  | good\snews|cheers|enjoy|have\sfun
  | (?:the\s)?task\s(?:(?:is|has\sbeen)\s)?(?:completed?|done|finished)
  | here\s(?:you\sgo|it\sis|you\sare|they\sare)|in\s(?:short|summary|conclusion|total|all)
  | all\sin\sall|to\ssummari[sz]e|to\sanswer\syour\squestion|finally|as\srequested
  | (?:i'm\s|i\sam\s)?(?:happy|glad)\s(?:to|i\scould)\shelp(?:\syou)?
  | (?:i\s)?hope\s(?:this|that|it)\s(?:helps(?:\syou)?|is\shelpful|answers\s(?:your|the)\squestion)
  | (?:please\s)?let\sme\sknow\sif\s(?:you\s(?:need|want|have|would\slike)|there\sis|there's)
    \s(?:anything|something|any|more|further)(?:\s(?:else|more|other|further))?
    (?:\s(?:help|questions?|information|details))?
    (?:\s(?:i\scan\s(?:do|help\s(?:you\s)?with)|from\sme))?
  | feel\sfree\sto\s(?:ask|reach\sout)(?:\s(?:me|again))?
  | is\sthere\sanything\selse(?:\s(?:i\scan\s(?:do|help\s(?:you\s)?with)|you\sneed))?\??
  | you(?:'re|\sare)\s(?:very\s)?welcome|have\sa\s(?:nice|great|good|wonderful)\s(?:day|one|evening)
  | (?:best|kind|warm)\s(?:regards|wishes)|regards|sincerely
  | that(?:'s|\sis)\s(?:it|all|the\sanswer|my\s(?:final\s)?answer)
"""
_POLITE_PART: Final = re.compile(
    rf"(?:^|(?<=[.!?\n,;:(-])\s*)(?:{_POLITE})(?=\s*(?:[.!,;:)\n]|\s-|$))",
    re.IGNORECASE | re.VERBOSE,
)
# Several words that say nothing, or what single words of theirs would turn.
_PHRASES: Final = re.compile(
    r"\b(?:here (?:is|are) (?:the|your|my) (?:list|table|answers?|results?)"
    r"|as (?:per|shown on|stated on|listed on) the (?:page|site|website|article|table)|so far"
    r"|in total|in all|all in all|(?:that|the (?:final )?answer|it) would(?: then)? be|adds? up to"
    r"|(?:you|one) can (?:take|use|write to|reach|call|find|see|get|contact)"
    r"|can be (?:reached|found|seen|called|contacted|read)|sums? up to"
    r"|at all times?(?= is\b)|with certainty|without (?:a )?doubt)\b",
    re.IGNORECASE,
)


def politeness(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text is mere politeness, or says nothing."""
    for pattern in (_POLITE_PART, _PHRASES):
        for found in pattern.finditer(text):
            yield found.end() - len(found.group().lstrip()), found.end()


# What an agent does to find an answer.
_DOINGS: Final = words("""
    looked look looking checked check checking opened open opening searched search searching
    went going go navigated navigating visited visit visiting reviewed reviewing examined
    verified confirmed used use using clicked click clicking logged sorted sorting filtered
    filtering browsed scrolled scrolling read reading counted counting compared comparing
    entered selected chose picked typed ran followed hovered copied expanded inspected noted
    noticed located accessed switched loaded viewed viewing scanned consulted queried asked took
    pressed tapped set put added up summed exported displayed printed written visible mentioned
    reported labelled labeled marked need needed find finding see seeing here then into through
    after first to now finally next down over under below above out back behind beside again new
    ascending descending alphabetically can counts typed hours times prices date order name
    price number so too also all each every both which where right top bottom left
""") - words("again behind left right")
# Where an agent finds one.
_PLACES: Final = SOURCES | words("""
    button link links tab tabs menu list lists panel dashboard report reports filter filters
    column columns row rows field fields box bar results history profile settings header heading
    headings sidebar footer foot view details detail overview sections infobox timetable
    schedule status map places maps archive index catalog catalogue inbox folder folders file
    files document documents sheet spreadsheet calendar account store shop admin browser app
    tool form option options dropdown label labels caption text line lines title titles
    description summary chart graph log logs data source sources record records entries
    paragraph paragraphs contact imprint encyclopedia newspaper homepage wiki forum project
    repository product products order orders customer customers item items articles sites thread
    threads post posts comments reviews issues tickets label database directory route routes
    directions planner widget cell cells body intro introduction
""")
_TITLED: Final = words("""
    under button tab section menu panel report column field heading labelled labeled
""")
_FOUND: Final = r"""
    \b(?:found|saw|see|counted|noticed|noted|learned|confirmed|verified|discovered|copied|got
    |it\sshows)\b(?!\s(?:in|on|under|by)\b)(?:\sout)?(?:\sthat\b)?(?:\sit\b(?=\s?:))?:?
"""
# A clause that says what the agent did, up to what it found.
_DID: Final = re.compile(
    rf"""
    ^\W*(?:(?:so|then|first|next|finally|now|to\s(?:find|answer)\s(?:this|it|that)),?\s)?(?:
      (?:i|we)(?:'ve|\shave|\scan)?\b[^{VALUE}]*?
      (?:{_FOUND}|[;:]|,(?=\s(?:and\s)?(?:it|the|there|they|your|where)\b))
    | (?:(?:after|by|when|on|in|upon)\s)?\w+ing\b[^,{VALUE}]*,
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_AGAIN: Final = re.compile(rf"^[^{VALUE}]*{_FOUND}", re.IGNORECASE | re.VERBOSE)
_AGENT: Final = re.compile(
    r"\W*(?:(?:then|so|next|finally),?\s)?(?:i|we)(?:'ve|\shave)?\b", re.IGNORECASE
)
# A clause that says where the answer stands.
_WHERE: Final = re.compile(
    rf"""
    [\s,;:(–—-]*(?<!\w)(?:
      (?:as|this\sis|it\sis|it's|which\sis|that\sis)?\s?(?:also\s)?(?:shown|listed|stated|given
      |seen|displayed|printed|indicated|mentioned|written|found|visible|reported|according\sto
      |per|source:|see|based\son|taken\sfrom|read\s(?:on|in|from))
    | (?<=\()from|(?:it|the\s\w+)\ssays\sso|as\sthe\s[\w\s]+\s(?:says|shows|states)(?=\W*$)
    | (?:in|on|at|by)\sthe
    )\b[^{VALUE},;()]*(?:\)|$|,(?=\s)|(?=;))""",
    re.IGNORECASE | re.VERBOSE,
)
_KIND: Final = re.compile(
    r"""
    ^\W*(?:(?:i\s|we\s)?(?:really\s|do\s)?hope\b|hopefully\b|(?:i'm\s|i\sam\s)?(?:so\s)?(?:glad
    |happy)\b|(?:good|best\sof)\sluck\b|enjoy\b|let\sme\sknow\b|feel\sfree\b
    |(?:is\sthere\s)?anything\selse\b|can\si\s(?:help|do)\b|what\san?\s\w+|have\s(?:a|an|fun)\b
    |congrat\w+|all\sthe\sbest\b|sleep\swell|get\swell\b|(?:safe|happy|nice|good|great)\s(?:travels?|trip|journey
    |shopping|birthday|day|night|evening|morning|weekend|flight|reading|holidays?|cooking)\b
    |i\swish\b|please\s(?:let|feel|tell)|don't\shesitate|wishing\syou\b|take\scare
    |tell\syour\s\w+\s(?:hello|hi)|sorry\sabout\sthat
    |(?:he|she|they|you)(?:\swill|'ll)\s(?:love|like|enjoy))[^\d]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_DOUBTS: Final = (NEGATIONS | HEDGES | REVOCATIONS) - words("sorry other or if")
_CLAIMS: Final = words(
    "right correct accurate true current still exact answer value number so sure enough"
)


def without_asides(statement: str, is_known: Callable[[str], bool]) -> str:
    """Return a statement without the clauses that leave its value as it is.

    Args:
        statement: with its values masked.
        is_known: says whether a word is explained by the question or the type.
    """
    if VALUE not in statement and _is_kind(statement):
        return ""
    found = _DID.match(statement)
    if found is not None:
        last = _AGAIN.match(statement)
        end = max(found.end(), last.end() if last is not None else 0)
        if _is_aside(statement[:end], is_known):
            statement = statement[end:]
    if VALUE not in statement:
        agent = _AGENT.match(statement)
        return "" if agent and _is_aside(statement, is_known) else statement
    for found in reversed(list(_WHERE.finditer(statement))):
        starts = statement[: found.start()].strip() == ""
        text = found.group().strip(" ,;:()–—-")
        is_place = text.casefold().startswith(("in ", "on ", "at ", "by "))
        ends = found.group().endswith(",")
        if (is_place and not (starts and ends)) or (starts and not ends):
            continue
        if _is_aside(text, is_known) and not _PLACES.isdisjoint(map(str.casefold, tokens_of(text))):
            statement = f"{statement[: found.start()]} {statement[found.end() :]}"
    return statement


def _is_kind(statement: str) -> bool:
    if _KIND.match(statement) is None:
        return False
    tokens = {token.casefold() for token in tokens_of(statement)}
    return tokens.isdisjoint(_DOUBTS | _CLAIMS)


def _is_aside(clause: str, is_known: Callable[[str], bool]) -> bool:
    """Say whether every word of a clause says what was done or where something stands."""
    written = [one for one in tokens_of(clause) if one.strip(SAID)]
    folded = [one.casefold() for one in written]
    for at, word in enumerate(folded):
        if not word[0].isalnum() and word not in {"?", "~", "<", ">", "+"}:
            continue
        behind = folded[at + 1 : at + 2]
        if is_turning(word):
            if word in _DOINGS or (not _PARTS.isdisjoint(behind) and word in _COUNTED):
                continue
            return False
        if word in _DOUBTS or not word[0].isalnum():
            return False
        bare = word.removesuffix("'s")
        if (
            bare in _DOINGS
            or bare in _PLACES
            or bare in FUNCTION
            or bare in FRAME
            or is_known(word)
        ):
            continue
        if not (written[at][0].isupper() and _is_title(folded, written, at)):
            return False
    return True


_PARTS: Final = words("page pages section paragraph row line column tab result results entry")
_COUNTED: Final = words("first second third fourth fifth last next")


def _is_title(folded: list[str], written: list[str], at: int) -> bool:
    """Say whether a capital begins or goes on with what a button or heading is called."""
    begin, end = at, at
    while begin and (written[begin - 1][0].isupper() or not written[begin - 1][0].isalnum()):
        begin -= 1
    while end < len(written) and (written[end][0].isupper() or not written[end][0].isalnum()):
        end += 1
    beside = {*folded[max(0, begin - 1) : begin], *folded[end : end + 1]}
    is_clicked = end - begin == 1 and folded[max(0, begin - 2) : begin] == ["clicked", "on"]
    return is_clicked or not _TITLED.isdisjoint(beside)
