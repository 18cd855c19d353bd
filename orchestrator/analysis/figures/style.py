"""What all figures share: sizes, a palette that colour-blind readers can part, marks and names."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena_core.worlds import World
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.stats.results import Cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH: Final = 7.0  # inches: a text column's worth of a paper
ROW: Final = 0.34
_DIGITS: Final = 6  # of shares of a figure: a thousandth of a pixel
INK: Final = "#1b1b1b"
PALE: Final = "#767676"  # 4.5 : 1 on white
GRID: Final = "#d9d9d9"

# Okabe and Ito (2008), without the yellow, which is too pale for lines on white.
_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h", "p", "*")
_SETTINGS: Final[dict[Any, Any]] = {
    "font.family": ["DejaVu Sans"],  # ships with matplotlib: the same glyphs on every machine
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.edgecolor": PALE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.parse_math": False,  # dollar signs in a name do not start a formula
    "hatch.linewidth": 0.6,
    "svg.fonttype": "path",  # letters are drawn: they look the same wherever the file is opened
    "svg.hashsalt": "arena",
    "pdf.fonttype": 42,  # TrueType, embedded and searchable
    "pdf.compression": 6,
}


@dataclass(frozen=True, slots=True)
class Mark:
    """How an agent is drawn: never by colour alone."""

    colour: str
    marker: str


def marks_of(agents: Iterable[str]) -> dict[str, Mark]:
    """Return a mark for each agent, the same in every figure of a study."""
    return {
        agent: Mark(_COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)])
        for number, agent in enumerate(dict.fromkeys(agents))
    }


def face_of(world: World, mark: Mark) -> str:
    """Return the fill of a marker: filled offline, open online."""
    return mark.colour if world is World.OFFLINE else "white"


def draw_span(axes: Axes, span: Interval | None, y: float, **look: Any) -> None:
    """Draw an interval as a line across; nothing where there is none."""
    if span is not None:
        axes.plot([span.low, span.high], [y] * 2, **look)


def draw_mark(axes: Axes, x: float, y: float, mark: Mark, face: str, **look: Any) -> None:
    """Draw a mark above all lines."""
    axes.plot(
        [x],
        [y],
        linestyle="none",
        zorder=3,
        marker=mark.marker,
        markerfacecolor=face,
        markeredgecolor=mark.colour,
        **look,
    )


def write_beside(axes: Axes, text: str, y: float, **look: Any) -> None:
    """Write what a row says right of the axes."""
    axes.annotate(
        text,
        (1.0, y),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=7.5,
        annotation_clip=False,
        **look,
    )


def names_of(cells: Sequence[Cell], width: int = 30) -> dict[Cell, str]:
    """Return short names, on lines of `width`: suite and world only where cells differ in them.

    A long agent's name is cut; suite and world never are.
    """
    has_suites = len({cell.suite for cell in cells}) > 1
    has_worlds = len({cell.world for cell in cells}) > 1
    found = {}
    for cell in cells:
        held = [cell.suite] if has_suites else []
        held += [cell.world.value] if has_worlds else []
        end = f", {', '.join(held)}" if held else ""
        agent = cell.agent
        room = 2 * width - len(end) - 2
        if len(agent) > room:
            agent = f"{agent[: room - 1]}…"
        found[cell] = wrapped(f"{agent}{end}", width)
    return found


def wrapped(text: str, width: int) -> str:
    """Return a name on lines of at most `width` letters, cut after four of them."""
    folded = textwrap.wrap(text, width, max_lines=4, placeholder=" …", break_on_hyphens=False)
    return "\n".join(folded) or text


def lines_in(text: str) -> int:
    """Return on how many lines a name stands."""
    return text.count("\n") + 1


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with these settings, whatever the program's own are."""
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        for name, value in _SETTINGS.items():
            mpl.rcParams[name] = value
        # A letter that the font lacks is drawn as an empty box; the tables still have it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure, `height` and `width` in inches; its parts keep apart."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def save(figure: Figure, folder: Path, name: str) -> tuple[Path, Path]:
    """Write a figure as SVG and PDF; the same figure gives the same bytes at any time."""
    svg, pdf = folder / f"{name}.svg", folder / f"{name}.pdf"
    _lay_out(figure)
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": "Arena"})
    figure.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Producer": "Arena"})
    return svg, pdf


def _lay_out(figure: Figure) -> None:
    """Work out where everything stands, once for all, and to the same digits in every process.

    The solver's last digits follow the order in which it meets its variables, and names in an SVG
    are hashes of places.
    """
    figure.savefig(BytesIO(), format="svg")  # as it measures texts
    figure.set_layout_engine("none")
    for axes in figure.axes:
        place = axes.get_position(original=True).bounds
        left, bottom, width, height = (round(float(value), _DIGITS) for value in place)
        axes.set_position((left, bottom, width, height))


def share_axis(axes: Axes, title: str = "success") -> None:
    """Make the horizontal axis one of shares, from 0 to 100 %."""
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(formatter(lambda value: f"{value:.0%}"))
    axes.set_xlabel(title)
    axes.grid(axis="x", color=GRID, linewidth=0.6)


def formatter(words: Callable[[float], str]) -> Any:
    """Return a formatter of an axis' numbers."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: words(value))


def signed_points(share: float, digits: int = 0) -> str:
    """Return a difference of shares in points, with its sign; 0 has none."""
    said = f"{100 * share:+.{digits}f}"
    return said.replace("-", "−") if float(said) else said.lstrip("+-")


def cell_handles(
    cells: Iterable[Cell], names: Mapping[Cell, str], marks: Mapping[str, Mark], **look: Any
) -> list[Any]:
    """Return what a legend says of cells: the mark of each, and its name."""
    from matplotlib.lines import Line2D

    return [
        Line2D(
            [],
            [],
            color=marks[cell.agent].colour,
            marker=marks[cell.agent].marker,
            markerfacecolor=face_of(cell.world, marks[cell.agent]),
            label=names[cell],
            **look,
        )
        for cell in cells
    ]


def legend_below(figure: Figure, handles: Sequence[Any], columns: int = 3) -> None:
    """Set the legend below all axes, where it covers nothing."""
    if handles:
        figure.legend(
            handles=list(handles),
            loc="outside lower center",
            ncols=min(columns, len(handles)),
            frameon=False,
            handlelength=2.2,
        )
