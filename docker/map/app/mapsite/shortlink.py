"""OpenStreetMap's short codes for a place and a zoom: the bits of both, interleaved, six a character.

Source: lib/short_link.rb of openstreetmap-website; the script in the page writes the same.
"""

from __future__ import annotations

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~"


def encode(lon: float, lat: float, zoom: int) -> str:
    """Return the code of a place."""
    x, y = int((lon + 180) * 2**32 / 360), int((lat + 90) * 2**32 / 180)
    code = 0
    for bit in range(31, -1, -1):
        code = code << 2 | (x >> bit & 1) << 1 | (y >> bit & 1)
    length = -(-(zoom + 8) // 3)
    text = "".join(_ALPHABET[code >> (58 - 6 * i) & 63] for i in range(min(length, 10)))
    return text + "-" * ((zoom + 8) % 3)


def decode(text: str) -> tuple[float, float, int] | None:
    """Return longitude, latitude and zoom, or None where the text is no code."""
    x = y = bits = offset = 0
    for sign in text.replace("@", "~"):
        if sign in "-=":
            offset -= 1
            continue
        value = _ALPHABET.find(sign)
        if value < 0:
            return None
        for _ in range(3):
            x, y = x << 1 | (value >> 5 & 1), y << 1 | (value >> 4 & 1)
            value <<= 2
        bits += 3
    if bits == 0 or bits > 32:
        return None
    zoom = bits - 8 - (offset % 3)
    return (
        x * 2 ** (32 - bits) * 360 / 2**32 - 180,
        y * 2 ** (32 - bits) * 180 / 2**32 - 90,
        max(0, zoom),
    )
