"""What is said below an issue: each note answers what stands above it, and fits who writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forgeseed.sources import vocabulary
from forgeseed.story import Story

OPEN, FIXED, REFUSED = "open", "fixed", "refused"


@dataclass(frozen=True, slots=True)
class Turn:
    """One note that somebody writes.

    Attributes:
        who: their login.
        days: since the issue was made.
        ends: whether the note closes the issue.
    """

    who: str
    days: float
    is_author: bool
    is_maker: bool
    is_manager: bool
    is_assignee: bool
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that may be said now, and how likely it is."""

    name: str
    weight: float = 1.0


class Talk:
    """The notes of one issue in the making.

    Attributes:
        outcome: how the issue ends, which nobody contradicts on the way.
        priority: Redmine's, 1 is low, from 3 on it is high.
    """

    def __init__(self, story: Story, outcome: str, priority: int) -> None:
        self._story = story
        self._outcome = outcome
        self._priority = priority
        self._questions = story.questions()
        self._asked: tuple[str, str] | None = None  # the answer that is waited for, and who asked
        self._done: list[str] = []
        self._by: dict[str, str] = {}
        self._last = ""

    def say(self, turn: Turn) -> str:
        """Return the next note."""
        if turn.ends:
            return self._end()
        acts = self._acts(turn)
        weights = [one.weight for one in acts]
        act = self._story.rng.choices(acts, weights)[0].name if acts else "self"
        text = self._told(act, turn)
        self._done.append(act)
        self._by[act] = turn.who
        self._last = turn.who
        return text

    def _acts(self, turn: Turn) -> Sequence[Act]:
        """Return what may be said now by whoever has the turn."""
        if self._asked and turn.is_author:
            return [Act("tell")]
        if self._asked and turn.who == self._asked[1]:
            return self._fresh([Act("chase"), Act("leave")])
        matter = self._story.matter
        if matter.is_wish:
            own = self._wish(turn)
        elif matter.is_question:
            own = self._question(turn)
        else:
            own = self._bug(turn)
        return self._fresh([*own, *self._common(turn)]) or self._fresh([Act("leave")])

    def _fresh(self, acts: Sequence[Act]) -> list[Act]:
        """Return those that were not done yet; what can be said twice is said by another."""
        return [one for one in acts if one.name not in self._done]

    def _common(self, turn: Turn) -> list[Act]:
        acts: list[Act] = []
        is_settled = bool({"patch", "draft", "reply", "explain"} & set(self._done))
        if turn.is_maker and not turn.is_author and self._questions and not is_settled:
            acts.append(Act("ask", 3))
        if turn.is_assignee and not self._any("plan", "cause", "patch", "propose", "reply"):
            acts.append(Act("plan", 3))
        if turn.is_manager and not is_settled and not turn.is_author:
            acts.append(Act("rank", 1.5))
        if turn.days > 12 and not turn.is_assignee and self._last != turn.who:
            acts.append(Act("news", 1.5))
        helped = ("around", "cause", "plan", "patch", "reply", "explain", "propose", "rank")
        if turn.is_author and self._done and self._done[-1] in helped and self._last != turn.who:
            acts.append(Act("thanks", 1.5))
        return acts

    def _bug(self, turn: Turn) -> list[Act]:
        acts: list[Act] = []
        is_refused = self._outcome == REFUSED
        known = self._story.known
        if not turn.is_author and not is_refused and not self._any("cause", "patch"):
            acts.append(Act("repro", 2.5) if turn.is_maker else Act("also", 4))
        if turn.is_maker and not is_refused and self._story.cause:
            if not self._any("cause"):
                acts.append(Act("cause", 3 if self._any("repro", "tell", "also") else 1.2))
            elif not self._any("patch"):
                acts.append(Act("patch", 4))
        if self._any("patch") and self._by["patch"] != turn.who:
            if not turn.is_maker or turn.is_author:
                acts.append(Act("tried", 6))
            else:
                acts += [Act("review", 5), Act("test", 2)]
        if known.get("around") and not is_refused and not self._any("patch"):
            acts.append(Act("around", 1.2))
        if known.get("hurt") and not turn.is_maker:
            acts.append(Act("hurt", 2))
        return acts

    def _wish(self, turn: Turn) -> list[Act]:
        acts: list[Act] = []
        if not turn.is_author:
            acts.append(Act("like", 1.5 if turn.is_maker else 4))
        if turn.is_maker:
            if not self._any("draft"):
                acts.append(Act("propose", 3))
            if turn.is_assignee and self._outcome != REFUSED and self._done:
                acts.append(Act("draft", 2.5))
            if not turn.is_author and not self._any("draft"):
                acts.append(Act("doubt", 2))
        if self._any("doubt") and self._by["doubt"] != turn.who:
            acts.append(Act("settle", 3))
        if self._any("draft") and self._by["draft"] != turn.who:
            acts.append(Act("tryout", 6))
        return acts

    def _question(self, turn: Turn) -> list[Act]:
        acts: list[Act] = []
        kind = self._story.matter.kind
        if turn.is_maker and not turn.is_author:
            if kind == "how":
                acts.append(Act("reply", 4))
            elif kind == "question" and self._outcome != REFUSED:
                acts.append(Act("explain", 4))
        if turn.is_author and self._any("reply") and self._last != turn.who:
            acts.append(Act("worked", 5))
        if not turn.is_author and not turn.is_maker and kind != "please":
            acts.append(Act("me_too", 3))
        if turn.is_author and self._story.known.get("want"):
            acts.append(Act("hurt", 1.5))
        return acts

    def _any(self, *acts: str) -> bool:
        return any(one in self._done for one in acts)

    def _told(self, act: str, turn: Turn) -> str:
        story = self._story
        if act == "self":
            return self._beside()
        if act == "rank":
            return story.take("note", self._rank())
        if act == "ask":
            sentence, answer = self._questions.pop()
            self._asked = (answer, turn.who)
        elif act == "tell" and self._asked:
            sentence, self._asked = self._asked[0], None
        else:
            sentence = self._sentence(act)
        if act in ("cause", "patch", "draft", "reply", "explain"):
            self._asked = None  # nobody waits for an answer that is not needed any more
        return story.take("note", self._frame(act, sentence), sentence)

    def _frame(self, act: str, sentence: str) -> str:
        """Return which frames an act takes; those without a sentence take plain ones."""
        plain = {"repro": "plainly", "also": "plainly", "like": "news"}
        needs = ("settle", "tryout", "doubt", "propose", "hurt", "around", "reply", "explain")
        if not sentence and (act in plain or act in needs):
            return plain.get(act, "leave")
        if act == "draft" and self._story.matter.kind == "document":
            return "written"
        return act

    def _rank(self) -> str:
        if self._priority == 1 or self._outcome == REFUSED:
            return "low"
        return "high" if self._priority > 2 else "normal"

    def _sentence(self, act: str) -> str:
        """Return what an act is about, in the words of the matter."""
        story = self._story
        purposes: Mapping[str, Sequence[str]] = {
            "repro": ("seen_by",), "also": ("seen",), "around": ("around",),
            "hurt": ("hurt",), "like": ("why",), "propose": ("plan",), "doubt": ("but",),
            "settle": ("how",), "tryout": ("how",), "reply": ("answer",),
        }  # fmt: skip
        if act in ("cause", "explain"):
            return story.cause
        if act == "patch":
            return story.fix
        return next((text for one in purposes.get(act, ()) if (text := story.of(one))), "")

    def _beside(self) -> str:
        """Return something that the report left out, or that nothing is new."""
        text = next((one for name in ("only", "how") if (one := self._story.of(name))), "")
        return self._story.take("note", "self" if text else "leave", text)

    def _end(self) -> str:
        matter = self._story.matter
        if self._outcome == REFUSED:
            return self._refusal()
        if matter.is_wish:
            return self._story.take("close", "built", self._story.of("done"))
        if matter.kind in ("how", "please"):
            return self._served()
        if self._any("patch"):
            return self._story.take("close", "pushed")
        if self._any("cause", "explain") or not self._story.cause:
            return self._story.take("close", "fixed", self._story.fix)
        return self._found()

    def _found(self) -> str:
        story = self._story
        cause = story.cause.removesuffix(".")
        inner = cause if cause.startswith(("I ", "{")) else cause[0].lower() + cause[1:]
        return story.take("close", "found", story.fix, m=inner, y=story.cause)

    def _served(self) -> str:
        story = self._story
        if self._any("reply"):
            return story.take("close", "above")
        if story.matter.kind == "please":
            return story.take("close", "served", story.of("done"))
        return story.take("close", "answered", story.of("answer"))

    def _refusal(self) -> str:
        matter, told = self._story.matter, vocabulary("talk")["reject"]
        if matter.is_wish:
            doubt = self._story.of("but")
            return self._story.framed(self._story.pick(told["wish" if doubt else "above"]), doubt)
        kind = {"how": "ask", "please": "ask", "log": "log"}.get(matter.kind, "bug")
        return self._story.framed(self._story.pick(told[kind]))
