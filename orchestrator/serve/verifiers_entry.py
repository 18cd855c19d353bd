"""What `vf-eval arena-verifiers` imports; it is installed as `arena_verifiers.py`.

verifiers finds a taskset by a module of the topmost level alone.
"""

from orchestrator.serve.verifiers_taskset import ArenaEnv, ArenaTaskset, arena

__all__ = ["ArenaEnv", "ArenaTaskset", "arena"]
