"""What a question lets its answer say: its words, numbers, names and titles, in their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final

from evaluators.answers import words as words_of
from evaluators.answers.cleaning import plain
from evaluators.answers.days import Day, find_days
from evaluators.answers.roles import NO_ROLES, SOURCE, Roles, is_agent, read_roles
from evaluators.answers.synonyms import other_words
from evaluators.answers.words import SAID, TOKEN, VALUE, tokens_of

_SENTENCE: Final = re.compile(r"(?<=[.!?:])\s+|\n+")
_IS_POLAR: Final = re.compile(
    r"(?:^|[.!?:,]\s)(?:and )?(?:is|are|was|were|does|do|did|has|have|can)\b([^?]*)\?",
    re.IGNORECASE,
)
_SHORTEST_REPEATED: Final = 3
_REACH: Final = 8
_QUOTED: Final = re.compile(r"\"([^\"\n]{3,200})\"|(?<!\w)'([^'\n]{3,200})'(?!\w)|“([^”]{3,200})”")
# Pieces that are no mere words: `f/coffee`, `v2.0`, `£39.50`, `#12`.
_PIECE: Final = re.compile(
    r"[^\s,;()\"?!]*[^\w\s,;()\"'?!.-][^\s,;()\"?!]*|\w+(?:[._]\w+)+|\d+(?:-\d+)+"
    r"|[A-Z]+(?:-\w*\d\w*)+"
)
# `May` is a month, and a hedge.
_MONTH: Final = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?:,? \d{4})?\b"
)
_JOINED: Final = re.compile(r"[A-ZÀ-Þ]\w+ & [A-ZÀ-Þ]\w+")
_IN_WORDS: Final = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty) [a-z]+ [a-z]+s\b"
)
# `one-star` is no number either.
_COMPOUND: Final = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)-[a-z]+\b", re.IGNORECASE
)
# `Three Tuns` is no number.
_NUMBER_NAME: Final = re.compile(
    r"(?:One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Twelve|Hundred)(?: [A-Z]\w+)+"
)
_NUMBER: Final = re.compile(r"(?<![\w.,-])\d+(?:[.,:]\d+)*(?![\w]|[-.,:]\d)")
_COUNTED: Final = re.compile(
    r"\b(?:how (?:many|much)(?: of (?:the|my|our|your|its|their|these|those)(?: \d+)?)?|number of"
    r"|count (?:all )?(?:the|my|our|your)"
    r"|(?:(?:what|which|who) (?:is|was|are|were)|what's|who's|name of|answer with|tell me|give me"
    r"|show me|find|get|list|name|report|return|state|give|look up|provide|i need|determine)"
    r"(?: (?:all|the|its|her|his|their|my|our|your|full|short|one|any|an?))+"
    r"|what (?:is|was|are|were) [^?]{1,40}?'s"
    r"|(?:which|what) of (?:the|these|those|my|our|your)(?: (?:two|three|four|five|\d+))?"
    r"|which|what)(?=((?: [\w'-]+){1,5}))"
)
_PART_OF: Final = re.compile(r"\bhow (?:much|many) of (?:the|its|my|our|your|their|his|her) (\w+)")
_INCLUDED: Final = re.compile(
    r"(\w+) (?:included|excluded)\b|\b(?:including|excluding) (\w+)|\b(?:with|plus|before|after"
    r"|without|minus|less|adding|add)(?: (?:the|an?|any|all|its|of|sales|[\d.,]+|%|percent))*"
    r" (tax(?:es)?|vat|gst|duty|shipping|delivery|postage|surcharge|tip)\b"
)
_IMPERATIVE: Final = re.compile(
    r"(?:(?<=^)|(?<=[.?!:,] )|(?<=\band ))"
    r"(?:answer|look|open|take|find|use|list|tell|show|go|read|give|say|report|return"
    r"|(?:state|name|count|check|identify|determine|provide|look up|work out|give)"
    r"(?= (?:the|whether|which|all|how)\b))\b",
    re.IGNORECASE,
)
_WHO_DOES: Final = re.compile(r"\b(?:who|which [\w'-]+|what [\w'-]+) ([a-z]+s)\b")
# `complains`, of `which reviewer of the lamp complains that it is dark?`
_DOES: Final = re.compile(
    r"\b(?:who|which|what) (?!(?:is|are|was|were|do|does|did|has|have|can)\b)(?:[\w'-]+ )+?"
    r"(?<!of )(?<!the )(?<!in )([a-z]+(?<!s)s) (?:that|the|an?|my|our|your|this|about|to)\b"
)
_OR: Final = re.compile(r"\b(?:about|of|with|on|in|for|by|on) ([a-z]+ or [a-z]+)\b")
_NAME: Final = r"(?:[A-ZÀ-Þ][\w'&.-]*(?: [A-ZÀ-Þ][\w'&.-]*)*|\d[\d.,:]*)"
_CHOICE: Final = re.compile(
    rf"({_NAME})((?:, (?:the |an? )?{_NAME})*),? (?:or|and|than|versus|vs\.?) "
    rf"(?:the |an? |in |of |does |from )?({_NAME})"
)


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent words that turn what they stand with.

    Attributes:
        words: as they stand.
        ahead, behind: the normal forms of the words of content right before and behind them; empty
            where a verb that only links or a stop stands there.
        asks: whether `which` or `what` stands right behind them.
        beyond: the normal form of the word of content behind the one right behind them.
    """

    words: tuple[str, ...]
    ahead: str
    behind: str
    asks: bool = False
    beyond: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, as far as the words of its answer are concerned.

    Attributes:
        stems: the normal forms of its words.
        runs: its words that turn what they stand with, each run with its surroundings.
        names: its words with a capital, in lower case.
        pairs: each two words of it that stand side by side.
        wholes: of what it asks how much: no answer to it by itself.
        parts: what it says is included, or is not: no answer to it by itself.
        verbs: the normal forms of the words that look like verbs.
        whole: how an answer may repeat all of it.
        phrases: its sentences, titles and odd pieces, any of which an answer may repeat.
        numbers: as it writes them.
        days: its dates.
        polar: the words with content of a question of yes or no, in their order.
        counted: the nouns that it asks a number of.
        kinds: the nouns behind `which` and `what`.
        open_prepositions: that end a clause of it: the answer's name may stand behind them.
        choices: groups of names or numbers that it holds against one another.
        coordinated: the words on either side of `and` or a comma, in their order.
        roles: what its words are in it.
        derived: what its verbs share with the nouns made of them.
        instead: what an answer may say for words of it.
    """

    stems: frozenset[str] = frozenset()
    runs: frozenset[Run] = frozenset()
    verbs: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    wholes: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()
    whole: re.Pattern[str] | None = None
    phrases: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    days: frozenset[Day] = frozenset()
    polar: tuple[str, ...] = ()
    counted: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    open_prepositions: frozenset[str] = frozenset()
    choices: tuple[frozenset[tuple[str, ...]], ...] = field(default=())
    coordinated: tuple[str, ...] = ()
    roles: Roles = NO_ROLES
    derived: frozenset[str] = frozenset()
    instead: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    def lets_turn(self, run: Run) -> bool:  # noqa: PLR0911 - one return a rule
        """Say whether it has a run of turning words in the same place.

        That is before the same word, before any where it stands before none; a negation before the
        same alone; `below` and its like behind the same word, and before any of the question's.
        """
        if any(word in words_of.NEVER for word in run.words):
            return False
        for one in self.runs:
            if one.words == ("all", *run.words) and one.behind == run.behind != "":
                return True  # `at all last quarter`
            if _is_latest(one, run) and (run.behind, one.behind) in self.roles.doers:
                return True  # the last departure, where it is the last ferry that departs
            if not (_means_the_same(one.words, run.words) or _is_latest(one, run)):
                continue
            if run.words[0] in _MOST and one.ahead == run.behind != "":  # read the most, most read
                return True
            if run.words == ("up",) and one.ahead == run.ahead != "":
                return True
            if run.words[0] in words_of.PLACES:
                stands_so = one.ahead == run.ahead and run.behind in self.stems | {""}
                is_let = one.asks or one.behind == run.behind == "" or stands_so
            else:
                is_free = run.behind == "" or (one.behind == "" and run.behind != VALUE)
                is_let = one.behind == run.behind != "" or run.behind in {"one", "ones"}
                is_let |= is_free and words_of.NEGATIONS.isdisjoint(run.words)
                is_let |= _is_farther(one, run, self.stems)
            if is_let:
                return True
        return False


_MOST: Final = words_of.words("most highest greatest largest biggest")
_LATEST: Final = words_of.words("last newest")
_LEAST: Final = words_of.words("least fewest lowest smallest")


def _means_the_same(one: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether two runs are the same, or each a word for the most or for the least."""
    return one == other or any({*one, *other} <= same for same in (_MOST, _LEAST))


def _is_farther(one: Run, run: Run, stems: frozenset[str]) -> bool:
    """Say whether a word of the question stands between: `the last Sunday ferry`."""
    says_which = run.behind in stems and words_of.NEGATIONS.isdisjoint(run.words)
    return says_which and one.behind == run.beyond != ""


def _is_latest(one: Run, other: Run) -> bool:
    """Say whether both are of the last of something; not `at the latest`."""
    return {*one.words, *other.words} <= _LATEST and "" not in {one.behind, other.behind}


NO_QUESTION: Final = Question()


def _in_order(bare: str) -> str:
    """Return a question with what it asks for in front: `on which date`, of `the date on which`."""
    return _RELATIVE.sub(lambda found: f"{found[2].capitalize()} which {found[1]} ", bare)


_RELATIVE: Final = re.compile(
    r"^(?:please )?(?:tell me|give me|give|state|name|report|find|find out|look up|show me|get"
    r"|provide|i need) the (\w+) (on|at|in|to|for|from|by) which ",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def read_question(text: str) -> Question:
    """Return what a question lets its answer say."""
    bare = plain(text)
    if not bare:
        return NO_QUESTION
    asked = _IMPERATIVE.sub("", _in_order(bare))
    tokens = [token.casefold() for token in tokens_of(asked)]
    folded = bare.casefold().replace("\n", " ")
    counted, kinds = set[str](), set[str]()
    for found in _COUNTED.finditer(folded):
        is_kind = not found.group().startswith(("how", "number", "count"))
        (kinds if is_kind else counted).update(_head_noun(found[1].split()))
    stems = frozenset(
        words_of.normal(part)
        for token in tokens
        for part in (token, token.removesuffix("ly"), *words_of.parts_of(token))
    )
    deeds = {words_of.normal(re.sub(r"[eo]rs?$", "", one)) for one in tokens if is_agent(one)}
    stems |= deeds
    days = frozenset(
        span.value for span in find_days(bare) if span.value is not None and span.value.day
    )
    stems |= _implied(folded) | (_ITS_DAY if days or _SLASHED.search(bare) else frozenset())
    roles = read_roles(_in_order(bare), frozenset(counted | kinds))
    return Question(
        stems=stems,
        runs=frozenset(turning_runs(tokens)),
        names=frozenset(one.casefold() for one in tokens_of(bare) if one[:1].isupper()),
        pairs=frozenset(pairwise(tokens)),
        wholes=frozenset(words_of.normal(found[1]) for found in _PART_OF.finditer(folded)),
        parts=frozenset(
            words_of.normal(found[1] or found[2] or found[3])
            for found in _INCLUDED.finditer(folded)
        ),
        verbs=frozenset(_verbs(tokens, folded)) | roles.bases | deeds,
        whole=re.compile(
            r"(?:\b(?:question|q)\s*:\s*)?" + r"\s+".join(map(re.escape, text.split())),
            re.IGNORECASE,
        ),
        phrases=tuple(sorted(filter(_says_something, _phrases(bare)), key=len, reverse=True)),
        numbers=frozenset(_NUMBER.findall(bare)),
        days=days,
        polar=tuple(_polar(bare)),
        counted=frozenset(counted),
        kinds=frozenset(kinds),
        open_prepositions=frozenset(_open_prepositions(tokens)),
        choices=tuple(_choices(bare)),
        coordinated=tuple(_coordinated(tokens)),
        roles=roles,
        derived=frozenset().union(*map(words_of.derived, _deriving(tokens, folded, roles))),
        instead=other_words(tokens, stems),
    )


def _deriving(tokens: Sequence[str], folded: str, roles: Roles) -> Iterator[str]:
    """Yield the verbs of a question, and each as it stands without an ending too.

    Where a noun is asked for, its verbs say of which: `the reduction` is not `the price`. So do
    verbs of a clause beside.
    """
    if _ASKS_NOUN.search(folded):
        return
    verbs = {*_verbs(tokens, folded), *roles.bases}
    is_beside = False
    for ahead, one in pairwise((".", *tokens)):
        is_beside = (is_beside or (one in _CLAUSES and ahead.isalnum())) and one not in _STOPS
        if words_of.normal(one) in verbs and not is_beside:
            yield from (one, f"{one}e")


_ASKS_NOUN: Final = re.compile(
    r"\b(?:(?:what|which)(?:'s| is| was| are| were)|work out|look up|calculate|compute|determine"
    r"|find|give|state|name|report|provide|list|tell|return)(?: me)? the\b"
)
_CLAUSES: Final = words_of.words("that which who if after before once because while when where")
_STOPS: Final = frozenset(".,;?!")


def turning_runs(tokens: Sequence[str]) -> Iterator[Run]:
    """Yield each run of turning words with its surroundings; determiners do not count in them."""
    at = 0
    while at < len(tokens):
        end = at
        while end < len(tokens) and words_of.is_turning(tokens[end]):
            end += 1
        if end > at:
            run = tuple(tokens[at:end])
            denies = not words_of.NEGATIONS.isdisjoint(run)
            behind = _beside(_uncoordinated(tokens[end : end + _REACH]), links=denies)
            asks = tokens[end : end + 1] in (["what"], ["which"])
            ahead = _beside(tokens[max(0, at - _REACH) : at][::-1])
            beyond = _beside(tokens[end + 1 : end + 2]) if behind else ""
            yield Run(run, ahead, behind, asks, beyond)
        at = max(end, at + 1)


def _uncoordinated(tokens: Sequence[str]) -> Sequence[str]:
    """Return what stands behind `and last` of `first and last name`."""
    while tokens[:1] == ["and"] and len(tokens) > 1 and words_of.is_turning(tokens[1]):
        tokens = tokens[2:]
    return tokens


def _beside(tokens: Sequence[str], *, links: bool = False) -> str:
    """Return the first word of content; the empty text where another comes first.

    Args:
        tokens: away from the run.
        links: whether words without content count too.
    """
    for token in tokens:
        if token in words_of.DETERMINERS or token in {'"', "'s"} or token.strip(SAID) == "":
            continue
        if token[0].isdigit():  # of the question; any other is looked at by itself
            continue
        if token == VALUE:
            return VALUE
        is_content = token[:1].isalnum() and (links or token not in words_of.FUNCTION)
        return words_of.normal(token) if is_content else ""
    return ""


def _verbs(tokens: Sequence[str], folded: str) -> Iterator[str]:
    yield from (words_of.normal(one) for one in tokens if words_of.looks_like_verb(one))
    for does in (_WHO_DOES, _DOES):
        yield from (words_of.normal(found[1]) for found in does.finditer(folded))


def _head_noun(following: Sequence[str]) -> Iterator[str]:
    """Yield the words of a noun phrase: up to the first word of another kind."""
    for number, word in enumerate(following):
        stop = word in words_of.FUNCTION or word in {"can", "will", "would", "did"}
        stop |= number > 0 and (word.endswith("ed") or word in words_of.PAST)
        if stop and not (number == 0 and word == "of"):
            return
        if not stop:
            yield words_of.normal(word)


def _implied(folded: str) -> frozenset[str]:
    """Return the words that a question word stands for."""
    implied = set[str]()
    for asked, meant in _MEANT.items():
        if re.search(rf"\b{asked}\b", folded):
            implied |= {words_of.normal(word) for word in meant.split()}
    return frozenset(implied)


_SLASHED: Final = re.compile(r"\b\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}\b")
_ITS_DAY: Final = words_of.words("day date")
_MEANT: Final = {
    "who|whom|whose": "person name",
    "who (?:opened|created|posted|submitted|filed)": "author",
    "pending|cancell?ed|complete|completed|closed|open|shipped|overdue|on hold": "status",
    "did i (?:last |first )?order": "placed",
    "fees?|charges?|rent|fare|tuition|admission": "cost fee pay paid",
    "how high|height": "elevation altitude height",
    "address|where|(?:in|at|on) which": "located",
    "how much did .* (?:take|earn|make)": "revenue turnover income",
    "by (?:which date|which day|when|what date)|until when|due": "deadline due",
    "when .*(?:close|end)s?": "deadline",
    "where": "place city",
    "(?:which|what) (?:city|town|village|country|place)": "place",
    "when": "date time day",
    "how many": "number count quantity",
    "most|highest": "top",
    "in stock": "available",
    "left": "remain remaining balance",
    "outstanding": "due balance",
    "sku|price|stock|brand|rating": "product item",
    "how much": "amount sum",
    "how far": "away lies",
    "how heavy": "weight weigh",
    "^(?!which|who).*(?:price|costs?|how much|charges?)": "sell charge price cost pay paid",
    "how far|distance": "route way trip journey",
    "how (?:tall|high)|height": "stands",
    "revenue|turnover|income": "earn generate report make",
    "reviews?|reviewed|rated|rating": "customer product item",
    "spends?|spent|cost|pays?|paid": "money",
    "how long .*(?:walk|drive|ride|cycle|get|travel|go)": "travel journey trip route ride",
    "how long": "run running takes lasts runtime",
    "rate": "charge",
    "release": "version",
    "by (?:how|what|which) .*(?:reduced|discounted)": "discount reduction reduced off",
    "(?:what|which) (?:is |was )?(?:the )?(?:discount|reduction)": "discount reduction reduced off",
    "how (?:big|large)": "size",
    "how fast": "speed",
    "how (?:hot|cold|warm)": "temperature",
    "who": "one",
    "commits?": "author",
    "walk|walking|foot": "foot walk walking",
    "drive|driving|car": "car drive driving",
    "bicycle|bike|cycle|cycling": "bike bicycle cycling",
    "from when": "open opens",
    "total": "grand cost",
    "population": "people",
    "pay|paid|spend|spent": "cost",
    "did my .* cost": "paid",
    "pay back|paid back": "refund made",
    "why|reason": "because reason",
    "how old": "age",
    "search|searched": "term customer visitor",
    "cheapest|dearest|most expensive": "cost",
    "postcode": "code",
    "web ?site": "url",
    "weekday|day of the week": "day weekday",
}


def _polar(bare: str) -> Iterator[str]:
    found = _IS_POLAR.search(SOURCE.sub("", bare))
    if found is not None and " or " not in found[1]:
        yield from words_of.contents(tokens_of(found[1].casefold()))


def _phrases(bare: str) -> Iterator[str]:
    for whole in (bare, *_SENTENCE.split(bare)):
        short = whole.strip().rstrip(".?!:")
        if short.count(" ") >= _SHORTEST_REPEATED:
            yield short
    for found in _QUOTED.finditer(bare):
        yield found[1] or found[2] or found[3]
    for found in _JOINED.finditer(bare):
        yield found.group()
    for found in _PIECE.finditer(bare):
        piece = found.group().strip(".,:;'")
        if any(map(str.isalnum, piece)) and not piece.isalpha():
            yield piece
    yield from (found.group() for found in _MONTH.finditer(bare))
    yield from (found[1] for found in _OR.finditer(bare))
    yield from (found.group() for found in _IN_WORDS.finditer(bare))
    for pattern in (_NUMBER_NAME, _COMPOUND):
        yield from (found.group() for found in pattern.finditer(bare))


def _says_something(phrase: str) -> bool:
    """Say whether a phrase is more than what a question asks for where it has no answer."""
    return phrase.casefold() not in _NO_ANSWER and not words_of.is_turning(phrase.casefold())


_NO_ANSWER: Final = words_of.words("n/a na none null unknown nothing")


def _open_prepositions(tokens: Sequence[str]) -> Iterator[str]:
    for at, token in enumerate(tokens):
        after = tokens[at + 1] if at + 1 < len(tokens) else "."
        asks = after in {"which", "what", "whom", "who", "where", "when", "how"}
        ends = not after[:1].isalnum() or words_of.is_turning(after)
        is_assigned = tokens[at - 1].endswith("ed") and tokens[:1] == ["who"]
        if token == "to" and (after in words_of.PREPOSITIONS or is_assigned):  # noqa: S105 - a word
            ends = True
        if token in words_of.PREPOSITIONS - {"and", "as"} and (asks or ends):
            yield token


def _coordinated(tokens: Sequence[str]) -> Iterator[str]:
    parting = {"and", ","}
    words = [one for one in tokens if one not in words_of.DETERMINERS]
    for at, word in enumerate(words):
        beside = {*words[max(0, at - 1) : at], *words[at + 1 : at + 2]}
        if word[:1].isalpha() and word != "and" and not parting.isdisjoint(beside):
            yield words_of.normal(word)


def _choices(bare: str) -> Iterator[frozenset[tuple[str, ...]]]:
    for found in _CHOICE.finditer(bare):
        names = (found[1], *found[2].split(","), found[3])
        yield frozenset(
            tuple(token.casefold() for token in TOKEN.findall(name) if token[:1].isalnum())
            for name in names
            if name.strip()
        )
