"""What an agent says beside its answer: what it did, where it read it, and kind words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
  | (?:many\s)?thanks(?:\s(?:again|a\slot|so\smuch|very\smuch
    |for\s(?:asking|waiting|your\s\w+)))?
  | thank\syou(?:\s(?:again|so\smuch|very\smuch|for\s(?:asking|your\s(?:question|patience))))?
  | please|got\sit|done|all\sdone|gladly|(?:with|my)\spleasure|no\sproblem|understood|perfect
  | good\snews|cheers|enjoy|have\sfun
  | (?:i(?:'ve|\shave)\s)?(?:completed|finished|done)\sthe\stask|as\sof\s(?:now|today)
  | after\s(?:some|a\s(?:quick|bit\sof|little))\s(?:search(?:ing)?|digging|research|browsing|look)
  | (?:just\s)?ask\s(?:me\s)?if\syou\sneed\s(?:anything|something)\selse
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
    r"|(?:you|one)(?: can|'ll| will) (?:take|use|write to|reach|call|find|see|get|contact)"
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
    downloaded looked look looking checked check checking opened open opening
    searched search searching
    went going go navigated navigating visited visit visiting reviewed reviewing examined
    verified confirm confirmed used use using clicked click clicking logged sorted sorting filtered
    filtering browsed through requested scrolled scrolling read reading counted counting
    compared comparing
    entered selected chose picked typed ran followed hovered copied expanded inspected noted
    noticed located accessed switched loaded viewed viewing scanned consulted queried asked took
    pressed tapped set put added up summed exported displayed printed written visible mentioned
    reported labelled labeled marked need needed find finding see seeing here then into through
    after first to now finally next down over under below above out back behind beside again new
    around near ascending descending low high alphabetically getting grouped can counts typed
    hours times prices date order name can able managed matching relevant corresponding
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
    directions planner widget cell cells body intro introduction grid grids dialog popup toolbar
    timesheet timesheets inventory stock sales revenue statistics stats analytics members rules
    marketing coupons invoices bookings tickets catalogues users accounts licence license readme
    changelog releases branches tags feed timeline board boards queue wishlist basket cart checkout
    receipt receipts prices menus search app's us country countries region breakdown
    rating ratings programme helpdesk specification specifications spec specs
    contributors submissions activity cms crm erp hr employees staff balances payroll payslips
    appointments events agenda contacts notifications commits milestones merge pull requests
    pipelines builds suppliers vendors parcels shipments returns refunds transactions payments
    payouts subscriptions expenses claims votes ranking standings leaderboard fixtures roster
    sorting period range dates
    policy terms feature profile
    banner tracker entry attachment announcement notice register
    listing listings schedules nearby opening hours pipeline leave byline infobox article articles
""")
_TITLED: Final = words("""
    under button tab section menu panel report column field heading labelled labeled
""")
_FOUND: Final = r"""
    (?:\bfound\s(?:in|on|under|at)\sthe\s[\w\s']{1,60}?\sthat\b
    |\b(?:found|saw|see|counted|noticed|noted|learned|confirm|confirmed|verified|discovered|copied
    |got|read|learnt|determined|it\sshows)\b(?!\s(?:in|on|under|by)\b)(?:\sout)?(?:\sthat\b)?(?:\sit\b(?=\s?:))?:?)
"""
# How a clause begins that says what the agent did.
_DID: Final = re.compile(
    r"""
    ^\W*(?:(?:so|then|first|next|finally|now|to\s(?:find|answer)\s(?:this|it|that)),?\s)?(?:
      (?:i|we)(?:'ve|\shave|\scan)?\b | (?:(?:after|by|when|on|in|upon)\s)?\w+ing\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# Where what an agent did may end, and what it found begin.
_FINDS: Final = re.compile(
    rf"""{_FOUND}|[;:]|(?:,(?:\sand)?|\sand)(?=\s(?:{VALUE}|(?:it|its|the|their|there|they|this|that
    |your|where|yes|no|on|in|at)\b|{SAID}))""",
    re.IGNORECASE | re.VERBOSE,
)
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
    |(?:is\sthere\s)?anything\selse\b|(?:can|could|shall|should|may)\si\s\w+
    |(?:would|do)\syou\s(?:like|want|need)\b|what\san?\s\w+|have\s(?:a|an|fun)\b
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


def _told_alone(statement: str, known: Known) -> str:
    """Return a statement without the longest clause ahead that says what the agent did."""
    for end in sorted(_ends(statement), reverse=True):
        clause, told = statement[:end], statement[end:]
        is_read = _READ.match(clause) is not None and _names_it(told, known)
        if VALUE not in clause and told.strip() and _is_aside(clause, known, is_read=is_read):
            return told
    return statement


def _ends(statement: str) -> set[int]:
    """Return where the clause ahead may end that says what the agent did."""
    did = _DID.match(statement)
    if did is None:
        return set()
    ahead = statement.partition(VALUE)[0]
    tells = _TELLING.search(ahead)  # what follows is told, and no more of what was done
    until = tells.end() if tells is not None else len(ahead)
    ends = {found.end() for found in _FINDS.finditer(statement, 0, len(ahead) + 1)}
    ends = {end for end in ends if end <= until}
    if did.group().endswith("ing"):
        comma = ahead.find(",") + 1
        ends = {end for end in (*ends, comma) if 0 < comma <= end}
    return ends


_TELLING: Final = re.compile(r":|\bthat\b")
# It only read, so what it read matters nothing to a whole sentence behind it.
_READ: Final = re.compile(
    r"\W*(?:(?:i|we)(?:'ve|\shave)?|after|by)\s(?:open|check|look|read|search|download|view|visit|go"
    r"|went|filter|sort|scroll|review|examin|consult|brows|navigat)\w*\b",
    re.IGNORECASE,
)
_POINTING: Final = words("it it's its they their them there this that these those he she his her")


def _names_it(told: str, known: Known) -> bool:
    """Say whether a clause names what it speaks of in the question's words, and points nowhere."""
    tokens = {one.casefold() for one in tokens_of(told)}
    said = [one for one in _contents(told) if known.says(one)]
    return _POINTING.isdisjoint(tokens) and len(said) > 1


# What is offered may leave the answer in doubt, or unfinished.
_AGAIN_OR_MORE: Final = words("""
    check double-check recheck re-check verify verified confirm certain rest remaining again
    recount precise exactly filter exclude excluding include including narrow restrict only
""")
_OFFERING: Final = words("would should could may")


@dataclass(frozen=True, slots=True)
class Known:
    """What the question or the type explains.

    Attributes:
        says: whether a word is explained.
        turns: whether words that turn a meaning stand as the question has them.
        is_source: whether a word is where the question takes its facts from.
    """

    says: Callable[[str], bool]
    turns: Callable[[Sequence[str]], bool]
    is_source: Callable[[str], bool]


def without_asides(statement: str, known: Known) -> str:
    """Return a statement without the clauses that leave its value as it is."""
    if VALUE not in statement and (
        _is_kind(statement, known) or _labels_the_asked(statement, known)
    ):
        return ""
    if VALUE not in statement and _is_doing(statement, known) and not _TELLS.search(statement):
        return ""
    if VALUE not in statement and _SOURCE_NAMED.match(statement):
        return "" if _names_a_place(statement.partition(" ")[2], known) else statement
    where = _WHERE.match(statement)  # `On the page, I can see that …`
    if (
        where is not None
        and _DID.match(statement[where.end() :])
        and _is_aside(where.group(), known)
    ):
        statement = statement[where.end() :]
    statement = _told_alone(statement, known)
    if VALUE not in statement:
        return "" if _is_doing(statement, known) else statement
    statement = _as_told(statement, known)
    for found in reversed(list(_WHERE.finditer(statement))):
        starts = statement[: found.start()].strip() == ""
        text = found.group().strip(" ,;:()–—-")
        is_place = text.casefold().startswith(("in ", "on ", "at ", "by "))
        ends = found.group().endswith(",")
        if (is_place and not (starts and ends)) or (starts and not ends):
            continue
        if _names_a_place(re.sub("^per (?=the|its|your)", "", text, flags=re.IGNORECASE), known):
            statement = f"{statement[: found.start()]} {statement[found.end() :]}"
    return statement


_SOURCE_NAMED: Final = re.compile(
    rf"\W*(?:source:\s|see\s(?:on |in |under )?the\b"
    rf"|{SAID}+\s(?:it |this |that )(?:on|in|under) the\b)",
    re.IGNORECASE,
)


def _names_a_place(clause: str, known: Known) -> bool:
    said = {token.casefold().removesuffix("'s") for token in tokens_of(clause)}
    return _is_aside(clause, known) and not _PLACES.isdisjoint(said)


# A place where things can be read, so that a noun before it says which: `weather page`.
CARRIERS: Final = SOURCES - words("article") | words("""
    tab panel report log tracker column field box calendar data map file document banner board feed
    menu grid record records listing timetable schedule register directory sheet
    history notes details information search policy
""")
_ADJECTIVE: Final = re.compile(r"\w+(?:ed|ing|ous|ish|ful|less|able|ible|ive|est|'s)$")
_OF_ANOTHER: Final = words("""
    old older new newer current draft test demo sample example mirror beta backup rival competitor
    fake trash spam unofficial similar other preview staging legacy partner sister fan gossip satire
    rumour rumor parent child sibling neighbour error wrong ex
""")
# `The status page says that …`, `The wiki gives the height as …`
_TOLD: Final = re.compile(
    rf"""^\W*((?:the|its|this|that|{SAID})\b[^{VALUE},;:]*?)\s(?:also\s|clearly\s)?
    (?:shows?|states?|says|lists?|gives?|reports?|mentions|indicates?|names|displays?|notes|confirms
    |specifies|records|offers)\b(\sthat\b)?:?""",
    re.IGNORECASE | re.VERBOSE,
)


def _as_told(statement: str, known: Known) -> str:
    """Return what a source tells without it: `the height is …`, of `the wiki gives it as …`."""
    found = _TOLD.match(statement)
    if found is None or not _is_aside(found[1], known):
        return statement
    tokens = [one.casefold() for one in tokens_of(found[1])]
    ties = (at for at, one in enumerate(tokens) if at and one in _TIES)
    heads = [one for one in tokens[: next(ties, len(tokens))] if one[0].isalpha()]
    head = heads[-1] if heads else ""
    told = statement[found.end() :]
    if head not in CARRIERS | {"article"} and not (heads[1:] and known.is_source(head)):
        return statement
    if found[2] is None:
        told = _AS.sub(" is", told, count=1)
        if not any(map(known.says, _contents(told))):
            return statement
    return told


_TIES: Final = words("of on in for at about from with to attached")
_AS: Final = re.compile(rf"(?<=\w)\sas(?=\s{VALUE})")


def _contents(text: str) -> Iterator[str]:
    """Yield the words of a text that say something of their own."""
    for token in map(str.casefold, tokens_of(text)):
        if token[0].isalpha() and token not in FUNCTION | FRAME and not is_turning(token):
            yield token


# What follows is said of what was asked.
_TELLS: Final = re.compile(r"[:;]|\bthat\b")


def _is_doing(statement: str, known: Known) -> bool:
    return _AGENT.match(statement) is not None and _is_aside(statement, known)


def _is_kind(statement: str, known: Known) -> bool:
    if _KIND.match(statement) is None:
        return False
    named = (one for one in tokens_of(statement)[1:] if one[0].isupper() and one != "I")
    if not all(known.says(one.casefold()) for one in named):
        return False  # another candidate
    tokens = {token.casefold() for token in tokens_of(statement)}
    return tokens.isdisjoint((_DOUBTS | _CLAIMS | _AGAIN_OR_MORE) - _OFFERING)


def without_politeness(bare: str) -> str:
    """Return a text without what is mere politeness, and without lines of nothing else."""
    letters = list(bare)
    for start, end in politeness(bare):
        letters[start:end] = " " * (end - start)
    lines = "".join(letters).split("\n")
    return "\n".join(line for line in lines if line.strip(" .!,:*-•"))


def lead_in(text: str, known: Known) -> str:
    """Return the clause ahead of a text that says what the agent did or where it looked."""
    where = _WHERE.match(text)
    for end in sorted(_ends(text) | ({where.end()} if where is not None else set())):
        clause = text[:end].rstrip()
        if clause.endswith((",", ":", "that")) and _is_aside(clause, known):
            return text[:end]
    return ""


# What kind of thing a name, a number or a state of the question is.
ASKED_OF: Final = words("""
    person user customer member name status state week month year project product item order
    invoice ticket issue label category role repository store account place city from to date
    coupon code title article forum query search film movie event day venue company employee
    author topic post comment station street route hotel restaurant country county
""")
_LABELLED: Final = re.compile(r"^[\s*•-]*([a-z]+)\s?[:=]\s*(\S[^:=]*)$", re.IGNORECASE)


def _labels_the_asked(statement: str, known: Known) -> bool:
    """Say whether a line only says of what the question asks: `Week: 12`."""
    found = _LABELLED.match(statement)
    if found is None or found[1].casefold() not in ASKED_OF:
        return False
    tokens = [one for one in tokens_of(found[2]) if one.strip(SAID)]
    said = all(known.says(one.casefold()) and not is_turning(one.casefold()) for one in tokens)
    return said and not _DOUBTS.intersection(map(str.casefold, tokens))


def _is_aside(clause: str, known: Known, *, is_read: bool = False) -> bool:
    """Say whether every word of a clause says what was done or where something stands.

    Args:
        is_read: whether any noun behind an article may be where something was read.
    """
    clause = _TITLE.sub(SAID, clause)
    written = [one for one in tokens_of(clause) if one.strip(SAID)]
    folded = [one.casefold() for one in written]
    turns = known.turns([one for one in folded if not (is_turning(one) and one in _DOINGS)])
    for at, word in enumerate(folded):
        if not word[0].isalnum() and word not in {"?", "~", "<", ">", "+"}:
            continue
        if word == ">" and written[at - 1][0].isupper() and written[at + 1 : at + 2] != []:
            continue  # from menu to menu
        behind = folded[at + 1 : at + 2]
        if is_turning(word):
            is_part = not _PARTS.isdisjoint(behind) and word in _COUNTED
            if turns or word in _DOINGS or is_part:
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
            or known.says(word)
            or _says_which(written, at)
            or (is_read and written[at - 1] in {"the", "your", "my", "its"} and _is_noun(word))
        ):
            continue
        if not (written[at][0].isupper() and _is_title(folded, written, at)):
            return False
    return True


def _says_which(written: Sequence[str], at: int) -> bool:
    """Say whether a noun only says which place it stands before: `weather`, of `weather page`."""
    return _is_noun(written[at]) and any(one in CARRIERS for one in written[at + 1 : at + 2])


def _is_noun(word: str) -> bool:
    is_word = word.isalpha() and word.islower()
    return is_word and word not in _OF_ANOTHER and _ADJECTIVE.match(word) is None


# What a button, heading or page is called, in quotes.
_TITLE: Final = re.compile(
    r"\"[^\"\n]{1,60}\"(?=\s(?:page|tab|section|button|box|field|column|menu|link|panel|heading"
    r"|header|filter|report|view|list|table|row)\b)"
    r"|(?<=field )\"[^\"\n]{1,60}\"|(?<=section )\"[^\"\n]{1,60}\"|(?<=tab )\"[^\"\n]{1,60}\""
)
_PARTS: Final = words("page pages section paragraph row line column tab result results entry")
_COUNTED: Final = words("first second third fourth fifth last next")


def _is_title(folded: list[str], written: list[str], at: int) -> bool:
    """Say whether a capital begins or goes on with what a button or heading is called."""
    begin, end = at, at
    while begin and (written[begin - 1][0].isupper() or not written[begin - 1][0].isalnum()):
        begin -= 1
    while end < len(written) and (written[end][0].isupper() or not written[end][0].isalnum()):
        end += 1
    if ">" in written[begin:end]:
        return True
    beside = {*folded[max(0, begin - 1) : begin], *folded[end : end + 1]}
    is_clicked = end - begin == 1 and folded[max(0, begin - 2) : begin] == ["clicked", "on"]
    return is_clicked or not _TITLED.isdisjoint(beside)
