"""Names of streets and of whatever else there are many of: each only once in a town."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

FIRST = """Abbot Acorn Alder Almond Amber Anchor Angel Apple Arbour Archer Ash Aspen Barley Barn Beacon Bell Berry Birch Bishop
Blackthorn Bluebell Bramble Bracken Brewery Briar Brick Broad Bruns Buckler Burdock Campion Carter Cask Cathedral Chalk Cherry Chestnut
Clay Clover Cobble Cooper Copper Coral Corn Cowslip Crane Cricket Cross Crown Curlew Cuttle Dairy Damson Dean Dove Drover Dyer Eagle
Elder Falcon Farrier Fennel Fern Field Finch Fletcher Foundry Fountain Foxglove Friar Fuller Gable Gannet Garnet Gate Glebe Glover Gorse
Granary Grebe Hawthorn Hazel Heath Heron Hollow Holly Honey Hop Horseshoe Ivy Jasmine Jubilee Juniper Kestrel Kiln King Kite Lantern
Lapwing Lark Laurel Lavender Linden Linnet Lodge Long Mallow Manor Marigold Market Martin Mason Mercer Merchant Miller Mint Moor Mulberry
Nettle New Nightingale Nut Old Orchid Osier Otter Owl Paddock Park Partridge Pear Pilgrim Pine Plover Plum Pond Poplar Potter Primrose
Prospect Quarry Quince Raven Reed Regent Robin Rook Rowan Royal Rush Saddler Saffron Sage Salt Sand Shepherd Silver Skylark Sloe Smith
Sorrel Spindle Spire Sparrow Stable Starling Stone Swallow Swan Swift Sycamore Tanner Teal Thatcher Thistle Thorn Thrush Thyme Tower
Trinity Valley Vine Violet Wagtail Walnut Weaver Wheat Wheel White Willow Winter Woodbine Wool Wren Yarrow Yew""".split()
PEOPLE = """Abernathy Ashworth Barlow Bowden Calloway Carrick Chaudhry Dalton Darrow Doyle Drummond Ellery Fairweather Fenwick Gallagher
Garrick Gatward Hadley Hartley Hawthorne Holloway Jarvis Keating Kersey Langdon Lindqvist Lockwood Marlowe Mortimer Norwood Okafor Osborne
Pemberton Penrose Quayle Radley Redfern Rowley Sandford Sayer Selwyn Somers Stanhope Tarrant Thackeray Tolliver Underhill Vernon Wakefield
Waverley Weston Whitlock Winslow Wyndham""".split()
MAIN = "Road Road Road Street Street Avenue Hill Way".split()
MINOR = """Street Street Street Lane Lane Road Road Avenue Close Terrace Gardens Row Court Place Drive Grove Crescent Mews Rise Walk
Yard View Green Passage""".split()


def street_names(rng: Random, taken: set[str]) -> tuple[Iterator[str], Iterator[str]]:
    """Return two endless rows of names, for main streets and for others; none comes twice."""
    pool = [f"{name}s" if name.endswith("er") and rng.random() < 0.3 else name for name in (*FIRST, *PEOPLE)]

    def draw(kinds: Sequence[str]) -> Iterator[str]:
        while True:
            name = f"{rng.choice(pool)} {rng.choice(kinds)}"
            if name not in taken:
                taken.add(name)
                yield name

    return draw(MAIN), draw(MINOR)
