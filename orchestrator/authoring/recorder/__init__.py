"""A person does a task once: what was done becomes the task, its key nodes and its checks."""
