"""The forms of observation: what an agent may ask to see of a page."""
