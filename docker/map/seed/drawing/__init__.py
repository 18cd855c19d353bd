"""Tiles of the map, drawn once by Mapnik in the look of OpenStreetMap."""
