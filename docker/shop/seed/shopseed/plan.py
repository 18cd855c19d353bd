"""What the shop sells, decided from the vocabulary and a fixed seed (no database here)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

from shopseed.vocabulary import Department, Kind, Words

PRODUCTS = 5000  # as a visitor counts them: standalone products and parents
PARENTS = 300
CHILDREN = 4
SIZE_IN_WORDS = re.compile(r"[A-Za-z]{4}|Set|Box|Cut")  # "Set of 4", not "1.2 L"
SIZED_PARENTS = 15  # per category whose variants are sizes (clothing)


@dataclass(frozen=True, slots=True)
class Model:
    """A brand's model: everything its sizes and finishes have in common."""

    brand: str
    name: str
    kind: Kind
    material: str
    place: str
    extra: str
    standing: float  # 0 to 1, cheap to dear within its category
    quality: float  # mean stars of its reviews

    def title(self, words: Words) -> str:
        """Return the title without size and finish."""
        return f"{self.brand} {self.name} {self.kind.name} {words.noun}"


@dataclass(slots=True)
class Plan:
    """One product to be: `parent` is the plan of its parent where it is a variant."""

    words: Words
    model: Model
    title: str
    description: str
    size: str
    finish: str
    price: Decimal | None
    tint: int
    weight: str = ""
    parent: Plan | None = None
    children: list[Plan] = field(default_factory=list)
    id: int = 0


def grams(value: float) -> str:
    """Return a weight as a shop writes it."""
    if value >= 1000:
        return f"{value / 1000:.1f} kg"
    step = 10 if value >= 100 else 1
    return f"{round(value / step) * step} g"


def _fraction(item: str, items: tuple[str, ...]) -> float:
    return items.index(item) / max(len(items) - 1, 1)


def _price(words: Words, model: Model, size: str, finish: str) -> Decimal:
    low, high = words.price
    size_weight = 0.0 if words.has_sizes else 0.4
    share = (1 - size_weight - 0.1) * model.standing
    share += size_weight * _fraction(size, words.sizes) + 0.1 * _fraction(finish, words.finishes)
    pounds = int(low * (high / low) ** share)
    pence = ("0.95", "0.50", "0.99", "0.00")[(pounds + len(model.name)) % 4]
    return Decimal(pounds) + Decimal(pence)


def _weight(words: Words, model: Model, size: str) -> str:
    low, high = words.weight
    if words.has_sizes:  # the text names the weight of one size
        return grams(low + (high - low) * (1 - model.standing))
    share = 0.7 * _fraction(size, words.sizes) + 0.3 * (1 - model.standing)
    return grams(low + (high - low) * share)


def _sentences(words: Words, model: Model, values: dict[str, str]) -> str:
    lead = words.lead.format(**values)
    origin = f"{words.made} in {model.place}."
    return " ".join([f"The {model.name} {model.kind.clause}.", lead, model.extra, origin])


def describe(words: Words, model: Model, size: str, finish: str) -> str:
    """Return the product's text: what it does, its measures, one detail, where it comes from."""
    values = {
        "size": size,
        "size_l": size.lower() if SIZE_IN_WORDS.search(size) else size,
        "finish": finish,
        "weight": _weight(words, model, size),
        "material": model.material,
    }
    return _sentences(words, model, values)


def models(department: Department, words: Words, rng: Random) -> list[Model]:
    """Return the models of a category: every kind by every brand, each with a name of its own."""
    pairs = [(brand, kind) for brand in words.brands for kind in words.kinds]
    names = list(department.models)
    rng.shuffle(names)
    made = []
    for number, (brand, kind) in enumerate(pairs):
        made.append(
            Model(
                brand=brand,
                name=names[number % len(names)],
                kind=kind,
                material=kind.material or rng.choice(words.materials),
                place=department.places[brand],
                extra=rng.choice(words.extras),
                standing=round(rng.random(), 3),
                quality=round(rng.triangular(2.6, 4.9, 4.3), 2),
            )
        )
    rng.shuffle(made)
    return made


def _single(words: Words, model: Model, size: str, finish: str) -> Plan:
    suffix = f"{size}, {finish}" if finish else size
    return Plan(
        words=words,
        model=model,
        title=f"{model.title(words)} {suffix}".strip(),
        description=describe(words, model, size, finish),
        size=size,
        finish=finish,
        price=_price(words, model, size, finish),
        tint=_fraction_index(finish, words.finishes),
        weight=_weight(words, model, size),
    )


def _fraction_index(item: str, items: tuple[str, ...]) -> int:
    return items.index(item) if item in items else 0


def _family(words: Words, model: Model, rng: Random) -> Plan:
    """Return a parent with its variants: sizes of one finish and another, or finishes of a size."""
    if words.has_sizes:
        first = rng.randrange(len(words.sizes) - 1)
        tones = rng.sample(words.finishes, 2)
        choices = [(size, tone) for tone in tones for size in words.sizes[first : first + 2]]
    else:
        size = rng.choice(words.sizes)
        sizes = (size, *(other for other in words.sizes if other != size))
        choices = [(each, finish) for each in sizes for finish in words.finishes][:CHILDREN]
    children = [_single(words, model, size, finish) for size, finish in choices]
    parent = Plan(
        words=words,
        model=model,
        title=model.title(words),
        description=children[0].description,
        size="",
        finish="",
        price=None,
        tint=children[0].tint,
        children=children,
    )
    for child in children:
        child.parent = parent
    return parent


def _shares(total: int, weights: list[int]) -> list[int]:
    """Split `total` by `weights`, whole numbers, the remainder to the first ones."""
    counts = [total * weight // sum(weights) for weight in weights]
    for index in range(total - sum(counts)):
        counts[index] += 1
    return counts


def catalogue(departments: list[Department]) -> Iterator[Plan]:
    """Yield every browsable product (variants hang on their parents), ids given, in order."""
    leaves = [(dep, words) for dep in departments for words in dep.categories]
    sized = [words for _, words in leaves if words.has_sizes]
    plain = len(leaves) - len(sized)
    spread = iter(_shares(PARENTS - SIZED_PARENTS * len(sized), [1] * plain)) if plain else iter(())
    parents = [SIZED_PARENTS if words.has_sizes else next(spread) for _, words in leaves]
    singles = _shares(PRODUCTS - sum(parents), [words.share for _, words in leaves])
    next_id = 1
    for (department, words), parent_count, single_count in zip(
        leaves, parents, singles, strict=True
    ):
        rng = Random(f"catalogue/{words.name}")
        known = models(department, words, rng)
        plans = [_family(words, model, rng) for model in known[:parent_count]]
        choices = [
            (model, size, finish)
            for model in known[parent_count:]
            for size in words.sizes
            for finish in words.finishes
        ]
        if len(choices) < single_count:
            msg = f"{words.name}: {len(choices)} combinations for {single_count}"
            raise ValueError(msg)
        picked = rng.sample(choices, single_count)
        plans += [_single(words, *choice) for choice in picked]
        for plan in plans:
            for member in (plan, *plan.children):
                member.id = next_id
                next_id += 1
        yield from plans
