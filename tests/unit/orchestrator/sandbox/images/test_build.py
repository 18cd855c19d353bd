from __future__ import annotations

import pytest

from orchestrator.sandbox.images.build import failed_line

DOCKERFILE = """\
# the base
ARG AGAIN=
FROM debian:bookworm-slim

RUN apt-get update \\
 && apt-get install -y \\
    # the server
    nginx
COPY a /b

USER app
"""


@pytest.mark.parametrize(
    ("step", "failure", "line"),
    [
        (1, "manifest unknown", 2),
        (3, "The command returned a non-zero code: 1", 5),
        (4, "COPY failed: file not found in build context", 9),
        (5, "no such user", 11),
        (9, "more steps than instructions", 11),
        (0, "nothing began", 1),
        (0, "dockerfile parse error line 9: unknown instruction: COPPY", 9),
        (0, "Dockerfile parse error on line 3: FROM requires either one argument", 3),
    ],
)
def test_a_failed_build_is_at_the_line_of_its_step(step: int, failure: str, line: int) -> None:
    assert failed_line(DOCKERFILE, step, failure) == line
