"""Values in their normal form: text, numbers, patterns, JSON paths, logical URLs; pairs."""
