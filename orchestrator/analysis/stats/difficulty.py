"""How hard templates are, fitted from what agents made of them: a mixed model.

It is the Rasch model by marginal maximum likelihood (Bock and Aitkin, Psychometrika 46, 1981): an
agent solves a template with the logit of its ability less the template's difficulty. Difficulties
are drawn from one normal distribution, so that a template with few episodes is drawn towards the
mean one; how far they spread is unknown, and intervals take that into account. Abilities are
fixed, but for a prior that keeps an agent which solved everything finite. So a template is not easy
because strong agents alone have played it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The spread of difficulties is estimated, and of fewer templates nothing can be.
LEAST_TEMPLATES: Final = 5
_ABILITY_SD: Final = 3.0
_SPREADS: Final = tuple(0.1 * 1.25**at for at in range(19))  # in logits, up to 5.6
_SPREAD_SD: Final = 2.5
_NODES: Final = 241
_REACH: Final = 6.0  # in standard deviations
_TAIL: Final = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedDifficulty:
    """How hard a template is in logits: 0 is the mean template, and positive ones are harder.

    Attributes:
        low, high: its 95 % interval, given the abilities that fit best.
    """

    logit: float
    low: float
    high: float


def fitted_difficulties(
    solved: Sequence[Sequence[int]], scored: Sequence[Sequence[int]]
) -> tuple[FittedDifficulty, ...]:
    """Fit the difficulty of each template; none where there are fewer than five.

    Args:
        solved: how many episodes an agent solved, a row a template, a column an agent.
        scored: of how many; 0 where the agent has not played the template.
    """
    import numpy as np

    if len(solved) < LEAST_TEMPLATES:
        return ()
    model = _Model.of(np.asarray(solved, dtype=float), np.asarray(scored, dtype=float))
    places = np.linspace(-_REACH, _REACH, 4 * _NODES) * _SPREADS[-1]
    shares = model.posterior(places)
    means = shares @ places
    places = places - means.mean()
    cumulated = np.cumsum(shares, axis=1)
    return tuple(
        FittedDifficulty(
            logit=float(mean - means.mean()),
            low=float(np.interp(_TAIL, below, places)),
            high=float(np.interp(1 - _TAIL, below, places)),
        )
        for mean, below in zip(means, cumulated, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Model:
    """The likelihood of counts, with difficulties integrated out over nodes.

    Attributes:
        solved, failed: counts, a row a template, a column an agent.
        nodes: of a standard normal distribution, evenly apart.
        weights: the logarithms of its shares at the nodes.
    """

    solved: NDArray[Any]
    failed: NDArray[Any]
    nodes: NDArray[Any]
    weights: NDArray[Any]

    @classmethod
    def of(cls, solved: NDArray[Any], scored: NDArray[Any]) -> _Model:
        import numpy as np
        from scipy.special import logsumexp

        nodes = np.linspace(-_REACH, _REACH, _NODES)
        density = -(nodes**2) / 2
        return cls(solved, scored - solved, nodes, density - logsumexp(density))

    def joint(self, abilities: NDArray[Any], spread: float) -> NDArray[Any]:
        """Return log-likelihoods of each template's counts and of a node, a row a template."""
        import numpy as np

        logits = abilities[:, None] - spread * self.nodes
        found: NDArray[Any] = (
            self.solved @ -np.logaddexp(0, -logits)
            + self.failed @ -np.logaddexp(0, logits)
            + self.weights
        )
        return found

    def loss(self, abilities: NDArray[Any], spread: float) -> float:
        """Return what the best abilities for a spread make least."""
        import numpy as np
        from scipy.special import logsumexp

        prior = np.sum(np.square(abilities)) / (2 * _ABILITY_SD**2)
        return float(prior - np.sum(logsumexp(self.joint(abilities, spread), axis=1)))

    def posterior(self, places: NDArray[Any]) -> NDArray[Any]:
        """Return each template's distribution over difficulties, a row a template.

        Spreads are weighed by how well the best abilities for them explain the counts.
        """
        import numpy as np
        from scipy.optimize import minimize
        from scipy.special import softmax

        abilities, losses, by_spread = np.zeros(self.solved.shape[1]), [], []
        for spread in _SPREADS:
            found = minimize(self.loss, abilities, args=(spread,), method="L-BFGS-B")
            abilities = found.x
            losses.append(found.fun + spread**2 / (2 * _SPREAD_SD**2))
            shares = np.cumsum(softmax(self.joint(abilities, spread), axis=1), axis=1)
            by_spread.append([np.interp(places, spread * self.nodes, one) for one in shares])
        weights = softmax(-np.asarray(losses))
        cumulated = np.tensordot(weights, np.asarray(by_spread), axes=1)
        return np.diff(cumulated, axis=1, prepend=0.0)
