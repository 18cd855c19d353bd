"""A run shown side by side: as data, in the terminal, and as one self-contained HTML file."""
