"""Judges: models that say whether a text is right by a rubric, and how far two of them agree."""
