"""WebCanvas' key nodes over Arena's evidence (iMeanAI/WebCanvas v0.0.3; arXiv 2406.12373)."""
