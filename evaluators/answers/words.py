"""The English words that any answer may hold, and how words are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Stands for a value in a text whose values are masked.
VALUE: Final = "\ue000"
# Stands for words that are already explained.
SAID: Final = "\ue001"

TOKEN: Final = re.compile(
    rf"{VALUE}|\.{{2,}}|'s(?!\w)|{SAID}+|->|=>|\d+(?:[.,:/'-]\d+)*(?=\W|_|$)|\w+(?:['-]\w+)*(?:'(?=\s|$))?|[^\s\w]"
)
_NEWEST: Final = re.compile(r"\b(?:most recent|latest)\b", re.IGNORECASE)


def tokens_of(text: str) -> list[str]:
    """Return the words, numbers and signs of a text; different words for the newest are one."""
    return TOKEN.findall(_NEWEST.sub("newest", text))


# They give a sentence its form and say nothing of a value.
FUNCTION: Final = words("""
    the a an this that these those it its it's that's there there's here here's i i've my we
    we've our you your you've he him he's she she's her his they they're their them what what's
    which who who's whose whom where when how is are was were be been has have had having do such
    does did of in on at for with from by as to and so
""")
# What sentences that give an answer are made of.
FRAME: Final = words("""
    question q answer answer's answers result results final correct right response solution
    following requested asked found find saw seen show shows showing shown state states stated
    lists listed display displays displayed give gives given says read reads indicate indicates
    indicated call called name's named titled known exactly precisely just only namely total
    please got totals totaled totalled altogether overall currently one equal equals come comes
    current contain contains contained
    came amount amounts according based ones follows findings
""")
# Where an agent found it: `the page says`, but neither `page 47` nor `47 (page)`.
SOURCES: Final = words("""
    page pages site website article section table list entry web screen information info infobox
    dashboard
""")
TITLES: Final = words("mr mrs ms miss dr sir dame prof professor")
# `of` before a name makes it part of another thing, but not after these.
WHOLES: Final = words("""
    city town village country state county province region name title value island number total
    sum count amount year month day date time figure role
""")
LINKS_TO: Final = words(
    "sums sum adds comes come came amounts amount equal equals belongs corresponds assigned up"
)
CLAUSE: Final = words("""
    it it's its they they're he he's she she's there there's that that's this these those the
    you we i your our my is are was were does do did has have had can
""")
DETERMINERS: Final = words("the a an of my our your its their his her this that these those")
PREPOSITIONS: Final = words("of in on at for with from by as to and")

NEGATIONS: Final = words("""
    not no never none neither nor without cannot can't isn't wasn't aren't weren't don't doesn't
    didn't won't hasn't haven't hadn't nothing nobody nowhere except excluding unlike wrong
    incorrect false fails failed unable unknown
""")
HEDGES: Final = words("""
    or either maybe perhaps possibly probably likely presumably supposedly allegedly reportedly
    might could may should would guess think thought believe assume suspect unsure uncertain
    unclear seems seemingly apparently if unless whether depending alternatively otherwise
""")
REVOCATIONS: Final = words("""
    but however although though yet whereas while despite formerly previously until till wait
    correction oops sorry rather instead another other others
""")
# Not even the question lets an answer say them, but where it repeats the question itself.
NEVER: Final = (HEDGES | REVOCATIONS | words("neither nor except")) - words("other others another")
# The question lets an answer say them in the same place alone.
TURNING: Final = (
    NEGATIONS
    | REVOCATIONS
    | words("""
    more most less least fewer fewest than over under above below before after since between
    within about around approximately nearly almost up per each every all any some both only
    first second third fourth fifth last next previous former latter past former ex half double
    twice again times same different still ago later earlier best worst lower higher
""")
)

# Of these the place alone counts: they stand before another word of the question too.
PLACES: Final = words("above below under over before after between within")

_SUPERLATIVE: Final = re.compile(r"\w{2,}(?:est)$")
_NOUNS_IN_EST: Final = words("""
    request forest interest guest harvest contest test west nest rest chest invest protest quest
    suggest digest manifest arrest honest modest request
""")

# Words that are compared as one, the first of each line: forms of a verb, and who does it.
_VERBS: Final = """
    write wrote written writer writes writing
    make made maker makes making manufacturer
    sell sold seller sales
    buy bought buyer purchase purchased
    pay paid
    bear born birth birthplace birthplaces
    find found
    see saw seen sees
    send sent sender
    ship shipped shipping shipment dispatch dispatched
    take took taken
    begin began begun start started starts
    close closed closes closing shut shuts
    win won winner
    lead led leader
    hold held
    give gave given
    get got gotten
    leave left leaves depart departs departed departure departures
    choose chose chosen choice
    break broke broken
    drive drove driven
    fall fell fallen
    rise rose risen
    teach taught
    draw drew drawn
    meet met
    keep kept
    stand stood
    wear wore worn
    drink drank
    lose lost loses loss losses
    build built builder
    speak spoke spoken
    know knew known
    run ran runner
    submit submitted submitter submission submissions
    come came
    go went gone
    say said
    cost costs price prices priced
    spend spent
    reside live lives lived inhabitant inhabitants resident residents population
    concede conceded concedes
    calculate calculated calculation
    lie lies located location
    bring brought brings
    label labels labelled labeled labelling labeling
    employ employs employed employee employees
    assign assigned assigns assignee assignees
    commit commits committed committer
    weigh weighs weight
    fly flew flown flies flight flights
    die died dies death
    resolve resolved resolves resolution
    apply applied applies application applications
    grow grew grown growth
    publish published publishes publication publications publisher publishers
"""
# Forms of these that are verbs alone.
PAST: Final = words("""
    wrote made sold bought paid sent took began won led held gave got left lost built spoke knew ran
    came went said spent saw writes makes sells buys pays sends takes begins wins leads holds gives
    gets leaves loses builds speaks knows runs comes goes says spends sees
""")
_NOUNS: Final = """
    person people persons
    child children
    man men
    woman women
    foot feet
    city cities town towns
    telephone phone phones tel telephones
    email e-mail mail emails e-mails mails
    newest latest
    kilometre km kilometer kilometres kilometers
    review reviewer reviewed reviews
    comment commenter commented comments
    distance far away
    long length lasts lasted lasting duration
    century centuries
    write author
    member members user users
    height high tall
    width wide
    depth deep
    age old
"""


def _firsts(lines: str) -> dict[str, str]:
    split = (line.split() for line in lines.strip().split("\n"))
    return {form: forms[0] for forms in split for form in forms}


_IRREGULAR: Final = _firsts(_VERBS) | _firsts(_NOUNS)
_VERB_LEMMAS: Final = frozenset(_firsts(_VERBS).values())
# They belong to the verb before them: `paid back`.
PARTICLES: Final = words("back out off away in up down together there")


def is_turning(word: str) -> bool:
    """Say whether a word changes what it stands with: `not`, `more`, `second`, `cheapest`."""
    if word in TURNING or word.endswith("n't"):
        return True
    return _SUPERLATIVE.fullmatch(word) is not None and word not in _NOUNS_IN_EST


_ACCENT: Final = re.compile("[\u0300-\u036f]")


@lru_cache(maxsize=4096)
def normal(word: str) -> str:
    """Return the light normal form of a word: singular, without the ending of its tense."""
    bare = word.casefold()
    if not bare.isascii():
        bare = _ACCENT.sub("", unicodedata.normalize("NFKD", bare))
    for end in ("'s", "'"):
        bare = bare.removesuffix(end)
    shorter = bare.removesuffix("ing")
    for form in (bare, bare.removesuffix("s"), shorter, f"{shorter}e", _stem(bare)):
        if form in _IRREGULAR:
            return _IRREGULAR[form]
    return _stem(bare)


def _stem(word: str) -> str:
    for end, least, rest in (
        ("ies", 5, "y"),
        ("ing", 6, ""),
        ("ied", 5, "y"),
        ("ed", 5, ""),
        ("es", 5, ""),
        ("s", 4, ""),
    ):
        if word.endswith(end) and len(word) >= least and not word.endswith(("ss", "ees")):
            bare = word.removesuffix(end) + rest
            if rest == "" and bare[-1:] == bare[-2:-1] and bare[-1:] not in "lse":
                bare = bare[:-1]
            return bare.removesuffix("e")
    if word.endswith("ees"):
        word = word.removesuffix("s")
    return word.removesuffix("e") if len(word) > 3 else word  # noqa: PLR2004 - `the`


def derived(word: str) -> frozenset[str]:
    """Return what a verb and the nouns made of it share: `arriv`, of `arrival` and `arrived`."""
    bare = word.casefold().removesuffix("'s")
    ends = (found for end in _ENDINGS for found in [bare.removesuffix(end)] if found != bare)
    return frozenset(one for one in ends if len(one) >= _SHORTEST_STEM)


_SHORTEST_STEM: Final = 5
_ENDINGS: Final = words("""
    ation ations tion tions ion ions ment ments ance ence er ers or ors ing ed es e s t
    ts al als y ies
""")


def contents(tokens: Sequence[str]) -> Iterator[str]:
    """Yield the normal forms of the words with content."""
    yield from (normal(one) for one in tokens if one[:1].isalnum() and one not in FUNCTION)


def looks_like_verb(word: str) -> bool:
    """Say whether a word is written as a form of a verb."""
    if word.endswith(("tion", "tions", "sion", "sions", "ment", "ments", "ture", "tures")):
        return False
    return word not in _NO_VERBS and (word.endswith(("ed", "ing")) or normal(word) in _VERB_LEMMAS)


_NO_VERBS: Final = words("""
    meeting training wedding evening morning ceiling parking clothing string spring thing anything
    something nothing everything bed shed seed speed sales sale birth birthplace weight choice
    flight flights
    death resolution application applications growth loss losses
""")


def parts_of(word: str) -> Iterator[str]:
    """Yield a word, or the words that a hyphen joins."""
    yield from (part for part in re.split(r"[-_]", word) if part)
