"""The bound on what an endpoint may answer, whatever its status: no answer fills the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import httpx

# A hundred times what a model says at most, with the probability of each token.
MOST_BYTES: Final = 8 * 2**20


class AnswerTooLongError(Exception):
    """An endpoint's answer is longer than is read."""


async def read_bounded(answer: httpx.Response) -> None:
    """Read an answer's body, unpacked where it came packed, and break it off at the bound.

    A hook of httpx: it is called before anything else reads the body, of errors too.

    Raises:
        AnswerTooLongError: there is more.
    """
    read = bytearray()
    async for part in answer.aiter_bytes():
        read += part
        if len(read) > MOST_BYTES:
            message = f"more than {MOST_BYTES} bytes"
            raise AnswerTooLongError(message)
    answer._content = bytes(read)  # noqa: SLF001  where `aread` keeps what it has read
