"""Answers parsed by type: what an agent says is read as a value, and never searched for one."""
