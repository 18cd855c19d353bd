"""The pages of the map, in the URL shapes of openstreetmap.org."""
