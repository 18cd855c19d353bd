"""The agent of WebCanvas (arXiv 2406.12373, section 3): planning, observation, memory, reward."""
