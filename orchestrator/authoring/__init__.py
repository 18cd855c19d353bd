"""For authors of sites and suites: templates, schemas, checks of a site, proofs of a suite."""
