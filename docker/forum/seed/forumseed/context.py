"""What the slots of a thread's templates stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from forumseed.phrases import capital, small
from forumseed.sources import Article, Category, Product

NUMBERS = {
    "age": (18, 74), "child": (3, 11), "count": (2, 40), "count2": (3, 60), "count3": (2, 30),
    "days": (2, 30), "hours": (2, 9), "years": (2, 30), "wage": (1400, 4200),
    "savings": (200, 9000), "page": (41, 612), "hour": (3, 11), "year": (2009, 2025),
}  # fmt: skip
SETS = frozenset({"cutlery", "dominoes", "dice", "playing cards", "seeds"})
PLURALS = (
    "old maps", "pencils", "fountain pens", "hand-made bowls", "second-hand books", "spare parts",
    "records", "wool", "seeds", "good bread", "clocks", "knives", "stamps", "cheese", "bicycles",
    "postcards", "tea", "lamps", "hats", "tools",
)  # fmt: skip


def _one(noun: str) -> str:
    """Return a noun that `a` may stand before: a pair of pliers."""
    if noun in SETS:
        return f"set of {noun}"
    return f"pair of {noun}" if noun.endswith("s") and not noun.endswith("ss") else noun


def _two(category: Category, rng: Random) -> tuple[Product, Product]:
    """Return two products, of different brands where the luck of a few draws allows."""
    for _ in range(4):
        product, other = rng.sample(category.products, 2)
        if product.brand != other.brand:
            break
    return product, other


@dataclass(slots=True)
class Setting:
    """A forum as its threads see it, and the names that anybody may drop."""

    forum: str
    slots: dict[str, list[str]]
    categories: list[Category]
    articles: list[Article]
    pack: dict[str, list[str]]
    cities: list[str]
    names: list[str]
    forums: list[str]
    here: str = ""
    places: list[str] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Context:
    """The slots of one text.

    Attributes:
        fixed: values that hold for the whole thread.
        refer: gives a link to an earlier thread.
        user: whom the text answers.
        said: what the slots stood for first: what the thread has told.
    """

    setting: Setting
    rng: Random
    refer: Callable[[], str]
    category: Category
    product: Product
    other: Product
    article: Article | None
    fixed: dict[str, str] = field(default_factory=dict)
    user: str = "friend"
    said: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, setting: Setting, rng: Random, refer: Callable[[], str]) -> Context:
        """Begin a thread: choose its products and its article."""
        category = rng.choice(setting.categories)
        product, other = _two(category, rng)
        article = rng.choice(setting.articles) if setting.articles else None
        return cls(setting, rng, refer, category, product, other, article)

    def __call__(self, name: str) -> str:
        """Return a slot's value."""
        value = self._value(name)
        self.said.setdefault(name, value)
        return value

    def _value(self, name: str) -> str:
        if name in self.fixed:
            return self.fixed[name]
        if name in NUMBERS:
            return str(self.rng.randint(*NUMBERS[name]))
        if name in SLOTS:
            return SLOTS[name](self)
        for source in (self._of_article, self._of_list):
            value = source(name)
            if value is not None:
                return value
        message = f"no slot {name!r}"
        raise KeyError(message)

    def _of_article(self, name: str) -> str | None:
        article = self.article
        if article is None:
            return None
        match name:
            case "article":
                return article.title
            case "thing":
                return f"the {small(article.title)}"
            case "fact":
                return self.rng.choice(article.sentences)[1]
            case "fact_short" | "heading" | "heading_l":
                heading, sentence = self.rng.choice(article.short or article.sentences)
                self.fixed |= {
                    "fact_short": sentence.rstrip("."),
                    "heading": heading,
                    "heading_l": heading.lower(),
                }
                return self.fixed[name]
            case _:
                return None

    def _of_list(self, name: str) -> str | None:
        pool = self.setting.pack.get(name.rstrip("2")) or self.setting.slots.get(name)
        if pool is None and name == "job_c":
            return capital(self.rng.choice(self.setting.slots["job"]))
        return self.rng.choice(pool) if pool else None


def _praise(context: Context) -> str:
    return context.rng.choice(context.category.praise)


def _gripe(context: Context) -> str:
    return context.rng.choice(context.category.gripe)


def _title(context: Context) -> str:
    product = context.product
    return product.title if context.rng.random() < 0.3 else product.name


def _city(context: Context) -> str:
    return context.rng.choice(context.setting.cities)


def _place(context: Context) -> str:
    return context.rng.choice(context.setting.places)


def _date(context: Context) -> str:
    return f"{context.rng.randint(1, 28)} {context.rng.choice(context.setting.slots['month'])}"


SLOTS: dict[str, Callable[[Context], str]] = {
    "product": _title,
    "product2": lambda context: context.other.name,
    "brand": lambda context: context.product.brand,
    "brand2": lambda context: context.other.brand,
    "model": lambda context: context.product.model,
    "kind": lambda context: context.product.kind.lower(),
    "kind2": lambda context: context.other.kind.lower(),
    "clause": lambda context: context.product.clause,
    "finish": lambda context: context.product.finish.lower(),
    "material": lambda context: context.product.material.lower(),
    "price": lambda context: context.product.price,
    "budget": lambda context: str(max(5, round(float(context.product.price) / 5) * 5)),
    "noun": lambda context: _one(context.category.noun),
    "nouns": lambda context: context.category.name.lower(),
    "nouns2": lambda context: context.rng.choice(PLURALS),
    "made": lambda context: context.category.made,
    "place_made": lambda context: context.product.place,
    "extra_s": lambda context: context.product.extra,
    "praise": _praise,
    "praise_l": lambda context: small(_praise(context)),
    "gripe": _gripe,
    "issue_s": _gripe,
    "issue": lambda context: small(_gripe(context)).rstrip("."),
    "city": _city,
    "city2": _city,
    "here": lambda context: context.setting.here,
    "place": _place,
    "place2": _place,
    "use_city": lambda context: context.rng.choice(context.setting.uses),
    "things": lambda context: context.rng.choice(PLURALS),
    "days_word": lambda context: context.rng.choice(("Two", "Three", "Four", "Five")),
    "name": lambda context: context.rng.choice(context.setting.names),
    "user": lambda context: context.user,
    "thread_ref": lambda context: context.refer(),
    "forum_ref": lambda context: f"/f/{context.rng.choice(context.setting.forums)}",
    "date": _date,
}
