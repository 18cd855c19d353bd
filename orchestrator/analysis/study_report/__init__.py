"""The page of a study or a comparison: one HTML file, and episodes loaded on demand beside it."""
