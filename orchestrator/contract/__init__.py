"""What every site must keep: each check looks at a running replica and returns its breaches.

A breach is one sentence; no breach, no sentence. Nothing here needs to know the site: the checks go
by its manifest. `tests/contract` runs them on every site there is.
"""
