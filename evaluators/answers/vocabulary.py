"""The words that may stand around a value, and those that never may: what `wording` goes by."""

from __future__ import annotations

import re
from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def any_of(text: str) -> str:
    """Return a pattern of alternatives, which stand on lines of their own or between `|`."""
    parts = (part.strip() for line in text.split("\n") for part in line.split("|"))
    return "|".join(part for part in parts if part)


# Anywhere in a text they take its value away.
NEGATIONS: Final = re.compile(
    r"\b(?:"
    + any_of(r"""
    not|never|none|neither|nor|without|cannot|cant|isnt|wasnt|arent|dont|doesnt|didnt|wont|isn
    nothing|nobody|nowhere|wrong(?:ly)?|incorrect(?:ly)?|false(?:ly)?|untrue|inaccurate
    mistake[ns]?|mistakenly|error|except(?:ing)?|excluding|excluded?|unlike|instead|rather
    fails? to|failed to|unable|impossible|infeasible|unknown|unavailable|unspecified|undefined
    hardly|barely|scarcely|far from|anything but|contrary|opposite|denies|denied|refuse[sd]?
    ruled? out|rejected|no longer|no one|lie|lying|fake|dummy|placeholder|no answer|n/a|nan
    """)
    + r")\b|n't\b|~|(?<![\w.])no\b(?!\.)"
)
HEDGES: Final = re.compile(
    r"\b(?:"
    + any_of(r"""
    or|either|maybe|perhaps|possibly|possible|probably|probable|likely|presumably|supposedly
    allegedly|reportedly|might|could|may|guess(?:ing|ed)?|think|thought|believe[sd]?
    suppose|assum(?:e|ed|ing)|suspect|imagine|unsure|uncertain|unclear|doubt(?:ful)?|seems?
    seemingly|appears to|apparently|if|unless|whether|depend(?:s|ing)|alternatively|otherwise
    sometimes|usually|normally|typically|often|hypothetically|e\.g|i\.e|for example
    for instance|such as|among|random|various|varies|any of|some of|one of|should be|would be if
    vs|versus|etc|(?:some|people|many|they|others) say|said to be|rumou?red
    """)
    + r")\b|\?|…|\.\.\."
)
REVOCATIONS: Final = re.compile(
    r"\b(?:"
    + any_of(r"""
    but|however|although|though|yet|whereas|while|despite|formerly|previously|originally
    used to|until|till|anymore|wait|correction|oops|sorry|scratch that|on second thought
    another|other|others|ignore|disregard|forget|pretend|as well|too|respectively|followed by
    than|times|multiplied|divided|squared|plus|half|twice|double|triple|thrice|quarter of
    besides|alternatives?|option [a-d]|candidates?|options|choices|guesses|answers are
    """)
    + r")\b"
)
# Right before a value they make it a bound or an estimate.
BOUNDS: Final = re.compile(
    r"(?:\b(?:"
    + any_of(r"""
    more|less|fewer|greater|higher|lower|over|under|above|below|beyond|exceed(?:s|ing)?|least
    most|up to|upto|within|minimum|maximum|min|max|starting|starts|close to|near|to|between
    after|before|past|beneath|upwards of|north of|south of|shy of|short of|limit of|cap of|some
    """)
    + r")|[<>≤≥±≠])\s*(?:the |a |an |just |of |only |at |is )*$"
)
MODALS: Final = re.compile(r"\b(?:can|may|might|could|should|must) be\s*$")
STARTS: Final = re.compile(r"\b(?:from|since|as of|as from)\s*$")
ESTIMATES: Final = re.compile(
    r"(?:\b(?:"
    + any_of(r"""
    nearly|almost|about|approximately|approx|around|roughly|circa|ca|c|estimated(?: at)?
    estimate of|more or less|pretty much|close to|some|near
    """)
    + r")|[~≈≃≅])\.?\s*(?:the |a |an |at |of )*$"
)
# `to` that only links: `comes to 47`.
EQUATIONS: Final = re.compile(
    r"\b(?:comes?|came|amounts?|amounted|adds up|added up|equal|equals|sums up|belongs|tied"
    r"|corresponds?) to (?:the |a )?$"
)
# Right after a value.
BOUNDS_AFTER: Final = re.compile(
    r"^\s*(?:\+(?!\w)|<|>|≤|≥|±|\*|/|\^|=\s*\S|-\w*\d|(?:"
    + any_of(r"""
    x|and (?:up|over|above|more|counting|below|under)|(?:at )?(?:least|most)
    (?:at the )?(?:minimum|maximum|min|max|latest|earliest)|upwards?|onwards?
    an? (?:second|minute|hour|day|night|week|month|quarter|year)
    hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually
    off|discount|cheaper|dearer|extra|-?ish|more|less|fewer|times|to
    """)
    + r")\b)"
)
ESTIMATES_AFTER: Final = re.compile(
    r"\b(?:approximately|approx|roughly|estimated|more or less|or so|give or take|circa|-?ish)\b"
)

# Somewhere after a number they say that it is another one.
LIMITS_AFTER: Final = re.compile(
    r"\b(?:before|after|prior to|each|apiece)\b|(?<!\bas )\bper (?!the\b|our\b|your\b|this\b)\w"
)
# Right before a time or a date they make it a deadline.
DEADLINES: Final = re.compile(r"\bby\s*$")

# What may stand right before a value.
LINKS: Final = words("""
    is are was were be been being equals equal totals total totalled totaled amounts amounted comes
    came to has have had holds hold held contains contain contained counts count costs cost spent
    paid pay reads read says say said shows show showed shown states lists listed displays gives
    gave yields of in at by on for from with named called titled labelled labeled known as exactly
    precisely only just the a an there takes took lasts lasted needs made got get found see saw seen
    opens open closes starts began begins arrives leaves founded established born dated namely
    has it's that's there's they're we're he's she's i've you've there're what's who's which's
    where's when's answer result value mr mrs ms dr sir dame prof no nr number order user member
    author reviewer customer via near measures measured weighs live lives houses seats rated scored
    sold bought returned refunded about our your their its his her my reached sum price username
    name code address email phone date time city town country year month following rings requires
    required reveals indicates confirms reports records recorded marks features offers offered
    provides provided receives received earned wins won carries includes include call dial
    left back lies
    room rooms page pages line lines platform floor gate tel telephone postcode zip isbn sku id
    ticket invoice parcel item items products product version volume level row track
""")
# The same before words: fewer, since what stands before a name may be part of it.
WORD_LINKS: Final = LINKS - words("""
    a an has have had our your their its his her my there about counts count sum price back lies
    items products product to for with near via of
""")
# `of` before a name makes it part of another thing, but after these.
WHOLES: Final = words("""
    city town village country state county province region name title value surname username island
    author category
""")
COPULAS: Final = re.compile(r"\b(?:is|are|was|were)\b|\w's\b")
# At the beginning of a sentence they say nothing.
OPENINGS: Final = re.compile(
    r"^(?:(?:"
    + any_of(r"""
    sure(?: thing)?|certainly|of course|absolutely|definitely|ok(?:ay)?|alright
    great(?: question)?|right|well|so|thus|hence|therefore|hi(?: there)?|hello(?: there)?
    hey(?: there)?|thanks|thank you|please|indeed|got it|done|good news|no problem|understood
    perfect|here (?:you go|it is|you are)|here(?:'s| is) (?:the|your|my)(?: final)? answer
    yes|yep|final answer|answer|in short|in summary|to summari[sz]e|overall|in conclusion
    to answer your question|actually|finally|in total|in all|all in all|altogether
    (?:based on|according to) [^,.;:\d]{1,80}(?=,)
    """)
    + r")\s*(?:[,!.:;]|\s-|-\s|$)+\s*)"
)
# At the end of a sentence, behind a comma, a dash or in brackets, they say nothing.
CLOSINGS: Final = re.compile(
    r"\s*[,;(-]\s*(?:"
    + any_of(r"""
    (?:many )?thanks(?: again| a lot| so much| very much)?|thank you(?: again| so much| very much)?
    cheers|enjoy|have fun|have a (?:nice|great|good) (?:day|one)
    (?:i )?hope (?:this|that|it) (?:helps|is helpful)
    """)
    + r")[\s.!)]*$",
    re.IGNORECASE,
)
# A label that makes of a title the title of something else.
REPLIES: Final = re.compile(r"\b(?:re|fwd?|aw|cc)\s*:\s*$")
# Whole sentences that say nothing of the value.
FILLERS: Final = re.compile(
    any_of(r"""
    (?:i )?hope (?:this|that|it) (?:helps|is helpful|answers? [a-z' ]{1,40})
    (?:please )?let me know [a-z', ]{1,80}
    (?:happy|glad) (?:to|i could) help(?: [a-z ]{1,40})?
    you(?:'re| are) (?:very )?welcome
    have a (?:nice|great|good) day
    feel free to [a-z' ]{1,60}
    (?:the )?task (?:is )?(?:completed?|done|finished)
    (?:best|kind|warm) (?:regards|wishes)|regards|cheers|sincerely|enjoy|have fun
    all done|as requested|here (?:you go|it is)|source|thanks|thank you
    let me (?:check|look|see)(?: [a-z' ]{1,40})?
    that(?:'s| is) (?:it|all|the answer|my answer|my final answer)
    (?:the )?source(?: is|:) [^\d,;:]{1,80}
    (?:according to|as shown|as listed) [^\d,;:]{1,100}
    is there anything else[a-z' ]{0,40}\??
    """)
    + "|"
    + r"(?:i|we)(?:'ve| have)?(?: just| now)? (?:looked|checked|opened|searched|went|navigated"
    r"|visited|read|reviewed|examined|verified|confirmed|used|clicked|logged|sorted|filtered"
    r"|browsed|double-checked) [^\d,;:]{1,120}"
    r"|(?:i|we)(?:'ve| have)? found (?:it|the answer|this|that|the page|the information)"
    r"(?: [a-z' ]{1,60})?"
    r"|(?:this|that|it) (?:is|was) (?:shown|listed|stated|given|taken|found|displayed|written)"
    r" [^\d,;:]{1,100}"
    r"|this (?:figure|number|value|information|answer|amount|name|date|time)"
    r" (?:is|was|comes?|appears) [^\d,;:]{1,100}"
)
PREPOSITIONS: Final = words("""
    in on at of from for by with within per via according as to inside during across under over tax
    incl including inclusive altogether overall total based through since near when that which who
    where and
""")
# Of these, none begins what may follow a name: they would make it part of a longer one.
NAME_EXTENSIONS: Final = words("and that which who where")
# What may follow a name or another piece of text.
VERBS: Final = words("""
    is was are were has had made wrote did does leads led holds held won wins tops left gave gives
    got gets fits sits stands comes came goes ranks sells sold bought paid
""")
DETERMINERS: Final = words("""
    the a an our your their its his her my what who where correct right it by listed shown mentioned
    named made
""")
# What a clause behind a bare yes or no begins with.
CLAUSES: Final = words("""
    it it's they they're he he's she she's there there's that that's this the you we i your our its
    because as since both all is are was were
""")
# What a full stop shortens: it ends no sentence.
ABBREVIATIONS: Final = re.compile(
    r"\b((?i:approx|ca|st|mr|mrs|ms|dr|prof|incl|excl|tel)|[A-Z])\.(?=\s)"
)
NUMEROS: Final = re.compile(r"\b(?:no|nr)\.(?=\s)", re.IGNORECASE)
# What a sentence begins with that says something of a subject.
SUBJECTS: Final = words("""
    it the they there this that these those he she we you i your our my its his her their a an
""")
