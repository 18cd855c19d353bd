"""Other words for those of a question: an answer is read with the question's own in their place.

So they are looked at as the question's are: who does what, and to what. A word that the question
itself has is left as it is, and so is one of which the question has two: it tells them apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evaluators.answers.words import PAST, SAID, SOURCES, TOKEN, VALUE, normal

# The words of a line mean the same of what questions ask for; with `>`, those behind it may stand
# for the first alone. What ends in `-ed`, and the past of other verbs, stands for that form alone.
_SAME: Final = """
    product, item, article
    order, purchase
    customer, buyer, shopper, client
    user > member, account, poster
    member > user, account
    reviewer > customer, user
    seller, vendor, merchant, retailer
    company, firm, business
    brand > manufacturer, maker, make
    employee, worker, staff member
    manager, head, boss, chief
    owner, proprietor
    student, pupil
    teacher, instructor, tutor, lecturer
    doctor, physician
    patient, sufferer
    journalist, reporter, correspondent
    moderator, mod
    administrator, admin
    contributor, developer
    candidate, applicant
    employer, company
    participant, attendee, competitor, entrant
    spectator > people, fan
    visitor > people
    attendee > people
    guest > people
    passenger > people
    voter > people
    wife > spouse
    husband > spouse
    spouse > wife, husband
    coach > trainer, manager
    winner, champion, victor
    shop, store
    cart, basket
    wish list, wishlist
    coupon, voucher, promo
    invoice, bill
    parcel, package, shipment
    courier, carrier
    airline, carrier
    shipping, delivery, postage
    project, repository, repo
    post, thread, submission, discussion, topic
    forum, subforum, community, board
    article, page, entry
    reply, response
    merge request, mr
    merge requests, mrs
    pull request, pr
    pull requests, prs
    issue, ticket
    wiki, encyclopedia, encyclopaedia
    newspaper, paper
    headline > title
    title > headline, name
    username, user name, nickname, handle
    book > novel, title
    novel > book
    film, movie
    song, track
    show > screening, performance
    concert > gig, show
    series > show
    game, match
    match, game, fixture
    team, club, side, squad
    tournament, competition
    photo, picture, image, photograph
    painting > picture, work
    car, vehicle
    bus, coach
    ferry, boat
    flight > plane
    train > service
    ticket > pass
    hotel, accommodation
    restaurant, eatery
    flat, apartment
    house > property, home
    room > chamber
    floor, storey, story, level
    village, settlement
    country, nation
    street, road
    trail, path, route
    route, way, path
    lecture, talk
    course > class
    class > course, lesson
    job, position, role
    vacancy, position, job, opening
    profession, occupation, job
    event, meeting, appointment
    meeting, event, appointment
    appointment, meeting, event
    document, file
    folder, directory
    label, tag
    message, mail
    subject, subject line
    medicine, drug, medication
    meal, dish
    dish, meal, recipe
    serving, portion
    ingredient, component
    calories, kcal
    step, stage
    error, failure
    warranty, guarantee
    percentage, percent, share, proportion, per cent
    share, percentage, percent, proportion
    journey, trip, ride, travel
    salary > pay, wage, wages
    fee > charge, cost, price
    fare > price, cost, ticket price
    rent, monthly rent
    admission > entry, entrance
    discount, reduction, rebate
    refund, reimbursement
    refunded, reimbursed, paid back
    revenue, turnover
    profit > earnings, net income
    website, site, homepage, web site
    version, release
    size, dimensions, measurements
    capacity, seats
    runtime, running time
    deadline > due date, closing date, cut-off, cutoff
    birthday > date of birth, birth date
    headquarters > head office, headquartered, based
    licence, license
    colour, color
    colours, colors
    flavour, flavor
    centre, center
    theatre, theater
    programme, program
    favourite, favorite
    grey, gray
    catalogue, catalog
    neighbourhood, neighborhood
    harbour, harbor
    cancelled, canceled
    terminate, end, stop, finish
    call at > stop at
    expire, end, lapse, run out
    expires, ends, lapses, runs out
    expired, ended, lapsed
    attended > came to, went to
    quit, resign, step down
    awarded > given, granted
    organised > organized, hosted, held, run
    hosted > held, organised, organized
    funded > financed, sponsored
    lease, rent
    allowed, permitted, welcome
    permitted, allowed, welcome
    required, needed, necessary, mandatory
    introduced, added, brought in
    require > need, depend on
    star > play, act, appear
    produced > made
    score > net
    extend, stretch, cover
    contain > have, hold, fit
    hold > fit, seat, accommodate
    demolished, torn down, pulled down, knocked down
    restored, renovated, refurbished
    renamed, called
    die, pass away, death
    died, passed away
    married, wed
    live, dwell
    climbed, ascended
    mountain, peak
    fly > operate, offer
    operated, run
    operate > run
    organise, organize
    approve, accept, confirm
    turned down, rejected, declined
    assigned > allocated, given
    criticise, criticize, complain about
    praise, commend
    like, praise
    utilise, use
    combine, mix
    baked, cooked
    bake, cook
    band, group
    genre, style
    type, kind, sort
    kind, type, sort
    species > kind
    captain, skipper
    stadium, ground, arena
    ground, stadium, arena
    venue, place, location
    location, place, venue
    place, location
    building > structure
    hall, room
    clinic, practice, surgery
    dose, dosage
    speaker, lecturer, presenter
    session, talk, lecture, presentation
    organiser, organizer, host
    operator, company
    paragraph, clause
    bug, issue
    quarter, district
    district, neighbourhood, area
    average, mean
    quantity, amount, number
    length, duration, runtime, running time
    duration, length, runtime, running time
    contact, reach, write to, call, get in touch with
    reach, contact
    nonstop, non-stop, direct
    direct, nonstop, non-stop
    nearest, closest
    closest, nearest
    farthest, furthest
    close > end, finish
    end, finish, conclude
    start, begin, commence, kick off
    founded > established, created, formed, set up
    established > founded, created, formed, set up
    built > constructed, erected
    invented > developed, created
    designed > created
    composed > written
    reported > opened, filed, raised, created, submitted
    opened > inaugurated, reported, filed, raised, created, submitted
    created > opened, made, set up, started
    posted > submitted, published, made, created, written, shared
    post > submit, make, write, share
    published > appeared, released, came out, issued, posted
    publish, appear, release, come out
    released > published, launched, came out, issued
    launched > released, introduced, came out
    wrote > authored, penned, posted, submitted
    written > authored, penned
    made > posted, submitted, written
    started > created, opened
    joined > signed up, registered
    registered > signed up, joined
    bought, purchased, ordered
    buy, purchase, order
    ordered, bought, purchased
    removed, deleted, taken down
    deleted, removed
    fixed, resolved, solved, corrected, repaired
    fix, resolve, solve, correct, repair
    changed, modified, edited, updated
    edited, modified, changed, updated
    modified, edited, changed, updated
    updated, modified, edited, changed
    added, inserted
    delivered > arrived
    arrive > get in, reach
    logged, recorded, tracked, spent
    spent, logged, recorded
    rejected, declined, refused, denied
    approved, accepted
    compatible > works
    supported > compatible
    support > be compatible, work with
    hired, rented
    hire > rent, rental
    book > reserve
    booked, reserved
    postponed, delayed, put off
    elected > chosen, voted
    appointed > named
    directed > made
    painted > created
    played, performed
    beat, defeat
    visit > go to
    attend > go to, take part, participate
    cycle, bike, bicycle
    received > got, gotten, attracted
    receive, get, attract
    recommend, suggest, advise
    recommended, suggested, advised
    mention, name, refer to
    chose, selected, picked, opted for, voted for
    answer, reply, respond
    need > require, call for, take, use, ask for
    asks for, needs, requires, calls for, takes, uses
    require > need, call for, ask for
    use > employ
    available in > sold in, offered in, comes in, come in
    located > situated, lies, stands, found
    stand, lie
    lead, head, direct
    headed > led, run, managed
    run, manage, operate
    runs, manages, operates
    happen, occur, take place, be held
    held > takes place, take place, took place
    takes place > held
    take place > be held, happen
    scheduled > planned, set
    surveyed, polled, questioned, asked
    respondents, people surveyed, people polled, those surveyed, participants
    manufacture, make, produce
    made > manufactured, produced, crafted
    hold > accommodate, seat
    increase, rise, grow, go up
    decrease, fall, drop, decline, go down
    mainly, primarily, mostly, chiefly, predominantly
    often, frequently
    free, free of charge
    about, regarding, concerning
    other than, apart from, besides, except for, except, excluding, aside from, not counting
    largest, biggest
    biggest, largest
    tallest, highest
    fastest, quickest
    quickest, fastest
    next, upcoming
    oldest > earliest
    earliest > oldest, first
    first > earliest
    daily, every day, each day
    weekly, every week, each week
    monthly, every month, each month
    annual, yearly
    cheapest, lowest-priced, least expensive, lowest-price, most affordable
    most expensive, dearest, priciest, costliest, highest-priced
    lowest price, lowest-priced, least expensive, cheapest
    highest price, highest-priced, most expensive, priciest, dearest
    highest rating, highest-rated, best-rated, top-rated, best rating
    highest rated, highest-rated, best-rated, top-rated, best rated
    best-rated, highest-rated, top-rated
    top-rated, highest-rated, best-rated
    lowest rating, lowest-rated, worst-rated
    most upvoted, top-voted, most-upvoted, highest-voted, most upvotes
    top-voted, most upvoted, highest-voted, most-upvoted
    most commented, most-commented, most discussed
    most comments, most-commented, most commented
    most viewed, most-viewed
    most read, most-read
    used most often > most used, most frequently used, most often used, most popular, most common
    most often, most frequently
    sold most > best-selling, bestselling, best selling
    most units > best-selling, bestselling
    best-selling, bestselling, best selling
    best seller, best-selling, bestselling, top seller, bestseller
    most popular, best-liked
    spent the most > spent most, top-spending
"""


_IS_LONG: Final = re.compile(
    rf"\b(route|way|trip|journey|walk|drive|ride|it)\b([^{VALUE},:;]*{VALUE}[{SAID} ]*) long\b",
    re.IGNORECASE,
)
# Phrasings, each with what says the same, and a word that the question must have for it.
_PHRASINGS: Final = (
    (_IS_LONG, r"\1\2", "distance"),
    (re.compile(r"\b(you|one) can\b(?! not|not)", re.IGNORECASE), r"\1", ""),
    (re.compile(r"\bcan be made(?= (?:at|on|by|via|through)\b)", re.IGNORECASE), "are", ""),
    (re.compile(r"\b(?:listed|filed|sold) under(?= )", re.IGNORECASE), "listed as", ""),
    (re.compile(r"\bis home to\b", re.IGNORECASE), "has", "reside"),
    (re.compile(r"\bwas home to\b", re.IGNORECASE), "had", "reside"),
    (re.compile(r"\bbecause of(?= )", re.IGNORECASE), "for", "reason"),
    (
        re.compile(r"\b(?:is|are|stays?|remains?) open (?:until|till)\b", re.IGNORECASE),
        "closes at",
        "close",
    ),
)


def _read(lines: str) -> Iterator[tuple[Sequence[Phrase], Sequence[Phrase]]]:
    """Yield what a question may say, and what an answer may for it."""
    for line in lines.strip().split("\n"):
        asked, directs, said = line.partition(" > ")
        phrases = [tuple(one.split()) for one in (said or asked).strip().split(", ")]
        yield ([tuple(asked.split())] if directs else phrases), phrases


Phrase = tuple[str, ...]
_GROUPS: Final = tuple(_read(_SAME))
_NAME: Final = re.compile(r"[A-Z][a-z]")
_AGENT: Final = re.compile(r"[eo]rs?$")


def other_words(tokens: Sequence[str], known: frozenset[str]) -> Mapping[Phrase, str]:
    """Return what an answer may say instead of words of a question, each with the question's.

    Args:
        tokens: of the question, in lower case.
        known: the normal forms of words that it explains by itself.
    """
    instead: dict[Phrase, str] = {}
    for asked, group in _GROUPS:
        held = [found for one in asked if (found := _held(one, tokens)) is not None]
        held = [
            one
            for one in held
            if any(one.endswith("ed") is said[-1].endswith("ed") for said in asked)
        ]
        if len({tuple(map(normal, one.split())) for one in held}) != 1:
            continue
        for one in group:
            if not known.issuperset(map(normal, one)):
                instead.setdefault(one, held[0])
    return instead


def _held(phrase: Sequence[str], tokens: Sequence[str]) -> str | None:
    """Return a phrase as it stands in a text; None where it does not."""
    for at in range(len(tokens) - len(phrase) + 1):
        piece = tokens[at : at + len(phrase)]
        if all(map(_is_same, phrase, piece)):
            return " ".join(piece)
    return None


def _is_same(word: str, said: str) -> bool:
    if normal(word) != normal(said):
        return False
    is_form = said == word if word in PAST else said.endswith("ed") or not word.endswith("ed")
    return is_form and bool(_AGENT.search(word)) is bool(_AGENT.search(said))


def rephrased(text: str, stems: frozenset[str]) -> str:
    """Return a text with phrasings that say no more than others in their place."""
    for pattern, instead, stem in _PHRASINGS:
        if stem == "" or stem in stems:
            text = pattern.sub(instead, text)
    return text


def reworded(text: str, instead: Mapping[Phrase, str]) -> str:
    """Return a text in the words of the question."""
    found = list(TOKEN.finditer(text))
    tokens = [one.group().casefold() for one in found]
    starting = _by_first(instead)
    pieces, end, at = list[str](), 0, 0
    while at < len(tokens):
        is_label = tokens[at] in SOURCES and tokens[at + 1 : at + 2] == [VALUE]  # `page 47`
        is_name = at > 0 and _NAME.match(found[at].group()) and tokens[at - 1][0].isalnum()
        if is_label or is_name:
            at += 1
            continue
        for phrase in starting.get(normal(tokens[at]), ()):
            if _held(phrase, tokens[at : at + len(phrase)]) is not None:
                last = found[at + len(phrase) - 1].end()
                owner = "'s" if tokens[at + len(phrase) - 1].endswith("'s") else ""
                pieces += text[end : found[at].start()], instead[phrase], owner
                end, at = last, at + len(phrase) - 1
                break
        at += 1
    return "".join((*pieces, text[end:]))


def _by_first(
    instead: Mapping[Phrase, str],
) -> Mapping[str, Sequence[Phrase]]:
    starting: dict[str, list[Phrase]] = defaultdict(list)
    for phrase in sorted(instead, key=len, reverse=True):
        starting[normal(phrase[0])].append(phrase)
    return starting
