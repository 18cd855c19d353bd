"""Values as PHP and WordPress keep them in the database: serialised, and passwords hashed."""

from __future__ import annotations

from hashlib import md5, sha256

ALPHABET = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ROUNDS = 13  # 2 ** 13, as WordPress has it

Value = None | bool | int | str | list["Value"] | dict[str | int, "Value"]


def serialised(value: Value) -> str:
    """Return a value as PHP's serialize() writes it; lists become arrays with numbers from 0."""
    match value:
        case None:
            return "N;"
        case bool():
            return f"b:{int(value)};"
        case int():
            return f"i:{value};"
        case str():
            return f's:{len(value.encode())}:"{value}";'
        case list():
            return serialised(dict(enumerate(value)))
        case dict():
            inner = "".join(serialised(key) + serialised(one) for key, one in value.items())
            return f"a:{len(value)}:{{{inner}}}"


def hashed(password: str) -> str:
    """Return WordPress' portable hash of a password ($P$, phpass); the salt follows from it."""
    salt = sha256(f"gazette/{password}".encode()).hexdigest()[:8]
    return crypted(password, f"$P${ALPHABET[ROUNDS]}{salt}")


def crypted(password: str, setting: str) -> str:
    """Return the portable hash for a setting: `$P$`, one letter for the rounds, eight of salt."""
    rounds, salt = 2 ** ALPHABET.index(setting[3]), setting[4:12]
    digest = md5(f"{salt}{password}".encode(), usedforsecurity=False).digest()
    for _ in range(rounds):
        digest = md5(digest + password.encode(), usedforsecurity=False).digest()
    return setting + _base64(digest)


def _base64(digest: bytes) -> str:
    letters = []
    for start in range(0, 16, 3):
        three = int.from_bytes(digest[start : start + 3], "little")
        count = 4 if start + 3 <= 16 else 2
        letters += [ALPHABET[three >> 6 * place & 63] for place in range(count)]
    return "".join(letters)
