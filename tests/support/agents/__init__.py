"""Agents, their clients, and the model endpoint that they ask."""
