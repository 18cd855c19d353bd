"""Arena's tasks as Gymnasium environments: `gymnasium.make("orchestrator.gym:arena/demo.TASK")`.

Importing this module registers every task of every suite that travels with Arena as
`arena/<suite>.<task>`, and `arena/Task`, which takes any task as `task="suite/task"`.
"""

from __future__ import annotations

from orchestrator.gym.environment import ArenaEnv
from orchestrator.gym.registration import register_tasks
from orchestrator.serving.results import EpisodeUnscored

__all__ = ["ArenaEnv", "EpisodeUnscored"]

register_tasks()
