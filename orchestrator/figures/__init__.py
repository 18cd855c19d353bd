"""What a study found as figures (SVG, PDF) and tables (LaTeX, Markdown)."""
