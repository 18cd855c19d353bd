"""Whether a statement gives its value to the thing that the question asks about.

Words of the question explain a statement, and may still make another one of them: of "how tall is
the lighthouse on Gull Holm?" neither the island nor my reason to ask is the subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from evaluators.answers import words as words_of
from evaluators.answers.roles import (
    ADVERBS,
    ARTICLES,
    AUXILIARIES,
    BE,
    PREPOSITIONS,
    WAYS,
    Phrase,
    Roles,
    is_agent,
    is_verb,
    named,
    phrases,
    unquoted,
)
from evaluators.answers.words import VALUE, normal

_BEING_THERE: Final = frozenset(map(normal, ("live", "attend")))
_LASTS: Final = frozenset(map(normal, ("takes", "lasts")))
_MARKS: Final = words_of.words("= : -> - |")
_PRONOUNS: Final = words_of.words(
    "i you he she it we they i've we've you've that this it's he's she's"
)
_EMPTY: Final = frozenset(map(normal, words_of.FRAME | words_of.WHOLES))
_SOMEBODY: Final = words_of.words("person one man woman member")
_CALLED: Final = words_of.words("called named the")


def subject_fault(
    written: Sequence[str], roles: Roles, own: frozenset[str], *, is_words: bool, is_name: bool
) -> str | None:
    """Say which word of the question has the value that the question asks of another.

    Args:
        written: the tokens of a statement that gives a value.
        own: the type's own words, in their normal form.
        is_words: whether values are words, that may do something.
        is_name: whether values are names, so that `VALUE is the author` says what it is.
    """
    said = _Statement(tuple(unquoted(written)), roles, own, is_words)
    return (
        said.verb_fault()
        or said.deed_fault()
        or said.pair_fault()
        or said.subject_fault()
        or (said.name_fault() if is_name else None)
    )


@dataclass(frozen=True)
class _Statement:
    written: tuple[str, ...]
    roles: Roles
    own: frozenset[str]
    is_words: bool = False

    @cached_property
    def tokens(self) -> list[str]:
        return [token.casefold() for token in self.written]

    @cached_property
    def value(self) -> int:
        return self.tokens.index(VALUE)

    @cached_property
    def phrases(self) -> list[Phrase]:
        return list(phrases(self.written, verbs=self.roles.bases))

    @cached_property
    def verbs(self) -> list[int]:
        return [at for at in range(len(self.tokens)) if is_verb(self.written, at)]

    def verb_fault(self) -> str | None:
        """Say which verb makes the value do what another does, or suffer what it does itself."""
        roles, tokens = self.roles, self.tokens
        for at in sorted({*self.verbs, *self._base_verbs()}):
            verb = normal(tokens[at])
            before = at - 1
            while before >= 0 and tokens[before] in ADVERBS:
                before -= 1
            is_passive = before >= 0 and tokens[before] in BE
            subject = tokens[before - is_passive] if before - is_passive >= 0 else ""
            behind = [one for one in tokens[at + 1 :] if one not in words_of.DETERMINERS]
            is_wrong = False
            has_object = behind[:1] != [] and behind[0][:1].isalnum()
            if self.is_words and tokens[at].endswith("ing") and tokens[at - 1] == "for":
                is_wrong = behind[:1] == [VALUE]  # `is for writing`
            elif verb in roles.passives and subject == VALUE and not is_passive:
                is_wrong = has_object and behind[0] not in PREPOSITIONS | AUXILIARIES
            elif verb in roles.aside:
                is_wrong = self._is_only_verb(at, before)
            elif verb in roles.deeds:
                suffers = is_passive and subject == VALUE and behind[:1] == ["by"]
                is_object = behind[:1] == [VALUE] and subject[:1].isalnum()
                is_wrong = suffers or (not is_passive and (is_object or self._does_to_another(at)))
            elif verb in roles.others | roles.bases:
                does = not is_passive and (subject == VALUE or self._does_another(verb, at))
                is_wrong = does or (self.is_words and behind[:2] == ["by", VALUE])
            if is_wrong:
                return f"says '{tokens[at]}' of another"
        return None

    def _does_to_another(self, at: int) -> bool:
        """Say whether a verb has as its object what only says which: `wrote the thread`."""
        done = next((one for one in self.phrases if one.at > at), None)
        if done is None or done.preposition or VALUE in self.tokens[at:]:
            return False
        return self.roles.dependent.issuperset(done.words) and bool(self.roles.core)

    def _base_verbs(self) -> Iterator[int]:
        """Yield where a name, or a verb that is a noun, is right before a verb written like one."""
        for at, token in enumerate(self.tokens[1:], start=1):
            ahead = self.tokens[at - 1]
            does = (self.is_words and ahead == VALUE) or (at == 1 and ahead.endswith("ing"))
            if does and normal(token) in self.roles.bases:
                yield at

    def _does_another(self, verb: str, at: int) -> bool:
        """Say whether a noun of the question does what another one does in it."""
        doers = {word for one, word in self.roles.doers if one == verb}
        if at == 1 and self.tokens[0].endswith("ing"):
            return doers != set() and normal(self.tokens[0]) not in doers
        first = next((one for one in self.phrases if one.end <= at), None)
        if not doers or first is None or first.preposition or self.verbs[0] != at:
            return False
        if any(one.strip(words_of.SAID) == "" for one in self.tokens[: first.end]):
            return False  # part of its name is a phrase of the question
        said = {word for one in self.phrases if one.end <= at for word in one.words}
        return said.isdisjoint(doers) and not said.isdisjoint(self.roles.nouns)

    def _is_only_verb(self, at: int, before: int) -> bool:
        """Say whether a statement has no other verb, and is no label with a noun of its own."""
        heads = {one.words[-1] for one in self.phrases if one.end <= at}
        is_label = not _MARKS.isdisjoint(self.tokens[at : self.value])
        if is_label and heads & (self.roles.core | self.roles.asked):
            return False
        return all(one == at or before <= one < at for one in self.verbs)

    def deed_fault(self) -> str | None:
        """Say what is counted without what it does, beside a place: `12 are in the office`."""
        said = {*map(normal, self.tokens)}
        is_long = normal("long") in self.roles.asked
        if said & _LASTS and not is_long and said.isdisjoint(self.roles.bases or said):
            return f"leaves out '{min(self.roles.bases)}'"  # `driving takes`, of what it saves
        deeds, roles = self.roles.counted_deeds - _BEING_THERE, self.roles
        beside = {one.words[-1] for one in self.phrases} & (roles.core | roles.dependent)
        if not deeds or not deeds.isdisjoint(map(normal, self.tokens)):
            return None
        is_only = all(self.tokens[at] in AUXILIARIES for at in self.verbs) and self.verbs != []
        return (
            f"leaves out '{min(deeds)}'"
            if is_only and beside - roles.asked - self.own - _EMPTY
            else None
        )

    def pair_fault(self) -> str | None:
        """Say which noun stands with the name, the way or the whole of another."""
        roles = self.roles
        for noun, name in named(self.written):
            rivals = [pair for pair in roles.pairs if noun == pair[0] or name == pair[1]]
            if rivals and (noun, name) not in rivals:
                return f"says '{noun} {name}'"
        for one in self.phrases:
            head = one.words[-1]
            ways = {way for word, way in roles.ways if word == head}
            leads = any(way == one.preposition for _, way in roles.ways)
            if "far" in self.tokens or normal("distance") in map(normal, self.tokens):
                leads &= len({way for _, way in roles.ways}) > 1  # as far as the way back
            is_known = ways != set() or (leads and head in roles.nouns)
            if one.preposition in WAYS and is_known and one.preposition not in ways:
                return f"says '{one.preposition} {self.written[one.at]}'"
        for first, one in zip(self.phrases, self.phrases[1:], strict=False):
            head = one.words[-1]
            ties = one.preposition == "of" or (one.preposition in {"in", "on"} and one.is_named)
            ties = ties and not one.is_owner
            owns = first.is_owner and first.words[-1] in roles.dependent
            if ties and head in roles.dependent and VALUE not in self.tokens[first.end : one.at]:
                known = roles.core | roles.dependent | roles.asked
                free = {word for word, _ in roles.governors if word in first.words}
                if (
                    known & set(first.words)
                    and not owns
                    and not self._is_governed(head, first)
                    and not (free & roles.loose)
                ):
                    return f"says '{head}' of another"
        return None

    def _is_governed(self, word: str, *heads: Phrase) -> bool:
        return any((word, of) in self.roles.governors for one in heads for of in one.words)

    def subject_fault(self) -> str | None:
        """Say which noun the value is said of that the question does not ask about."""
        told = self.roles.background | self.roles.beside
        behind = [one for one in self.phrases if one.at > self.value]
        if behind and behind[0].at == self.value + 1:
            kinds = self.roles.modifiers - self.own if len(behind[0].words) == 1 else frozenset()
            kinds -= self.roles.asked if self.is_words else frozenset()  # `the kitchen forum`
            if behind[0].words[-1] in told | kinds:
                return f"says '{self.written[self.value + 1]}' right behind it"
        lead = self.tokens[: self.value].index(",") if "," in self.tokens[: self.value] else None
        if lead is not None and self.tokens[0] in PREPOSITIONS | {"as"}:
            rest = _Statement(self.written[lead + 1 :], self.roles, self.own)
            return rest.subject_fault()
        found = self._subject(behind)
        if found is None:
            return None
        subject, head = found
        back = max(0, self.value - 1)
        while back and normal(self.tokens[back]) in self.roles.core | self.roles.asked:
            back -= 1  # `was removed in commit`
        ways = {"by", "in"} if back < self.value - 1 else {"by"}
        is_by = self.tokens[back] in ways and head in self.roles.objects
        done = {normal(self.tokens[at]) for at in self.verbs}
        if head not in self.roles.objects and self.roles.is_light:
            is_by |= any((head, deed) in self.roles.governors for deed in done)  # `an order of`
        if is_by or self._has_them(head) or self._has_it(subject):
            return None
        begins = next(iter(self.verbs), self.value)
        is_label = begins >= self.value and self.tokens[self.value - 1] in _MARKS
        is_loose = head in self.roles.loose and (is_label or subject.at > self.value)
        said = {*map(normal, self.tokens[: self.value])} - self.own - _EMPTY
        is_told = said.isdisjoint(self.roles.core - self.roles.asked)
        if (
            (head in self.roles.background and is_told)
            or (head in self.roles.dependent and not is_loose)
            or (subject.is_owner and head in self.roles.modifiers)
            or head in self.roles.beside
        ):
            return f"says it of '{head}'"
        return None

    def _has_them(self, head: str) -> bool:
        """Say whether what holds the things that are counted has so many: `it has 3 items`."""
        behind = [one for one in self.phrases if one.at > self.value][:1]
        holds = any((one, head) not in self.roles.governors for one in self.roles.asked)
        return (
            holds
            and self.tokens[self.value - 1] in {"has", "have", "had"}
            and any(self.roles.asked & set(one.words) for one in behind)
        )

    def _has_it(self, owner: Phrase) -> bool:
        """Say whether the value is of what its owner has in the question: `has a height of`."""
        begins = next(iter(self.verbs), self.value)
        had = [one for one in self.phrases if begins < one.at < self.value][:1]
        has = self.tokens[begins : begins + 1] != [] and self.tokens[begins] in {
            "has",
            "had",
            "have",
        }
        return has and had != [] and self._is_governed(owner.words[-1], *had)

    def _subject(  # noqa: PLR0911 - one return a place of it
        self, behind: list[Phrase]
    ) -> tuple[Phrase, str] | None:
        """Return what the value is said of, with its noun; None where nothing is."""
        begins = next(iter(self.verbs), self.value)
        ahead = [one for one in self.phrases if one.at < min(begins, self.value)]
        subject = next((one for one in ahead if not one.preposition), None)
        for_what = next((one for one in behind[:1] if one.preposition in {"for", "of"}), None)
        if for_what is not None and not self._is_governed(for_what.words[-1], *self.phrases):
            return for_what, for_what.words[-1]
        if subject is None or not _PRONOUNS.isdisjoint(self.tokens[: subject.at]):
            if not _PRONOUNS.isdisjoint(self.tokens[:begins]):
                return None
            # "there are 12 comments in the forum"
            place = next((one for one in behind if one.preposition), None)
            if place is not None and not self._is_governed(place.words[-1], *self.phrases):
                return place, place.words[-1]
            ahead = behind
            subject = next((one for one in behind[:1] if not one.preposition), None)
            if subject is None or self.roles.asked.isdisjoint(subject.words):
                return None
        at = ahead.index(subject)
        if subject.is_owner and subject.words[-1] in self.roles.modifiers:
            return subject, subject.words[-1]
        empty = self.roles.asked | self.own | _EMPTY
        while at + 1 < len(ahead) and empty.issuperset(subject.words):
            if not subject.is_owner and ahead[at + 1].preposition not in {"of", "for", "in", "on"}:
                return None
            at, subject = at + 1, ahead[at + 1]
        known = [word for word in subject.words if word not in self.own]
        if not known or (subject.is_owner and self._is_governed(known[-1], *ahead[at + 1 :][:1])):
            return None
        # `the bakery stands in`
        is_verb = len(known) > 1 and self.tokens[subject.end - 1].endswith("s")
        return subject, known[-2 if is_verb and begins >= self.value else -1]

    def name_fault(self) -> str | None:
        """Say what a statement calls its name that the question does not ask for: `is the tea`."""
        roles, tokens = self.roles, self.tokens
        if not (roles.asked or roles.deeds):
            return None
        value = len(tokens) - 1 - tokens[::-1].index(VALUE)
        called = [one for one in tokens[: self.value] if one not in _CALLED]
        if tokens[value + 1 : value + 2] and tokens[value + 1] in BE & AUXILIARIES:
            nouns = [one for one in self.phrases if one.at > value]
            between = tokens[value + 2 : nouns[0].at] if nouns else []
            is_called = between != [] and all(
                one in ARTICLES or words_of.is_turning(one) for one in between
            )
        else:
            nouns = [one for one in self.phrases if one.at < self.value]
            is_called = called[-1:] != [] and called[-1] in BE and _PRONOUNS.isdisjoint(called)
        while nouns[1:] and nouns[0].is_owner:
            nouns = nouns[1:]
        if not is_called or not nouns or nouns[0].preposition:
            return None
        fits = roles.asked | roles.deeds | self.own | _EMPTY | _SOMEBODY
        fits |= roles.core if normal("role") in roles.core else set()  # `the role of maintainer`
        head, first = nouns[0].words[-1], tokens[nouns[0].end - 1].removesuffix("s")
        is_title = head in (self.own - roles.asked) | {normal("name")}
        if is_title and nouns[1:] and nouns[1].preposition == "of":
            fits = (fits - self.own - _EMPTY) | roles.asked | {"person"}
            head = nouns[1].words[-1]
        does = is_agent(first) and first not in roles.agents
        does |= first.endswith("place")  # `birthplace`; the question explains of what
        return None if head in fits or does else f"says that it is '{head}'"
