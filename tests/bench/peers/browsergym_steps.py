"""Run by BrowserGym's own interpreter: how long its steps take on one page, as JSON.

::

    python browsergym_steps.py URL STEPS
"""

import json
import sys
import time

from browsergym.core.env import BrowserEnv
from browsergym.core.task import OpenEndedTask
from browsergym.utils.obs import flatten_axtree_to_str


def steps(url: str, count: int, delay: float) -> dict[str, list[float]]:
    env = BrowserEnv(
        task_entrypoint=OpenEndedTask,
        task_kwargs={"start_url": url, "goal": "look"},
        slow_mo=0,
        pre_observation_delay=delay,
    )
    seen, _ = env.reset(seed=0)
    row = row_of(seen)
    took: dict[str, list[float]] = {"noop": [], "click": []}
    for number in range(count + 1):
        for what, action in (("noop", "noop(0)"), ("click", f"click('{row}')")):
            began = time.perf_counter()
            seen, *_ = env.step(action)
            text = flatten_axtree_to_str(seen["axtree_object"])  # what an agent reads
            if number:
                took[what].append((time.perf_counter() - began) * 1000)
            if "row 299" not in text or seen["last_action_error"]:
                sys.exit(f"{action}: {seen['last_action_error'] or 'no whole page'}")
    env.close()
    return took


def row_of(seen: dict) -> str:
    for line in flatten_axtree_to_str(seen["axtree_object"]).splitlines():
        if "Mark row 150'" in line:
            return line.strip().split("]")[0].lstrip("[")
    sys.exit("no button of row 150")


if __name__ == "__main__":
    url, count = sys.argv[1:]
    found = {
        "default": steps(url, int(count), 0.5),
        "BrowserGym without its fixed delay": steps(url, int(count), 0.0),
    }
    print(json.dumps(found))
