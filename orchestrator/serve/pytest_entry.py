"""What pytest finds by the entry point; it is installed as `arena_pytest.py`, beside the packages.

pytest looks for what it may rewrite among the files of the distribution, and takes the topmost
modules that it finds: without this one, those of images (`docker/`) in an editable installation.

The plug-in's code runs as this module, by its path: who has Arena installed may have packages with
names of Arena's (`tasks`), which importing `orchestrator` would claim.
"""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path

_arena = find_spec("orchestrator")  # is found, and not imported
if _arena is not None and _arena.origin is not None:
    _plugin = Path(_arena.origin).with_name("serve") / "pytest_plugin.py"
    SourceFileLoader(__name__, str(_plugin)).exec_module(sys.modules[__name__])
