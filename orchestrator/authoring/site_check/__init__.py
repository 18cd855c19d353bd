"""What every site must keep: each check looks at a running replica and returns its breaches.

A breach is one sentence; no breach, no sentence. The checks read the site's manifest and know
nothing else about the site. `tests/contract` runs them on every site there is.
"""
