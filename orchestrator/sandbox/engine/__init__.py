"""The Docker engine behind an asyncio facade: the only importer of the Docker SDK."""
