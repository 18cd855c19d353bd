"""What a study found as figures (SVG, PDF) and tables (LaTeX, Markdown).

matplotlib is imported where a figure is drawn, never at import, and without its `pyplot`: nothing
of it is shared by two callers but its settings while one figure is drawn.
"""
