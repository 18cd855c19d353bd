"""What a tag is called when one speaks of it."""

from __future__ import annotations

_NAMES = {
    ("amenity", "fast_food"): "Fast Food Restaurant", ("amenity", "atm"): "ATM", ("amenity", "fuel"): "Petrol Station",
    ("amenity", "townhall"): "Town Hall", ("amenity", "doctors"): "Doctor's Surgery", ("amenity", "dentist"): "Dentist",
    ("amenity", "parking"): "Car Park", ("amenity", "pub"): "Pub", ("amenity", "kindergarten"): "Nursery",
    ("amenity", "veterinary"): "Vet", ("shop", "books"): "Bookshop", ("shop", "convenience"): "Convenience Store",
    ("shop", "department_store"): "Department Store", ("shop", "supermarket"): "Supermarket", ("shop", "bakery"): "Bakery",
    ("shop", "hairdresser"): "Hairdresser", ("shop", "jewelry"): "Jeweller", ("shop", "car_repair"): "Garage",
    ("shop", "butcher"): "Butcher", ("shop", "greengrocer"): "Greengrocer", ("shop", "florist"): "Florist",
    ("shop", "laundry"): "Launderette", ("highway", "bus_stop"): "Bus Stop", ("highway", "footway"): "Footpath",
    ("highway", "cycleway"): "Cycle Path", ("railway", "station"): "Railway Station", ("railway", "rail"): "Railway",
    ("aeroway", "aerodrome"): "Airport", ("place", "house"): "House", ("boundary", "administrative"): "Boundary",
    ("leisure", "pitch"): "Sports Pitch", ("office", "newspaper"): "Newspaper Office", ("tourism", "camp_site"): "Campsite",
    ("office", "harbour_master"): "Harbour Master", ("natural", "wood"): "Wood", ("route", "train"): "Railway Route",
}  # fmt: skip
_SUFFIX = {"shop": " Shop", "office": " Office", "route": " Route"}
_ROADS = frozenset({"residential", "primary", "secondary", "tertiary", "trunk"})


def kind_of(key: str, value: str) -> str:
    """Return what a tag means, in words."""
    if key == "highway" and value in _ROADS:
        return f"{value.capitalize()} Road"
    words = value.replace("_", " ").title()
    return _NAMES.get((key, value)) or words + ("" if value == "yes" else _SUFFIX.get(key, ""))
