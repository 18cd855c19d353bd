"""Fills the hub from the forge's people, projects and histories."""
