"""What a program that fell over says of it, among frames of stacks and lines of logs."""

from __future__ import annotations

import pytest

from orchestrator.episode.external.process import error_line

PYTHON = """\
Traceback (most recent call last):
  File "agent.py", line 3, in main
    raise ValueError("inner")
ValueError: inner

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "agent.py", line 5, in <module>
    raise RuntimeError("the model is away")
RuntimeError: the model is away
and this is its second line
"""
NODE = """\
file:///agent.mjs:3
throw new TypeError("fetch failed");
      ^

TypeError: fetch failed
    at node:internal/deps/undici/undici:13510:13
    at async file:///agent.mjs:3:1 {
  [cause]: Error: connect ECONNREFUSED 127.0.0.1:9
}

Node.js v20.20.2
"""
NODE_WITH_CODE = """\
node:internal/modules/esm/resolve:275
    throw new ERR_MODULE_NOT_FOUND(
          ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/agent.mjs'
    at finalizeResolution (node:internal/modules/esm/resolve:275:11)

Node.js v20.20.2
"""
SELENIUM = """\
Traceback (most recent call last):
  File "agent.py", line 18, in <module>
    driver.find_element(By.ID, "q")
selenium.common.exceptions.NoSuchElementException: Message: no such element
  (Session info: chrome=156)
Stacktrace:
#0 0x7f87a6e401f5 <unknown>
#17 0x7f87a6e401f5 <unknown>
"""
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "agent.py", line 9, in <module>
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "agent.py", line 4, in work
    |     raise KeyError("q")
    | KeyError: 'q'
    +------------------------------------
"""
LOGGED = """\
INFO: retrying
agent.mjs:1
Error: the browser is away
    at agent.mjs:1:7
"""
OWN_NAME = """\
Traceback (most recent call last):
  File "agent.py", line 1, in <module>
    raise OutOfCredit("0.00 USD")
billing.OutOfCredit: 0.00 USD
"""


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (PYTHON, "RuntimeError: the model is away"),
        (NODE, "TypeError: fetch failed"),
        (NODE_WITH_CODE, "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/agent.mjs'"),
        (SELENIUM, "selenium.common.exceptions.NoSuchElementException: Message: no such element"),
        (GROUP, "KeyError: 'q'"),
        (LOGGED, "Error: the browser is away"),
        (OWN_NAME, "billing.OutOfCredit: 0.00 USD"),
        (
            "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\n",
            "panic: runtime error: index out of range",
        ),
        ("the model is away\n", ""),
        ("ErrorBoundary mounted\nno Errors: 3\n", ""),
        ("Traceback (most recent call last):\n", ""),
        ("", ""),
    ],
)
def test_the_line_that_names_the_error_is_found(printed: str, said: str) -> None:
    assert error_line(printed) == said
