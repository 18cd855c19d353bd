"""How well an episode went: checks, matchers, verdicts, scores. Pure functions of evidence."""
