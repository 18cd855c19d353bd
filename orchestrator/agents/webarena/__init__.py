"""The prompting agent of WebArena (arXiv 2307.13854, section 4): direct, or chain of thought."""
